"""Operations of the node tests of the standard, as shape rules see them, and what their results are."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from ge.dialects.onnx import Constant, Custom, OnnxOp, yielded
from ge.dialects.onnx.operators import ML_OPERATORS, OPERATORS
from ge.dialects.onnx.schema import Operator
from ge.dialects.onnx.shapes.inference import node_of
from ge.dialects.onnx.shapes.node import Node
from ge.dialects.onnx.shapes.rules import RULES, rule_of
from ge.dialects.onnx.shapes.types import value_of_constant, value_of_type
from ge.dialects.onnx.shapes.values import UNKNOWN_VALUE, OptionalOf, SequenceOf, Tensor, Value, join_all
from ge.dialects.onnx.types import type_code
from ge.ir.constants import element_type
from ge.ir.errors import GeError
from ge.targets.onnx.importer import import_model


@dataclass
class Case:
    """A model with inputs and outputs: arrays, lists of arrays, or None."""

    name: str
    model: ModelProto
    inputs: Sequence[Any]
    outputs: Sequence[Any]


@cache
def node_cases() -> list[Case]:
    """The node tests of the standard that have data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cast("list[Any]", collect_testcases(None))
    return [Case(case.name, case.model, *case.data_sets[0]) for case in found if case.data_sets]


def bare(case: Case, *, freeze: bool = False) -> ModelProto | None:
    """The model without stated types of results; with its small inputs as constants, or None when it has none."""
    model = copy.deepcopy(case.model)
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    if not freeze:
        return model
    frozen = False
    for value, array in zip(list(model.graph.input), case.inputs, strict=False):
        if isinstance(array, np.ndarray) and array.dtype.kind in "iubf" and array.size <= 16:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
            model.graph.input.remove(value)
            frozen = True
    return model if frozen else None


def actual(value: Any) -> Value:
    """What a value is."""
    match value:
        case TensorProto():
            return actual(numpy_helper.to_array(value))
        case list():
            items = [actual(item) for item in cast("list[Any]", value)]
            return SequenceOf(join_all(items)) if items else SequenceOf(UNKNOWN_VALUE)
        case None:
            return OptionalOf(UNKNOWN_VALUE)
        case dict():
            return UNKNOWN_VALUE
        case _:
            array = np.asarray(value)
            element = "string" if array.dtype.kind in "OUS" else type_code(element_type(array.dtype))
            return Tensor(element, array.shape)


def is_static_in_onnx(model: ModelProto) -> list[bool]:
    """Whether onnx's own inference knows all sizes of each output."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        return [False] * len(model.graph.output)
    return [
        value.type.HasField("tensor_type")
        and value.type.tensor_type.HasField("shape")
        and all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
        for value in inferred.graph.output
    ]


@dataclass
class RuleCase:
    """An operation as its rule sees it."""

    key: str
    operator: Operator | None
    node: Node


MODELS_PER_OPERATOR = 4
"""How many node tests of each operator are looked at for :func:`rule_cases`."""


@cache
def rule_cases() -> dict[str, list[RuleCase]]:
    """Operations of the node tests by operator, and one that is made up from the table."""
    counts: Counter[str] = Counter()
    cases: dict[str, list[RuleCase]] = {}
    for case in node_cases():
        operator = case.model.graph.node[-1].op_type
        counts[operator] += 1
        if counts[operator] > MODELS_PER_OPERATOR:
            continue
        for model in (bare(case), bare(case, freeze=True)):
            for found in () if model is None else _operations(model):
                cases.setdefault(found.key, []).append(found)
    for found in made_up_cases():
        cases.setdefault(found.key, []).append(found)
    return cases


def made_up_cases() -> Iterator[RuleCase]:
    """An operation for each operator: all inputs present, of three dimensions, and required attributes of any value."""
    values: dict[str, Any] = {"int": 1, "ints": [1, 1, 1], "float": 1.0, "floats": [1.0], "string": "ij,jk->ik"}
    for operator in (*OPERATORS, *ML_OPERATORS):
        inputs: list[Value | None] = [_made_up(sorted(operator.type_set(parameter))) for parameter in operator.inputs]
        attributes = {
            name: values.get(spec.kind) if spec.default is None else spec.default
            for name, spec in operator.attributes.items()
        }
        key = f"{operator.domain}.{operator.name}" if operator.domain else operator.name
        node = Node(operator.name, inputs, attributes, len(operator.outputs))
        node.region = lambda name, arguments: [Tensor("i1", ()), *arguments]
        yield RuleCase(key, operator, node)
    for key in RULES:
        if key.startswith("com.microsoft."):
            attributes = {"num_heads": 2, "kv_num_heads": 2, "K": 4, "N": 5, "axis": 0, "kernel_shape": [1]}
            inputs = [Tensor("f32", (2, 3, 4)) for _ in range(9)]
            yield RuleCase(key, None, Node(key.rpartition(".")[2], inputs, attributes, 3))


def _made_up(types: Sequence[str]) -> Value:
    sequences = [type for type in types if type.startswith("seq(")]
    if len(sequences) == len(types):
        return SequenceOf(Tensor("f32", (2, 3)), (Tensor("f32", (2, 3)), Tensor("f32", (4, 3))))
    return Tensor("i64", (), (1,)) if types == ["i32", "i64"] else Tensor(types[0], (2, 3, 4))


def _operations(model: ModelProto) -> Iterator[RuleCase]:
    try:
        module = import_model(model)
    except GeError:
        return
    for op in module.walk():
        if isinstance(op, OnnxOp) and rule_of(op.op_type, op.domain) is not None:
            key = f"{op.domain}.{op.op_type}" if op.domain else op.op_type
            node = node_of(op, [None if value is None else _known(value) for value in op.input_list()])
            regions = {
                name: [value_of_type(value.type) for value in yielded(region.block)]
                for name, region in zip(op.region_names, op.regions, strict=True)
            }
            node.region = lambda name, arguments, regions=regions: regions[name]
            yield RuleCase(key, None if isinstance(op, Custom) else op.operator, node)


def _known(value: Any) -> Value:
    owner = value.owner
    if isinstance(owner, Constant):
        return value_of_constant(owner.attributes["value"], value.type)
    return value_of_type(value.type)
