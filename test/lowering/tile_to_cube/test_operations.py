"""Operations on tiles, one by one: the instructions compute what they mean, in strict mode."""

import pytest
from cube_kernels import check, count_instructions, lowered, tile_kernel

from ge.ir.errors import GeError


def kernel(body: str, arguments: str, blocks: int = 1) -> str:
    """The text of a kernel; `%x`, `%y` ... are its arguments, of which the last one is written."""
    return f"tile.kernel @k({arguments}) grid(%core : {blocks}) outputs(1) {{\n{body}\n}}"


def elementwise(body: str, source: str, target: str | None = None) -> str:
    """A kernel that loads `%a` of type `source` (like "4x10xf16"), and stores `%r` of type `target`."""
    target = target or source
    load = f"%a = tile.load %x[{zeros(source)}] sizes [{sizes(source)}] : !tile.gm<{source}> -> !tile.tile<{source}>"
    store = f"tile.store %r, %y[{zeros(target)}] sizes [{sizes(target)}] : !tile.tile<{target}> -> !tile.gm<{target}>"
    return kernel(f"{load}\n{body}\n{store}", f"%x: !tile.gm<{source}>, %y: !tile.gm<{target}>")


def sizes(type: str) -> str:
    return ", ".join(type.split("x")[:-1])


def zeros(type: str) -> str:
    return ", ".join("0" for _ in type.split("x")[:-1])


# Loads and stores.


@pytest.mark.parametrize(
    ("tensor", "offsets", "tile"),
    [
        ("10x16xf16", "-2, 0", "6x16"),
        ("10x16xf16", "7, 0", "6x16"),
        ("10x16xf16", "-3, 0", "16x16"),
        ("2x10x6x16xf16", "0, -1, -1, 0", "2x12x8x16"),
        ("3x50xf32", "0, 40", "3x16"),
        ("3x50xf16", "0, 0", "5x64"),
        ("3x50xf16", "0, 100", "3x16"),
    ],
)
def test_load_beyond_the_tensor_reads_the_fill(tensor: str, offsets: str, tile: str) -> None:
    type = f"{tile}x{tensor.split('x')[-1]}"
    check(
        kernel(
            f"""%a = tile.load %x[{offsets}] sizes [{sizes(type)}] fill 7 : !tile.gm<{tensor}> -> !tile.tile<{type}>
            tile.store %a, %y[{zeros(type)}] sizes [{sizes(type)}] : !tile.tile<{type}> -> !tile.gm<{type}>""",
            f"%x: !tile.gm<{tensor}>, %y: !tile.gm<{type}>",
        )
    )


def test_load_and_store_at_positions_known_at_run_time() -> None:
    """Tiles of 6 rows of a tensor of 20, with a column of padding on both sides: first and last ones are clipped."""
    check(
        kernel(
            """%six = arith.constant 6 : index
            %one = arith.constant 1 : index
            tile.for %i = %core to 4 step 2 stages(2) {
              %row = arith.muli %i, %six : index
              %above = arith.subi %row, %one : index
              %a = tile.load %x[%above, -1, 0] sizes [8, 7, 16] fill -3
                : !tile.gm<20x5x16xf16> -> !tile.tile<8x7x16xf16>
              %p = tile.slice %a[0, 0, 0] sizes [6, 5, 16] strides [1, 1, 1]
                : !tile.tile<8x7x16xf16> -> !tile.tile<6x5x16xf16>
              %q = tile.slice %a[2, 2, 0] sizes [6, 5, 16] strides [1, 1, 1]
                : !tile.tile<8x7x16xf16> -> !tile.tile<6x5x16xf16>
              %r = tile.binary max %p, %q : !tile.tile<6x5x16xf16>, !tile.tile<6x5x16xf16> -> !tile.tile<6x5x16xf16>
              tile.store %r, %y[%row, 0, 0] sizes [6, 5, 16] : !tile.tile<6x5x16xf16> -> !tile.gm<20x5x16xf16>
            }""",
            "%x: !tile.gm<20x5x16xf16>, %y: !tile.gm<20x5x16xf16>",
            blocks=2,
        )
    )


