"""`tile.for`: a loop whose carried tiles stay in one place, and whose buffers alternate when it has two stages.

* An accumulator that a loop carries is one buffer in L0C; matmuls add to it in place. When it starts as zeros, the
  first matmul of the first turn starts from zero instead.
* Another carried tile is one buffer in the unified buffer. What a turn hands on is computed there directly, when
  nothing reads the old tile afterwards, or copied there at the end of the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.ir import Block, BlockArgument, SSAValue

from ge.dialects import tile
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder, Scope
from ge.lowering.tile_to_cube.elementwise import copy, fill, in_ub
from ge.lowering.tile_to_cube.index_math import Index
from ge.lowering.tile_to_cube.matmul import accumulate_on, fill_accumulator
from ge.lowering.tile_to_cube.places import Accumulator, Splat, UbTile, block_around, is_accumulator

LowerBlock = Callable[[KernelBuilder, Block], None]


def loop(k: KernelBuilder, op: tile.ForOp, lower_block: LowerBlock) -> None:
    """Lower a loop and, with `lower_block`, its body."""
    lower, upper, step = k.index(op.lower), k.index(op.upper), k.index(op.step)
    runs = k.math.bounds(lower).high < k.math.bounds(upper).low
    starts = [_start(k, op, position, runs) for position in range(len(op.initial))]
    with k.loop(lower, upper, step) as counter:
        k.indices[op.counter] = counter
        counter.name_hint = op.counter.name_hint
        scope = _scope(k, op, counter, (lower, upper, step))
        k.scopes.append(scope)
        for value, start in zip(op.carried, starts, strict=True):
            if isinstance(start, Accumulator):
                first = start.empty is not False and k.math.equal(counter, lower)
                start = replace(start, empty=k.math.both(start.empty, first))
            k.put(value, start)
        _plan_carried(k, op, starts)
        lower_block(k, op.body.block)
        for value, start in zip(op.yielded, starts, strict=True):
            if isinstance(start, UbTile):
                _hand_on(k, op, value, start)
        k.scopes.pop()
    for value, start in zip(op.results, starts, strict=True):
        k.put(value, replace(start, empty=False) if isinstance(start, Accumulator) else start)


def _scope(k: KernelBuilder, op: tile.ForOp, counter: Index, bounds: tuple[Index, Index, Index]) -> Scope:
    """The scope of a turn. Which copy is in turn alternates across the turns of the loops around, too.

    For that a turn number is kept that grows by an odd number from each turn to the next.
    """
    lower, _, step = bounds
    if not any(isinstance(inner, tile.ForOp) and inner.stage_count == 2 for inner in op.walk()):
        return Scope()
    since_start = k.math.sub(counter, lower)
    if isinstance(since_start, SSAValue):
        k.math.learn(since_start, 0, k.math.bounds(since_start).high)
    turn = k.math.div(since_start, step)
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    if len(numbers) == 3 and len(range(*numbers)) % 2:
        turn = k.math.add(k.scope.turn, turn)
    return Scope(slot=k.math.parity(turn) if op.stage_count == 2 else None, turn=turn)


def _start(k: KernelBuilder, op: tile.ForOp, position: int, runs: bool) -> Accumulator | UbTile:
    """The place of a carried tile, with its first value in it."""
    initial = op.initial[position]
    if is_accumulator(op.carried[position]) or is_accumulator(op.results[position]):
        accumulator = accumulate_on(k, initial)
        return accumulator if runs or accumulator.empty is False else fill_accumulator(k, accumulator)
    if initial in k.temporaries and initial.has_one_use() and block_around(initial) is op.parent:
        return k.get(initial, UbTile)
    target = k.alloc_tile(tile_type(initial), op.carried[position].name_hint, doubled=False)
    splat = k.find(initial, Splat)
    if splat is not None:
        fill(k, target, splat.value)
    else:
        copy(k, target, in_ub(k, initial))
    return target


def _plan_carried(k: KernelBuilder, op: tile.ForOp, starts: list[Accumulator | UbTile]) -> None:
    """Let what a turn hands on be computed in place where that is safe."""
    for carried, value, start in zip(op.carried, op.yielded, starts, strict=True):
        if isinstance(start, UbTile) and _may_overwrite(op, carried, value):
            k.targets[value] = start


def _may_overwrite(op: tile.ForOp, carried: SSAValue, value: SSAValue) -> bool:
    """Whether the operation that computes `value` may write it over `carried`.

    It is elementwise, in the body of the loop, and all other uses of the carried tile come before it.
    """
    maker = value.owner
    elementwise = (tile.UnaryOp, tile.ScalarOp, tile.BinaryOp)
    if not isinstance(maker, elementwise) or maker.parent is not op.body.block or op.yielded.count(value) > 1:
        return False
    order = {inner: position for position, inner in enumerate(op.body.block.ops)}
    for use in carried.uses:
        user = op.body.block.find_ancestor_op_in_block(use.operation)
        views = isinstance(use.operation, tile.SliceOp | tile.ReshapeOp | tile.BroadcastOp)
        if user is None or order[user] > order[maker] or views:
            return False
    return True


def _hand_on(k: KernelBuilder, op: tile.ForOp, value: SSAValue, start: UbTile) -> None:
    """Copy what a turn hands on to the place of the carried tile, if it is not there."""
    if k.targets.get(value) is start or (value in op.carried and k.find(value, UbTile) is start):
        return
    if isinstance(value, BlockArgument) and value in op.carried:
        raise k.fail("a loop that swaps its carried tiles")
    splat = k.find(value, Splat)
    if splat is not None:
        fill(k, start, splat.value)
    else:
        copy(k, start, in_ub(k, value))


'''
cat > lowering/tile_to_cube/convert.py <<'EOF'
"""`convert-tile-to-cube`: kernels on tiles become instructions of one AI Core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects import cube, tile
from ge.dialects.tile.types import tile_type
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.ir.registry import load_dialect
from ge.lowering.tile_to_cube import elementwise, loads, loops, matmul, movement, reduce, stores
from ge.dialects.tile.types import tile_type
from ge.lowering.tile_to_cube.builder import KernelBuilder
from ge.lowering.tile_to_cube.index_math import Index, IndexMath
'''
