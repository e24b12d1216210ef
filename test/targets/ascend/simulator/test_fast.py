"""The two modes give the same numbers, and time is counted sensibly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser

from ge.dialects.cube.encoding import encode
from ge.dialects.cube.kernel import CubeKernelOp
from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.targets.ascend.simulator import launch, run_kernel
from ge.targets.ascend.simulator.blas import _thread_functions, one_thread  # pyright: ignore[reportPrivateUsage]
from ge.targets.ascend.soc import load_soc

INPUTS = Path(__file__).with_name("inputs")
SOC = load_soc("Ascend310P3")


def binary(text: str) -> bytes:
    kernel = Parser(context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, CubeKernelOp)
    return encode(kernel)


def of_file(name: str) -> bytes:
    return binary((INPUTS / name).read_text())


def add_arrays() -> list[NDArray[Any]]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(8192).astype(np.float16) for _ in range(2)] + [np.zeros(8192, np.float16)]


def conv_arrays() -> list[NDArray[Any]]:
    rng = np.random.default_rng(1)
    shapes = (1, 8, 8, 16), (9, 1, 16, 16)
    halves = [rng.uniform(-1, 1, shape).astype(np.float16) for shape in shapes]
    return [*halves, rng.uniform(-1, 1, 16).astype(np.float32), np.zeros((8, 8, 16), np.float16)]


def convolution(x: NDArray[Any], w: NDArray[Any], bias: NDArray[Any]) -> NDArray[np.float64]:
    padded = np.pad(x[0].astype(np.float64), ((1, 1), (1, 1), (0, 0)))
    result = np.tile(bias.astype(np.float64), (8, 8, 1))
    for i in range(3):
        for j in range(3):
            result += padded[i : i + 8, j : j + 8] @ w[3 * i + j, 0].astype(np.float64).T
    return np.maximum(result, 0)


@pytest.mark.parametrize("strict", [False, True])
def test_double_buffered_addition(strict: bool) -> None:
    x, y, z = add_arrays()
    result = run_kernel(of_file("add.mlir"), [x, y, z], SOC, strict)
    assert np.array_equal(result.outputs[0], x + y)
    assert not z.any(), "the arrays given are not changed"
    assert (result.gm_read, result.gm_written) == (32768, 16384)
    assert result.instructions == 2 * (8 + 4 * 12)


@pytest.mark.parametrize("strict", [False, True])
def test_convolution(strict: bool) -> None:
    arrays = conv_arrays()
    (y,) = run_kernel(of_file("conv.mlir"), arrays, SOC, strict).outputs
    expected = convolution(*arrays[:3])
    assert np.abs(y - expected).max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["add.mlir", "conv.mlir"])
def test_modes_agree_bit_for_bit(name: str) -> None:
    arrays = add_arrays() if name == "add.mlir" else conv_arrays()
    fast, strict = (run_kernel(of_file(name), arrays, SOC, mode) for mode in (False, True))
    assert np.array_equal(fast.outputs[0].view(np.uint8), strict.outputs[0].view(np.uint8))
    assert (fast.cycles, fast.busy, fast.instructions) == (strict.cycles, strict.busy, strict.instructions)


def test_arena() -> None:
    """Arguments are windows of one global memory; nothing else in it changes."""
    x, y, _ = add_arrays()
    gm = np.full(70000, 7, np.uint8)
    windows = [(40960, 16384), (512, 16384), (20480, 16384)]
    for (start, size), array in zip(windows, (x, y), strict=False):
        gm[start : start + size] = array.view(np.uint8)
    before = gm.copy()
    launch(of_file("add.mlir"), gm, windows, SOC)
    start, size = windows[2]
    assert np.array_equal(gm[start : start + size].view(np.float16), x + y)
    gm[start : start + size] = before[start : start + size]
    assert np.array_equal(gm, before)


def test_saturation_is_counted() -> None:
    x, y, z = add_arrays()
    x[:100] = y[:100] = 60000
    result = run_kernel(of_file("add.mlir"), [x, y, z], SOC)
    assert result.saturated == 100
    assert (result.outputs[0][:100] == 65504).all()


def test_counting_can_be_left_out() -> None:
    result = run_kernel(of_file("add.mlir"), add_arrays(), SOC, count_cycles=False)
    assert result.cycles == 0
    assert np.array_equal(result.outputs[0], run_kernel(of_file("add.mlir"), add_arrays(), SOC).outputs[0])


def test_arguments_in_the_cache_are_faster() -> None:
    cold, half, warm = (
        run_kernel(of_file("add.mlir"), add_arrays(), SOC, warm=flags).cycles
        for flags in ([], [True], [True, True, True])
    )
    assert cold > half > warm


def test_time_of_one_instruction() -> None:
    """A load on its own: issued after one cycle, then overhead, data at the DDR rate, and the latency."""
    text = """
    cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
      %a = cube.alloc size = 65536, address = 0 : !cube.buffer<ub>
      cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 1024
    }"""
    result = run_kernel(binary(text), [np.zeros(16384, np.float16)], SOC)
    mte2 = SOC.pipes["mte2"]
    data = -(-32768 // SOC.ddr_rate)
    assert result.busy["mte2"] == mte2.overhead + data
    assert result.cycles == 1 + mte2.overhead + data + mte2.latency


def test_pipes_overlap_and_barriers_stop_that() -> None:
    def kernel(between: str) -> bytes:
        return binary(f"""
        cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {{
          %a = cube.alloc size = 65536, address = 0 : !cube.buffer<ub>
          %b = cube.alloc size = 65536, address = 65536 : !cube.buffer<ub>
          cube.vector_dup dst = %b[0], scalar = 0.0, dtype = f16, count = 32768
          {between}
          cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 256
        }}""")

    x = [np.zeros(4096, np.float16)]
    together, apart = (run_kernel(kernel(b), x, SOC) for b in ("", "cube.pipe_barrier pipe = all"))
    assert together.busy == apart.busy
    assert together.cycles < sum(together.busy.values())
    assert apart.cycles > sum(apart.busy.values())


def test_flags_carry_time() -> None:
    """The vector unit waits for the load, and the store for the vector unit."""
    result = run_kernel(of_file("conv.mlir"), conv_arrays(), SOC, trace=True)
    of_core = [event for event in result.trace if event.core == 0]
    order = [result.texts[event.instruction].split()[0] for event in sorted(of_core, key=lambda event: event.start)]
    assert order.index("cube.load3d") < order.index("cube.mmad") < order.index("cube.copy_l0c_to_ub")
    ends = {result.texts[event.instruction].split()[0]: event for event in of_core}
    assert ends["cube.mmad"].start >= ends["cube.load3d"].end
    assert ends["cube.copy_ub_to_gm"].start >= ends["cube.copy_l0c_to_ub"].end
    assert result.cycles >= max(event.end for event in of_core)


def test_slower_clock_or_path_takes_longer() -> None:
    arrays = conv_arrays()
    here = run_kernel(of_file("conv.mlir"), arrays, SOC).cycles
    assert run_kernel(of_file("conv.mlir"), arrays, "Ascend310P7").cycles == here
    assert load_soc("Ascend310P7").seconds(here) > SOC.seconds(here)
    assert run_kernel(of_file("conv.mlir"), arrays, "Ascend910A").cycles < here  # twice the DDR rate


def test_what_cannot_be_executed_is_named() -> None:
    text = """
    cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
      %far = arith.constant 1000000 : index
      %a = cube.alloc size = 512, address = 0 : !cube.buffer<ub>
      cube.copy_gm_to_ub dst = %a[0], src = %x[%far], length = 16
    }"""
    with pytest.raises(GeError) as error:
        run_kernel(binary(text), [np.zeros(256, np.float16)], SOC, name="k")
    assert error.value.code == "GE6020"
    assert error.value.where is not None
    assert "core 0, instruction 0: cube.copy_gm_to_ub" in error.value.where


@pytest.mark.parametrize("step", ["arith.divui %one, %zero", "arith.remsi %one, %zero"])
def test_division_by_zero(step: str) -> None:
    text = f"""
    cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {{
      %one = arith.constant 1 : index
      %zero = arith.constant 0 : index
      %r = {step} : index
    }}"""
    with pytest.raises(GeError) as error:
        run_kernel(binary(text), [], SOC)
    assert error.value.code == "GE6020"


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(GeError, match="2 arguments, expected 3"):
        run_kernel(of_file("add.mlir"), add_arrays()[:2], SOC)


def test_scalar_code() -> None:
    """Scalar arithmetic decides addresses: tile (7 - i) of x goes to tile i, the odd ones doubled."""
    text = """
    cube.kernel @reverse(%x: !cube.buffer<gm>, %z: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %a = cube.alloc size = 32, address = 0 : !cube.buffer<ub>
      scf.for %i = %c0 to %c8 step %c1 {
        %j = arith.subi %c7, %i : index
        %from = arith.muli %j, %c32 : index
        %to = arith.muli %i, %c32 : index
        %bit = arith.remui %i, %c2 : index
        %odd = arith.cmpi ne, %bit, %c0 : index
        cube.copy_gm_to_ub dst = %a[0], src = %x[%from], length = 1
        cube.pipe_barrier pipe = all
        scf.if %odd {
          %s = cube.scalar_load src = %a[2], dtype = f16
          %t = arith.mulf %s, %s : f32
          cube.vadds dst = %a[0], src = %a[0], scalar = %t, dtype = f16, count = 16
        } else {
          cube.vmuls dst = %a[0], src = %a[0], scalar = 2.0, dtype = f16, count = 16
        }
        cube.pipe_barrier pipe = all
        cube.copy_ub_to_gm dst = %z[%to], src = %a[0], length = 1
        cube.pipe_barrier pipe = all
      }
    }"""
    x = np.arange(128, dtype=np.float16).reshape(8, 16) / 8
    (z,) = run_kernel(binary(text), [x, np.zeros_like(x)], SOC, strict=True).outputs
    expected = x[::-1].copy()
    expected[0::2] *= 2
    expected[1::2] += expected[1::2, 1:2] ** 2
    assert np.allclose(z, expected, rtol=1e-3)


def test_results_do_not_depend_on_what_ran_before() -> None:
    """A kernel that stores what it never wrote stores NaN, also when the kernel before it filled the same buffer."""
    text = """
    cube.kernel @k(%x: !cube.buffer<gm>, %z: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
      %a = cube.alloc size = 512, address = 0 : !cube.buffer<ub>
      FILL
      cube.pipe_barrier pipe = all
      cube.copy_ub_to_gm dst = %z[0], src = %a[0], length = 1
    }"""
    x = np.ones(16, np.float16)
    fill = "cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 1"
    assert np.array_equal(run_kernel(binary(text.replace("FILL", fill)), [x, x], SOC).outputs[0], x)
    assert np.isnan(run_kernel(binary(text.replace("FILL", "")), [x, x], SOC).outputs[0]).all()


def test_threads_of_matrix_products_are_given_back() -> None:
    functions = _thread_functions()
    if functions is None:
        return  # NumPy brings another library than OpenBLAS
    get_threads, set_threads = functions
    before = get_threads()
    set_threads(2)
    with one_thread():
        assert get_threads() == 1
    assert get_threads() == 2
    set_threads(before)