@pytest.mark.parametrize("width", [16, 20, 50, 64])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_rows_that_end_inside_a_block(width: int, element: str) -> None:
    """Each core has rows of its own: the last block of a row reaches into the next one, which is written later."""
    check(
        kernel(
            f"""%four = arith.constant 4 : index
            tile.for %i = 0 to 3 step 1 stages(2) {{
              %row = arith.muli %i, %four : index
              %a = tile.load %x[%row, 0] sizes [4, {width}] fill 0
                : !tile.gm<10x{width}x{element}> -> !tile.tile<4x{width}x{element}>
              %r = tile.scalar adds %a, 1.5 : !tile.tile<4x{width}x{element}>
              tile.store %r, %y[%row, 0] sizes [4, {width}]
                : !tile.tile<4x{width}x{element}> -> !tile.gm<10x{width}x{element}>
            }}""",
            f"%x: !tile.gm<10x{width}x{element}>, %y: !tile.gm<10x{width}x{element}>",
        )
    )


def test_one_row_of_column_blocks_is_stored_as_a_row() -> None:
    """A row of FRACTAL_NZ is blocks that are far apart; in plain order it is a run, here one that ends in a block."""
    check(
        kernel(
            """%a = tile.load %x[0, 0, 0] sizes [4, 3, 16] : !tile.gm<4x3x16xf16> -> !tile.tile<4x3x16xf16>
            tile.for %i = 0 to 3 step 1 {
              %p = tile.slice %a[0, %i, 0] sizes [4, 1, 16] strides [1, 1, 1]
                : !tile.tile<4x3x16xf16> -> !tile.tile<4x1x16xf16>
              %r = tile.reshape %p : !tile.tile<4x1x16xf16> -> !tile.tile<1x64xf16>
              tile.store %r, %y[%i, 0] sizes [1, 64] : !tile.tile<1x64xf16> -> !tile.gm<3x55xf16>
            }""",
            "%x: !tile.gm<4x3x16xf16>, %y: !tile.gm<3x55xf16>",
        )
    )


# Elementwise.


@pytest.mark.parametrize("kind", ["exp", "abs", "relu", "neg", "rec"])
@pytest.mark.parametrize("type", ["3x40xf16", "4x7x16xf32", "5xf32", "1x1xf16"])
def test_unary(kind: str, type: str) -> None:
    check(elementwise(f"%r = tile.unary {kind} %a : !tile.tile<{type}>", type))


@pytest.mark.parametrize("kind", ["ln", "sqrt", "rsqrt"])
def test_unary_of_positive_numbers(kind: str) -> None:
    body = f"""%b = tile.unary abs %a : !tile.tile<3x40xf32>
    %c = tile.scalar adds %b, 0.5 : !tile.tile<3x40xf32>
    %r = tile.unary {kind} %c : !tile.tile<3x40xf32>"""
    check(elementwise(body, "3x40xf32"))


@pytest.mark.parametrize("kind", ["adds", "muls", "maxs", "mins"])
def test_scalar(kind: str) -> None:
    check(elementwise(f"%r = tile.scalar {kind} %a, 0.25 : !tile.tile<6x16xf16>", "6x16xf16"))


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "max", "min"])
@pytest.mark.parametrize("order", ["%a, %c", "%c, %a"])
def test_binary_with_a_constant(kind: str, order: str) -> None:
    body = f"""%c = tile.constant 1.5 : !tile.tile<6x16xf32>
    %r = tile.binary {kind} {order} : !tile.tile<6x16xf32>, !tile.tile<6x16xf32> -> !tile.tile<6x16xf32>"""
    check(elementwise(body, "6x16xf32"))


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "max"])
@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("swap", [False, True])
def test_binary_with_one_number_for_each_row(kind: str, element: str, swap: bool) -> None:
    """Numbers, made by a reduction, for 7 rows that end inside a block."""
    rows, numbers = f"!tile.tile<7x50x{element}>", f"!tile.tile<7x1x{element}>"
    operands, types = ("%n, %a", f"{numbers}, {rows}") if swap else ("%a, %n", f"{rows}, {numbers}")
    body = f"""%b = tile.reduce max %a {{axis = 1 : i64}} : {rows} -> {numbers}
    %n = tile.scalar adds %b, 1 : {numbers}
    %r = tile.binary {kind} {operands} : {types} -> {rows}"""
    source = f"7x50x{element}"
    check(elementwise(body, source))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_binary_with_one_row_for_each_block_of_channels(element: str) -> None:
    body = f"""%b = tile.slice %a[0, 3, 0] sizes [4, 1, 16] strides [1, 1, 1]
      : !tile.tile<4x9x16x{element}> -> !tile.tile<4x1x16x{element}>
    %r = tile.binary sub %a, %b
      : !tile.tile<4x9x16x{element}>, !tile.tile<4x1x16x{element}> -> !tile.tile<4x9x16x{element}>"""
    check(elementwise(body, f"4x9x16x{element}"))


