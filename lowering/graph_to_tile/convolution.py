"""`graph.conv2d` to a tile kernel: positions x output blocks, with input rows as slabs (see `contraction`).

The slab of a tile holds every input row under its windows, with the padding at top and bottom as fill; padding at left
and right is left to im2col. A 1 x 1 convolution without stride or padding reads each position where it writes it: its
plane counts as one row, so that a slab is exactly the positions of the tile.

Merged groups (`group_merge`) are convolutions of their own, on c1 and output blocks of their own. The last one may
reach beyond the channels of the tensors: its slab is filled, its weights are padded, and its store is clipped.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import Conv2DOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.integer import IntegerConv2DOp, number_of
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import gm_type, tile_type
from ge.ir.attributes import EIGHT_BITS, block_lanes, ui8
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.constants import padded_bias, padded_filters
from ge.lowering.graph_to_tile.contraction import (
    ContractionKernel,
    FusedSteps,
    TilePosition,
    Windows,
    add_fused_cost,
    epilogue_cost,
)
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.lowering.graph_to_tile.requantisation import divided, requantisation_cost, requantisation_of, rounded
from ge.maths.layouts import C0, C0_BYTES, ceil_div, round_up
from ge.maths.tiling import Contraction, Tiling, choose_tiling, quantised_rows


@dataclass(frozen=True)
class ConvolutionOperands:
    """Slabs of rows of a feature map, and weights in FRACTAL_Z."""

    x: SSAValue
    """N x C1 x H x W x C0 (16, of 8 bits 32); H is 1 when rows do not matter."""
    w: SSAValue
    problem: Contraction
    tiling: Tiling
    top: int
    """Rows of padding above the feature map."""
    padding: int = 0
    """What places outside of the feature map read as."""

    def slab(self, b: KernelBuilder, tile: TilePosition, chunk: Index, blocks: int) -> SSAValue:
        c1 = b.plus(b.times(tile.group, self.problem.c1), chunk)
        rows = self.tiling.rows
        if self.problem.is_flat:
            width, row, column = self.tiling.m, 0, tile.start
        else:
            width, column = self.problem.width, 0
            row = b.minus(b.times(b.divide(tile.start, self.problem.out_width), self.problem.strides[0]), self.top)
        lanes = gm_type(self.x).sizes[-1]
        offsets, sizes = (tile.image, c1, row, column, 0), (1, blocks, rows, width, lanes)
        return b.load(self.x, offsets, sizes, self._fill(), shape=sizes[1:])

    def _fill(self) -> float | None:
        """The padding when a slab may reach beyond the feature map, None when none does."""
        problem, tiling = self.problem, self.tiling
        _, c1, height, width, _ = gm_type(self.x).sizes
        last = (tiling.tiles_m(problem) - 1) * tiling.m
        if problem.is_flat:
            inside = last + tiling.m <= width
        else:
            inside = self.top == 0 and last // problem.out_width * problem.strides[0] + tiling.rows <= height
        return None if inside and problem.groups * problem.c1 <= c1 else float(self.padding)

    def first_position(self, b: KernelBuilder, tile: TilePosition) -> Index:
        width = self.problem.out_width
        return 0 if self.problem.is_flat or self.tiling.m % width == 0 else b.modulo(tile.start, width)

    def weights(self, b: KernelBuilder, tile: TilePosition, k: Index, blocks: int) -> SSAValue:
        needed = self.problem.groups * self.tiling.tiles_n(self.problem) * self.tiling.n1
        fill = None if gm_type(self.w).sizes[1] >= needed else 0.0
        lanes = gm_type(self.w).sizes[-1]
        return b.load(self.w, (k, tile.output_block, 0, 0), (blocks, self.tiling.n1, C0, lanes), fill)

    def piece(self, b: KernelBuilder, weights: SSAValue, k: Index, blocks: int) -> SSAValue:
        return b.slice(weights, (k, 0, 0, 0), (blocks, self.tiling.n1, C0, tile_type(weights).lanes))


@dataclass(frozen=True)
class QuantisedRows(ConvolutionOperands):
    """Slabs of a plain feature map of few channels, quantised as they are read; rows outside of it are zeros before."""

    scale: float = 1.0
    element: Attribute = ui8
    together: int = 1
    """Rows that are quantised at once, before each of them is transposed."""

    def slab(self, b: KernelBuilder, tile: TilePosition, chunk: Index, blocks: int) -> SSAValue:
        _, channels, _, width = gm_type(self.x).sizes
        rows, positions = self.tiling.rows, round_up(width, C0)
        top = b.minus(b.times(b.divide(tile.start, self.problem.out_width), self.problem.strides[0]), self.top)
        made: list[SSAValue] = []
        for first in range(0, rows, self.together):
            count = min(self.together, rows - first)
            place, sizes = (tile.image, 0, b.plus(top, first), 0), (1, channels, count, positions)
            x = b.load(self.x, place, sizes, 0.0, shape=(channels, count * positions))
            x = rounded(b, divided(b, b.cast(x, f32), self.scale))
            if channels < C0:
                x = b.concat([x, b.constant(0, (C0 - channels, count * positions), f16)])
            parts = [b.slice(x, (0, number * positions), (C0, positions)) for number in range(count)]
            made += [self._row(b, part, width) for part in parts]
        return b.concat(made, axis=1)

    def _row(self, b: KernelBuilder, x: SSAValue, width: int) -> SSAValue:
        """Whole numbers, 16 channels x positions, as a row 1 x 1 x W x 32: transposed, and doubled to 32 lanes."""
        positions = tile_type(x).sizes[1]
        x = b.transpose(x)
        lanes = b.concat([b.scalar("adds", x, self.padding) for _ in range(2)], axis=1)
        lanes = b.slice(b.reshape(lanes, (1, 1, positions, C0_BYTES)), (0, 0, 0, 0), (1, 1, width, C0_BYTES))
        return b.cast(lanes, self.element)


def convolution_problem(op: Conv2DOp | IntegerConv2DOp) -> Contraction:
    """The contraction that a convolution is. Raises GE4010 when groups do not fall on whole blocks."""
    n, c, _, width = shape_of(op.x)
    o, i, kh, kw = shape_of(op.w)
    _, _, out_height, out_width = shape_of(op.y)
    groups, merge = op.groups.value.data, op.group_merge.value.data
    merged, outputs = ceil_div(groups, merge), merge * o // groups
    element = op.x_element if isinstance(op, IntegerConv2DOp) else tensor(op.x).element_type
    inner, outer = C0_BYTES if element in EIGHT_BITS else C0, block_lanes(tensor(op.y))
    if merged > 1 and (i % inner or outputs % outer):
        filled = str(inner) if inner == outer else f"{inner} and {outer}"
        raise no_kernel(
            op, f"{merged} groups of {i} input and {outputs} output channels do not fill blocks of {filled}"
        )
    stride_h, stride_w = op.strides.get_values()
    dilation_h, dilation_w = op.dilations.get_values()
    cost = epilogue_cost(op.activation) if isinstance(op, Conv2DOp) else requantisation_cost(op.activation)
    flat = (kh, kw, stride_h, stride_w) == (1, 1, 1, 1) and not any(op.pads.get_values())
    return Contraction(
        batch=n,
        groups=merged,
        c1=ceil_div(i if merged > 1 else c, inner),
        n1=ceil_div(outputs if merged > 1 else o, outer) * (outer // C0),
        out_height=1 if flat else out_height,
        out_width=out_height * out_width if flat else out_width,
        width=out_height * out_width if flat else width,
        kernel=(kh, kw),
        strides=(stride_h, stride_w),
        dilations=(dilation_h, dilation_w),
        copies=cost.copies,
        operations=cost.operations,
        made=quantised_rows(c, width) if isinstance(op, IntegerConv2DOp) and op.x_scale is not None else None,
        n1_multiple=outer // C0,
    )


def lower_conv2d(op: Conv2DOp | IntegerConv2DOp, target: Target, fused: FusedSteps | None = None) -> Outlined:
    """The kernel of a convolution, and of the elementwise steps that are fused with it."""
    problem = add_fused_cost(convolution_problem(op), fused)
    tiling = choose_tiling(problem, target.machine(problem.strides[1]), target.double_buffer, target.search)
    if tiling is None:
        raise no_kernel(op, "no tile fits on the chip")
    n, _, height, width = shape_of(op.x)
    top, left, _, right = op.pads.get_values()
    x_type = memory_type(op.x)
    if problem.is_flat:
        x_type = memory_type(op.x, (n, x_type.sizes[1], 1, height * width, x_type.sizes[-1]))
    y_type = memory_type(op.y)
    y_type = memory_type(op.y, (n, y_type.sizes[1], problem.plane, y_type.sizes[-1]))

    blocks = problem.groups * tiling.tiles_n(problem) * tiling.n1
    weights, bias = padded_filters(op.w, blocks), padded_bias(op.bias, blocks)
    scale = padded_bias(op.scale, blocks) if isinstance(op, IntegerConv2DOp) else None
    padding = op.padding.value.data if isinstance(op, IntegerConv2DOp) else 0
    constants = [value for value in (weights, bias, scale) if value is not None]
    further = [] if fused is None else fused.operands
    types = [value.type for value in constants] + [fused.argument(value, y_type) for value in further if fused]
    b = KernelBuilder(op.name.removeprefix("graph."), [x_type, *types], [y_type], tiling.cores)
    names = ["x", "w", *(["bias"] if bias is not None else []), *(["scale"] if scale is not None else [])]
    b.name_arguments(*names, *(f"r{i}" for i in range(len(further))), "y")
    x, w = b.inputs[:2]
    operands = ConvolutionOperands(x, w, problem, tiling, top, padding)
    if isinstance(op, IntegerConv2DOp) and op.x_scale is not None:
        rows = tiling.rows_together(problem, target.machine())
        operands = QuantisedRows(x, w, problem, tiling, top, padding, number_of(op.x_scale), op.x_element, rows)
    ContractionKernel(
        b,
        problem,
        tiling,
        operands,
        Windows(
            problem.kernel,
            problem.strides,
            problem.dilations,
            (left, right),
            tiling.m if problem.is_flat else problem.out_width,
            padding,
        ),
        b.outputs[0],
        b.inputs[2] if bias is not None else None,
        op.activation,
        fused=fused,
        fused_sources=b.inputs[len(names) :],
        requantisation=requantisation_of(op, b.inputs[3]) if isinstance(op, IntegerConv2DOp) else None,
    ).write()
    return Outlined(
        b.kernel,
        [op.x, *(constant.value for constant in constants), *further],
        *_operator(op),
        constants=[constant.op for constant in constants if constant.op is not None],
    )


def _operator(op: Conv2DOp | IntegerConv2DOp) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR: Conv2D, or DepthwiseConv2D when each channel is a group."""
    groups = op.groups.value.data
    top, left, bottom, right = op.pads.get_values()
    shown = attributes(
        strides=(1, 1, *op.strides.get_values()),
        pads=(top, bottom, left, right),
        dilations=(1, 1, *op.dilations.get_values()),
        data_format="NCHW",
    )
    if groups > 1 and groups == shape_of(op.x)[1]:
        return "DepthwiseConv2D", shown
    return "Conv2D", {**shown, **attributes(groups=groups)}
