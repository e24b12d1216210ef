"""The kernel that convolutions and matrix products share: tiles of positions x output blocks, accumulated over K.

Written for a tiling (`ge.maths.tiling`) it is, on each core::

    for tile in its tiles:                       # or: for output blocks: load weights; for positions
        acc = broadcast(bias)
        for chunk of input blocks:               # one turn when the slab holds them all
            slab, weights = load, load           # into L1
            for piece of K blocks:               # L0A and L0B hold a piece
                acc += im2col(slab, piece) · weights[piece]
        store steps(cast(activation(acc)))       # a few output blocks at a time

`Operands` says where slabs and weights come from, `FusedSteps` what a fusion does to the result before it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ActivationAttr, UnaryKind
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.capabilities import BroadcastForm, broadcast_form
from ge.dialects.graph.fusing import tile_operands
from ge.dialects.tile.matrix import Im2colOp, MatmulOp
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import GmType, gm_type
from ge.lowering.graph_to_tile.activations import Cost, activation_cost, emit_activation, keeps_precision
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.outline import memory_type
from ge.lowering.graph_to_tile.requantisation import Requantisation
from ge.lowering.graph_to_tile.spaces import HARMLESS, load_scalar
from ge.lowering.graph_to_tile.steps import emit_steps, steps_cost
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import Contraction, Tiling


@dataclass(frozen=True)
class TilePosition:
    """Which tile a core works on; all but the sizes of the tiling may be computed."""

    group: Index
    image: Index
    output_block: Index
    """Number of the first output block, counted over all groups."""
    block_in_group: Index
    """The same, counted in the group."""
    start: Index
    """The first output position in the flattened plane."""


class Operands(Protocol):
    """The sources of a contraction."""

    def slab(self, b: KernelBuilder, tile: TilePosition, chunk: Index, blocks: int) -> SSAValue:
        """Input rows under a tile, ``blocks`` input blocks from block ``chunk`` of the group: c1 x rows x W x 16."""
        ...

    def first_position(self, b: KernelBuilder, tile: TilePosition) -> Index:
        """The position of the tile's first window in the slab."""
        ...

    def weights(self, b: KernelBuilder, tile: TilePosition, k: Index, blocks: int) -> SSAValue:
        """Weights of the tile's output blocks, for ``blocks`` K blocks of the group from block ``k``."""
        ...

    def piece(self, b: KernelBuilder, weights: SSAValue, k: Index, blocks: int) -> SSAValue:
        """``blocks`` K blocks of loaded weights, from their block ``k``."""
        ...


@dataclass(frozen=True)
class Chunk:
    """A slab and its weights, of which pieces are multiplied."""

    tile: TilePosition
    slab: SSAValue
    position: Index
    """The position of the tile's first window in the slab."""
    weights: SSAValue | None
    """Weights in L1; None when every piece loads its own."""
    start: Index
    """The K block of ``weights`` (or of the group, when there are none) at which the slab begins."""