def test_binary_of_two_broadcasts() -> None:
    body = """%b = tile.slice %a[0, 0, 0] sizes [4, 1, 16] strides [1, 1, 1]
      : !tile.tile<4x9x16xf32> -> !tile.tile<4x1x16xf32>
    %c = tile.slice %a[1, 0, 0] sizes [1, 9, 16] strides [1, 1, 1]
      : !tile.tile<4x9x16xf32> -> !tile.tile<1x9x16xf32>
    %r = tile.binary add %b, %c : !tile.tile<4x1x16xf32>, !tile.tile<1x9x16xf32> -> !tile.tile<4x9x16xf32>"""
    check(elementwise(body, "4x9x16xf32"))


@pytest.mark.parametrize("shape", ["3x40", "4x7x16", "5"])
def test_casts_round_and_saturate(shape: str) -> None:
    body = f"""%b = tile.scalar muls %a, 1000000 : !tile.tile<{shape}xf32>
    %r = tile.cast %b : !tile.tile<{shape}xf32> -> !tile.tile<{shape}xf16>"""
    result = check(elementwise(body, f"{shape}xf32", f"{shape}xf16"))
    assert result.saturated > 0
    check(
        elementwise(
            f"%r = tile.cast %a : !tile.tile<{shape}xf16> -> !tile.tile<{shape}xf32>", f"{shape}xf16", f"{shape}xf32"
        )
    )


def test_a_chain_of_functions_takes_one_buffer() -> None:
    """Results take the place of operands that end there; the loaded tile and the result are buffers of their own."""
    body = """%b = tile.scalar muls %a, 2 : !tile.tile<4x64xf16>
    %c = tile.unary exp %b : !tile.tile<4x64xf16>
    %d = tile.scalar adds %c, 1 : !tile.tile<4x64xf16>
    %r = tile.unary rec %d : !tile.tile<4x64xf16>"""
    text = elementwise(body, "4x64xf16")
    check(text)
    allocs = [op for op in lowered(tile_kernel(text)).walk() if op.name == "cube.alloc"]
    assert len(allocs) == 2


# Slices, shapes, order.


@pytest.mark.parametrize(
    ("offsets", "size", "strides"),
    [("0, 1, 0", "4x4x16", "1, 2, 1"), ("1, 0, 0", "2x9x16", "2, 1, 1"), ("0, 2, 0", "4x3x16", "1, 3, 1")],
)
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_strided_slices(offsets: str, size: str, strides: str, element: str) -> None:
    part = f"{size}x{element}"
    body = f"""%p = tile.slice %a[{offsets}] sizes [{sizes(part)}] strides [{strides}]
      : !tile.tile<4x9x16x{element}> -> !tile.tile<{part}>
    %r = tile.scalar adds %p, 1 : !tile.tile<{part}>"""
    check(elementwise(body, f"4x9x16x{element}", part))


def test_concat_computes_parts_in_place_and_copies_others() -> None:
    body = """%b = tile.scalar adds %a, 1 : !tile.tile<3x16xf16>
    %c = tile.slice %a[1, 0] sizes [2, 16] strides [1, 1] : !tile.tile<3x16xf16> -> !tile.tile<2x16xf16>
    %r = tile.concat %b, %c, %a
      : !tile.tile<3x16xf16>, !tile.tile<2x16xf16>, !tile.tile<3x16xf16> -> !tile.tile<8x16xf16>"""
    text = elementwise(body, "3x16xf16", "8x16xf16")
    check(text)
    assert count_instructions(lowered(tile_kernel(text)))["copy_ub_to_ub"] == 2


