"""Rules of operators with graphs inside: what comes out of them is inferred from what their graphs give.

A value that a loop carries has the type that is true before the loop and after every turn: the types of both are joined
until nothing changes any more, which ends because a dimension that differed once stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import UNKNOWN_VALUE, Dim, SequenceOf, Tensor, Value, join
from ge.ir.errors import GeError
from ge.maths.symbols import maximum


def if_(node: Node) -> Sequence[Result]:
    """What is true of the results of both branches; of one when the condition is known or the other cannot run."""
    condition = node.scalar(0)
    names = ("then_branch", "else_branch")
    results: dict[str, Sequence[Value]] = {}
    errors: dict[str, GeError] = {}
    for name in names:
        try:
            results[name] = node.region(name, ())
        except GeError as error:
            errors[name] = error
    if isinstance(condition, int):
        names = names[:1] if condition else names[1:]
        if names[0] in errors:
            raise errors[names[0]]
    if not results:
        raise errors[names[0]]
    taken = [results[name] for name in names if name in results]
    if len(taken) == 1:
        return taken[0]
    if len(taken[0]) != len(taken[1]):
        node.fail(f"the branches give {len(taken[0])} and {len(taken[1])} values")
    return [joined(a, b) for a, b in zip(*taken, strict=True)]


def joined(a: Value, b: Value) -> Value:
    """What is true of both values, contents included."""
    if a == b:
        return a
    match a, b, join(a, b):
        case Tensor(), Tensor(), Tensor() as common if a.shape == b.shape and a.contents and b.contents:
            contents = tuple(x if x == y else None for x, y in zip(a.contents, b.contents, strict=True))
            return Tensor(common.element, common.shape, contents)
        case _, _, common:
            return common


def _settle(
    node: Node, before: Sequence[Value], fixed: Sequence[Value], extra: Sequence[Value], skipped: int
) -> tuple[Sequence[Value], Sequence[Value]]:
    """The types that carried values settle on, and what the body gives then.

    The body takes ``fixed``, the carried values and ``extra``; it gives ``skipped`` results, the carried values, and
    others.
    """
    state = list(before)
    while True:
        results = node.region("body", [*fixed, *state, *extra])
        after = results[skipped : skipped + len(state)]
        if len(after) < len(state):
            node.fail(f"the body gives {len(results)} values, and {len(state)} are carried")
        settled = [joined(a, b) for a, b in zip(state, after, strict=True)]
        if settled == state:
            return state, results
        state = settled


def loop(node: Node) -> Sequence[Result]:
    """The carried values, and the other results of the body stacked along a new first axis.

    The loop may end before the number of turns that the first input allows, so that this is the length of the stacks
    only when the condition certainly stays true.
    """
    before = [node.value(position) for position in range(2, len(node.inputs))]
    state, results = _settle(node, before, [Tensor("i64", ()), _TRUE], (), 1)
    turns = node.scalar(0) if node.has(0) else None
    first = node.scalar(1) if node.has(1) else 1
    length: Dim = None
    if turns == 0 or first == 0:
        length = 0
    elif turns is not None and first == 1 and results[0] == _TRUE:
        length = maximum(0, turns)
    return [*state, *(_stacked(node, result, 0, length) for result in results[1 + len(state) :])]


_TRUE = Tensor("i1", (), (1,))
"""The condition inside a loop: the body only runs when it holds."""


def scan(node: Node) -> Sequence[Result]:
    """The carried values, and the other results of the body stacked along a new axis as long as the scanned one."""
    count = node.attribute("num_scan_inputs")
    if not 1 <= count <= len(node.inputs):
        node.fail(f"attribute 'num_scan_inputs' is {count} for {len(node.inputs)} inputs")
    carried = len(node.inputs) - count
    axes = node.numbers("scan_input_axes", count, 0, least=-(2**31))
    length: Dim = None
    slices: list[Value] = []
    for axis, position in zip(axes, range(carried, len(node.inputs)), strict=True):
        shape = node.expect_least_rank(position, 1)
        if shape is None:
            slices.append(Tensor(node.element(position)))
            continue
        axis = node.axis(axis, len(shape), "one of scan_input_axes")
        length = node.same(length, shape[axis], "lengths of the scanned inputs")
        slices.append(Tensor(node.element(position), (*shape[:axis], *shape[axis + 1 :])))
    state, results = _settle(node, [node.value(position) for position in range(carried)], (), slices, 0)
    results = results[carried:]
    output_axes = node.numbers("scan_output_axes", len(results), 0, least=-(2**31))
    return [*state, *(_stacked(node, *pair, length) for pair in zip(results, output_axes, strict=True))]


def _stacked(node: Node, value: Value, axis: int, length: Dim) -> Result:
    if not isinstance(value, Tensor) or value.shape is None:
        return Tensor(value.element) if isinstance(value, Tensor) else UNKNOWN_VALUE
    axis = node.axis(axis, len(value.shape) + 1, "one of scan_output_axes")
    return Tensor(value.element, (*value.shape[:axis], length, *value.shape[axis:]))


def sequence_map(node: Node) -> Sequence[Result]:
    """The sequence of what the body gives for each entry; other sequences go along, tensors are given whole."""
    args: list[Value] = []
    for position in range(len(node.inputs)):
        value = node.value(position)
        args.append(value.element if isinstance(value, SequenceOf) else value)
    return [SequenceOf(value) for value in node.region("body", args)]


RULES: Mapping[str, Rule] = {"If": if_, "Loop": loop, "Scan": scan, "SequenceMap": sequence_map}
