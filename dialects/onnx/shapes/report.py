"""The table of all values of a module: what is known of each, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.graph_builder import result_name
from ge.dialects.onnx.shapes.inference import Inference, infer_function
from ge.dialects.onnx.shapes.input_shapes import input_names
from ge.dialects.onnx.shapes.values import Tensor, Value, dim_text, integers, shape_text
from ge.dialects.onnx.types import ABSENT
from ge.ir.functions import body_of
from ge.ir.locations import node_names
from ge.maths.symbols import Expression

HEADER = ("value", "type", "shape", "contents", "operator", "rule")
"""The columns of the table."""

_MOST_CONTENTS = 8
"""The longest contents that are shown."""


def shape_rows(module: ModuleOp) -> list[Sequence[str]]:
    """One row for each value of the functions of a module, in order; values in regions are indented."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    return [row for function in functions for row in _function_rows(function)]


def shape_table(module: ModuleOp) -> str:
    """The rows under their header, in columns."""
    rows = [HEADER, *shape_rows(module)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _function_rows(function: FuncOp) -> Iterator[Sequence[str]]:
    inference = infer_function(function)
    block = body_of(function)
    for name, argument in zip(input_names(function), block.args, strict=True):
        yield _row(inference, argument, name, "", 0)
    yield from _block_rows(inference, block, 0)


def _block_rows(inference: Inference, block: Block, depth: int) -> Iterator[Sequence[str]]:
    for op in block.ops:
        if not isinstance(op, OnnxOp):
            continue
        for name, region in zip(op.region_names, op.regions, strict=True):
            for argument in region.block.args:
                label = argument.name_hint or f"{name} {argument.index}"
                yield _row(inference, argument, label, op.op_type, depth + 1)
            yield from _block_rows(inference, region.block, depth + 1)
        for index, result in enumerate(op.results):
            if result.type != ABSENT:
                name = result_name(op, index)
                label = name if node_names(op) else result.name_hint or name
                yield _row(inference, result, label, op.op_type, depth)


def _row(inference: Inference, value: SSAValue, name: str, operator: str, depth: int) -> Sequence[str]:
    known = inference.known[value]
    type, shape, contents = _described(known.value)
    return "  " * depth + name, type, shape, contents, operator, known.rule


def _described(value: Value) -> tuple[str, str, str]:
    """Element type, shape and contents of a value; what is no tensor is described in the first."""
    if not isinstance(value, Tensor):
        return str(value), "", ""
    contents = integers(value.contents) or ()
    shown = ", ".join(dim_text(item) for item in contents) if len(contents) <= _MOST_CONTENTS else "..."
    is_worth_it = any(isinstance(item, int | Expression) for item in contents)
    return value.element or "unknown", shape_text(value.shape), f"[{shown}]" if is_worth_it else ""
