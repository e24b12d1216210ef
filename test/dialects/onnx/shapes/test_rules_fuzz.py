"""Whatever is known of inputs, a shape rule gives types or an error of ours: never another exception.

The operations of the node tests of the standard are taken, and what is known of them is changed: dimensions become
unknown, names, 0 or 1, ranks become unknown or others, contents and optional inputs go, attributes get other numbers.
"""

from __future__ import annotations

import math
import os
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shape_cases import RuleCase, rule_cases

from ge.dialects.onnx.operators import ML_OPERATORS, OPERATORS
from ge.dialects.onnx.shapes.contents import with_contents
from ge.dialects.onnx.shapes.node import Node
from ge.dialects.onnx.shapes.rules import RULES, apply_rule
from ge.dialects.onnx.shapes.values import (
    UNKNOWN_VALUE,
    Dim,
    OptionalOf,
    SequenceOf,
    Tensor,
    Unknown,
    Value,
    is_static,
)
from ge.ir.errors import GeError
from ge.maths.symbols import quotient, symbol

EXAMPLES = int(os.environ.get("GE_FUZZ_EXAMPLES", "12"))

BATCH, LENGTH = symbol("batch"), symbol("length", 2)
DIMS: list[Dim] = [None, 0, 1, 2, BATCH, LENGTH, 2 * BATCH, quotient(LENGTH - 1, 2)]
NUMBERS: list[Any] = [None, -1, 0, 1, 2, 7, -(2**63), 2**63 - 1, BATCH, -1 * LENGTH, 0.5, math.inf]


def changed(value: Value | None, random: Random) -> Value | None:
    """What may be known instead of a value."""
    match value:
        case Tensor():
            return _changed_tensor(value, random)
        case SequenceOf():
            if random.random() < 0.2:
                return UNKNOWN_VALUE
            element = changed(value.element, random) or UNKNOWN_VALUE
            return SequenceOf(element, random.choice([None, (), (element,) * random.randint(1, 3)]))
        case OptionalOf():
            return random.choice([UNKNOWN_VALUE, OptionalOf(changed(value.element, random) or UNKNOWN_VALUE)])
        case _:
            return value


def _changed_tensor(tensor: Tensor, random: Random) -> Value:
    choice = random.random()
    if choice < 0.05:
        return UNKNOWN_VALUE
    if choice < 0.15:
        return Tensor(tensor.element)
    shape = list(tensor.shape or ())
    if choice < 0.3:
        shape = [random.choice(DIMS) for _ in range(random.randint(0, 5))]
    for axis in range(len(shape)):
        if random.random() < 0.3:
            shape[axis] = random.choice(DIMS)
    known = Tensor(tensor.element, tuple(shape))
    if not is_static(known) or (count := math.prod(shape)) > 32 or random.random() < 0.3:  # pyright: ignore
        return known
    contents = list(tensor.contents or ())[:count]
    contents += [random.choice(NUMBERS) for _ in range(count - len(contents))]
    for position in range(count):
        if random.random() < 0.2:
            contents[position] = random.choice(NUMBERS)
    return Tensor(tensor.element, tuple(shape), tuple(contents))


def _changed_attribute(value: Any, random: Random) -> Any:
    if random.random() < 0.7:
        return value
    match value:
        case bool() | int():
            return random.choice([value, -2, -1, 0, 1, 2, 3, 100])
        case [int(), *_] | []:
            return [random.choice([*value, -1, 0, 1, 2, 5]) for _ in range(random.randint(0, 5))]
        case str():
            return random.choice([value, "", "ab,bc->ac", "...i,i->...", "ii->i", "a->b", "SAME_UPPER", "VALID"])
        case _:
            return value


def _changed_node(case: RuleCase, random: Random) -> Node:
    node = case.node
    inputs = [changed(value, random) for value in node.inputs]
    parameters = case.operator.inputs if case.operator is not None else ()
    for position, parameter in enumerate(parameters):
        if parameter.optional and position < len(inputs) and random.random() < 0.3:
            inputs[position] = None
    attributes = {name: _changed_attribute(value, random) for name, value in node.attributes.items()}

    def region(name: str, arguments: Any) -> list[Value]:
        return [changed(value, stable) or UNKNOWN_VALUE for value in node.region(name, arguments)]

    stable = Random(random.randint(0, 9))
    return Node(node.op_type, inputs, attributes, node.output_count, "somewhere", region)


def check(value: Value) -> None:
    assert isinstance(value, Tensor | SequenceOf | OptionalOf | Unknown) or "map" in str(value)
    if isinstance(value, Tensor):
        assert value.shape is None or all(not isinstance(dim, int) or dim >= 0 for dim in value.shape), value
        if value.contents is not None and is_static(value):
            assert len(value.contents) == math.prod(value.shape or ())  # pyright: ignore


@pytest.mark.parametrize("key", sorted(RULES))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_rule(key: str, random: Random) -> None:
    for case in random.sample(rule_cases().get(key, []), k=min(4, len(rule_cases().get(key, [])))):
        node = _changed_node(case, random)
        try:
            values = apply_rule(RULES[key], node, case.operator)
        except GeError as error:
            assert error.code == "GE3015"
            continue
        assert len(values) == node.output_count
        if "." not in key:
            values = with_contents(node, values)
        for value in values:
            check(value)


def test_every_operator_has_a_rule() -> None:
    operators = {
        operator.name if not operator.domain else f"{operator.domain}.{operator.name}": operator
        for operator in (*OPERATORS, *ML_OPERATORS)
    }
    assert set(operators) <= set(RULES)


def test_every_operator_of_the_standard_is_fuzzed() -> None:
    without = {operator.name for operator in OPERATORS} - set(rule_cases())
    assert without == set()
