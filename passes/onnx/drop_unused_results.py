"""The pass `drop-unused-results`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ge.dialects.onnx import ABSENT, OnnxOp, op_class, yielded
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.regions import carried_count, keep_arguments, keep_results, keep_yielded

_OPTIONAL = ("Dropout", "GRU", "LSTM", "LayerNormalization", "MaxPool", "RNN", "SoftmaxCrossEntropyLoss", "Unique")
"""Operators with results that a model need not ask for. (BatchNormalization gives all of them in training.)"""


@dataclass(frozen=True)
class DropUnusedResultsPass(RulePass):
    """Do not compute results that nobody uses, of operations that give several.

    1. Results that the standard lets a model leave out: the mask of `Dropout`, the positions of `MaxPool`, the sequence
       or the last state of `LSTM`.
    2. Results of `If`, in both branches.
    3. Values that `Loop` and `Scan` collect turn by turn.
    4. Values that a `Loop` carries from turn to turn when nothing but themselves needs them.

    Left alone: results that are used; carried values that decide when the loop ends, or that another value needs; a
    `Scan` that says along which axes it collects; an operation of which nothing is used, which `onnx-dce` takes out.
    """

    name = "drop-unused-results"

    def rules(self) -> list[RewriteRule[Any]]:
        return [optional, branches, collected, carried]


@rewrite_rule(*map(op_class, _OPTIONAL))
def optional(op: OnnxOp) -> bool:
    """Case 1."""
    unused = [
        result
        for result, parameter in zip(op.results, op.operator.outputs, strict=False)
        if parameter.optional and not result.uses and result.type != ABSENT
    ]
    if not unused or not any(result.uses for result in op.results):
        return False
    for result in unused:
        Rewriter.replace_value_with_new_type(result, ABSENT)
    last = max(index for index, result in enumerate(op.results) if result.type != ABSENT)
    if last + 1 < len(op.results):
        keep_results(op, range(last + 1))
    return True


@rewrite_rule(op_class("If"))
def branches(op: OnnxOp) -> bool:
    """Case 2."""
    kept = _used(op)
    if not 0 < len(kept) < len(op.results):
        return False
    for region in op.regions:
        keep_yielded(region.block, kept)
    keep_results(op, kept)
    return True


@rewrite_rule(op_class("Loop"), op_class("Scan"))
def collected(op: OnnxOp) -> bool:
    """Case 3."""
    states = carried_count(op)
    used = _used(op)
    kept = [index for index in range(len(op.results)) if index < states or index in used]
    if not used or len(kept) == len(op.results) or not op.attributes.keys().isdisjoint(_SCAN_OUTPUT_LISTS):
        return False
    first = 1 if op.op_type == "Loop" else 0
    keep_yielded(op.regions[0].block, [*range(first), *(first + index for index in kept)])
    keep_results(op, kept)
    return True


@rewrite_rule(op_class("Loop"))
def carried(op: OnnxOp) -> bool:
    """Case 4."""
    body = op.region("body").block
    count, used = carried_count(op), _used(op)
    for index in range(count):
        if index not in used and used and _feeds_only(body.args[2 + index], index):
            _drop_carried(op, index)
            return True
    return False


_SCAN_OUTPUT_LISTS = ("scan_output_axes", "scan_output_directions")
"""Attributes of `Scan` with an entry for each value that it collects."""


def _used(op: OnnxOp) -> list[int]:
    return [index for index, result in enumerate(op.results) if result.uses]


def _feeds_only(argument: SSAValue, index: int) -> bool:
    """Whether a carried value is needed for nothing but its own next one."""
    pending, seen = [argument], {argument}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if not isinstance(op, OnnxOp):
                if op.parent is not argument.owner or use.index != 1 + index:
                    return False
                continue
            new = [result for result in op.results if result not in seen]
            seen.update(new)
            pending += new
    return True


def _drop_carried(op: OnnxOp, index: int) -> None:
    """Take out a carried value: the input, the argument of the body, what the body gives, and the result."""
    body = op.region("body").block
    argument = body.args[2 + index]
    keep_yielded(body, [position for position in range(len(yielded(body))) if position != 1 + index])
    keep_arguments(body, [position for position in range(len(body.args)) if position != 2 + index])
    _erase_users(argument)
    body.erase_arg(argument)
    inputs = op.input_list()
    kept = [position for position in range(len(op.results)) if position != index]
    keep_results(op, kept, [*inputs[: 2 + index], *inputs[3 + index :]])


def _erase_users(value: SSAValue) -> None:
    """Erase the operations that use a value, and before them those that use their results."""
    while (use := next(iter(value.uses), None)) is not None:  # one may be among those that use another's results
        for result in use.operation.results:
            _erase_users(result)
        use.operation.detach()
        use.operation.erase()
