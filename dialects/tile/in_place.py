"""Which operand of a kernel its result may be written over."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ge.dialects.tile.meaning import BLOCK_BYTES
from ge.dialects.tile.structure import ForOp, KernelOp
from ge.dialects.tile.text import Index
from ge.dialects.tile.transfer import LoadOp, StoreOp
from ge.dialects.tile.types import gm_type
from ge.ir.constants import numpy_dtype


def replaceable_inputs(kernel: KernelOp) -> tuple[int, ...]:
    """The arguments in whose memory the one output of a kernel may lie, where nobody needs them afterwards.

    That is so when every tile of the result goes exactly where a tile of the operand was loaded just before:

    1. operand and output have the same shape and element type;
    2. the output is written by one `tile.store`; the operand is only read, by `tile.load` of the same slice, before it
       in the same block;
    3. each turn of the loops around, and each core, has another slice: all their counters are in its offsets, which
       are sums and products, and no minimum that moves the last slice back onto the one before;
    4. rows fill whole blocks, so that no store spoils a tile that is still to be read.

    That slices of different turns do not overlap is not proven here: `check-memory` replays the kernel where it counts.
    Not so for a kernel with several outputs, and for convolutions and products: they read again what lies beside the
    tile that they have written (but an operand that is added to their result qualifies).
    """
    if kernel.output_count != 1:
        return ()
    *inputs, output = kernel.arguments
    store = _only_store(output)
    if store is None or not _fills_blocks(output, store.slice_sizes) or not _has_own_slices(kernel, store):
        return ()
    return tuple(number for number, each in enumerate(inputs) if each.type == output.type and _is_read_at(each, store))


def _only_store(output: SSAValue) -> StoreOp | None:
    users = [use.operation for use in output.uses]
    return users[0] if len(users) == 1 and isinstance(users[0], StoreOp) else None


def _is_read_at(operand: SSAValue, store: StoreOp) -> bool:
    """Whether an operand is only read, and only where a store writes, before it writes."""
    loads = [use.operation for use in operand.uses]
    return bool(loads) and all(
        isinstance(load, LoadOp)
        and load.parent is store.parent
        and _same(load.offsets, store.offsets)
        and load.slice_sizes == store.slice_sizes
        and load.is_before_in_block(store)
        for load in loads
    )


def _same(a: Sequence[Index], b: Sequence[Index]) -> bool:
    return all(x is y if isinstance(x, SSAValue) else x == y for x, y in zip(a, b, strict=True))


def _fills_blocks(output: SSAValue, sizes: Sequence[int]) -> bool:
    """Whether every row of a slice is whole blocks, and begins at one."""
    type = gm_type(output)
    item = numpy_dtype(type.element_type).itemsize
    rows = sizes[-1:] if type.rank == 1 else (sizes[-1], type.sizes[-1])
    return all(row * item % BLOCK_BYTES == 0 for row in rows)


def _has_own_slices(kernel: KernelOp, store: StoreOp) -> bool:
    """Whether the offsets of a store count with every loop around it, and with the core."""
    counters = {kernel.core} if kernel.block_count > 1 else set[SSAValue]()
    block: Block | None = store.parent
    while block is not None and block is not kernel.body.block:
        counters |= {argument for argument in block.args if isinstance(argument.type, IndexType)}
        block = block.parent_block()
    seen: set[SSAValue] = set()
    pending = list(store.dynamic_offsets)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, arith.MinSIOp | arith.MaxSIOp | arith.MinUIOp | arith.MaxUIOp):
            return False
        if isinstance(owner, Operation):
            pending += owner.operands
        elif isinstance(value, BlockArgument) and value in counters:
            pending += _first_value(value)
    return counters <= seen


def _first_value(counter: BlockArgument) -> Sequence[SSAValue]:
    """What the first value of a loop counter is computed from: tiles are dealt from the core's number on."""
    loop = counter.block.parent_op()
    return tuple(loop.dynamic_bounds) if isinstance(loop, ForOp) else ()
