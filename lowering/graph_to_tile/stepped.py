"""A kernel that brings elements in, does something to them and writes them, with the steps of a fusion on both ways.

What the anchor takes is loaded, or made by the steps before it of what they load at the same place; what it gives is
stored, or what the steps after it make of that and of what they load where it will lie. So operands of steps have one
element for each that the anchor takes or gives, or are one number for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.graph.fusing import Around, tile_operands
from ge.dialects.graph.fusion_limits import moved_lane_bytes
from ge.dialects.graph.row_tiles import NUMBERS_BYTES
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import tile_type
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import Target, memory_type
from ge.lowering.graph_to_tile.spaces import HARMLESS, load_scalar
from ge.lowering.graph_to_tile.steps import step_tiles


class SteppedKernel:
    """The kernel of an anchor under construction."""

    def __init__(
        self,
        name: str,
        around: Around,
        taken: Callable[[SSAValue], Sequence[int]],
        given: Sequence[int],
        cores: int,
    ) -> None:
        """`taken` is how the kernel sees what the anchor takes, one of its operands; `given` what it gives."""
        assert around.anchor is not None, "an anchor"
        self.around = around
        self.x, self.y = around.anchor.operands[0], around.anchor.results[0]
        self.taken = tile_operands(around.before) if around.before else list(dict.fromkeys(around.anchor.operands))
        self.operands = list(dict.fromkeys([*self.taken, *around.operands]))

        def seen(operand: SSAValue) -> Sequence[int]:
            if self._is_scalar(operand):
                return (1,)
            return given if operand not in self.taken else taken(self.x if around.before else operand)

        arguments = [memory_type(operand, seen(operand)) for operand in self.operands]
        self.b = KernelBuilder(name, arguments, [memory_type(around.result, given)], cores)
        self.sources: dict[SSAValue, SSAValue] = dict(zip(self.operands, self.b.inputs, strict=True))

    def _is_scalar(self, operand: SSAValue) -> bool:
        """Whether an operand of steps is one number for all elements."""
        if operand in self.taken:
            return bool(self.around.before) and shape_of(operand) != shape_of(self.x)
        return shape_of(operand) != shape_of(self.y)

    def fill(self, inside: bool) -> float | None:
        """What is beyond an operand reads as, unless all is `inside`: a number that steps do not mind."""
        return None if inside else HARMLESS if self.around.elementwise else 0.0

    def elements(self, load: Callable[[SSAValue], SSAValue], rank: int) -> SSAValue:
        """What the anchor takes, as a tile of a `rank`: its first operand, or what the steps before it make."""
        tiles = {
            operand: load_scalar(self.b, self.sources[operand], rank)
            if self._is_scalar(operand)
            else load(self.sources[operand])
            for operand in (self.taken if self.around.before else [self.x])
        }
        return step_tiles(self.b, self.around.before, tiles)[self.x]

    def store(self, y: SSAValue, offsets: Sequence[Index], sizes: Sequence[int], inside: bool) -> None:
        """Write what the steps after make of a tile that the anchor gives; `inside`: no tile reaches beyond the end."""
        b = self.b
        tiles: dict[SSAValue, SSAValue] = {self.y: y}
        for operand in tile_operands(self.around.after):
            if operand in tiles:
                continue
            source, shape = self.sources[operand], tile_type(y).sizes
            if self._is_scalar(operand):
                tiles[operand] = load_scalar(b, source, len(shape))
            else:
                tiles[operand] = b.load(source, offsets, sizes, None if inside else HARMLESS, shape=shape)
        b.store(step_tiles(b, self.around.after, tiles)[self.around.result], b.outputs[0], offsets, sizes)


def moved_room(around: Around, target: Target, lane_bytes: int) -> int:
    """The elements of a tile of a movement that takes so many bytes for each; loops have as many tiles as stages."""
    if not around.elementwise:
        return target.ub // target.stages // lane_bytes
    return (target.ub - NUMBERS_BYTES) // target.stages // max(lane_bytes, moved_lane_bytes(around))
