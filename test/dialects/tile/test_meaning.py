"""The evaluator of tile kernels, operation by operation, against NumPy written another way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f16, f32

from ge.dialects.tile.meaning import run_kernel
from ge.dialects.tile.structure import KernelOp
from ge.dialects.tile.types import GmType, TileType
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.verifier import verify_module

RANDOM = np.random.default_rng(3)


def run(body: str, inputs: Sequence[Array], output: str, cores: int = 1, **options: object) -> Array:
    """Run a kernel of one output on inputs %x0, %x1, ...; `body` stores to %y."""
    kinds = {"float16": "f16", "float32": "f32"}
    types = [f"!tile.gm<{'x'.join(map(str, x.shape))}x{kinds[str(x.dtype)]}>" for x in inputs]
    arguments = ", ".join([*(f"%x{i}: {type}" for i, type in enumerate(types)), f"%y: !tile.gm<{output}>"])
    for i, type in enumerate(types):
        body = body.replace(f"X{i}", type)
    text = f"tile.kernel @k({arguments}) grid(%core : {cores}) outputs(1) {{\n{body}\n}}"
    module: ModuleOp = parse_module(text.replace("Y", f"!tile.gm<{output}>"))
    verify_module(module)
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return run_kernel(kernel, inputs, **options)[0]  # pyright: ignore[reportArgumentType]


def halves(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float16)


def test_types_are_their_shape_and_element() -> None:
    types = [TileType((4, 16), f16), TileType((2, 32), f16), TileType((4, 16), f32), GmType((4, 16), f16)]
    assert len(set(types)) == len(types)
    assert TileType((4, 16), f16) == types[0] and types[0].nbytes == 128


def test_load_reads_fill_outside() -> None:
    x = halves(3, 4)
    body = """
      %t = tile.load %x0[-1, 2] sizes [5, 3] fill 7 : X0 -> !tile.tile<5x3xf16>
      tile.store %t, %y[0, 0] sizes [5, 3] : !tile.tile<5x3xf16> -> Y"""
    expected = np.full((5, 3), 7, np.float16)
    expected[1:4, :2] = x[:, 2:]
    assert (run(body, [x], "5x3xf16") == expected).all()


def test_load_that_misses_the_tensor_is_all_fill() -> None:
    body = """
      %t = tile.load %x0[9, 0] sizes [2, 4] fill -1 : X0 -> !tile.tile<2x4xf16>
      tile.store %t, %y[0, 0] sizes [2, 4] : !tile.tile<2x4xf16> -> Y"""
    assert (run(body, [halves(3, 4)], "2x4xf16") == -1).all()


def test_load_without_fill_refuses_to_leave_the_tensor() -> None:
    body = """
      %c2 = arith.constant 2 : index
      %t = tile.load %x0[%c2] sizes [2] : X0 -> !tile.tile<2xf16>
      tile.store %t, %y[0] sizes [2] : !tile.tile<2xf16> -> Y"""
    with pytest.raises(GeError, match="GE3012"):
        run(body, [halves(3)], "2xf16")


def test_store_drops_what_lies_outside_and_unwritten_elements_are_nan() -> None:
    x = halves(2, 3)
    body = """
      %t = tile.load %x0[0, 0] sizes [2, 3] : X0 -> !tile.tile<2x3xf16>
      tile.store %t, %y[3, -1] sizes [2, 3] : !tile.tile<2x3xf16> -> Y"""
    y = run(body, [x], "4x3xf16")
    assert (y[3, :2] == x[0, 1:]).all()
    assert np.isnan(y[:3]).all() and np.isnan(y[3, 2])


def test_spoiling_stores_overwrite_the_rest_of_a_block() -> None:
    body = """
      %t = tile.load %x0[0, 0] sizes [2, 20] : X0 -> !tile.tile<2x20xf16>
      tile.store %t, %y[{row}, 0] sizes [2, 20] : !tile.tile<2x20xf16> -> Y"""
    x = halves(2, 20)
    both = body.format(row=2) + body.replace("%t", "%u").format(row=0)
    y = run(both, [x], "4x20xf16", spoil=True)
    assert (y[:2] == x).all() and np.isnan(y[2, :12]).all() and (y[2, 12:] == x[0, 12:]).all() and (y[3] == x[1]).all()
    assert (
        run(body.format(row=0) + body.replace("%t", "%u").format(row=2), [x], "4x20xf16", spoil=True) == [*x, *x]
    ).all()


def test_loops_carry_tiles_and_cores_count() -> None:
    body = """
      %c3 = arith.constant 3 : index
      tile.for %i = %core to 5 step 2 {
        %row = arith.muli %i, %c3 : index
        %zero = tile.constant 1 : !tile.tile<1xf32>
        %s = tile.for %k = 0 to 6 step 2 iter_args(%acc = %zero : !tile.tile<1xf32>) {
          %o = arith.addi %row, %k : index
          %t = tile.load %x0[%o] sizes [1] fill 0 : X0 -> !tile.tile<1xf32>
          %n = tile.binary add %acc, %t : !tile.tile<1xf32>, !tile.tile<1xf32> -> !tile.tile<1xf32>
          tile.yield %n : !tile.tile<1xf32>
        }
        tile.store %s, %y[%i] sizes [1] : !tile.tile<1xf32> -> Y
      }"""
    x = np.arange(15, dtype=np.float32)
    padded = np.pad(x, (0, 10))
    expected = [1 + padded[3 * i : 3 * i + 6 : 2].sum() for i in range(5)]
    assert (run(body, [x], "5xf32", cores=2) == expected).all()


def test_index_arithmetic() -> None:
    body = """
      %c7 = arith.constant 7 : index
      %c3 = arith.constant 3 : index
      %q = arith.divui %c7, %c3 : index
      %r = arith.remui %c7, %c3 : index
      %s = arith.subi %q, %r : index
      %m = arith.minsi %s, %c3 : index
      %n = arith.maxsi %m, %q : index
      %t = tile.load %x0[%n] sizes [1] : X0 -> !tile.tile<1xf16>
      tile.store %t, %y[%s] sizes [1] : !tile.tile<1xf16> -> Y"""
    x = halves(8)
    assert run(body, [x], "2xf16")[1] == x[2]


@pytest.mark.parametrize(("stride_h", "stride_w"), [(1, 1), (1, 3), (2, 1), (2, 3)])
@pytest.mark.parametrize(("dilation", "pads"), [(1, (1, 2)), (2, (3, 0)), (1, (0, 0))])
def test_im2col(stride_h: int, stride_w: int, dilation: int, pads: tuple[int, int]) -> None:
    c1, rows, width, kh, kw = 2, 6, 9, 2, 3
    slab = halves(c1, rows, width, 16)
    out_h = (rows - (kh - 1) * dilation - 1) // stride_h + 1
    out_w = (width + sum(pads) - (kw - 1) * dilation - 1) // stride_w + 1
    m, k1, blocks = 2, 3, 7
    window = (
        f"kernel [2, 3] strides [{stride_h}, {stride_w}] dilations [{dilation}, {dilation}] "
        f"pads [{pads[0]}, {pads[1]}] out_width {out_w}"
    )
    body = f"""
      %s = tile.load %x0[0, 0, 0, 0] sizes [2, 6, 9, 16] : X0 -> !tile.tile<2x6x9x16xf16>
      %a = tile.im2col %s[{m}, {k1}] {window} : !tile.tile<2x6x9x16xf16> -> !tile.tile<7x32x16xf16>
      tile.store %a, %y[0, 0, 0] sizes [7, 32, 16] : !tile.tile<7x32x16xf16> -> Y"""
    result = run(body, [slab], "7x32x16xf16")
    for block, position in product(range(blocks), range(32)):
        c, tap = divmod(k1 + block, kh * kw)
        row, column = divmod(m + position, out_w)
        i = row * stride_h + tap // kw * dilation
        j = column * stride_w + tap % kw * dilation - pads[0]
        inside = row < out_h and 0 <= j < width
        expected = slab[c, i, j] if inside else np.zeros(16)
        assert (result[block, position] == expected).all()


@pytest.mark.parametrize("fractal_z", [True, False])
def test_matmul(fractal_z: bool) -> None:
    a, acc = halves(3, 32, 16), RANDOM.standard_normal((2, 32, 16)).astype(np.float32)
    b = halves(3, 2, 16, 16) if fractal_z else halves(2, 48, 16)
    size, offsets = ("3x2x16x16", "0, 0, 0, 0") if fractal_z else ("2x48x16", "0, 0, 0")
    sizes = size.replace("x", ", ")
    body = f"""
      %a = tile.load %x0[0, 0, 0] sizes [3, 32, 16] : X0 -> !tile.tile<3x32x16xf16>
      %b = tile.load %x1[{offsets}] sizes [{sizes}] : X1 -> !tile.tile<{size}xf16>
      %c = tile.load %x2[0, 0, 0] sizes [2, 32, 16] : X2 -> !tile.tile<2x32x16xf32>
      %r = tile.matmul %a, %b, %c : !tile.tile<3x32x16xf16>, !tile.tile<{size}xf16> -> !tile.tile<2x32x16xf32>
      tile.store %r, %y[0, 0, 0] sizes [2, 32, 16] : !tile.tile<2x32x16xf32> -> Y"""
    wide = [array.astype(np.float64) for array in (a, b)]
    if not fractal_z:
        wide[1] = wide[1].reshape(2, 3, 16, 16).transpose(1, 0, 3, 2)
    expected = acc + np.einsum("kmc,kndc->nmd", *wide)
    np.testing.assert_allclose(run(body, [a, b, acc], "2x32x16xf32"), expected, rtol=1e-5, atol=1e-5)


def test_float16_results_are_rounded_once_and_saturate() -> None:
    body = """
      %a = tile.load %x0[0] sizes [4] : X0 -> !tile.tile<4xf16>
      %r = tile.binary mul %a, %a : !tile.tile<4xf16>, !tile.tile<4xf16> -> !tile.tile<4xf16>
      tile.store %r, %y[0] sizes [4] : !tile.tile<4xf16> -> Y"""
    x = np.array([300, -1, 1.0009765625, np.nan], np.float16)
    y = run(body, [x], "4xf16")
    assert y[0] == 65504 and y[1] == 1 and y[2] == np.float16(np.float32(x[2]) ** 2) and np.isnan(y[3])


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("tile.unary exp %a", np.exp),
        ("tile.unary ln %a", np.log),
        ("tile.unary abs %a", np.abs),
        ("tile.unary relu %a", lambda x: np.maximum(x, 0)),
        ("tile.unary rec %a", lambda x: 1 / x),
        ("tile.unary sqrt %a", np.sqrt),
        ("tile.unary rsqrt %a", lambda x: x**-0.5),
        ("tile.unary neg %a", np.negative),
        ("tile.scalar adds %a, -2", lambda x: x - 2),
        ("tile.scalar muls %a, 0.25", lambda x: x / 4),
        ("tile.scalar maxs %a, 1", lambda x: np.maximum(x, 1)),
        ("tile.scalar mins %a, 1", lambda x: np.minimum(x, 1)),
    ],
)
def test_elementwise(op: str, function: object) -> None:
    x = (np.abs(RANDOM.standard_normal(32)) + 0.1).astype(np.float32)
    body = f"""
      %a = tile.load %x0[0] sizes [32] : X0 -> !tile.tile<32xf32>
      %r = {op} : !tile.tile<32xf32>
      tile.store %r, %y[0] sizes [32] : !tile.tile<32xf32> -> Y"""
    np.testing.assert_allclose(run(body, [x], "32xf32"), function(x.astype(np.float64)), rtol=1e-6)  # pyright: ignore


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("max", np.maximum),
        ("min", np.minimum),
    ],
)
def test_binary_broadcasts(kind: str, function: np.ufunc) -> None:
    a, b = RANDOM.uniform(1, 2, (3, 1, 4)).astype(np.float32), RANDOM.uniform(1, 2, (1, 5, 1)).astype(np.float32)
    body = f"""
      %a = tile.load %x0[0, 0, 0] sizes [3, 1, 4] : X0 -> !tile.tile<3x1x4xf32>
      %b = tile.load %x1[0, 0, 0] sizes [1, 5, 1] : X1 -> !tile.tile<1x5x1xf32>
      %w = tile.broadcast %a : !tile.tile<3x1x4xf32> -> !tile.tile<3x5x4xf32>
      %r = tile.binary {kind} %w, %b : !tile.tile<3x5x4xf32>, !tile.tile<1x5x1xf32> -> !tile.tile<3x5x4xf32>
      tile.store %r, %y[0, 0, 0] sizes [3, 5, 4] : !tile.tile<3x5x4xf32> -> Y"""
    assert (run(body, [a, b], "3x5x4xf32") == function(a, b)).all()


def test_reductions_and_shapes() -> None:
    x = halves(32, 16)
    body = """
      %a = tile.load %x0[0, 0] sizes [32, 16] : X0 -> !tile.tile<32x16xf16>
      %t = tile.transpose %a : !tile.tile<32x16xf16> -> !tile.tile<16x32xf16>
      %p = tile.slice %t[1, 3] sizes [4, 5] strides [3, 2] : !tile.tile<16x32xf16> -> !tile.tile<4x5xf16>
      %m = tile.reduce max %p {axis = 1} : !tile.tile<4x5xf16> -> !tile.tile<4x1xf16>
      %s = tile.reduce sum %p {axis = 0} : !tile.tile<4x5xf16> -> !tile.tile<1x5xf16>
      %r = tile.reshape %s : !tile.tile<1x5xf16> -> !tile.tile<5x1xf16>
      %c = tile.concat %m, %r : !tile.tile<4x1xf16>, !tile.tile<5x1xf16> -> !tile.tile<9x1xf16>
      tile.store %c, %y[0] sizes [9] : !tile.tile<9x1xf16> -> Y"""
    part = x.T[1:13:3, 3:13:2].astype(np.float32)
    expected = np.concatenate([part.max(1), part.sum(0)]).astype(np.float16)
    assert (run(body, [x], "9xf16") == expected).all()


def test_concatenation_along_another_axis() -> None:
    """Rows of two tiles take turns."""
    x = halves(6, 16)
    body = """
      %a = tile.load %x0[0, 0] sizes [3, 16] : X0 -> !tile.tile<3x1x16xf16>
      %b = tile.load %x0[3, 0] sizes [3, 16] : X0 -> !tile.tile<3x1x16xf16>
      %c = tile.concat %a, %b {axis = 1} : !tile.tile<3x1x16xf16>, !tile.tile<3x1x16xf16> -> !tile.tile<3x2x16xf16>
      tile.store %c, %y[0, 0] sizes [6, 16] : !tile.tile<3x2x16xf16> -> Y"""
    assert (run(body, [x], "6x16xf16") == x[[0, 3, 1, 4, 2, 5]]).all()


def test_arrays_that_do_not_fit_are_refused() -> None:
    module = parse_module("""
      tile.kernel @k(%x: !tile.gm<4xf16>, %y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
        %t = tile.load %x[0] sizes [4] : !tile.gm<4xf16> -> !tile.tile<4xf16>
        tile.store %t, %y[0] sizes [4] : !tile.tile<4xf16> -> !tile.gm<4xf16>
      }""")
    kernel = module.body.block.first_op
    assert kernel is not None
    assert run_kernel(kernel, [halves(2, 2)])[0].shape == (4,)
    for arrays in ([], [halves(5)], [np.zeros(4, np.float32)]):
        with pytest.raises(GeError, match="GE3010"):
            run_kernel(kernel, arrays)
