"""`graph.matmul` to a tile kernel: a 1 x 1 convolution whose positions are the rows of the left operand.

A [..., M, K] in FRACTAL_NZ is a feature map of M positions and K channels. The right operand is

1. constant and packed as FRACTAL_Z: the weights of a convolution over all matrices of the left operand;
2. in FRACTAL_NZ, one matrix for all: the same, with weights cut from K x 16 columns;
3. in FRACTAL_NZ, one matrix for each of the left operand: each product is a group of its own;
4. in FRACTAL_NZ and transposed, N x K: its blocks of 16 columns are those of FRACTAL_Z as they are.

K beyond the last full block reads as zero in the right operand, so that pad lanes of the left one do not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ge.dialects.graph import MatmulOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.integer import IntegerMatmulOp
from ge.dialects.tile.text import Index
from ge.dialects.tile.types import GmType, gm_type
from ge.ir.attributes import block_lanes, layout_of
from ge.lowering.graph_to_tile.builder import KernelBuilder
from ge.lowering.graph_to_tile.constants import Padded, padded_bias, padded_filters
from ge.lowering.graph_to_tile.contraction import (
    ContractionKernel,
    FusedSteps,
    TilePosition,
    Windows,
    add_fused_cost,
    epilogue_cost,
)
from ge.lowering.graph_to_tile.convolution import ConvolutionOperands
from ge.lowering.graph_to_tile.outline import Outlined, Target, attributes, memory_type, no_kernel
from ge.lowering.graph_to_tile.requantisation import requantisation_cost, requantisation_of
from ge.maths.layouts import C0, ceil_div
from ge.maths.tiling import Contraction, choose_tiling


@dataclass(frozen=True)
class MatrixOperands(ConvolutionOperands):
    """Rows of A, and columns of a B in FRACTAL_NZ: (groups · N1) x K x 16."""

    def weights(self, b: KernelBuilder, tile: TilePosition, k: Index, blocks: int) -> SSAValue:
        n1 = self.tiling.n1
        outputs, rows, _ = gm_type(self.w).sizes
        inside = outputs % n1 == 0 and self.problem.c1 * C0 <= rows
        return b.load(self.w, (tile.output_block, b.times(k, C0), 0), (n1, blocks * C0, C0), None if inside else 0.0)

    def piece(self, b: KernelBuilder, weights: SSAValue, k: Index, blocks: int) -> SSAValue:
        return b.slice(weights, (0, b.times(k, C0), 0), (self.tiling.n1, blocks * C0, C0))


@dataclass(frozen=True)
class TransposedOperands(ConvolutionOperands):
    """Rows of A, and rows of a B in FRACTAL_NZ that is transposed: (groups · K1) x N x 16."""

    def weights(self, b: KernelBuilder, tile: TilePosition, k: Index, blocks: int) -> SSAValue:
        n1 = self.tiling.n1
        k1 = b.plus(b.times(tile.group, self.problem.c1), k)
        fill = None if self.tiling.tiles_n(self.problem) * n1 * C0 <= gm_type(self.w).sizes[1] else 0.0
        offsets, sizes = (k1, b.times(tile.block_in_group, C0), 0), (blocks, n1 * C0, C0)
        return b.load(self.w, offsets, sizes, fill, shape=(blocks, n1, C0, C0))


def matmul_problem(op: MatmulOp | IntegerMatmulOp) -> Contraction:
    """The contraction that a matrix product is."""
    *batch, m, k = shape_of(op.a)
    matrices = math.prod(batch)
    each_its_own = len(shape_of(op.b)) > 2
    inner, outer = block_lanes(tensor(op.a)), block_lanes(tensor(op.y))
    cost = epilogue_cost(op.activation) if isinstance(op, MatmulOp) else requantisation_cost(op.activation)
    return Contraction(
        batch=1 if each_its_own else matrices,
        groups=matrices if each_its_own else 1,
        c1=ceil_div(k, inner),
        n1=ceil_div(shape_of(op.y)[-1], outer) * (outer // C0),
        out_height=1,
        out_width=m,
        width=m,
        copies=cost.copies,
        operations=cost.operations,
        n1_multiple=outer // C0,
    )


def lower_matmul(op: MatmulOp | IntegerMatmulOp, target: Target, fused: FusedSteps | None = None) -> Outlined:
    """The kernel of a matrix product, and of the elementwise steps that are fused with it."""
    if len(shape_of(op.b)) > 2 and shape_of(op.a)[:-2] != shape_of(op.b)[:-2]:
        raise no_kernel(op, "the leading dimensions broadcast")
    problem = add_fused_cost(matmul_problem(op), fused)
    tiling = choose_tiling(problem, target.machine(), target.double_buffer, target.search)
    if tiling is None:
        raise no_kernel(op, "no tile fits on the chip")
    packed = layout_of(op.b.type) == "FRACTAL_Z"
    blocks = problem.groups * tiling.tiles_n(problem) * tiling.n1
    right = padded_filters(op.b, blocks) if packed else Padded(op.b)
    bias = padded_bias(op.bias, tiling.tiles_n(problem) * tiling.n1)
    is_integer = isinstance(op, IntegerMatmulOp)
    scale = padded_bias(op.scale, tiling.tiles_n(problem) * tiling.n1) if is_integer else None

    b_type = right.type
    if not packed:
        blocks = problem.groups * (problem.n1 if is_integer or op.transpose_b is None else problem.c1)
        b_type = GmType((blocks, shape_of(op.b)[-2], C0), b_type.element_type)
    inner, outer = block_lanes(tensor(op.a)), block_lanes(tensor(op.y))
    x_type = memory_type(op.a, (problem.batch, problem.groups * problem.c1, 1, problem.plane, inner))
    stored_blocks = problem.groups * problem.n1 // problem.n1_multiple
    y_type = memory_type(op.y, (problem.batch, stored_blocks, problem.plane, outer))
    further = [] if fused is None else fused.operands
    arguments = [b_type, *(value.type for value in (bias, scale) if value is not None)]
    arguments += [fused.argument(value, y_type) for value in further if fused]
    b = KernelBuilder(op.name.removeprefix("graph."), [x_type, *arguments], [y_type], tiling.cores)
    names = ["a", "b", *(["bias"] if bias is not None else []), *(["scale"] if scale is not None else [])]
    b.name_arguments(*names, *(f"r{i}" for i in range(len(further))), "y")
    ContractionKernel(
        b,
        problem,
        tiling,
        _operands(op)(b.inputs[0], b.inputs[1], problem, tiling, top=0),
        Windows((1, 1), (1, 1), (1, 1), (0, 0), tiling.m),
        b.outputs[0],
        b.inputs[2] if bias is not None else None,
        op.activation,
        bias_of_group=False,
        fused=fused,
        fused_sources=b.inputs[len(names) :],
        requantisation=requantisation_of(op, b.inputs[3]) if isinstance(op, IntegerMatmulOp) else None,
    ).write()
    constants = [value for value in (right, bias, scale) if value is not None]
    inputs = [op.a, *(constant.value for constant in constants), *further]
    return Outlined(
        b.kernel, inputs, *_operator(op), [constant.op for constant in constants if constant.op is not None]
    )


def _operator(op: MatmulOp | IntegerMatmulOp) -> tuple[str, dict[str, Attribute]]:
    """The operator of Ascend IR."""
    transposed = isinstance(op, MatmulOp) and op.transpose_b is not None
    if len(shape_of(op.a)) == 2:
        return "MatMulV2", attributes(transpose_x1=False, transpose_x2=transposed)
    return "BatchMatMulV2", attributes(adj_x1=False, adj_x2=transposed)


def _operands(op: MatmulOp | IntegerMatmulOp) -> type[ConvolutionOperands]:
    """How the kernel reads its operands."""
    if isinstance(op, IntegerMatmulOp) or layout_of(op.b.type) == "FRACTAL_Z":
        return ConvolutionOperands
    return MatrixOperands if op.transpose_b is None else TransposedOperands
