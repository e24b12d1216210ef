"""The pass `convert-graph-to-tile`: from operations to kernels and their launches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects import graph
from ge.dialects.graph.base import tensor
from ge.dialects.graph.movement_kernels import keeps_bytes
from ge.dialects.graph.program import CORES, main_function
from ge.dialects.tile.in_place import replaceable_inputs
from ge.dialects.tile.structure import KernelOp
from ge.ir.attributes import layout_of
from ge.ir.locations import node_names
from ge.ir.printer import Locations, print_module
from ge.ir.rewriting import check_legal, erase_if_unused, replace
from ge.lowering.graph_to_tile.boxes import lower_slice
from ge.lowering.graph_to_tile.convolution import lower_conv2d
from ge.lowering.graph_to_tile.elementwise import lower_binary, lower_cast, lower_unary
from ge.lowering.graph_to_tile.fusion import lower_fusion
from ge.lowering.graph_to_tile.gather_channels import lower_concat, lower_gather_channels
from ge.lowering.graph_to_tile.layer_norm import lower_layer_norm
from ge.lowering.graph_to_tile.matmul import lower_matmul
from ge.lowering.graph_to_tile.outline import Lowering, Outlined, Target, check_covered, no_kernel
from ge.lowering.graph_to_tile.pooling import lower_pool2d
from ge.lowering.graph_to_tile.quantisation import lower_dequantise, lower_integer_add, lower_quantise
from ge.lowering.graph_to_tile.reduce import lower_reduce
from ge.lowering.graph_to_tile.softmax import lower_softmax
from ge.lowering.graph_to_tile.trans_data import lower_trans_data
from ge.lowering.graph_to_tile.transpose import lower_transpose
from ge.maths.layouts import ND_FORMATS
from ge.passes.graph.assign_precision import AssignPrecisionPass, has_formats
from ge.passes.graph.merge_host import MergeHostPass
from ge.passes.graph.propagate_layout import PropagateLayoutPass
from ge.targets.ascend.soc import load_soc

LOWERINGS: Mapping[type[Operation], Lowering] = {
    graph.Conv2DOp: lower_conv2d,
    graph.MatmulOp: lower_matmul,
    graph.IntegerConv2DOp: lower_conv2d,
    graph.IntegerMatmulOp: lower_matmul,
    graph.IntegerAddOp: lower_integer_add,
    graph.QuantiseOp: lower_quantise,
    graph.DequantiseOp: lower_dequantise,
    graph.Pool2DOp: lower_pool2d,
    graph.UnaryOp: lower_unary,
    graph.BinaryOp: lower_binary,
    graph.CastOp: lower_cast,
    graph.SoftmaxOp: lower_softmax,
    graph.LayerNormOp: lower_layer_norm,
    graph.ReduceOp: lower_reduce,
    graph.ConcatOp: lower_concat,
    graph.SliceOp: lower_slice,
    graph.GatherChannelsOp: lower_gather_channels,
    graph.TransDataOp: lower_trans_data,
    graph.FusionOp: lower_fusion,
    graph.TransposeOp: lower_transpose,
}
"""The lowering of each operation that becomes a kernel."""

PROGRAM_LEVEL = (
    *(graph.ConstantOp, graph.LaunchOp, graph.HostOp, graph.ViewOp, graph.YieldOp),
    *("func", "onnx", "tile", "arith"),
)
"""What may remain: a device program, the bodies of host operations, and kernels."""


@dataclass(frozen=True)
class ConvertGraphToTilePass(ModulePass):
    """Outline each operation of the device into a `tile.kernel`, and launch it.

    1. An operation with a kernel becomes a `graph.launch` of it, a `graph.fusion` that of all its steps; a second
       operation with the same kernel shares it.
    2. `graph.reshape` in plain format, and `graph.trans_data` that keeps the bytes, become `graph.view`.
    3. Constants, host operations and views stay. Anything else is an error (GE3004), as is a case of a known operation
       that has no kernel (GE4010).
    4. A kernel takes all cores that it can use, or as many as the note `graph.cores` of its operation says, if that is
       less.

    Where nothing has a storage format yet, `assign-precision`, `merge-host` and `propagate-layout` run first: it is
    the one place where a lowering calls passes, so that a pipeline may leave them out.
    """

    name = "convert-graph-to-tile"

    soc: str = "Ascend310P3"
    """The SoC that kernels are written for: its buffers bound the tiles, its rates choose among them."""
    double_buffer: bool = True
    """Whether loops ask for double buffering of what they load."""
    search_tiles: bool = True
    """Whether the tiles of convolutions and products are those that cost least; the largest that fit otherwise."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(load_soc(self.soc), self.double_buffer, self.search_tiles)
        if not has_formats(main_function(op)):
            for prepare in (AssignPrecisionPass(), MergeHostPass(), PropagateLayoutPass()):
                prepare.apply(ctx, op)
        outliner = _Outliner(op, target)
        for inner in list(main_function(op).body.block.ops):
            outliner.visit(inner)
        for inner in list(main_function(op).body.block.ops):
            if isinstance(inner, graph.ConstantOp):
                erase_if_unused(inner)
        check_legal(op, PROGRAM_LEVEL, level="tile")


