"""Tile sizes of matrix products and convolutions: a search over what fits on the chip, by estimated cycles.

Where 16 channels of the left operand are said below, those of 8 bits are 32: blocks have as many bytes, and take the
cube as long.

A convolution is a matrix product over *positions* (M, the flattened output plane), *output blocks* (N1, 16 channels
each) and *K blocks* (c1·kh·kw, 16 input channels at one tap each). One core computes tiles of m positions and n1
output blocks: it brings a *slab* of input rows and the weights into L1, takes pieces of k1 K blocks of both into L0A
and L0B, and accumulates in L0C. The cost of a tile is that of its busiest unit; see `_estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from ge.maths.layouts import C0, ceil_div, round_up

WeightsPolicy: TypeAlias = Literal["core", "slab", "piece"]
"""How long weights stay in L1: for all tiles of a core with the same output blocks, with a slab, or with a piece."""

BLOCK_BYTES = 32
"""Bytes of one block: 16 lanes of float16."""

FRACTAL_BYTES = 512
"""Bytes of a 16 x 16 square of float16."""

ACCUMULATOR_BYTES = 64
"""Bytes of 16 lanes of float32: one position of one output block in L0C."""


TILE_INSTRUCTIONS = 12
"""Instructions of a tile apart from those of its pieces: loads, the start of the accumulator, the way out."""


@dataclass(frozen=True)
class Machine:
    """What the search knows of a core: bytes of its buffers, bytes per cycle of its paths, cycles of an instruction."""

    cores: int
    l1: int
    l0a: int
    l0b: int
    l0c: int
    ub: int
    slab_rate: float
    """Device memory to L1, for feature maps: an earlier kernel has just written them."""
    weights_rate: float
    """Device memory to L1, for weights: nothing has read them before."""
    transfer: float
    """Cycles of one transfer from or to device memory, apart from its bytes."""
    latency: float
    """Cycles until the first transfer of a core is there."""
    window_rates: tuple[float, ...]
    """L1 to L0A by windows, when 16 output positions lie in 1, 2, ... output rows."""
    l0b_rate: float
    l0c_rate: float
    """L0C to the unified buffer."""
    vector_rate: float
    vector_latency: float
    """Cycles of a vector instruction that waits for the one before."""
    store_rate: float
    """Unified buffer to device memory, which has to take the results."""
    issue: float = 12
    """Cycles that every instruction costs with its synchronisation, whatever it does."""

    def window_rate(self, m: int, out_width: int) -> float:
        """L1 to L0A for m positions of a plane: 16 of them lie in so many rows, in the mean over the tile."""
        fractals = m // C0
        rows = ceil_div(m - 1, out_width) + 1 if m % out_width else m // out_width
        crossed = ceil_div(rows + fractals - 1, fractals)
        return self.window_rates[min(crossed, len(self.window_rates)) - 1]


@dataclass(frozen=True)
class MadeRows:
    """Bytes of the unified buffer that the rows of a slab take while they are made there."""

    done: int
    """A row that is made: its part of the slab."""
    each: int
    """A row of those that are under way at once."""
    row: int
    """The row at hand, beside that."""


def quantised_rows(channels: int, width: int) -> MadeRows:
    """Rows of at most 16 channels that become blocks of 8 bits.

    Under way are numbers in float32, as loaded and divided, and in int32 and float16, or 16 channels of float16. The
    row at hand has 16 and 32 lanes of float16, and 32 of 8 bits.
    """
    positions = round_up(width, C0)
    return MadeRows(32 * positions, positions * max(2 * C0, 14 * channels), positions * (2 * C0 + 2 * 32 + 32))


@dataclass(frozen=True)
class Contraction:
    """A convolution, or a matrix product as a 1 x 1 convolution, per group: channels in blocks of 16."""

    batch: int
    groups: int
    c1: int
    n1: int
    out_height: int
    out_width: int
    width: int
    """Positions of one input row, without padding."""
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    copies: int = 0
    """Float32 copies of a tile that its activation holds at once, beside the accumulator and the result."""
    operations: int = 0
    """Vector operations of its epilogue."""
    operand_bytes: int = 0
    """Bytes of one lane of what the epilogue reads beside the accumulator."""
    inner_bytes: int = 0
    """Bytes of one lane of what the epilogue computes on the way, apart from `copies`."""
    made: MadeRows | None = None
    """What a slab takes of the unified buffer, where it is made there and not loaded."""
    n1_multiple: int = 1
    """Output blocks that are stored as one block: 2 where 32 lanes of 8 bits are. `n1` is a multiple."""

    @property
    def taps(self) -> int:
        """Positions of the kernel."""
        return self.kernel[0] * self.kernel[1]

    @property
    def plane(self) -> int:
        """Output positions of one image."""
        return self.out_height * self.out_width

    @property
    def is_flat(self) -> bool:
        """Whether each output position reads the input position of the same number: rows do not matter."""
        one_by_one = self.kernel == (1, 1) and self.strides == (1, 1)
        return self.out_height == 1 and one_by_one and self.out_width == self.width


@dataclass(frozen=True)
class Tiling:
    """How a contraction is cut; sizes as in the module docstring."""

    m: int
    n1: int
    c1: int
    """Input blocks of one slab: a divisor of those of the group."""
    k1: int
    rows: int
    """Input rows of one slab, padding included."""
    epilogue_n1: int
    """Output blocks that go through the unified buffer at once: a divisor of n1."""
    weights: WeightsPolicy
    grid: tuple[int, int]
    """Cores over output blocks and over positions, when cores keep weights; tiles are dealt one by one otherwise."""
    cores: int
    """Cores that have work."""
    stages: int

    def tiles_m(self, problem: Contraction) -> int:
        """Tiles along the positions of one image."""
        return ceil_div(problem.plane, self.m)

    def tiles_n(self, problem: Contraction) -> int:
        """Tiles along the output blocks of one group."""
        return ceil_div(problem.n1, self.n1)

    def turns(self, problem: Contraction) -> tuple[int, int]:
        """Turns of the busiest core: over its sets of weights (1 unless it keeps them), and over tiles in each."""
        tiles_n, tiles_m = problem.groups * self.tiles_n(problem), problem.batch * self.tiles_m(problem)
        if self.weights != "core":
            return 1, ceil_div(tiles_n * tiles_m, self.cores)
        return ceil_div(tiles_n, self.grid[0]), ceil_div(tiles_m, self.grid[1])

    def pieces(self, problem: Contraction) -> int:
        """Matrix instructions of one tile."""
        return problem.c1 // self.c1 * ceil_div(self.c1 * problem.taps, self.k1)

    def rows_together(self, problem: Contraction, machine: Machine) -> int:
        """Rows of a slab that fit into half of the unified buffer at once while they are made; below 1 if none does."""
        assert problem.made is not None, "the slab is made on the chip"
        room = machine.ub // 2 - self.rows * problem.made.done - problem.made.row
        return min(self.rows, room // problem.made.each)

    def slab_bytes(self, problem: Contraction) -> int:
        """Bytes of one slab in L1."""
        return BLOCK_BYTES * self.c1 * (self.m if problem.is_flat else problem.width * self.rows)

    def weight_bytes(self, problem: Contraction) -> int:
        """Bytes of the weights that are in L1 at once."""
        blocks = {"core": problem.c1 * problem.taps, "slab": self.c1 * problem.taps, "piece": self.k1}
        return blocks[self.weights] * self.n1 * FRACTAL_BYTES


@lru_cache(maxsize=1024)
def choose_tiling(
    problem: Contraction, machine: Machine, double_buffer: bool = True, search: bool = True
) -> Tiling | None:
    """The cheapest tiling of `problem` that fits on `machine`, or None when none does.

    What does not fit with room for double buffering is tried without. Without `search` it is the first that fits,
    which has the largest tiles: that takes less time to find, and more cycles.
    """
    for stages in (2, 1) if double_buffer else (1,):
        fitting = (tiling for tiling in _tilings(problem, machine, stages) if fits(problem, machine, tiling))
        if not search:
            best = next(fitting, None)
        else:
            best = min(fitting, key=lambda tiling: estimate(problem, machine, tiling), default=None)
        if best is not None:
            return best
    return None


def slab_rows(problem: Contraction, m: int) -> int:
    """Input rows that any run of m output positions needs, when runs start at multiples of m."""
    if problem.is_flat:
        return 1
    width = problem.out_width
    latest_start = width - math.gcd(m, width)
    out_rows = min((latest_start + m - 1) // width + 1, problem.out_height)
    return (out_rows - 1) * problem.strides[0] + (problem.kernel[0] - 1) * problem.dilations[0] + 1


def fits(problem: Contraction, machine: Machine, tiling: Tiling) -> bool:
    """Whether L1 and L0C hold what a tiling keeps there; `_tilings` sees to L0A, L0B and the unified buffer.

    Slabs that are made in the unified buffer have half of it.

    What comes in each turn of a loop is there as often as the loop has stages, if it has more than one turn. A last,
    shorter piece comes after its loop.
    """
    turns_n, turns_m = tiling.turns(problem)
    outer = tiling.stages if turns_n * turns_m > 1 else 1
    slab_copies = tiling.stages if tiling.c1 < problem.c1 else outer
    weight_copies = {
        "core": tiling.stages if turns_n > 1 else 1,
        "slab": slab_copies,
        "piece": tiling.stages + 1,
    }[tiling.weights]
    l1 = tiling.slab_bytes(problem) * slab_copies + tiling.weight_bytes(problem) * weight_copies
    if problem.made is not None and tiling.rows_together(problem, machine) < 1:
        return False
    return l1 <= machine.l1 and tiling.m * tiling.n1 * ACCUMULATOR_BYTES * outer <= machine.l0c


def estimate(problem: Contraction, machine: Machine, tiling: Tiling) -> float:
    """Cycles of the busiest core: its turns x the busiest unit, plus the first load and the last way out.

    Each unit works through a tile on its own: MTE2 brings slab and weights, MTE1 fills L0A and L0B, the cube multiplies
    a 16 x 16 x 16 block per cycle, the vector unit empties L0C and applies the activation, MTE3 stores. A twentieth of
    the work of all units is added, so that of two tilings with the same busiest unit the one that does less wins.
    """
    m, n1, pieces = tiling.m, tiling.n1, tiling.pieces(problem)
    blocks, slabs = problem.c1 * problem.taps, problem.c1 // tiling.c1
    weights, lanes = blocks * n1 * FRACTAL_BYTES, m * n1 * C0
    transfers = pieces if tiling.weights == "piece" else slabs
    slab = slabs * (tiling.slab_bytes(problem) / machine.slab_rate + machine.transfer)
    filters = weights / machine.weights_rate + transfers * machine.transfer
    cube = blocks * n1 * (m // C0) + pieces * machine.issue
    width = m if problem.is_flat else problem.out_width
    mte1 = blocks * m * BLOCK_BYTES / machine.window_rate(m, width) + weights / machine.l0b_rate
    mte2 = slab if tiling.weights == "core" else slab + filters
    operations = problem.operations + 1
    vector = lanes * 4 / machine.l0c_rate + operations * (lanes * 4 / machine.vector_rate + machine.vector_latency)
    if problem.made is not None:
        chain = 5 * machine.vector_latency * ceil_div(tiling.rows, tiling.rows_together(problem, machine))
        row = 4 * machine.vector_latency + (problem.made.done + problem.made.row) / machine.vector_rate
        vector += chain + tiling.rows * row
    store = lanes * 2 / machine.store_rate + machine.transfer
    if problem.operand_bytes:
        mte2 += lanes * problem.operand_bytes / machine.slab_rate + n1 // tiling.epilogue_n1 * machine.transfer
    turns_n, turns_m = tiling.turns(problem)
    units = (cube, mte1 + 2 * pieces * machine.issue, mte2, vector, store)
    if tiling.weights == "core":
        first, reload = slab / slabs, turns_n * filters
    else:
        first, reload = (slab + filters) / slabs, 0.0
    turn = max(units) + sum(units) / 20 + TILE_INSTRUCTIONS * machine.issue
    return machine.latency + first + reload + turns_n * turns_m * turn + vector + store


def divisors(number: int) -> list[int]:
    """The divisors of a number, largest first."""
    return [d for d in range(number, 0, -1) if number % d == 0]


def _tilings(problem: Contraction, machine: Machine, stages: int) -> Iterator[Tiling]:
    """Every tiling worth a look, large tiles first; the pieces fit into L0A and L0B as often as there are stages."""
    positions, n1_l0b = machine.l0a // stages // BLOCK_BYTES, machine.l0b // stages // FRACTAL_BYTES
    for m in _even_parts(ceil_div(problem.plane, C0), positions // C0):
        m *= C0
        rows = slab_rows(problem, m)
        for n1 in _output_blocks(problem, min(n1_l0b, machine.l0c // ACCUMULATOR_BYTES // m)):
            epilogue_n1 = _epilogue_blocks(problem, machine, m, n1)
            if epilogue_n1 == 0:
                continue
            for c1 in divisors(problem.c1):
                k1 = _even_part(c1 * problem.taps, min(positions // m, n1_l0b // n1))
                for policy, grid in _deals(problem, machine, m, n1, c1):
                    yield Tiling(m, n1, c1, k1, rows, epilogue_n1, policy, grid, grid[0] * grid[1], stages)


def _deals(
    problem: Contraction, machine: Machine, m: int, n1: int, c1: int
) -> Iterator[tuple[WeightsPolicy, tuple[int, int]]]:
    """Ways to deal tiles to cores: who keeps weights, and the grid of cores."""
    tiles_n = problem.groups * ceil_div(problem.n1, n1)
    tiles_m = problem.batch * ceil_div(problem.plane, m)
    yield "slab", (1, min(machine.cores, tiles_n * tiles_m))
    if c1 == 1 and problem.taps > 1:
        yield "piece", (1, min(machine.cores, tiles_n * tiles_m))
    for cores_n in divisors(machine.cores):
        cores_m = min(machine.cores // cores_n, tiles_m)
        if cores_n <= tiles_n and tiles_m > cores_m:
            yield "core", (cores_n, cores_m)


def _output_blocks(problem: Contraction, largest: int) -> Iterable[int]:
    """Numbers of output blocks of a tile. Those of a group are cut without remainder: the next group follows."""
    together = problem.n1_multiple
    total, largest = problem.n1 // together, largest // together
    if problem.groups > 1:
        return [blocks * together for blocks in divisors(total) if blocks <= largest]
    return [blocks * together for blocks in _even_parts(total, largest)]


def _even_parts(total: int, largest: int) -> Iterable[int]:
    """Sizes of parts, at most `largest`, that cut `total` evenly but for the last; one for each number of parts."""
    sizes: dict[int, None] = {}
    parts = max(1, ceil_div(total, largest)) if largest else total + 1
    while parts <= total:
        size = ceil_div(total, parts)
        sizes[size] = None
        if size == 1:
            break
        parts = ceil_div(total, size - 1)
    return sizes


def _even_part(total: int, largest: int) -> int:
    """The size of the parts when `total` is cut evenly into as few parts as there must be."""
    return ceil_div(total, ceil_div(total, largest))


def _epilogue_blocks(problem: Contraction, machine: Machine, m: int, n1: int) -> int:
    """The most output blocks that go through half of the unified buffer at once; 0 when not even one does.

    A lane takes float32 for the accumulator and each copy the activation holds, float16 for the result, and what a
    longer epilogue reads and computes.
    """
    lane = 4 * (1 + problem.copies) + 2 + problem.operand_bytes + problem.inner_bytes
    fitting = machine.ub // 2 // (m * C0 * lane)
    return next((blocks for blocks in divisors(n1) if blocks <= fitting and blocks % problem.n1_multiple == 0), 0)


@dataclass(frozen=True)
class Deal:
    """Equal parts of a run of items, dealt to cores: all of `size` items but for the last, which may be shorter."""

    size: int
    parts: int
    cores: int


def deal_evenly(total: int, largest: int, cores: int, smallest: int = 1) -> Deal:
    """Cut `total` items into parts of at most `largest` that keep `cores` busy alike.

    There are as many parts as cores, or a multiple of that, unless parts would have fewer than `smallest` items.
    """
    largest = max(1, min(largest, total))
    parts = max(ceil_div(total, largest), min(cores, ceil_div(total, smallest)))
    if parts > cores:
        parts = min(round_up(parts, cores), total)
    size = ceil_div(total, parts)
    parts = ceil_div(total, size)
    return Deal(size, parts, min(cores, parts))
