"""Hazards that nearer ones imply: long kernels keep few, and what is kept still orders everything."""

import numpy as np
import pytest
from cube_kernels import LARGE, check_flags, cube_kernel

from ge.dialects.cube.encoding import encode
from ge.passes.cube.insert_sync import synchronise
from ge.passes.cube.plan_buffers import plan
from ge.passes.cube.sync.hazards import hazards
from ge.passes.cube.sync.nearest import nearest
from ge.passes.cube.sync.structure import sites
from ge.targets.ascend.simulator import run_kernel


def chain(length: int) -> str:
    """Loads, sums and stores on one buffer, `length` times over: all of them depend on each other."""
    step = """
  cube.copy_gm_to_ub dst = %b[0], src = %x[0], bursts = 1, length = 8
  cube.vadd dst = %b[0], src0 = %b[0], src1 = %b[0], dtype = f32, count = 64
  cube.copy_ub_to_gm dst = %y[{offset}], src = %b[0], bursts = 1, length = 8"""
    steps = "".join(step.format(offset=256 * number) for number in range(length))
    return f"""cube.kernel @chain(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {{
  %b = cube.alloc size = 256 : !cube.buffer<ub>{steps}
}}"""


@pytest.mark.parametrize("length", [4, 8, 16])
def test_the_number_of_hazards_grows_with_the_length_only(length: int) -> None:
    kernel = cube_kernel(chain(length))
    plan(kernel, LARGE)
    found = hazards(sites(kernel))
    kept = nearest(found)
    assert len(found) > length * length
    assert len(kept) <= 8 * length
    assert set(kept) <= set(found)


def test_what_is_left_orders_everything() -> None:
    kernel = cube_kernel(chain(5))
    plan(kernel, LARGE)
    synchronise(kernel, LARGE)
    check_flags(kernel)
    x = np.arange(64, dtype=np.float32)
    result = run_kernel(encode(kernel), [x, np.zeros(5 * 64, np.float32)], LARGE, strict=True)
    assert (result.outputs[0].reshape(5, 64) == 2 * x).all()
