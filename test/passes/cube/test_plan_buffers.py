"""Places of buffers: never two live ones at the same bytes, double buffering given up last of all, errors that help."""

from dataclasses import replace

import numpy as np
import pytest
from cube_kernels import LARGE, SMALL, cube_kernel, filters, kernel_of, value
from hypothesis import given, settings
from hypothesis import strategies as st

from ge.dialects import cube
from ge.dialects.cube.kernel import AllocOp
from ge.dialects.graph.compute import Conv2DOp
from ge.dialects.graph.normalization import SoftmaxOp
from ge.ir.errors import GeError
from ge.lowering.tile_to_cube.convert import lower_kernel
from ge.passes.cube.lifetimes import lifetimes
from ge.passes.cube.plan_buffers import plan


def allocs(kernel: cube.CubeKernelOp) -> list[AllocOp]:
    return [op for op in kernel.walk() if isinstance(op, AllocOp)]


def named(kernel: cube.CubeKernelOp, name: str) -> AllocOp:
    return next(op for op in allocs(kernel) if op.result.name_hint == name)


def check_places(kernel: cube.CubeKernelOp, capacities: dict[str, int]) -> None:
    """Buffers that are live at the same time do not meet, and all lie inside their memory."""
    live = lifetimes(kernel)
    for a in live:
        assert a.place is not None and a.place + a.total_bytes <= capacities[a.space]
        for b in live:
            together = live[a].start <= live[b].end and live[b].start <= live[a].end
            if a is not b and a.space is b.space and together:
                assert b.place is not None
                assert a.place + a.total_bytes <= b.place or b.place + b.total_bytes <= a.place


@settings(max_examples=30, deadline=None)
@given(st.integers(12, 18), st.booleans())
def test_live_buffers_do_not_meet(log_bytes: int, double_buffer: bool) -> None:
    """Kernels made for a larger unified buffer than there is: buffers share bytes, copies are given up."""
    soc = replace(SMALL, buffers={**SMALL.buffers, "ub": 1 << log_bytes})
    kernel, _ = kernel_of(SoftmaxOp(value((12, 64)), 1), SMALL, double_buffer=double_buffer)
    lowered = lower_kernel(kernel, soc)
    try:
        plan(lowered, soc)
    except GeError as error:
        assert error.code == "GE4021"
        return
    check_places(lowered, dict(soc.buffers))


def test_all_memories_of_a_convolution() -> None:
    x, w = value((1, 64, 28, 28), "NC1HWC0"), filters(np.zeros((64, 64, 3, 3)))
    kernel, _ = kernel_of(Conv2DOp(x, w, pads=(1, 1, 1, 1)), SMALL)
    lowered = lower_kernel(kernel, SMALL)
    plan(lowered, SMALL)
    check_places(lowered, dict(SMALL.buffers))


DOUBLED = """
cube.kernel @k(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 1024 : index
  %outer_ub = cube.alloc size = 1024, copies = 2 : !cube.buffer<ub>
  scf.for %i = %c0 to %c8 step %c1 {
    %slot = arith.remui %i, %c2 : index
    %in = arith.muli %slot, %size : index
    cube.copy_gm_to_ub dst = %outer_ub[%in], src = %x[0], length = 32
    %result_ub = cube.alloc size = 1024, copies = 2 : !cube.buffer<ub>
    cube.vexp dst = %result_ub[%in], src = %outer_ub[%in], dtype = f16, count = 512
    scf.for %j = %c0 to %c8 step %c1 {
      %slot_1 = arith.remui %j, %c2 : index
      %inner = arith.muli %slot_1, %size : index
      %behind = arith.addi %inner, %c0 : index
      %inner_ub = cube.alloc size = 1024, copies = 2 : !cube.buffer<ub>
      cube.copy_gm_to_ub dst = %inner_ub[%inner], src = %x[0], length = 32
      cube.vadd dst = %result_ub[%in], src0 = %result_ub[%in], src1 = %inner_ub[%behind], dtype = f16, count = 512
    }
    cube.copy_ub_to_gm dst = %y[0], src = %result_ub[%in], length = 32
  }
}"""


@pytest.mark.parametrize(
    ("capacity", "copies"),
    [(6144, (2, 2, 2)), (5120, (2, 1, 2)), (4096, (1, 1, 2)), (3072, (1, 1, 1))],
)
def test_copies_are_given_up_where_they_hide_least(capacity: int, copies: tuple[int, int, int]) -> None:
    """First those of a computed result, then of the outer loop, last of the inner loop."""
    kernel = cube_kernel(DOUBLED)
    plan(kernel, replace(LARGE, buffers={**LARGE.buffers, "ub": capacity}))
    assert tuple(named(kernel, name).copy_count for name in ("outer_ub", "result_ub", "inner_ub")) == copies
    kernel.verify()


def test_what_does_not_fit_is_an_error_that_names_the_largest_buffers() -> None:
    kernel = cube_kernel(DOUBLED)
    with pytest.raises(GeError) as raised:
        plan(kernel, replace(LARGE, buffers={**LARGE.buffers, "ub": 2048}))
    assert raised.value.code == "GE4021"
    assert "kernel 'k' needs 3072 bytes of ub, there are 2048" in raised.value.what
    assert "%outer_ub (1024 bytes)" in raised.value.what


def test_buffers_that_have_places_stay() -> None:
    kernel = cube_kernel(DOUBLED)
    for position, alloc in enumerate(allocs(kernel)):
        alloc.set_place(position * 4096)
    plan(kernel, LARGE)
    assert [alloc.place for alloc in allocs(kernel)] == [0, 4096, 8192]
