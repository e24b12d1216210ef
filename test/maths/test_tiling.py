"""The search for tile sizes: what it returns fits, covers everything, and is no worse than what it passes over."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import (
    ACCUMULATOR_BYTES,
    BLOCK_BYTES,
    FRACTAL_BYTES,
    Contraction,
    Machine,
    choose_tiling,
    deal_evenly,
    divisors,
    estimate,
    fits,
    slab_rows,
)

MACHINE = Machine(
    cores=8,
    l1=1 << 20,
    l0a=1 << 16,
    l0b=1 << 16,
    l0c=1 << 18,
    ub=1 << 18,
    slab_rate=114,
    weights_rate=17,
    transfer=16,
    latency=190,
    window_rates=(256, 128, 102),
    l0b_rate=128,
    l0c_rate=512,
    vector_rate=256,
    vector_latency=22,
    store_rate=114,
)


@st.composite
def contractions(draw: st.DrawFn) -> Contraction:
    """Convolutions with any sizes, and flat ones (1 x 1 without stride)."""
    groups = draw(st.sampled_from([1, 1, 1, 2, 6, 24]))
    c1, n1 = (draw(st.integers(1, 40 if groups == 1 else 4)) for _ in range(2))
    copies, batch = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    height, width = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    if draw(st.booleans()):
        return Contraction(batch, groups, c1, n1, 1, height * width, height * width, copies=copies)
    kernel = (draw(st.integers(1, 7)), draw(st.integers(1, 7)))
    strides = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    in_width = (width - 1) * strides[1] + kernel[1]
    return Contraction(batch, groups, c1, n1, height, width, in_width, kernel, strides, copies=copies)


@settings(max_examples=150, deadline=None)
@given(contractions(), st.booleans(), st.booleans())
def test_a_tiling_fits_and_covers(problem: Contraction, double_buffer: bool, search: bool) -> None:
    tiling = choose_tiling(problem, MACHINE, double_buffer, search)
    assert tiling is not None and fits(problem, MACHINE, tiling)
    assert tiling.m % C0 == 0 and tiling.m * tiling.tiles_m(problem) >= problem.plane
    assert (tiling.tiles_m(problem) - 1) * tiling.m < problem.plane, "the last tile has work"
    assert tiling.n1 * tiling.tiles_n(problem) >= problem.n1 > (tiling.tiles_n(problem) - 1) * tiling.n1
    assert problem.groups == 1 or problem.n1 % tiling.n1 == 0, "groups follow each other without a gap"
    assert problem.c1 % tiling.c1 == 0 and tiling.n1 % tiling.epilogue_n1 == 0
    assert tiling.m * tiling.k1 * BLOCK_BYTES * tiling.stages <= MACHINE.l0a
    assert tiling.n1 * tiling.k1 * FRACTAL_BYTES * tiling.stages <= MACHINE.l0b
    assert tiling.m * tiling.n1 * ACCUMULATOR_BYTES <= MACHINE.l0c
    assert 1 <= tiling.cores <= MACHINE.cores


@settings(max_examples=100, deadline=None)
@given(contractions(), st.integers(1, 30))
def test_a_slab_holds_the_rows_of_every_tile(problem: Contraction, sixteenths: int) -> None:
    m = sixteenths * C0
    needed = 0
    for start in range(0, problem.plane, m):
        first, last = start // problem.out_width, min(start + m, problem.plane) - 1
        rows = last // problem.out_width - first
        needed = max(needed, rows * problem.strides[0] + (problem.kernel[0] - 1) * problem.dilations[0] + 1)
    rows = slab_rows(problem, m)
    assert rows >= needed
    assert problem.is_flat or rows <= (problem.out_height - 1) * problem.strides[0] + problem.kernel[0]


def test_a_kernel_larger_than_l1_brings_its_weights_piece_by_piece() -> None:
    problem = Contraction(1, 1, 2, 4, 10, 10, 73, kernel=(64, 64))
    tiling = choose_tiling(problem, MACHINE)
    assert tiling is not None and tiling.weights == "piece"


def test_no_tiling_for_a_slab_larger_than_l1() -> None:
    assert choose_tiling(Contraction(1, 1, 1, 1, 1, 32768, 32770, kernel=(3, 3)), MACHINE) is None


def test_what_does_not_fit_twice_is_not_buffered_twice() -> None:
    problem = Contraction(1, 1, 1, 1, 4, 20000, 20000, kernel=(1, 3))
    tiling = choose_tiling(problem, MACHINE)
    assert tiling is not None and tiling.stages == 1


def test_weights_stay_when_a_core_has_many_positions() -> None:
    """Batch 8 of a layer of ResNet-50: weights come once for each core, not once for each tile."""
    problem = Contraction(8, 1, 16, 16, 14, 14, 14, kernel=(3, 3))
    tiling = choose_tiling(problem, MACHINE)
    assert tiling is not None and tiling.weights == "core"
    dealt = replace(tiling, weights="slab", grid=(1, 8), cores=8)
    assert estimate(problem, MACHINE, tiling) < estimate(problem, MACHINE, dealt)


@given(st.integers(1, 5000), st.integers(0, 700), st.integers(1, 32), st.integers(1, 100))
def test_deals_are_even(total: int, largest: int, cores: int, smallest: int) -> None:
    deal = deal_evenly(total, largest, cores, smallest)
    assert deal.size <= max(1, largest)
    assert (deal.parts - 1) * deal.size < total <= deal.parts * deal.size
    assert deal.cores == min(cores, deal.parts)
    turns = ceil_div(deal.parts, deal.cores)
    assert turns == 1 or turns * deal.size <= 2 * ceil_div(total, cores) + smallest, "no core has twice its share"


@given(st.integers(1, 2000))
def test_divisors(number: int) -> None:
    found = divisors(number)
    assert found[0] == number and found[-1] == 1 and found == sorted(found, reverse=True)
    assert all(number % divisor == 0 for divisor in found)


def test_without_a_search_tiles_are_the_largest_and_cost_more() -> None:
    problem = Contraction(1, 1, 8, 8, 28, 28, 28, kernel=(3, 3))
    first, best = (choose_tiling(problem, MACHINE, search=search) for search in (False, True))
    assert first is not None and best is not None
    assert first.m >= best.m
    assert estimate(problem, MACHINE, first) > estimate(problem, MACHINE, best)