def test_rows_that_take_turns_are_transposed() -> None:
    """A concatenation along axis 1, seen as a matrix: its rows are one row apart, though they are of two dimensions."""
    body = """%b = tile.slice %a[0, 0] sizes [8, 32] strides [1, 1] : !tile.tile<16x32xf16> -> !tile.tile<8x32xf16>
    %c = tile.slice %a[8, 0] sizes [8, 32] strides [1, 1] : !tile.tile<16x32xf16> -> !tile.tile<8x32xf16>
    %p = tile.reshape %b : !tile.tile<8x32xf16> -> !tile.tile<8x1x32xf16>
    %q = tile.reshape %c : !tile.tile<8x32xf16> -> !tile.tile<8x1x32xf16>
    %t = tile.concat %p, %q {axis = 1} : !tile.tile<8x1x32xf16>, !tile.tile<8x1x32xf16> -> !tile.tile<8x2x32xf16>
    %m = tile.reshape %t : !tile.tile<8x2x32xf16> -> !tile.tile<16x32xf16>
    %r = tile.transpose %m : !tile.tile<16x32xf16> -> !tile.tile<32x16xf16>"""
    check(elementwise(body, "16x32xf16", "32x16xf16"))


@pytest.mark.parametrize("shape", ["48x16", "16x48", "16x16"])
def test_transpose(shape: str) -> None:
    turned = "x".join(reversed(shape.split("x")))
    body = f"%r = tile.transpose %a : !tile.tile<{shape}xf16> -> !tile.tile<{turned}xf16>"
    check(elementwise(body, f"{shape}xf16", f"{turned}xf16"))


def test_transpose_of_every_second_row() -> None:
    body = """%p = tile.slice %a[1, 0] sizes [16, 32] strides [2, 1] : !tile.tile<32x32xf16> -> !tile.tile<16x32xf16>
    %r = tile.transpose %p : !tile.tile<16x32xf16> -> !tile.tile<32x16xf16>"""
    check(elementwise(body, "32x32xf16", "32x16xf16"))


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        *(("7x16", 0), ("8x3x16", 0), ("2x5x16", 1), ("3x2x16", 0)),
        *(("1x50", 1), ("5x64", 1), ("5x128", 1), ("4x256", 1), ("3x300", 1), ("6x40", 1), ("1x5000", 1), ("9x16", 1)),
    ],
)
def test_reduce(kind: str, element: str, shape: str, axis: int) -> None:
    """Over a leading axis by halves; over the last one in one go, by chunks, or row by row."""
    reduced = shape.split("x")
    reduced[axis] = "1"
    target = f"{'x'.join(reduced)}x{element}"
    body = f"""%b = tile.scalar muls %a, 0.1 : !tile.tile<{shape}x{element}>
    %r = tile.reduce {kind} %b {{axis = {axis} : i64}} : !tile.tile<{shape}x{element}> -> !tile.tile<{target}>"""
    check(elementwise(body, f"{shape}x{element}", target))


# Loops.


def test_a_tile_carried_through_a_loop_is_computed_in_place() -> None:
    text = kernel(
        """%first = tile.constant 0 : !tile.tile<4x16xf32>
        %r = tile.for %i = 0 to 5 step 1 iter_args(%s = %first : !tile.tile<4x16xf32>) stages(2) {
          %a = tile.load %x[%i, 0, 0] sizes [1, 4, 16] : !tile.gm<5x4x16xf32> -> !tile.tile<4x16xf32>
          %n = tile.binary add %s, %a : !tile.tile<4x16xf32>, !tile.tile<4x16xf32> -> !tile.tile<4x16xf32>
          tile.yield %n : !tile.tile<4x16xf32>
        }
        tile.store %r, %y[0, 0] sizes [4, 16] : !tile.tile<4x16xf32> -> !tile.gm<4x16xf32>""",
        "%x: !tile.gm<5x4x16xf32>, %y: !tile.gm<4x16xf32>",
    )
    check(text)
    assert "copy_ub_to_ub" not in count_instructions(lowered(tile_kernel(text)))


