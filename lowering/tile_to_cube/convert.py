"""`convert-tile-to-cube`: each `tile.kernel` becomes a `cube.kernel` of the same name, in instructions of one AI Core.

Operations are converted in order; see the module of each family for the instructions that it becomes. Buffers have no
addresses yet (`plan-buffers`), and nothing orders the instructions of different pipes (`insert-sync`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ge.dialects import cube, tile
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.ir.registry import load_dialect
from ge.ir.rewriting import replace
from ge.lowering.tile_to_cube import elementwise, loads, loops, matmul, movement, reduce, stores
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.index_math import Index, IndexMath
from ge.targets.ascend.soc import Soc, load_soc


@dataclass(frozen=True)
class ConvertTileToCube(ModulePass):
    """Turn kernels on tiles into instructions of one AI Core, on buffers that have no places yet."""

    name = "convert-tile-to-cube"

    soc: str = "Ascend310P3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        load_dialect(ctx, "cube")
        soc = load_soc(self.soc)
        for kernel in list(op.walk()):
            if isinstance(kernel, tile.KernelOp):
                replace(kernel, lower_kernel(kernel, soc))


def lower_kernel(kernel: tile.KernelOp, soc: Soc) -> cube.CubeKernelOp:
    """The `cube.kernel` of a `tile.kernel`."""
    lowered = cube.CubeKernelOp(
        kernel.sym_name.data, soc.name, kernel.block_count, kernel.output_count, len(kernel.arguments)
    )
    lowered.location = kernel.location
    lowered.attributes |= kernel.attributes
    k = KernelBuilder(lowered, soc)
    for old, new in zip(kernel.arguments, lowered.body.block.args, strict=True):
        new.name_hint = old.name_hint
        k.memories[old] = new
    k.source = kernel
    if kernel.core.uses:
        core = k.add(cube.BlockIdxOp()).result
        core.name_hint = kernel.core.name_hint
        k.math.learn(core, 0, kernel.block_count - 1)
        k.indices[kernel.core] = core
    _lower_block(k, kernel.body.block)
    return lowered


def _lower_block(k: KernelBuilder, block: Block) -> None:
    concats = {value: op for op in block.ops if isinstance(op, tile.ConcatOp) for value in op.parts if op.result.uses}
    for op in block.ops:
        k.source = op
        for result in op.results:
            if result in concats and concats[result].result not in k.targets:
                movement.plan_concat(k, concats[result])
        _lower_op(k, op)
        for result in op.results:
            if isinstance(result.type, tile.TileType) and not isinstance(op, tile.ForOp):
                matmul.bring_operands(k, result)


_LOWERINGS: dict[type[Operation], Callable[[KernelBuilder, Any], None]] = {
    tile.LoadOp: loads.load,
    tile.StoreOp: stores.store,
    tile.Im2colOp: matmul.im2col,
    tile.MatmulOp: matmul.matmul,
    tile.ConstantOp: elementwise.constant,
    tile.BroadcastOp: elementwise.broadcast,
    tile.BinaryOp: elementwise.binary,
    tile.UnaryOp: elementwise.unary,
    tile.ScalarOp: elementwise.scalar,
    tile.CastOp: elementwise.cast_,
    tile.SliceOp: movement.slice_,
    tile.ReshapeOp: movement.reshape,
    tile.ConcatOp: movement.concat,
    tile.TransposeOp: movement.transpose,
    tile.ReduceOp: reduce.reduce,
}

_ARITHMETIC: dict[type[Operation], Callable[[IndexMath, Index, Index], Index]] = {
    arith.AddiOp: IndexMath.add,
    arith.SubiOp: IndexMath.sub,
    arith.MuliOp: IndexMath.mul,
    arith.DivUIOp: IndexMath.div,
    arith.DivSIOp: IndexMath.div,
    arith.FloorDivSIOp: IndexMath.div,
    arith.RemUIOp: IndexMath.rem,
    arith.RemSIOp: IndexMath.rem,
    arith.MinSIOp: IndexMath.min,
    arith.MinUIOp: IndexMath.min,
    arith.MaxSIOp: IndexMath.max,
    arith.MaxUIOp: IndexMath.max,
}


def _lower_op(k: KernelBuilder, op: Operation) -> None:
    lower = _LOWERINGS.get(type(op))
    arithmetic = _ARITHMETIC.get(type(op))
    match op:
        case _ if lower is not None:
            lower(k, op)
        case tile.ForOp():
            loops.loop(k, op, _lower_block)
        case tile.YieldOp():
            pass
        case arith.ConstantOp():
            k.indices[op.result] = cast(IntegerAttr, op.value).value.data
        case _ if arithmetic is not None:
            a, b = (k.indices[operand] for operand in op.operands)
            result = arithmetic(k.math, a, b)
            k.indices[op.results[0]] = result
            if not isinstance(result, int):
                result.name_hint = result.name_hint or op.results[0].name_hint
        case _:
            raise GeError("GE3004", f"operation '{op.name}' has no instructions", where(op))
