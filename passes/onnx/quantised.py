"""Numbers on their way into a quantisation: rules that round otherwise leave them alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import Custom, Yield, op_class, ranked
from ge.ir.rewriting import Guard, RewriteRule

_QUANTISATIONS = frozenset(map(op_class, ("DynamicQuantizeLinear", "QuantizeLinear", "Round")))
"""The quantisations; Round is what those consist of that are written out, such as ``Round(x / s) · s``."""


class Quantised:
    """Whether a quantisation takes what an operation gives, at once or by way of other floats.

    A quantisation makes a step of a rounding: where a number is next to the middle of two steps, the last bit decides
    which of them it becomes, 1/255 of the largest value apart. DynamicQuantizeLinear even moves all steps with the
    largest element. So a model that quantises agrees with the original only if these numbers keep their bits: of BERT
    with dynamic quantisation, Gelu in the place of its parts moves the output by 3 % of its largest value.

    Other steps are left out: comparisons, choices (ArgMax, TopK, NonMaxSuppression), Floor, Ceil, and Cast to integers.
    They have one edge where a quantisation has 255, take few numbers (boxes, scores, sizes), and stand at the end of
    detectors, where they would keep the whole network from being folded. The detectors measured in
    docs/optimiser-results.md keep their outputs without.

    Passes of the graph level do not ask: what they fuse, the device computes in float32 where it would round to float16
    in between, so that fewer numbers become another step (test/passes/graph/test_quantised_numbers.py).

    Answers are remembered: a rewrite changes nothing about what is behind it.
    """

    def __init__(self) -> None:
        self._known: dict[Operation, bool] = {}

    def __call__(self, op: Operation) -> bool:
        stack = [op]
        while stack:
            takers = list(_takers(stack[-1]))
            open_ones = [taker for taker in takers if taker not in self._known]
            if any(map(_quantises, takers)) or any(self._known.get(taker) for taker in takers):
                self._known[stack.pop()] = True
            elif open_ones:
                stack.extend(open_ones)
            else:
                self._known[stack.pop()] = False
        return self._known[op]


def _takers(op: Operation) -> Iterator[Operation]:
    """The operations that take a float of an operation; behind the end of a subgraph, those around it."""
    for result in op.results:
        for use in result.uses if _may_be_float(result) else ():
            around = use.operation.parent_op()
            yield around if isinstance(use.operation, Yield) and around is not None else use.operation


def _may_be_float(value: SSAValue) -> bool:
    type = ranked(value)
    return type is None or isinstance(type.element_type, AnyFloat)


def _quantises(op: Operation) -> bool:
    """Whether an operation quantises, or one in its subgraphs."""
    if isinstance(op, Custom):
        return "Quantize" in op.op_type and "Dequantize" not in op.op_type
    return type(op) in _QUANTISATIONS or (bool(op.regions) and any(map(_quantises, _inner(op))))


def _inner(op: Operation) -> Iterator[Operation]:
    return (each for each in op.walk() if each is not op)


GUARD = Guard(
    _QUANTISATIONS | {Custom}, Quantised, "what it gives is quantised afterwards, which makes a step of a rounding"
)


def unless_quantised(rules: Iterable[RewriteRule[Any]], exact: Collection[str] = ()) -> list[RewriteRule[Any]]:
    """Rules that leave alone what a quantisation takes, but for those (``exact``) whose results keep their bits."""
    return [rule if rule.name in exact else dataclasses.replace(rule, guard=GUARD) for rule in rules]
