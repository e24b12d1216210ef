"""What a tile kernel computes: an evaluator on NumPy arrays.

:func:`run_kernel` runs all cores of a kernel one after the other (they never write the same bytes, so the order is all
one). Tiles are arrays of their element type; results are rounded once, saturating, from float32. Outputs start as NaN,
so that what a kernel forgets to write shows (those of integers as the least one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.tile import compute, matrix, movement, structure, transfer
from ge.dialects.tile.compute import BinaryKind, ReduceKind, ScalarKind, UnaryKind
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import GmType, TileType, gm_type, tile_type
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.maths.floats import to_float16, to_integers

Array: TypeAlias = NDArray[Any]


class Values(dict[SSAValue, Any]):
    """What each value is: an array for a tensor or a tile, an ``int`` for an index."""

    spoil: bool = False
    """Whether stores spoil what the hardware may overwrite; see `run_kernel`."""


BLOCK_BYTES = 32
"""What a transfer writes at least."""

Evaluator: TypeAlias = Callable[[Any, Values], None]


def run_kernel(
    kernel: Operation, arrays: Sequence[Array], *, order: Iterable[int] | None = None, spoil: bool = False
) -> list[Array]:
    """Run a ``tile.kernel`` on its inputs and return its outputs, all in storage format.

    An array may have any shape with as many elements as the argument; outputs have the shapes of the arguments.
    For tests, cores run in another ``order``, and stores ``spoil`` with NaN what a row rounds up to: a transfer writes
    whole blocks of 32 bytes, so the one after the end of a row loses the bytes that share the row's last block.
    Raises GE3010 when an array does not fit its argument, GE3012 when a slice without ``fill`` lies outside its tensor.
    """
    kernel = cast(structure.KernelOp, kernel)
    split = len(kernel.arguments) - kernel.output_count
    if len(arrays) != split:
        raise GeError("GE3010", f"the kernel has {split} inputs, {len(arrays)} given", where(kernel))
    memory = {
        argument: _as_argument(array, gm_type(argument), kernel)
        for argument, array in zip(kernel.arguments[:split], arrays, strict=True)
    }
    for argument in kernel.arguments[split:]:
        memory[argument] = np.full(gm_type(argument).sizes, _spoilt(argument.type), _dtype(argument.type))
    with np.errstate(all="ignore"):
        for core in range(kernel.block_count) if order is None else order:
            values = Values({**memory, kernel.core: core})
            values.spoil = spoil
            _run_block(kernel.body.block, values)
    return [memory[argument] for argument in kernel.arguments[split:]]


def _as_argument(array: Array, type: GmType, kernel: Operation) -> Array:
    if array.size != type.element_count or array.dtype != _dtype(type):
        raise GeError("GE3010", f"an array {array.dtype}{list(array.shape)} does not fit {type}", where(kernel))
    return array.reshape(type.sizes)


def _spoilt(type: Any) -> float:
    """What an element that nobody wrote is: NaN, or the least integer."""
    dtype = _dtype(type)
    return np.nan if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _dtype(type: Any) -> np.dtype[Any]:
    return numpy_dtype(cast(GmType | TileType, type).element_type)


def _run_block(block: Block, values: Values) -> None:
    """Evaluate the operations of a block in order."""
    for op in block.ops:
        evaluate = _EVALUATORS.get(type(op))
        if evaluate is None:
            raise GeError("GE3004", f"operation '{op.name}' has no meaning in a tile kernel", where(op))
        evaluate(op, values)


def _index(position: Index, values: Values) -> int:
    return position if isinstance(position, int) else values[position]


# index arithmetic


def _arith_constant(op: arith.ConstantOp, values: Values) -> None:
    values[op.result] = cast(IntegerAttr, op.value).value.data


def _arith(function: Callable[[int, int], int]) -> Evaluator:
    def evaluate(op: Operation, values: Values) -> None:
        values[op.results[0]] = function(values[op.operands[0]], values[op.operands[1]])

    return evaluate


# loops and transfers


def _for(op: structure.ForOp, values: Values) -> None:
    carried = [values[value] for value in op.initial]
    bounds = (_index(bound, values) for bound in (op.lower, op.upper, op.step))
    for counter in range(*bounds):
        values[op.counter] = counter
        values.update(zip(op.carried, carried, strict=True))
        _run_block(op.body.block, values)
        carried = [values[value] for value in op.yielded]
    values.update(zip(op.results, carried, strict=True))


def _yield(op: structure.YieldOp, values: Values) -> None:
    """The loop reads the operands."""


def _window(
    offsets: Sequence[int], sizes: Sequence[int], bounds: Sequence[int]
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The part of a slice that lies inside a tensor of sizes ``bounds``: where it is there, and where in the slice."""
    ends = [min(offset + size, bound) for offset, size, bound in zip(offsets, sizes, bounds, strict=True)]
    starts = [min(max(offset, 0), end) for offset, end in zip(offsets, ends, strict=True)]
    if any(end <= start for start, end in zip(starts, ends, strict=True)):
        nothing = (slice(0, 0),) * len(starts)
        return nothing, nothing
    there = tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))
    here = tuple(slice(s - o, e - o) for s, e, o in zip(starts, ends, offsets, strict=True))
    return there, here


