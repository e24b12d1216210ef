"""Numbers for the formulas of a module: what has the same number is the same, and need not be computed again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.onnx import Constant, Custom, OnnxOp, Yield
from ge.dialects.onnx.ops import yielded


class Formulas:
    """Numbers of values: equal for the same operations of the same inputs and constants, in several modules.

    How often, in which order and under which names something is computed does not count, nor do types, but for those
    of constants.
    """

    def __init__(self) -> None:
        self._table: dict[Hashable, int] = {}

    def of(self, module: ModuleOp) -> Mapping[SSAValue, int] | None:
        """The numbers of the values of the function of a module, those inside operations left out.

        None where they are not known: modules of other levels or several functions, random and foreign operators.
        """
        functions = [op for op in module.ops if isinstance(op, FuncOp)]
        if len(functions) != 1 or not all(map(_is_known, functions[0].body.walk())):
            return None
        return self._values(functions[0].body.block, {}, 0)

    def _values(self, block: Block, outer: Mapping[SSAValue, int], depth: int) -> Mapping[SSAValue, int]:
        """The numbers in a block; arguments are told apart by how deep their block is, and their position."""
        numbers = dict(outer)
        numbers.update((arg, self._number((depth, arg.index))) for arg in block.args)
        for op in block.ops:
            attributes = frozenset((name, value) for name, value in op.attributes.items() if "." not in name)
            operands = tuple(numbers[operand] for operand in op.operands)
            graphs = tuple(self._graph(region.block, numbers, depth + 1) for region in op.regions)
            types = tuple(op.result_types) if isinstance(op, Constant) else ()  # which have part of what it holds
            key = (op.name, attributes, frozenset(op.properties.items()), operands, graphs, types)
            numbers.update((result, self._number((key, result.index))) for result in op.results)
        return numbers

    def _graph(self, block: Block, outer: Mapping[SSAValue, int], depth: int) -> tuple[int, ...]:
        """The numbers of what a graph inside an operation gives."""
        numbers = self._values(block, outer, depth)
        return tuple(numbers[value] for value in yielded(block))

    def _number(self, key: Hashable) -> int:
        return self._table.setdefault(key, len(self._table))


def output_numbers(module: ModuleOp, numbers: Mapping[SSAValue, int]) -> list[int]:
    """The numbers of the outputs of a module."""
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    return [numbers[value] for value in yielded(main.body.block)]


def _is_known(op: Operation) -> bool:
    """Whether equal operations of its kind give equal results."""
    is_end = isinstance(op, ReturnOp | Yield)
    return is_end or (isinstance(op, OnnxOp) and not isinstance(op, Custom) and not op.is_random)
