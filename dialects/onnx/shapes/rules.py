"""All shape rules by operator, and what an operation gives by its rule.

To add a rule, write a function from :class:`~ge.dialects.onnx.shapes.node.Node` to shapes in the module of its family,
and name it in the table ``RULES`` of that module. The documentation of the function is what reports show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.shapes import (
    control_flow,
    elementwise,
    generating,
    indexing,
    machine_learning,
    matrices,
    measuring,
    microsoft,
    normalisation,
    reductions,
    reshaping,
    resizing,
    sequences,
    training,
    windows,
)
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import UNKNOWN_VALUE, Tensor, Value, shape_text

RULES: Mapping[str, Rule] = {
    **control_flow.RULES,
    **elementwise.RULES,
    **generating.RULES,
    **indexing.RULES,
    **machine_learning.RULES,
    **matrices.RULES,
    **measuring.RULES,
    **microsoft.RULES,
    **normalisation.RULES,
    **reductions.RULES,
    **reshaping.RULES,
    **resizing.RULES,
    **sequences.RULES,
    **training.RULES,
    **windows.RULES,
}
"""The rule of each operator by its name, with the domain in front when that is not ai.onnx."""

DATA_DEPENDENT = frozenset(
    {"Compress", "ImageDecoder", "Loop", "NonMaxSuppression", "NonZero", "StringNormalizer", "StringSplit", "Unique"}
)
"""Operators of which no rule can tell all sizes: what a model states of them need not hold for other inputs."""


def rule_of(op_type: str, domain: str = "") -> Rule | None:
    """The rule of an operator, or None when its results are unknown."""
    return RULES.get(f"{domain}.{op_type}" if domain else op_type)


def rule_name(rule: Rule) -> str:
    """The name of a rule for reports: ``matrix product``."""
    return rule.__name__.strip("_").replace("_", " ")


def apply_rule(rule: Rule, node: Node, operator: Operator | None) -> list[Value]:
    """What is known of the results of an operation; ``operator`` is its entry in the table, if it has one.

    Raises GE3015 when its inputs and attributes contradict each other.
    """
    results = rule(node)
    return [
        _value(results[index] if index < len(results) else None, node, operator, index)
        for index in range(node.output_count)
    ]


def _value(result: Result, node: Node, operator: Operator | None, index: int) -> Value:
    """A result of a rule, with the element type that the table says for it."""
    value = Tensor(None, result) if result is None or isinstance(result, tuple) else result
    if not isinstance(value, Tensor):
        return value
    if any(isinstance(dim, int) and dim < 0 for dim in value.shape or ()):
        node.fail(f"result {index} would have shape {shape_text(value.shape)}")
    if value.element is not None:
        return value
    element = node.element(0) if operator is None else _element(node, operator, index)
    if element is None and value.shape is None:
        return UNKNOWN_VALUE
    return Tensor(element, value.shape, value.contents)


def _element(node: Node, operator: Operator, index: int) -> str | None:
    """The element type of an output: the only one there is, or that of an input which has the same type."""
    output = operator.outputs[min(index, len(operator.outputs) - 1)]
    types = operator.type_set(output)
    if len(types) == 1:
        return next(iter(types))
    parameters: Sequence[str] = [parameter.type for parameter in operator.inputs]
    for position in range(len(node.inputs)):
        element = node.element(position)
        if element is not None and parameters[min(position, len(parameters) - 1)] == output.type:
            return element
    return None
