"""Elementwise operations on tiles in the unified buffer, by vector instructions with block and repeat strides.

| operation | instruction |
|---|---|
| `tile.binary` | vadd, ...; with a constant tile, the form with a scalar; with one number per row, row by row |
| `tile.unary`, `tile.scalar` | vexp, ..., vadds, ...; `neg` is a product by -1 |
| `tile.cast` | vconv; of an accumulator, the move out of L0C |
| `tile.constant` | nothing, until an instruction wants it in a buffer |
| `tile.broadcast` | nothing: strides of 0 |

A result takes the place of an operand that ends there, when both have the same type.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, FloatAttr, f32
from xdsl.ir import SSAValue

from ge.dialects import tile
from ge.dialects.cube.fields import Integer
from ge.dialects.cube.instruction import FieldValue, Instruction
from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.instructions.copies import CopyUbToUb
from ge.dialects.cube.instructions.matrix import CopyL0cToUb
from ge.dialects.cube.instructions.scalar import ScalarLoad
from ge.dialects.cube.instructions.vector import VectorDup
from ge.dialects.cube.spaces import BLOCK, Space
from ge.dialects.tile.compute import BinaryKind, ScalarKind, UnaryKind
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.places import Accumulator, Place, Splat, UbTile, block_around, dtype_of
from ge.lowering.tile_to_cube.strides import CommonAxis, Layout, VectorCall, VectorLimits, refine, vector_calls
from ge.lowering.tile_to_cube.transfers import MoveAxis, move

Operand = UbTile | Place
"""What a vector instruction reads or writes: a tile, or one block that stands for all of an operand."""


def limits(instruction: type[Instruction]) -> VectorLimits:
    """What the fields of a vector instruction can hold."""
    most = {field.name: field.max for field in instruction.FIELDS if isinstance(field, Integer)}
    return VectorLimits(most["count"], most["dst_blk"], most["dst_rep"])


def vector(k: KernelBuilder, name: str, operands: Mapping[str, Operand], **fields: FieldValue) -> None:
    """Run a vector instruction over tiles of equal shape; an operand that is no tile is one block."""
    instruction = INSTRUCTIONS[name]
    tiles = {field: operand for field, operand in operands.items() if isinstance(operand, UbTile)}
    axes = refine([operand.layout.axes for operand in tiles.values()])
    lanes = [operand.lanes for operand in tiles.values()]
    calls = vector_calls(axes, lanes, limits(instruction)) if axes is not None else None
    if not calls:
        raise k.fail(f"{name} over {[operand.layout.axes for operand in tiles.values()]}: rows that do not fill blocks")
    if any(k.math.divisor(operand.offset) % BLOCK for operand in operands.values()):
        raise k.fail(f"{name} of a tile that starts inside a block")
    for call in calls:
        strides: dict[str, FieldValue] = {}
        for position, field in enumerate(tiles):
            strides |= {f"{field}_blk": call.blocks[position], f"{field}_rep": call.repeats[position]}
        for field in operands.keys() - tiles.keys():
            strides |= {f"{field}_blk": 0, f"{field}_rep": 0}

        def emit(offsets: Sequence[Index], call: VectorCall = call, strides: dict[str, FieldValue] = strides) -> None:
            places: dict[str, FieldValue] = {field: (place.buffer, place.offset) for field, place in operands.items()}
            for field, offset in zip(tiles, offsets, strict=True):
                places[field] = (operands[field].buffer, offset)
            k.add(instruction(**places, count=call.count, **strides, **fields))

        starts = [
            k.math.add(operand.offset, offset * operand.element_bytes)
            for operand, offset in zip(tiles.values(), call.offsets, strict=True)
        ]
        sizes = [operand.element_bytes for operand in tiles.values()]
        around(k, call.loops, starts, sizes, emit)


def around(
    k: KernelBuilder,
    loops: Sequence[CommonAxis],
    offsets: Sequence[Index],
    sizes: Sequence[int],
    emit: Callable[[Sequence[Index]], None],
) -> None:
    """Call `emit` inside loops along `loops`, with the byte offsets of operands of elements of `sizes` bytes."""
    if not loops:
        emit(offsets)
        return
    first, *rest = loops
    for position in k.positions(first.size):
        moved = [
            k.math.add(offset, k.math.mul(position, stride * size))
            for offset, stride, size in zip(offsets, first.strides, sizes, strict=True)
        ]
        around(k, rest, moved, sizes, emit)


def fill(k: KernelBuilder, target: UbTile, value: float) -> None:
    """Write `value` to every element of a tile; of 8 bits, as the float16 of which both bytes are that."""
    if target.element_bytes == 1:
        if not target.layout.is_dense:
            raise k.fail(f"a tile of 8 bits that lies as {target.layout.dims} and is filled")
        halves = Layout.dense([-(-target.layout.extent // target.lanes) * (target.lanes // 2)])
        target, value = UbTile(target.buffer, target.offset, halves, "f16"), half_of_bytes(k, value)
    vector(k, "vector_dup", {"dst": target}, scalar=value, dtype="f32" if target.dtype == "s32" else target.dtype)


def half_of_bytes(k: KernelBuilder, value: float) -> float:
    """The float16 of which both bytes are `value`; no instruction writes one that is not finite."""
    byte = int(value) % 256
    (half,) = struct.unpack("<e", bytes((byte, byte)))
    if byte != value % 256 or not math.isfinite(half):
        raise k.fail(f"elements of 8 bits that are filled with {value}")
    return half


def copy(k: KernelBuilder, dst: UbTile, src: UbTile) -> None:
    """Copy a tile within the unified buffer."""
    axes = refine([dst.layout.axes, src.layout.axes])
    if axes is None:
        raise k.fail(f"a copy from {src.layout.axes} to {dst.layout.axes}")
    size = dst.element_bytes
    moved = [MoveAxis(axis.size, axis.strides[0] * size, axis.strides[1] * size) for axis in axes]
    move(k, CopyUbToUb, dst, src, moved, size)


# Operands and results.


def in_ub(k: KernelBuilder, value: SSAValue) -> UbTile:
    """The place of a tile in the unified buffer, to which a constant or an accumulator is brought first."""
    found = k.find(value, UbTile)
    if found is not None:
        return found
    type = tile_type(value)
    target = k.alloc_tile(type, value.name_hint, doubled=False)
    splat = k.find(value, Splat)
    if splat is not None:
        fill(k, target, splat.value)
    else:
        copy_out(k, k.get(value, Accumulator), target)
    k.put(value, target)
    return target


def copy_out(k: KernelBuilder, source: Accumulator, target: UbTile) -> None:
    """Move an accumulator out of L0C, rounded to the type of `target`."""
    if source.empty is True:
        fill(k, target, 0.0)
        return
    blocks, rows, lanes = source.sizes
    rounded = target.dtype == "f16"
    k.add(
        CopyL0cToUb(
            dst=(target.buffer, target.offset),
            src=(source.buffer, source.offset),
            length=blocks * rows // lanes,
            mode="f16_relu" if source.relu and rounded else "f16" if rounded else "none",
        )
    )
    if source.relu and not rounded:
        vector(k, "vrelu", {"dst": target, "src": target}, dtype=target.dtype)


def result_of(k: KernelBuilder, value: SSAValue, *operands: SSAValue) -> UbTile:
    """Where the result of an operation goes: where it was asked for, else onto an operand that ends here, else anew."""
    target = k.targets.get(value)
    if target is None:
        target = next((k.get(operand, UbTile) for operand in operands if _ends_here(k, operand, value)), None)
    if target is None:
        target = k.alloc_tile(tile_type(value), value.name_hint, doubled=is_stored(value))
    k.temporaries.add(value)
    k.put(value, target)
    return target


def _ends_here(k: KernelBuilder, operand: SSAValue, value: SSAValue) -> bool:
    """Whether nothing else reads `operand`, which this block computed, and `value` fits in its place."""
    alone = operand in k.temporaries and operand.type == value.type and operand.has_one_use()
    return alone and block_around(operand) is block_around(value)


def is_stored(value: SSAValue) -> bool:
    """Whether a tile, or what may be computed onto it, goes to device memory from its place."""
    for use in value.uses:
        match use.operation:
            case tile.StoreOp():
                return True
            case tile.ReshapeOp() | tile.SliceOp() | tile.ConcatOp() as op if is_stored(op.result):
                return True
            case tile.UnaryOp() | tile.ScalarOp() | tile.BinaryOp() as op if op.result.type == value.type:
                if is_stored(op.result):
                    return True
            case _:
                pass
    return False


# Operations.

_UNARY = {kind: f"v{kind.value}" for kind in UnaryKind if kind is not UnaryKind.NEG}
_BINARY = {kind: f"v{kind.value}" for kind in BinaryKind}
_SCALAR = {kind: f"v{kind.value}" for kind in ScalarKind}
_WITH_SCALAR = {
    BinaryKind.ADD: ScalarKind.ADDS,
    BinaryKind.MUL: ScalarKind.MULS,
    BinaryKind.MAX: ScalarKind.MAXS,
    BinaryKind.MIN: ScalarKind.MINS,
}
"""Functions of two tiles that also take a number for one of them."""


def constant(k: KernelBuilder, op: tile.ConstantOp) -> None:
    """A tile of one number takes no instruction yet."""
    k.put(op.result, Splat(op.number))


def broadcast(k: KernelBuilder, op: tile.BroadcastOp) -> None:
    """Repeated dimensions are strides of 0."""
    splat = k.find(op.source, Splat)
    if splat is not None:
        k.put(op.result, splat)
        return
    source = in_ub(k, op.source)
    k.put(op.result, source.with_layout(source.layout.broadcast(tile_type(op.result).sizes)))


def unary(k: KernelBuilder, op: tile.UnaryOp) -> None:
    """A function of one tile; a relu of an accumulator waits for the move out of L0C."""
    accumulator = k.find(op.source, Accumulator)
    if op.kind.data is UnaryKind.RELU and accumulator is not None and k.find(op.source, UbTile) is None:
        k.put(op.result, replace(accumulator, relu=True))
        return
    source = in_ub(k, op.source)
    target = result_of(k, op.result, op.source)
    if op.kind.data is UnaryKind.NEG:
        vector(k, "vmuls", {"dst": target, "src": source}, dtype=target.dtype, scalar=-1.0)
    else:
        vector(k, _UNARY[op.kind.data], {"dst": target, "src": source}, dtype=target.dtype)


def scalar(k: KernelBuilder, op: tile.ScalarOp) -> None:
    """A function of a tile and a number."""
    source = in_ub(k, op.source)
    target = result_of(k, op.result, op.source)
    vector(k, _SCALAR[op.kind.data], {"dst": target, "src": source}, dtype=target.dtype, scalar=op.number)


def cast_(k: KernelBuilder, op: tile.CastOp) -> None:
    """Another element type; to float16, an accumulator leaves L0C that way."""
    accumulator = k.find(op.source, Accumulator)
    to_half = isinstance(tile_type(op.result).element_type, Float16Type)
    if to_half and accumulator is not None and accumulator.dtype == "f32" and k.find(op.source, UbTile) is None:
        copy_out(k, accumulator, result_of(k, op.result))
        return
    source = in_ub(k, op.source)
    target = result_of(k, op.result)
    vector(k, "vconv", {"dst": target, "src": source}, kind=f"{source.dtype}_{target.dtype}")


def binary(k: KernelBuilder, op: tile.BinaryOp) -> None:
    """A function of two tiles; see the module docstring for the forms."""
    kind = op.kind.data
    left, right = k.find(op.lhs, Splat), k.find(op.rhs, Splat)
    if right is not None and left is None and kind is BinaryKind.SUB:
        _with_number(k, op, op.lhs, ScalarKind.ADDS, -right.value)
        return
    if right is not None and left is None and kind in _WITH_SCALAR:
        _with_number(k, op, op.lhs, _WITH_SCALAR[kind], right.value)
        return
    if left is not None and right is None and kind in _WITH_SCALAR:
        _with_number(k, op, op.rhs, _WITH_SCALAR[kind], left.value)
        return
    sizes = tile_type(op.result).sizes
    sources = [_operand(k, value, splat, sizes) for value, splat in ((op.lhs, left), (op.rhs, right))]
    target = result_of(k, op.result, op.lhs, op.rhs)
    rows = [_one_per_row(source, target) for source in sources]
    if any(rows):
        _row_by_row(k, op, target, sources, rows.index(True))
        return
    vector(k, _BINARY[kind], {"dst": target, "src0": sources[0], "src1": sources[1]}, dtype=target.dtype)


def _with_number(k: KernelBuilder, op: tile.BinaryOp, source: SSAValue, kind: ScalarKind, number: float) -> None:
    tile_ = in_ub(k, source)
    sizes = tile_type(op.result).sizes
    tile_ = tile_.with_layout(tile_.layout.broadcast(sizes))
    target = result_of(k, op.result, source)
    vector(k, _SCALAR[kind], {"dst": target, "src": tile_}, dtype=target.dtype, scalar=number)


def _operand(k: KernelBuilder, value: SSAValue, splat: Splat | None, sizes: Sequence[int]) -> Operand:
    """An operand as a tile of `sizes`, or as one block that holds a number."""
    if splat is None:
        source = in_ub(k, value)
        return source.with_layout(source.layout.broadcast(sizes))
    return block_of(k, splat.value, tile_type(value))


def block_of(k: KernelBuilder, number: FieldValue, type: tile.TileType) -> Place:
    """One block full of a number."""
    place = k.alloc(Space.UB, BLOCK, None, doubled=False)
    lanes = BLOCK // type.element_bytes
    k.add(VectorDup(dst=(place.buffer, place.offset), scalar=number, dtype=dtype_of(type), count=lanes))
    return place


def _one_per_row(source: Operand, target: UbTile) -> bool:
    """Whether an operand has the same number for all elements of a row of the target."""
    if not isinstance(source, UbTile):
        return False
    axes = refine([target.layout.axes, source.layout.axes])
    return bool(axes) and axes[-1].strides == (1, 0)


def _row_by_row(k: KernelBuilder, op: tile.BinaryOp, target: UbTile, sources: Sequence[Operand], repeated: int) -> None:
    """One instruction per row, with the number that `sources[repeated]` has for it in a register or a block."""
    numbers, others = cast(UbTile, sources[repeated]), sources[1 - repeated]
    assert isinstance(others, UbTile)
    axes = refine([target.layout.axes, others.layout.axes, numbers.layout.axes])
    if not axes or axes[-1].strides != (1, 1, 0):
        raise k.fail(f"{op.kind.data.value} of a row and a number: rows are not contiguous")
    *loops, inner = axes
    row = Layout.dense([inner.size])
    starts = [target.offset, others.offset, numbers.offset]
    kind = op.kind.data
    one = k.add(arith.ConstantOp(FloatAttr(1.0, f32))).result if kind is BinaryKind.DIV else None

    def emit(offsets: Sequence[Index]) -> None:
        at = k.add(ScalarLoad(src=(numbers.buffer, offsets[2]), dtype=numbers.dtype)).result
        dst = UbTile(target.buffer, offsets[0], row, target.dtype)
        src = UbTile(others.buffer, offsets[1], row, target.dtype)
        if kind is BinaryKind.SUB and repeated == 1:
            negative = k.add(arith.NegfOp(at)).result
            vector(k, "vadds", {"dst": dst, "src": src}, dtype=target.dtype, scalar=negative)
            return
        if one is not None and repeated == 1 and target.dtype == "f32":
            inverse = k.add(arith.DivfOp(one, at)).result
            vector(k, "vmuls", {"dst": dst, "src": src}, dtype=target.dtype, scalar=inverse)
            return
        if kind in _WITH_SCALAR:
            vector(k, _SCALAR[_WITH_SCALAR[kind]], {"dst": dst, "src": src}, dtype=target.dtype, scalar=at)
            return
        block = block_of(k, at, tile_type(op.result))
        ordered = (src, block) if repeated == 1 else (block, src)
        vector(k, _BINARY[kind], {"dst": dst, "src0": ordered[0], "src1": ordered[1]}, dtype=target.dtype)

    around(k, loops, starts, [target.element_bytes] * 3, emit)