def _load(op: transfer.LoadOp, values: Values) -> None:
    tensor: Array = values[op.source]
    offsets, sizes = [_index(offset, values) for offset in op.offsets], op.slice_sizes
    there, here = _window(offsets, sizes, tensor.shape)
    result = np.full(sizes, 0 if op.fill_value is None else op.fill_value, tensor.dtype)
    result[here] = tensor[there]
    if op.fill_value is None and tensor[there].size != result.size:
        raise GeError("GE3012", f"slice at {offsets} of {list(sizes)} is outside of {gm_type(op.source)}", where(op))
    values[op.result] = result.reshape(tile_type(op.result).sizes)


def _store(op: transfer.StoreOp, values: Values) -> None:
    tensor: Array = values[op.target]
    offsets, sizes = [_index(offset, values) for offset in op.offsets], op.slice_sizes
    there, here = _window(offsets, sizes, tensor.shape)
    part = values[op.value].reshape(sizes)[here]
    rest = -part.shape[-1] * tensor.itemsize % BLOCK_BYTES // tensor.itemsize if values.spoil else 0
    if not rest:
        tensor[there] = part
        return
    flat, rows = tensor.reshape(-1), part.reshape(-1, part.shape[-1])
    starts = np.arange(tensor.size).reshape(tensor.shape)[there].reshape(rows.shape)[:, 0]
    for start, row in zip(starts, rows, strict=True):
        flat[start : start + row.size + rest] = _spoilt(op.target.type)
        flat[start : start + row.size] = row


# matrices


def _im2col(op: matrix.Im2colOp, values: Values) -> None:
    slab: Array = values[op.slab]
    (kh, kw), (sh, sw) = tuple(op.kernel.iter_values()), tuple(op.strides.iter_values())
    dh, dw = op.dilations.iter_values()
    left, right = op.pads.iter_values()
    blocks, positions, lanes = tile_type(op.result).sizes
    padded = np.pad(slab, ((0, 0), (0, 0), (left, right), (0, 0)), constant_values=op.pad_value)
    height = (padded.shape[1] - (kh - 1) * dh - 1) // sh + 1
    width = op.out_width.value.data
    m, k1 = _index(op.position, values), _index(op.k_block, values)
    result = np.full((blocks, positions, lanes), op.pad_value, slab.dtype)
    for block in range(blocks):
        c1, tap = divmod(k1 + block, kh * kw)
        top, start = tap // kw * dh, tap % kw * dw
        windows = padded[c1, top : top + (height - 1) * sh + 1 : sh, start : start + (width - 1) * sw + 1 : sw]
        part = windows.reshape(-1, lanes)[m : m + positions]
        result[block, : len(part)] = part
    values[op.result] = result


def _matmul(op: matrix.MatmulOp, values: Values) -> None:
    exact = np.float32 if _dtype(op.acc.type) == np.float32 else np.float64
    a, b, acc = (cast(Array, values[value]).astype(exact) for value in (op.a, op.b, op.acc))
    n1, m, lanes = acc.shape
    rows = a.transpose(1, 0, 2).reshape(m, -1)
    columns = b.transpose(0, 3, 1, 2) if op.b_is_fractal_z else b.transpose(1, 0, 2)
    product = rows @ columns.reshape(rows.shape[1], n1 * lanes)
    values[op.result] = (acc + product.reshape(m, n1, lanes).transpose(1, 0, 2)).astype(_dtype(op.acc.type))


# elementwise

_BINARY: Mapping[BinaryKind, Callable[[Array, Array], Array]] = {
    BinaryKind.ADD: np.add,
    BinaryKind.SUB: np.subtract,
    BinaryKind.MUL: np.multiply,
    BinaryKind.DIV: np.divide,
    BinaryKind.MAX: np.maximum,
    BinaryKind.MIN: np.minimum,
}

