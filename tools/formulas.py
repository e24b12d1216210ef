"""Whether two modules compute the same by the same operations, so that running both would tell nothing."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ge.dialects.onnx import Custom, OnnxOp
from ge.passes.onnx.onnx_cse import region_key


def same_formulas(before: ModuleOp, after: ModuleOp) -> bool:
    """Whether the outputs of two modules of onnx operations are the same operations of the same inputs and constants.

    Not so for modules that differ in how often, in which order and under which names they compute something, nor in
    stated types. False when it is not known: modules of other levels or several functions, random operators.
    """
    table: dict[Hashable, int] = {}
    wanted = _outputs(before, table)
    return wanted is not None and wanted == _outputs(after, table)


def _outputs(module: ModuleOp, table: dict[Hashable, int]) -> list[int] | None:
    """A number for each output: equal for equal formulas, which are numbered in the ``table``."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        return None
    block = functions[0].body.block
    numbers: dict[SSAValue, int] = {arg: _number(("input", arg.index), table) for arg in block.args}
    for op in block.ops:
        if op is block.last_op:
            return [numbers[operand] for operand in op.operands]
        if not isinstance(op, OnnxOp) or any(isinstance(each, OnnxOp) and _is_open(each) for each in op.walk()):
            return None
        attributes = frozenset((name, value) for name, value in op.attributes.items() if "." not in name)
        regions = tuple(region_key(region, numbers) for region in op.regions)
        operands = tuple(numbers[operand] for operand in op.operands)
        key = (op.name, attributes, frozenset(op.properties.items()), operands, regions)
        numbers.update((result, _number((key, result.index), table)) for result in op.results)
    return None


def _is_open(op: OnnxOp) -> bool:
    """Whether equal operations may give other results."""
    return op.is_random or isinstance(op, Custom)


def _number(key: Hashable, table: dict[Hashable, int]) -> int:
    return table.setdefault(key, len(table))
