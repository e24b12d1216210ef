"""Kernels that go along rows: the loop over the tiles of a tensor, and the steps of a fusion around its anchor.

On each core a kernel is::

    row operands, limits, scale, bias = load
    for tile in its tiles:                # whole rows: `PlainRows`, or `FractalRows` in FRACTAL_NZ
        x = steps before(load, ...)       # or just load
        y = softmax(x)                    # what the operation itself writes
        store steps after(y, load, ...)
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm, broadcast_form
from ge.dialects.graph.fusing import Around, tile_operands
from ge.dialects.graph.fusion_limits import row_room
from ge.ir.attributes import layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.fractal_rows import FractalRows
from ge.lowering.graph_to_tile.outline import Target, memory_type, no_kernel
from ge.lowering.graph_to_tile.plain_rows import PlainRows
from ge.lowering.graph_to_tile.row_space import RowSpace
from ge.lowering.graph_to_tile.steps import step_tiles, steps_cost


class RowKernel:
    """The kernel of an operation on rows, with the steps of a fusion around it."""

    def __init__(self, name: str, around: Around, vectors: Sequence[SSAValue], target: Target) -> None:
        """`vectors` are loaded beside what the operation and the steps read. Raises GE4010 for rows that do not fit."""
        assert around.anchor is not None, "an anchor of rows"
        self.around, self.anchor, self.x = around, around.anchor, around.anchor.operands[0]
        room = row_room(around, target.ub, _lane_bytes)
        self.rows = _row_space(around, self.anchor, room, target)
        self.stages = target.stages if 2 * self.rows.elements <= room else 1
        own: list[SSAValue] = [] if around.before else [self.x]
        self.operands = list(dict.fromkeys([*own, *around.operands]))
        arguments = [memory_type(operand, self.rows.shape(operand, self._form(operand))) for operand in self.operands]
        arguments += [memory_type(vector) for vector in vectors]
        result = memory_type(around.result, self.rows.shape(around.result, "same"))
        self.b = KernelBuilder(name, arguments, [result], self.rows.cores)
        self.inputs = [*self.operands, *vectors]
        self.vectors = self.b.inputs[len(self.operands) :]

    def _form(self, operand: SSAValue) -> BroadcastForm:
        """How an operand spreads over the rows."""
        form = broadcast_form(shape_of(operand), shape_of(self.x))
        assert form is not None, "checked: it is no step of a fusion"
        return form

    @contextmanager
    def tiles(self, beyond: float) -> Generator[RowTile]:
        """The loop over tiles: the steps before what the ``with`` block adds, and those after it.

        What is `beyond` a tensor that the operation reads itself is a number of its choice.
        """
        b, rows, around = self.b, self.rows, self.around
        sources = dict(zip(self.operands, b.inputs, strict=False))
        tiles: dict[SSAValue, SSAValue] = {}
        for operand, source in sources.items():
            if (tile := rows.load_before(b, source, self._form(operand))) is not None:
                tiles[operand] = tile
        with rows.places(b, self.stages) as place:

            def load(operands: Iterable[SSAValue]) -> None:
                for operand in operands:
                    if operand in sources and operand not in tiles:
                        tiles[operand] = rows.load(b, sources[operand], self._form(operand), place)

            if self.x in sources:
                tiles[self.x] = rows.load_rows(b, sources[self.x], place, beyond)
            load(tile_operands(around.before))
            tiles |= step_tiles(b, around.before, tiles)
            tile = RowTile(tiles[self.x], tiles[self.x])
            yield tile
            tiles[self.anchor.results[0]] = tile.y
            load(tile_operands(around.after))
            tiles |= step_tiles(b, around.after, tiles)
            rows.store(b, tiles[around.result], b.outputs[0], place)


@dataclass
class RowTile:
    """What an operation does to a tile."""

    x: SSAValue
    y: SSAValue
    """The result; its operand until it is set."""


def _lane_bytes(steps: Sequence[Operation]) -> int:
    return steps_cost(steps).lane_bytes if steps else 0


def _row_space(around: Around, op: Operation, room: int, target: Target) -> RowSpace:
    x = op.operands[0]
    fractal = layout_of(x.type) == "FRACTAL_NZ"
    rows = FractalRows(x, room, target) if fractal else PlainRows(around, target)
    if rows.elements > room:
        what = "16 rows of {} elements do" if fractal else "a row of {} elements does"
        raise no_kernel(op, f"{what.format(shape_of(x)[-1])} not fit into the unified buffer")
    return rows
