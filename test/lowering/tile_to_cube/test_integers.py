"""Operations on integers: the instructions compute what they mean, in strict mode."""

import numpy as np
import pytest
from cube_kernels import check, count_instructions, lowered, random_inputs, tile_kernel
from xdsl.utils.exceptions import VerifyException

from ge.ir.errors import GeError


def converted(source: str, steps: list[str], shape: str = "5x3x32") -> str:
    """A kernel that loads a tile, casts it step by step, and stores it."""
    sizes = ", ".join(shape.split("x"))
    zeros = ", ".join("0" for _ in shape.split("x"))
    lines = [
        f"%t0 = tile.load %x[{zeros}] sizes [{sizes}] : !tile.gm<{shape}x{source}> -> !tile.tile<{shape}x{source}>"
    ]
    types = [source, *steps]
    for i, step in enumerate(steps):
        lines.append(f"%t{i + 1} = tile.cast %t{i} : !tile.tile<{shape}x{types[i]}> -> !tile.tile<{shape}x{step}>")
    last = f"!tile.tile<{shape}x{steps[-1]}> -> !tile.gm<{shape}x{steps[-1]}>"
    lines.append(f"tile.store %t{len(steps)}, %y[{zeros}] sizes [{sizes}] : {last}")
    arguments = f"%x: !tile.gm<{shape}x{source}>, %y: !tile.gm<{shape}x{steps[-1]}>"
    return f"tile.kernel @k({arguments}) grid(%core : 1) outputs(1) {{\n" + "\n".join(lines) + "\n}"


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("i8", ["f16", "i8"]),
        ("ui8", ["f16", "ui8"]),
        ("ui8", ["f16", "i8"]),
        ("i8", ["f16", "ui8"]),
        ("i32", ["f32", "i32"]),
        ("i32", ["f16", "i8"]),
        ("f32", ["i32", "f16", "ui8"]),
    ],
)
def test_casts(source: str, steps: list[str]) -> None:
    check(converted(source, steps))


def test_a_run_that_ends_inside_a_block() -> None:
    check(converted("i8", ["f16", "i8"], shape="77"))
    check(converted("i32", ["f32", "i32"], shape="77"))


def test_conversions_that_no_instruction_does() -> None:
    with pytest.raises((GeError, VerifyException), match="no instruction converts i8 to f32"):
        tile_kernel(converted("i8", ["f32"]))


SLAB, WEIGHTS, BIAS = "!tile.gm<2x5x6x32x{x}>", "!tile.gm<18x2x16x32xi8>", "!tile.gm<32xi32>"


def convolution(x: str, y: str, padding: int, top: int) -> str:
    """A 3 x 3 convolution of 64 to 32 channels on one tile, with padding around; scaled, rounded and stored as `y`."""
    slab, acc = f"2x7x6x32x{x}", "2x48x16xi32"
    half, whole = "1x48x16xf16", f"1x48x32x{y}"
    return f"""
tile.kernel @k(%x: {SLAB.format(x=x)}, %w: {WEIGHTS}, %b: {BIAS}, %s: !tile.gm<32xf32>, %y: !tile.gm<1x30x32x{y}>)
    grid(%core : 1) outputs(1) {{
  %bias = tile.load %b[0] sizes [32] : {BIAS} -> !tile.tile<2x1x16xi32>
  %scale = tile.load %s[0] sizes [32] : !tile.gm<32xf32> -> !tile.tile<2x1x16xf32>
  %init = tile.broadcast %bias : !tile.tile<2x1x16xi32> -> !tile.tile<{acc}>
  %slab = tile.load %x[0, {top}, 0, 0] sizes [2, 7, 6, 32] fill {padding} : {SLAB.format(x=x)} -> !tile.tile<{slab}>
  %weights = tile.load %w[0, 0, 0, 0] sizes [18, 2, 16, 32] : {WEIGHTS} -> !tile.tile<18x2x16x32xi8>
  %sum = tile.for %k = 0 to 18 step 9 iter_args(%acc = %init : !tile.tile<{acc}>) stages(2) {{
    %a = tile.im2col %slab[0, %k] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 6
      padding {padding} : !tile.tile<{slab}> -> !tile.tile<9x48x32x{x}>
    %p = tile.slice %weights[%k, 0, 0, 0] sizes [9, 2, 16, 32] strides [1, 1, 1, 1]
      : !tile.tile<18x2x16x32xi8> -> !tile.tile<9x2x16x32xi8>
    %n = tile.matmul %a, %p, %acc : !tile.tile<9x48x32x{x}>, !tile.tile<9x2x16x32xi8> -> !tile.tile<{acc}>
    tile.yield %n : !tile.tile<{acc}>
  }}
  %f = tile.cast %sum : !tile.tile<{acc}> -> !tile.tile<2x48x16xf32>
  %m = tile.binary mul %f, %scale : !tile.tile<2x48x16xf32>, !tile.tile<2x1x16xf32> -> !tile.tile<2x48x16xf32>
  %q = tile.cast %m : !tile.tile<2x48x16xf32> -> !tile.tile<2x48x16xi32>
  %h = tile.cast %q : !tile.tile<2x48x16xi32> -> !tile.tile<2x48x16xf16>
  %even = tile.slice %h[0, 0, 0] sizes [1, 48, 16] strides [2, 1, 1] : !tile.tile<2x48x16xf16> -> !tile.tile<{half}>
  %odd = tile.slice %h[1, 0, 0] sizes [1, 48, 16] strides [2, 1, 1] : !tile.tile<2x48x16xf16> -> !tile.tile<{half}>
  %low = tile.scalar adds %even, 3.0 : !tile.tile<{half}>
  %high = tile.scalar adds %odd, 3.0 : !tile.tile<{half}>
  %both = tile.concat %low, %high {{axis = 2 : i64}} : !tile.tile<{half}>, !tile.tile<{half}> -> !tile.tile<1x48x32xf16>
  %r = tile.cast %both : !tile.tile<1x48x32xf16> -> !tile.tile<{whole}>
  tile.store %r, %y[0, 0, 0] sizes [1, 48, 32] : !tile.tile<{whole}> -> !tile.gm<1x30x32x{y}>
}}"""


@pytest.mark.parametrize(("x", "padding"), [("i8", -128), ("ui8", 200), ("ui8", 0)])
@pytest.mark.parametrize("y", ["i8", "ui8"])
def test_convolution(x: str, y: str, padding: int) -> None:
    """Windows with padding of any value, exact sums, and two blocks of 16 channels put together as one of 32."""
    kernel = tile_kernel(convolution(x, y, padding, top=-1))
    *arrays, scale = random_inputs(kernel)
    result = check(kernel, [*arrays, np.abs(scale) * np.float32(2e-4)])
    assert len(np.unique(result.outputs[0])) > 60, "nearly all results saturate, the test shows little"
    counts = count_instructions(lowered(kernel))
    assert (counts["load3d_b8"], counts["mmad_b8"]) == (1, 1)


def test_padding_is_one_number() -> None:
    text = convolution("ui8", "ui8", 7, top=-1).replace("fill 7", "fill 8")
    with pytest.raises(GeError, match="rows outside of a slab read as 8, columns as 7"):
        lowered(tile_kernel(text))