def is_launched(op: Operation) -> bool:
    """Whether an operation of the graph level becomes a launch."""
    return type(op) in LOWERINGS and not (isinstance(op, graph.TransDataOp) and keeps_bytes(op))


@dataclass
class _Outliner:
    """Replaces operations by launches, and keeps the kernels of the module."""

    module: ModuleOp
    target: Target
    kernels: dict[str, KernelOp] = field(default_factory=dict[str, KernelOp])
    """Kernels by their text without the name."""
    names: set[str] = field(default_factory=set[str])

    def visit(self, op: Operation) -> None:
        """Replace one operation, if it has a kernel or is a view."""
        match op:
            case graph.ReshapeOp():
                if {layout_of(op.x.type), layout_of(op.y.type)} - ND_FORMATS:
                    raise no_kernel(op, "a reshape of a tensor that is not in a plain format")
                replace(op, graph.ViewOp(op.x, tensor(op.y)))
            case graph.TransDataOp() if keeps_bytes(op):
                replace(op, graph.ViewOp(op.x, tensor(op.y)))
            case _ if (lower := LOWERINGS.get(type(op))) is not None:
                if not isinstance(op, graph.FusionOp):  # whose steps its lowering checks
                    check_covered(op)
                self.launch(op, lower(op, self.target_of(op)))
            case _:
                pass

    def target_of(self, op: Operation) -> Target:
        """What the kernel of an operation is written for."""
        cores = op.attributes.get(CORES)
        return (
            replace_fields(self.target, most_cores=cores.value.data) if isinstance(cores, IntegerAttr) else self.target
        )

    def launch(self, op: Operation, outlined: Outlined) -> None:
        """Replace one operation by the launch of its kernel."""
        kernel = self.shared(outlined.kernel, op)
        launch = graph.LaunchOp(
            kernel.sym_name.data,
            outlined.inputs,
            [result.type for result in op.results],
            blocks=kernel.block_count,
            op_type=outlined.op_type,
            op_attrs=outlined.op_attrs or None,
            in_place=replaceable_inputs(kernel),
        )
        replace(op, [*outlined.constants, launch], list(launch.results))

    def shared(self, kernel: KernelOp, op: Operation) -> KernelOp:
        """The kernel of the module that is like ``kernel``: an earlier one, or this one under a name of its own."""
        text = print_module(kernel, locations=Locations.NONE)
        if text in self.kernels:
            return self.kernels[text]
        kernel.sym_name = StringAttr(self.fresh_name(op, kernel.sym_name.data))
        kernel.location = op.location
        self.module.body.block.add_op(kernel)
        self.kernels[text] = kernel
        return kernel

    def fresh_name(self, op: Operation, kind: str) -> str:
        """A name that says which node the kernel was written for, and of what kind it is where the node does not."""
        nodes = node_names(op)
        base = re.sub(r"\W+", "_", nodes[0]).strip("_") if nodes else ""
        if not base:
            base = kind
        elif base[0].isdigit():
            base = f"{kind}_{base}"
        elif isinstance(op, graph.TransDataOp | graph.CastOp):
            base = f"{base}_{kind}"
        name, number = base, 0
        while name in self.names or name == "main":
            number += 1
            name = f"{base}_{number}"
        self.names.add(name)
        return name
