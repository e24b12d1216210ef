"""Running a module from the values on that it has in common with the one before, instead of from its inputs.

A pass changes a part of a module. What is ahead of that part is the same formulas as before
(:mod:`ge.tools.formulas`), so its values are, too: they are kept, and only what is behind them runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, SSAValue

from ge.dialects.onnx import Constant, OnnxOp, ranked
from ge.dialects.onnx.meaning import input_names
from ge.dialects.onnx.ops import yielded
from ge.dialects.onnx.protos import text_notes
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.tools.input_draws import Draw
from ge.tools.onnxruntime_executable import OnnxRuntimeExecutable


@dataclass
class PartialRuns:
    """Runs one module after another on the same draws, each after a pass over the one before."""

    _known: list[dict[int, Any]] = field(default_factory=list[dict[int, Any]])
    """Draw by draw, values by the numbers of their formulas: all draws have the same."""

    def run(
        self, module: ModuleOp, numbers: Mapping[SSAValue, int], before: Collection[int], draws: Sequence[Draw]
    ) -> list[dict[str, Any]]:
        """The outputs of a module by onnxruntime, draw by draw. Raises GE6006 when it does not run.

        ``numbers`` are those of its values, ``before`` those of the module before.
        """
        self._known = self._known or [{} for _ in draws]
        known = self._known[0]
        main = next(op for op in module.ops if isinstance(op, FuncOp))
        taps = _border(main.body.block, numbers, known, before)
        part, taken = _part(module, [value for value, number in numbers.items() if number in known], taps)
        program = OnnxRuntimeExecutable(part)
        names = [info.name for info in program.inputs]
        results: list[dict[str, Any]] = []
        kept: list[dict[int, Any]] = []
        for draw, values in zip(draws, self._known, strict=True):
            inputs = [*draw.inputs, *(values[numbers[value]] for value in taken)]
            found = list(program.run(dict(zip(names, inputs, strict=True))).items())
            count = len(found) - len(taps)
            results.append(dict(found[:count]))
            kept.append({numbers[value]: values[numbers[value]] for value in taken})
            kept[-1].update((numbers[value], array) for value, (_, array) in zip(taps, found[count:], strict=True))
        self._known = kept
        return results


def _border(
    block: Block, numbers: Mapping[SSAValue, int], known: Collection[int], before: Collection[int]
) -> list[SSAValue]:
    """The values that are the same as before and that something else than before is computed of; not those known."""
    found: dict[SSAValue, None] = {}
    waiting, seen = list(yielded(block)), set[SSAValue]()
    while waiting:
        value = waiting.pop()
        if value in seen or isinstance(value, BlockArgument) or isinstance(value.owner, Constant):
            continue
        seen.add(value)
        if numbers[value] in before and _is_array(value):
            if numbers[value] not in known:
                found[value] = None
            continue
        assert isinstance(value.owner, OnnxOp), "formulas are known of operations of this level alone"
        waiting += [operand for inner in value.owner.walk() for operand in inner.operands if operand in numbers]
    return list(found)


def _is_array(value: SSAValue) -> bool:
    """Whether a value can be handed to another run: a tensor of numbers."""
    type = ranked(value)
    if type is None:
        return False
    try:
        return numpy_dtype(type.element_type).kind in "biufV"
    except GeError:
        return False


def _part(module: ModuleOp, known: Sequence[SSAValue], taps: Sequence[SSAValue]) -> tuple[ModuleOp, list[SSAValue]]:
    """A module that takes ``known`` values as inputs, computes what needs them, and gives ``taps``, too.

    Also the values that it really takes; they are its last inputs, in their order.
    """
    part = module.clone()
    old, new = (next(op for op in each.ops if isinstance(op, FuncOp)) for each in (module, part))
    twins = dict(zip(_values(old), _values(new), strict=True))
    block = new.body.block
    names = text_notes(new, "output_names") or [f"y{number}" for number in range(len(yielded(block)))]
    assert block.last_op is not None, "a function ends by returning"
    block.last_op.operands = [*yielded(block), *(twins[value] for value in taps)]
    arguments: dict[SSAValue, BlockArgument] = {}
    for value in known:
        if not isinstance(value, BlockArgument) and not isinstance(value.owner, Constant):
            arguments[value] = block.insert_arg(value.type, len(block.args))
            twins[value].replace_all_uses_with(arguments[value])
    for op in reversed(list(block.ops)):
        if op is not block.last_op and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
    taken = [value for value, argument in arguments.items() if argument.uses]
    for value, argument in arguments.items():
        if value not in taken:
            block.erase_arg(argument)
    inputs = [*input_names(old), *(f"known/ {number}" for number in range(len(taken)))]
    outputs = [*names, *(f"tap/ {number}" for number in range(len(taps)))]
    new.attributes["onnx.input_names"] = ArrayAttr(map(StringAttr, inputs))
    new.attributes["onnx.output_names"] = ArrayAttr(map(StringAttr, outputs))
    new.update_function_type()
    return part, taken


def _values(function: FuncOp) -> list[SSAValue]:
    block = function.body.block
    return [*block.args, *(result for op in block.ops for result in op.results)]