def test_a_carried_tile_that_is_read_afterwards_is_copied() -> None:
    """The old sum is needed after the new one is computed."""
    check(
        kernel(
            """%first = tile.constant 1 : !tile.tile<4x16xf32>
            %r:2 = tile.for %i = 0 to 5 step 1
                iter_args(%s = %first : !tile.tile<4x16xf32>, %t = %first : !tile.tile<4x16xf32>) {
              %a = tile.load %x[%i, 0, 0] sizes [1, 4, 16] : !tile.gm<5x4x16xf32> -> !tile.tile<4x16xf32>
              %n = tile.binary add %s, %a : !tile.tile<4x16xf32>, !tile.tile<4x16xf32> -> !tile.tile<4x16xf32>
              %m = tile.binary mul %s, %n : !tile.tile<4x16xf32>, !tile.tile<4x16xf32> -> !tile.tile<4x16xf32>
              tile.yield %n, %m : !tile.tile<4x16xf32>, !tile.tile<4x16xf32>
            }
            %q = tile.binary add %r#0, %r#1 : !tile.tile<4x16xf32>, !tile.tile<4x16xf32> -> !tile.tile<4x16xf32>
            tile.store %q, %y[0, 0] sizes [4, 16] : !tile.tile<4x16xf32> -> !tile.gm<4x16xf32>""",
            "%x: !tile.gm<5x4x16xf32>, %y: !tile.gm<4x16xf32>",
        )
    )


MATMUL = "!tile.tile<1x32x16xf16>, !tile.tile<1x2x16x16xf16> -> !tile.tile<2x32x16xf32>"


def accumulate(steps: str, initial: str = "tile.constant 0") -> str:
    """A kernel that adds `steps` products of 32 x 16 and 16 x 32, from `initial`."""
    return kernel(
        f"""%one = arith.constant 1 : index
        %first = {initial} : !tile.tile<2x32x16xf32>
        %r = tile.for %i = {steps} iter_args(%acc = %first : !tile.tile<2x32x16xf32>) stages(2) {{
          %a = tile.load %x[%i, 0, 0] sizes [1, 32, 16] : !tile.gm<3x32x16xf16> -> !tile.tile<1x32x16xf16>
          %b = tile.load %w[%i, 0, 0, 0] sizes [1, 2, 16, 16] : !tile.gm<3x2x16x16xf16> -> !tile.tile<1x2x16x16xf16>
          %n = tile.matmul %a, %b, %acc : {MATMUL}
          tile.yield %n : !tile.tile<2x32x16xf32>
        }}
        %h = tile.cast %r : !tile.tile<2x32x16xf32> -> !tile.tile<2x32x16xf16>
        tile.store %h, %y[0, 0, 0] sizes [2, 32, 16] : !tile.tile<2x32x16xf16> -> !tile.gm<2x32x16xf16>""",
        "%x: !tile.gm<3x32x16xf16>, %w: !tile.gm<3x2x16x16xf16>, %y: !tile.gm<2x32x16xf16>",
    )


def test_an_accumulator_starts_with_the_first_product() -> None:
    text = accumulate("0 to 3 step 1")
    check(text)
    counts = count_instructions(lowered(tile_kernel(text)))
    assert counts["mmad"] == 1 and "broadcast_ub_to_l0c" not in counts


def test_an_accumulator_of_a_loop_that_may_not_run_is_cleared() -> None:
    """The second core has nothing to add."""
    text = accumulate("%start to 3 step 1").replace(
        "%first =", "%three = arith.constant 3 : index\n%start = arith.muli %core, %three : index\n%first ="
    )
    text = text.replace("grid(%core : 1)", "grid(%core : 2)").replace(
        "!tile.gm<2x32x16xf16>", "!tile.gm<2x2x32x16xf16>"
    )
    text = text.replace("%y[0, 0, 0] sizes [2, 32, 16]", "%y[%core, 0, 0, 0] sizes [1, 2, 32, 16]")
    check(text)
    assert count_instructions(lowered(tile_kernel(text)))["broadcast_ub_to_l0c"] == 1