@dataclass(frozen=True)
class Windows:
    """How im2col reads a slab."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]
    """Left and right."""
    out_width: int
    padding: int = 0
    """What the places to the left and right read as."""


@dataclass(frozen=True)
class FusedSteps:
    """The elementwise steps that follow a convolution or matrix product in a fusion."""

    result: SSAValue
    """The result of the convolution or matrix product, which the steps read."""
    steps: Sequence[Operation]

    @property
    def operands(self) -> list[SSAValue]:
        """What the steps load."""
        return [value for value in tile_operands(self.steps) if value is not self.result]

    def form(self, operand: SSAValue) -> BroadcastForm:
        """How an operand spreads over the result."""
        form = broadcast_form(shape_of(operand), shape_of(self.result))
        assert form is not None, "checked: it is no step of a fusion"
        return form

    def argument(self, operand: SSAValue, result: GmType) -> GmType:
        """The type of an operand in the kernel, for a result N x output blocks x plane x 16."""
        shapes = {
            "same": result.sizes,
            "channel": (shape_of(operand)[0], result.sizes[1], 1, C0),
            "scalar": (1,),
            "trailing": (1, ceil_div(shape_of(operand)[-1], C0), result.sizes[2], C0),
        }
        return memory_type(operand, shapes[self.form(operand)])


def add_fused_cost(problem: Contraction, fused: FusedSteps | None) -> Contraction:
    """The contraction with what the steps of a fusion take of a core."""
    if fused is None:
        return problem
    cost = steps_cost(fused.steps)
    return replace(
        problem,
        operations=problem.operations + cost.operations,
        operand_bytes=cost.operand_bytes,
        inner_bytes=cost.inner_bytes,
    )


def epilogue_cost(activation: ActivationAttr | None) -> Cost:
    """What an epilogue does beside rounding the accumulator to float16."""
    if activation is None:
        return Cost(0, 0)
    cost = activation_cost(activation)
    return Cost(cost.operations, 0 if keeps_precision(activation) else cost.copies)


@dataclass(frozen=True)
class ContractionKernel:
    """Writes the kernel of a contraction. ``bias`` is a float32 tensor of 16 lanes for each output block, or absent."""

    b: KernelBuilder
    problem: Contraction
    tiling: Tiling
    operands: Operands
    windows: Windows
    output: SSAValue
    """N x output blocks x plane x 16."""
    bias: SSAValue | None
    activation: ActivationAttr | None
    bias_of_group: bool = True
    """Whether each group has a bias of its own; otherwise all groups have the same."""
    fused: FusedSteps | None = None
    fused_sources: Sequence[SSAValue] = ()
    """The kernel's arguments for the operands of the fused steps."""
    requantisation: Requantisation | None = None
    """What is done with sums of integers."""

    def write(self) -> None:
        """Write the loops over tiles."""
        problem, tiling, b = self.problem, self.tiling, self.b
        tiles_n, tiles_m = tiling.tiles_n(problem), tiling.tiles_m(problem)
        if tiling.weights != "core":
            with b.deal(problem.groups * tiles_n * problem.batch * tiles_m, tiling.stages) as number:
                group, n, image, m = b.split(number, problem.groups, tiles_n, problem.batch, tiles_m)
                self._tile(self._position(group, n, image, m), None, None)
            return
        cores_n, cores_m = tiling.grid
        core_n, core_m = b.split(b.core, cores_n, cores_m)
        with b.loop_or_once(core_n, problem.groups * tiles_n, cores_n, tiling.stages) as number:
            group, n = b.split(number, problem.groups, tiles_n)
            place = self._position(group, n, 0, 0)
            weights = b.named("weights", self.operands.weights(b, place, 0, problem.c1 * problem.taps))
            bias = self._rows(self.bias, place, "bias_rows")
            with b.loop_or_once(core_m, problem.batch * tiles_m, cores_m, tiling.stages) as number:
                image, m = b.split(number, problem.batch, tiles_m)
                self._tile(self._position(group, n, image, m), weights, bias)

    def _position(self, group: Index, n: Index, image: Index, m: Index) -> TilePosition:
        b = self.b
        in_group = b.times(n, self.tiling.n1)
        block = b.plus(b.times(group, self.problem.n1), in_group)
        return TilePosition(
            group, image, b.named("block", block), in_group, b.named("start", b.times(m, self.tiling.m))
        )

    def _rows(self, vector: SSAValue | None, tile: TilePosition, name: str) -> SSAValue | None:
        """The bias of a tile, or another vector: one row of 16 lanes for each output block."""
        if vector is None:
            return None
        b, n1 = self.b, self.tiling.n1
        groups, block = (self.problem.groups, tile.output_block) if self.bias_of_group else (1, tile.block_in_group)
        needed = groups * self.tiling.tiles_n(self.problem) * n1 * C0
        fill = None if gm_type(vector).sizes[0] >= needed else 0.0
        return b.named(name, b.load(vector, [b.times(block, C0)], [n1 * C0], fill, shape=[n1, 1, C0]))

    def _tile(self, tile: TilePosition, resident: SSAValue | None, bias: SSAValue | None) -> None:
        """One tile, with the weights and bias that the core keeps, if it does."""
        tiling, b = self.tiling, self.b
        shape = (tiling.n1, tiling.m, C0)
        bias = self._rows(self.bias, tile, "bias_rows") if bias is None else bias
        acc = b.named("zero", b.constant(0, shape, f32)) if bias is None else b.named("init", b.broadcast(bias, shape))
        position = b.named("position", self.operands.first_position(b, tile))
        with b.loop(0, self.problem.c1, tiling.c1, [acc], tiling.stages) as turn:
            slab = b.named("slab", self.operands.slab(b, tile, turn.counter, tiling.c1))
            weights, start = resident, b.times(turn.counter, self.problem.taps)
            if tiling.weights == "slab":
                weights = b.named("weights", self.operands.weights(b, tile, start, tiling.c1 * self.problem.taps))
                start = 0
            chunk = Chunk(tile, slab, position, weights, start)
            turn.results = [self._accumulate(chunk, turn.carried[0])]
        self._epilogue(turn.results[0], tile)

    def _accumulate(self, chunk: Chunk, acc: SSAValue) -> SSAValue:
        """Add the product of a slab and its weights, piece by piece; the last piece may be shorter."""
        k1, blocks = self.tiling.k1, self.tiling.c1 * self.problem.taps
        whole = blocks // k1 * k1
        with self.b.loop(0, whole, k1, [acc], self.tiling.stages) as turn:
            turn.results = [self._product(chunk, turn.counter, k1, turn.carried[0])]
        acc = turn.results[0]
        return acc if whole == blocks else self._product(chunk, whole, blocks - whole, acc)

    def _product(self, chunk: Chunk, k: Index, blocks: int, acc: SSAValue) -> SSAValue:
        b, windows = self.b, self.windows
        left = b.add(
            Im2colOp(
                chunk.slab,
                chunk.position,
                k,
                (blocks, self.tiling.m),
                kernel=windows.kernel,
                strides=windows.strides,
                dilations=windows.dilations,
                pads=windows.pads,
                out_width=windows.out_width,
                padding=windows.padding,
            )
        )
        start = b.plus(chunk.start, k)
        if chunk.weights is None:
            right = self.operands.weights(b, chunk.tile, start, blocks)
        else:
            right = self.operands.piece(b, chunk.weights, start, blocks)
        b.named("a", left.result)
        return b.named("acc", b.add(MatmulOp(left.result, b.named("b", right), acc)).result)

    def _epilogue(self, acc: SSAValue, tile: TilePosition) -> None:
        """Apply the activation, round to float16, do the fused steps and store, a few output blocks at a time."""
        b, m, step = self.b, self.tiling.m, self.tiling.epilogue_n1
        if self.requantisation is not None:
            self._requantise(self.requantisation, acc, tile)
            return
        with b.loop(0, self.tiling.n1, step, stages=self.tiling.stages) as turn:
            part = b.slice(acc, [turn.counter, 0, 0], [step, m, C0])
            result = apply_activation(b, b.named("part", part), self.activation)
            block = b.plus(tile.output_block, turn.counter)
            if self.fused is not None:
                in_group = b.plus(tile.block_in_group, turn.counter)
                tiles = self._fused_operands(self.fused, (tile.image, block, tile.start), in_group, (step, m, C0))
                result = emit_steps(b, self.fused.steps, {self.fused.result: result, **tiles})
            b.store(b.named("out", result), self.output, [tile.image, block, tile.start, 0], [1, step, m, C0])

    def _requantise(self, to: Requantisation, acc: SSAValue, tile: TilePosition) -> None:
        """Scale, round and store sums of integers, a few output blocks at a time; two of 16 may be one of 32."""
        b, m, step = self.b, self.tiling.m, self.tiling.epilogue_n1
        scale = self._rows(to.scale, tile, "scale_rows")
        assert scale is not None
        *_, lanes = gm_type(self.output).sizes
        together = lanes // C0
        with b.loop(0, self.tiling.n1, step, stages=self.tiling.stages) as turn:
            part = b.named("part", b.slice(acc, [turn.counter, 0, 0], [step, m, C0]))
            result = to.emit(b, part, b.slice(scale, [turn.counter, 0, 0], [step, 1, C0]), self.activation)
            block = b.divide(b.plus(tile.output_block, turn.counter), together)
            place, sizes = [tile.image, block, tile.start, 0], [1, step // together, m, lanes]
            b.store(b.named("out", result), self.output, place, sizes)

    def _fused_operands(
        self, fused: FusedSteps, place: tuple[Index, Index, Index], in_group: Index, shape: tuple[int, int, int]
    ) -> dict[SSAValue, SSAValue]:
        """The operands of the fused steps at output blocks and positions; beyond the result they are harmless.

        A matrix for all those of the result is read at the blocks that are counted in the group.
        """
        image, block, start = place
        step, m, _ = shape
        _, blocks, plane, _ = gm_type(self.output).sizes
        problem, tiling = self.problem, self.tiling
        whole_blocks = problem.groups * tiling.tiles_n(problem) * tiling.n1 <= blocks
        tiles: dict[SSAValue, SSAValue] = {}
        for operand, source in zip(fused.operands, self.fused_sources, strict=True):
            match fused.form(operand):
                case "scalar":
                    tiles[operand] = load_scalar(self.b, source, 3)
                case "channel":
                    first = image if gm_type(source).sizes[0] > 1 else 0
                    sizes, fill = (1, step, 1, C0), None if whole_blocks else HARMLESS
                    tiles[operand] = self.b.load(source, (first, block, 0, 0), sizes, fill, shape=sizes[1:])
                case "trailing":
                    inside = tiling.tiles_n(problem) * tiling.n1 <= problem.n1 and plane % m == 0
                    sizes, fill = (1, step, m, C0), None if inside else HARMLESS
                    tiles[operand] = self.b.load(source, (0, in_group, start, 0), sizes, fill, shape=sizes[1:])
                case _:
                    sizes, fill = (1, step, m, C0), None if whole_blocks and plane % m == 0 else HARMLESS
                    tiles[operand] = self.b.load(source, (image, block, start, 0), sizes, fill, shape=sizes[1:])
        return tiles


def apply_activation(b: KernelBuilder, x: SSAValue, activation: ActivationAttr | None) -> SSAValue:
    """The activation of a float32 tile, rounded to float16; on float16 where that gives the same result.

    A relu, alone or as the lower bound of a clip, stays with the rounding: L0C empties through both in one move.
    """
    if activation is None:
        return b.cast(x, f16)
    if not keeps_precision(activation):
        return b.cast(emit_activation(b, x, activation), f16)
    if activation.kind is UnaryKind.CLIP and activation.alpha == 0:
        rounded = b.cast(b.unary("relu", x), f16)
        return emit_activation(b, rounded, ActivationAttr(UnaryKind.CLIP, float("-inf"), activation.beta))
    if activation.kind is UnaryKind.RELU:
        return b.cast(b.unary("relu", x), f16)
    return emit_activation(b, b.cast(x, f16), activation)