_UNARY: Mapping[UnaryKind, Callable[[Array], Array]] = {
    UnaryKind.EXP: np.exp,
    UnaryKind.LN: np.log,
    UnaryKind.ABS: np.abs,
    UnaryKind.RELU: lambda x: np.maximum(x, np.float32(0)),
    UnaryKind.REC: lambda x: np.float32(1) / x,
    UnaryKind.SQRT: np.sqrt,
    UnaryKind.RSQRT: lambda x: np.float32(1) / np.sqrt(x),
    UnaryKind.NEG: np.negative,
}

_SCALAR: Mapping[ScalarKind, Callable[[Array, Array], Array]] = {
    ScalarKind.ADDS: np.add,
    ScalarKind.MULS: np.multiply,
    ScalarKind.MAXS: np.maximum,
    ScalarKind.MINS: np.minimum,
}


def _rounded(values: Array, type: Any) -> Array:
    """Results in the element type of a tile: rounded once, saturating."""
    dtype = _dtype(type)
    if dtype.kind in "iu":
        return to_integers(values, dtype)
    return to_float16(values) if dtype == np.float16 else values


def _binary(op: compute.BinaryOp, values: Values) -> None:
    lhs, rhs = (cast(Array, values[value]).astype(np.float32) for value in (op.lhs, op.rhs))
    values[op.result] = _rounded(_BINARY[op.kind.data](lhs, rhs), op.result.type)


def _unary(op: compute.UnaryOp, values: Values) -> None:
    source = cast(Array, values[op.source]).astype(np.float32)
    values[op.result] = _rounded(_UNARY[op.kind.data](source), op.result.type)


def _scalar(op: compute.ScalarOp, values: Values) -> None:
    source, number = cast(Array, values[op.source]).astype(np.float32), np.asarray(op.number, np.float32)
    values[op.result] = _rounded(_SCALAR[op.kind.data](source, number), op.result.type)


def _cast(op: compute.CastOp, values: Values) -> None:
    values[op.result] = _rounded(cast(Array, values[op.source]).astype(np.float32), op.result.type)


# shapes


def _constant(op: compute.ConstantOp, values: Values) -> None:
    values[op.result] = np.full(tile_type(op.result).sizes, op.number, _dtype(op.result.type))


def _broadcast(op: compute.BroadcastOp, values: Values) -> None:
    values[op.result] = np.broadcast_to(values[op.source], tile_type(op.result).sizes)


def _slice(op: movement.SliceOp, values: Values) -> None:
    offsets = [_index(offset, values) for offset in op.offsets]
    sizes, strides = op.sizes.iter_values(), op.strides.iter_values()
    part = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides, strict=True))
    result = cast(Array, values[op.source])[part]
    if result.shape != tile_type(op.result).sizes:
        raise GeError("GE3012", f"slice at {offsets} is outside of {tile_type(op.source)}", where(op))
    values[op.result] = result


def _reduce(op: compute.ReduceOp, values: Values) -> None:
    source = cast(Array, values[op.source]).astype(np.float32)
    function = np.sum if op.kind.data is ReduceKind.SUM else np.max
    values[op.result] = _rounded(function(source, axis=op.axis_number, keepdims=True), op.result.type)


def _transpose(op: movement.TransposeOp, values: Values) -> None:
    values[op.result] = cast(Array, values[op.source]).T


def _concat(op: movement.ConcatOp, values: Values) -> None:
    values[op.result] = np.concatenate([values[part] for part in op.parts], axis=op.axis_number)


def _reshape(op: movement.ReshapeOp, values: Values) -> None:
    values[op.result] = cast(Array, values[op.source]).reshape(tile_type(op.result).sizes)


_EVALUATORS: Mapping[type[Operation], Evaluator] = {
    arith.ConstantOp: _arith_constant,
    arith.AddiOp: _arith(lambda a, b: a + b),
    arith.SubiOp: _arith(lambda a, b: a - b),
    arith.MuliOp: _arith(lambda a, b: a * b),
    arith.DivUIOp: _arith(lambda a, b: a // b),
    arith.RemUIOp: _arith(lambda a, b: a % b),
    arith.MinSIOp: _arith(min),
    arith.MaxSIOp: _arith(max),
    structure.ForOp: _for,
    structure.YieldOp: _yield,
    transfer.LoadOp: _load,
    transfer.StoreOp: _store,
    matrix.Im2colOp: _im2col,
    matrix.MatmulOp: _matmul,
    compute.ConstantOp: _constant,
    compute.BroadcastOp: _broadcast,
    compute.BinaryOp: _binary,
    compute.UnaryOp: _unary,
    compute.ScalarOp: _scalar,
    compute.CastOp: _cast,
    movement.SliceOp: _slice,
    compute.ReduceOp: _reduce,
    movement.TransposeOp: _transpose,
    movement.ConcatOp: _concat,
    movement.ReshapeOp: _reshape,
}