def test_an_accumulator_may_start_from_another_number() -> None:
    check(accumulate("0 to 3 step 1", "tile.constant 0.5"))


def test_an_operand_of_a_matmul_may_be_computed() -> None:
    """From the unified buffer through L1, for both operands."""
    check(
        kernel(
            f"""%a = tile.load %x[0, 0, 0] sizes [1, 32, 16] : !tile.gm<1x32x16xf16> -> !tile.tile<1x32x16xf16>
            %b = tile.load %w[0, 0, 0, 0] sizes [1, 2, 16, 16] : !tile.gm<1x2x16x16xf16> -> !tile.tile<1x2x16x16xf16>
            %c = tile.unary relu %a : !tile.tile<1x32x16xf16>
            %d = tile.scalar muls %b, 0.5 : !tile.tile<1x2x16x16xf16>
            %zero = tile.constant 0 : !tile.tile<2x32x16xf32>
            %r = tile.matmul %c, %d, %zero : {MATMUL}
            tile.store %r, %y[0, 0, 0] sizes [2, 32, 16] : !tile.tile<2x32x16xf32> -> !tile.gm<2x32x16xf32>""",
            "%x: !tile.gm<1x32x16xf16>, %w: !tile.gm<1x2x16x16xf16>, %y: !tile.gm<2x32x16xf32>",
        )
    )


def test_the_result_of_a_matmul_in_the_unified_buffer() -> None:
    """A relu waits for the move out of L0C; other functions work on float32 afterwards."""
    check(
        kernel(
            f"""%a = tile.load %x[0, 0, 0] sizes [1, 32, 16] : !tile.gm<1x32x16xf16> -> !tile.tile<1x32x16xf16>
            %b = tile.load %w[0, 0, 0, 0] sizes [1, 2, 16, 16] : !tile.gm<1x2x16x16xf16> -> !tile.tile<1x2x16x16xf16>
            %zero = tile.constant 0 : !tile.tile<2x32x16xf32>
            %r = tile.matmul %a, %b, %zero : {MATMUL}
            %s = tile.unary relu %r : !tile.tile<2x32x16xf32>
            %t = tile.unary exp %s : !tile.tile<2x32x16xf32>
            %h = tile.cast %t : !tile.tile<2x32x16xf32> -> !tile.tile<2x32x16xf16>
            tile.store %h, %y[0, 0, 0] sizes [2, 32, 16] : !tile.tile<2x32x16xf16> -> !tile.gm<2x32x16xf16>""",
            "%x: !tile.gm<1x32x16xf16>, %w: !tile.gm<1x2x16x16xf16>, %y: !tile.gm<2x32x16xf16>",
        )
    )


# Errors.


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """%b = tile.slice %a[0, 1] sizes [4, 10] strides [1, 1] : !tile.tile<4x20xf16> -> !tile.tile<4x10xf16>
            %r = tile.unary exp %b : !tile.tile<4x10xf16>""",
            "starts inside a block",
        ),
        (
            """%b = tile.slice %a[0, 0] sizes [4, 10] strides [1, 1] : !tile.tile<4x20xf16> -> !tile.tile<4x10xf16>
            %c = tile.reshape %b : !tile.tile<4x10xf16> -> !tile.tile<8x5xf16>
            %d = tile.unary exp %c : !tile.tile<8x5xf16>
            %r = tile.reshape %d : !tile.tile<8x5xf16> -> !tile.tile<4x10xf16>""",
            "rows that do not fill blocks",
        ),
        (
            """%b = tile.reshape %a : !tile.tile<4x20xf16> -> !tile.tile<5x16xf16>
            %c = tile.slice %b[0, 0] sizes [4, 10] strides [1, 1] : !tile.tile<5x16xf16> -> !tile.tile<4x10xf16>
            %r = tile.unary exp %c : !tile.tile<4x10xf16>""",
            "a move to or from ub that starts inside a block",
        ),
    ],
)
def test_what_has_no_instructions_is_an_error(body: str, message: str) -> None:
    with pytest.raises(GeError, match=message) as raised:
        lowered(tile_kernel(elementwise(body, "4x20xf16", "4x10xf16")))
    assert raised.value.code == "GE4020"
