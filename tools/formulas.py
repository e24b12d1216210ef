"""Whether two modules compute the same by the same operations, so that running both would tell nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.onnx import Custom, OnnxOp, Yield


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
    if len(functions) != 1 or not all(map(_is_known, functions[0].body.walk())):
        return None
    return _results(functions[0].body.block, {}, 0, table)


def _is_known(op: Operation) -> bool:
    """Whether equal operations of its kind give equal results."""
    is_end = isinstance(op, ReturnOp | Yield)
    return is_end or (isinstance(op, OnnxOp) and not isinstance(op, Custom) and not op.is_random)


def _results(block: Block, outer: Mapping[SSAValue, int], depth: int, table: dict[Hashable, int]) -> list[int]:
    """The numbers of what a block gives; arguments are told apart by how deep their block is, and their position."""
    numbers = dict(outer)
    numbers.update((arg, _number((depth, arg.index), table)) for arg in block.args)
    for op in block.ops:
        operands = tuple(numbers[operand] for operand in op.operands)
        if op is block.last_op:
            return list(operands)
        attributes = frozenset((name, value) for name, value in op.attributes.items() if "." not in name)
        graphs = tuple(tuple(_results(region.block, numbers, depth + 1, table)) for region in op.regions)
        key = (op.name, attributes, frozenset(op.properties.items()), operands, graphs)
        numbers.update((result, _number((key, result.index), table)) for result in op.results)
    return []


def _number(key: Hashable, table: dict[Hashable, int]) -> int:
    return table.setdefault(key, len(table))
