"""The pass `infer-shapes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from onnx import GraphProto, ModelProto, helper
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ge.dialects.onnx import OPSET, UNKNOWN, Constant, OnnxOp, ranked, yielded
from ge.dialects.onnx.protos import GraphBuilder, text_notes, type_of_proto
from ge.dialects.onnx.shape_inference import infer_types, value_types
from ge.ir.errors import GeError
from ge.passes.onnx.constant_fold import fold_constants

_SHAPE_BYTES = 2**12
"""Constants up to this size may be shapes: inference reads them, and arithmetic on them is folded between rounds."""


@dataclass(frozen=True)
class InferShapesPass(ModulePass):
    """Give every value the type that follows from the inputs and constants.

    `input-shape="x:1,3,224,224;y:1,10"` first gives inputs these shapes. Where a shape is computed by the model itself
    (`Shape`, `Gather`, `Concat`, `Reshape`, ...), the computation is folded and inference goes on with the result,
    until nothing is learnt any more: with fixed inputs all shapes become numbers, unless they depend on data.

    Left alone: what a type says already and inference does not contradict; constants; results of other domains.
    """

    name = "infer-shapes"

    input_shape: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = next((inner for inner in op.ops if isinstance(inner, FuncOp)), None)
        if function is None:
            return
        if self.input_shape:
            _fix_inputs(function, self.input_shape)
        infer_function(function)
        while fold_constants(function, _SHAPE_BYTES, _SHAPE_BYTES):
            infer_function(function)


def _fix_inputs(function: FuncOp, text: str) -> None:
    """Give the inputs that ``text`` names the shapes it has for them. Raises GE2002 or GE1019."""
    block = function.body.block
    names = text_notes(function, "input_names") or [arg.name_hint or "" for arg in block.args]
    for part in filter(None, text.split(";")):
        name, _, sizes = part.rpartition(":")
        if not name or not all(size.strip().isdecimal() and int(size) for size in sizes.split(",")):
            raise GeError("GE2002", f"infer-shapes input-shape: '{part}' is not of the form 'name:1,3,224,224'")
        if name not in names:
            raise GeError("GE1019", f"'{name}' is not an input; the inputs are {', '.join(names)}")
        arg = block.args[names.index(name)]
        shape = [int(size) for size in sizes.split(",")]
        element = _element_type(arg.type, shape)
        if element is None:
            raise GeError("GE1019", f"input '{name}' of type {arg.type} cannot have shape {shape}")
        _set_type(arg, TensorType(element, shape))


def _element_type(type: Attribute, shape: Sequence[int]) -> Attribute | None:
    """The element type of a tensor type that allows a shape, otherwise None."""
    if isinstance(type, UnrankedTensorType):
        return cast("UnrankedTensorType[Attribute]", type).element_type
    known = ranked(type)
    if known is None or known.get_num_dims() != len(shape):
        return None
    fits = all(a in (DYNAMIC_INDEX, b) for a, b in zip(known.get_shape(), shape, strict=True))
    return known.element_type if fits else None


def infer_function(function: FuncOp) -> None:
    """Infer the types of all values of a function once."""
    block = function.body.block
    builder = GraphBuilder(max_constant_bytes=_SHAPE_BYTES)
    graph = builder.graph(block.ops, block.args, yielded(block))
    graph.name = "main"
    _name_dimensions(graph, function)
    domains = {node.domain for node in graph.node} - {""}
    imports = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in sorted(domains))]
    inferred = infer_types(ModelProto(graph=graph, opset_import=imports, ir_version=10))
    _set_types(block, inferred.graph, builder.names)
    results = [value.type for value in yielded(block)]
    function.function_type = FunctionType.from_lists([arg.type for arg in block.args], results)


def _name_dimensions(graph: GraphProto, function: FuncOp) -> None:
    """Name the unknown dimensions of inputs, so that inference can tell where they come back."""
    notes = function.arg_attrs.data if function.arg_attrs is not None else ()
    for position, value in enumerate(graph.input):
        names = notes[position].data.get("onnx.dims") if position < len(notes) else None
        for index, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                known = cast("ArrayAttr[StringAttr]", names).data[index].data if names is not None else ""
                dim.dim_param = known or f"{value.name}_{index}"


def _set_types(block: Block, graph: GraphProto, names: Mapping[SSAValue, str]) -> None:
    """Give the values of a block, and of the regions in it, the types that a graph has for them."""
    types = value_types(graph)

    def refine(value: SSAValue) -> None:
        found = types.get(names.get(value, ""))
        new_type = value.type if found is None else _merged(value.type, type_of_proto(found.type))
        if new_type != value.type:
            _set_type(value, new_type)

    bodies = {
        (node.output[0], attribute.name): attribute.g
        for node in graph.node
        for attribute in node.attribute
        if attribute.HasField("g")
    }
    for arg in list(block.args):
        refine(arg)
    for op in block.ops:
        if not isinstance(op, OnnxOp) or isinstance(op, Constant):
            continue
        first = names.get(op.results[0], "")
        for name, region in zip(op.region_names, op.regions, strict=True):
            if (first, name) in bodies:
                _set_types(region.block, bodies[first, name], names)
        for result in list(op.results):
            refine(result)


def _set_type(value: SSAValue, type: Attribute) -> None:
    hint = value.name_hint
    Rewriter.replace_value_with_new_type(value, type).name_hint = hint


def _merged(old: Attribute, new: Attribute) -> Attribute:
    """The more precise of two types: inferred sizes win, known sizes stay where inference knows none."""
    if new == UNKNOWN or (ranked(new) is None and old != UNKNOWN):
        return old
    known, found = ranked(old), ranked(new)
    if known is None or found is None or known.element_type != found.element_type:
        return new
    if known.get_num_dims() != found.get_num_dims():
        return new
    pairs = zip(known.get_shape(), found.get_shape(), strict=True)
    return TensorType(found.element_type, [a if b == DYNAMIC_INDEX else b for a, b in pairs])
