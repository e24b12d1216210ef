"""The pass `convert-onnx-to-graph`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph.base import tensor
from ge.dialects.graph.program import INPUT_NAMES, OUTPUT_NAMES, ConstantOp, main_function
from ge.dialects.onnx import Constant, OnnxOp, microsoft
from ge.dialects.onnx.functions import inline_functions
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.ir.rewriting import erase_if_unused, permit, replace
from ge.lowering.onnx_to_graph import (
    convolution,
    elementwise,
    matmul,
    normalization,
    pooling,
    qlinear,
    quantised,
    reductions,
    shape_ops,
)
from ge.lowering.onnx_to_graph.host import move_to_host, refuse_custom
from ge.lowering.onnx_to_graph.padding import merge_pads
from ge.lowering.onnx_to_graph.quantised import erase_unread, integer_product, is_weights
from ge.lowering.onnx_to_graph.rules import Emitter, Rule, Rules

RULES: Rules = {
    **convolution.RULES,
    **pooling.RULES,
    **reductions.RULES,
    **elementwise.RULES,
    **matmul.RULES,
    **normalization.RULES,
    **shape_ops.RULES,
    **quantised.RULES,
    **qlinear.RULES,
}
"""Every operator that has a form at the graph level."""

DOMAINS: Mapping[str, Rules] = {"": RULES, microsoft.DOMAIN: qlinear.MICROSOFT_RULES}
"""The same by domain."""


@dataclass(frozen=True)
class ConvertOnnxToGraphPass(ModulePass):
    """Translate the operators of the model; those without a form at the graph level become `graph.host` regions.

    Results keep their types, operations the names of the nodes. Functions of the model are inlined first. No operator
    of the ONNX standard is refused; operators of unknown domains are, all at once (GE4001).
    """

    name = "convert-onnx-to-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline_functions(op)
        refuse_custom(op)
        main = main_function(op)
        block = main.body.block
        merge_pads(block)
        for inner in list(block.ops):
            if isinstance(inner, OnnxOp) and not isinstance(inner, Constant) and not is_weights(inner):
                convert(inner)
        for inner in list(block.ops):
            if isinstance(inner, OnnxOp) and is_weights(inner) and not erase_if_unused(inner):
                convert(inner)  # the caller reads it, or a subgraph
        erase_unread(block)
        convert_constants(block)
        finish_function(main)
        check_legal(op)


def convert(op: OnnxOp) -> None:
    """Translate one operator, or move it to the host, where shapes that contradict each other raise at run time.

    Constants that are scaled are translated with what reads them, unless that computes with integers.
    """
    if _translate(op, integer_product):
        return
    for operand in op.operands:
        if isinstance(operand.owner, OnnxOp) and is_weights(operand.owner):
            convert(operand.owner)
    rule = DOMAINS.get(op.domain, {}).get(op.op_type)
    if rule is None or not permit(f"lowering of {op.op_type}", op) or not _translate(op, rule):
        move_to_host(op)


def _translate(op: OnnxOp, rule: Rule) -> bool:
    """Replace an operator by what a rule makes of it; False if that is nothing, or does not fit."""
    emit = Emitter()
    try:
        results = rule(op, emit)
    except (ValueError, IndexError):  # sizes that do not fit, a rank that the operator does not take
        results = None
    values = [results] if isinstance(results, SSAValue) else results
    if values is None or not all(_agree(old, new) for old, new in zip(op.results, values, strict=True)):
        emit.drop()
        return False
    replace(op, emit.ops, values)
    return True


def _agree(old: SSAValue, new: SSAValue | None) -> bool:
    """Whether a result has the element type and rank that the model says, where the model says it.

    Sizes follow from those of the operands; what the model says of them may be stale.
    """
    if new is None or not isinstance(old.type, TensorType) or not isinstance(new.type, TensorType):
        return True
    want, got = tensor(old), tensor(new)
    return want.element_type == got.element_type and len(want.get_shape()) == len(got.get_shape())


def convert_constants(block: Block) -> None:
    """Make `graph.constant` of the ONNX constants that are still used; strings stay with the host."""
    for op in list(block.ops):
        if not isinstance(op, Constant) or erase_if_unused(op):
            continue
        if isinstance(op.literal, ArrayAttr):
            move_to_host(op)
        else:
            replace(op, ConstantOp(op.literal, tensor(op.results[0])))


RENAMED = {"onnx.input_names": INPUT_NAMES, "onnx.output_names": OUTPUT_NAMES, "onnx.graph_name": "graph.name"}
"""Attributes of the function that every later level reads, under the name that they have from here on."""


def finish_function(main: FuncOp) -> None:
    """Give the function the types of what it returns now, and its attributes their names of the graph level."""
    main.update_function_type()
    main.attributes = {RENAMED.get(key, key): value for key, value in main.attributes.items()}


def check_legal(module: ModuleOp) -> None:
    """Check the level boundary: `@main` holds only operations of the graph level. Raises GE3004."""
    for op in main_function(module).body.block.ops:
        if not op.name.startswith("graph.") and not isinstance(op, ReturnOp):
            raise GeError("GE3004", f"operation '{op.name}' may not remain at level 'graph'", where(op))
