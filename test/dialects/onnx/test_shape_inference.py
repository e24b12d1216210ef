"""Inference by the onnx package, which must survive whatever it is asked about."""

from __future__ import annotations

import pytest
from onnx import ModelProto, ValueInfoProto, helper

from ge.dialects.onnx.shape_inference import infer_types, value_types

CRASHING = [
    ("EyeLike", ""),
    ("RegexFullMatch", ""),
    ("DictVectorizer", "ai.onnx.ml"),
    ("LabelEncoder", "ai.onnx.ml"),
    ("TreeEnsemble", "ai.onnx.ml"),
]


def model(nodes: list[tuple[str, str, str, str]], inputs: list[ValueInfoProto]) -> ModelProto:
    """A chain of nodes: operator, domain, input, output."""
    protos = [helper.make_node(op, [x], [y], domain=domain, name=y) for op, domain, x, y in nodes]
    outputs = [ValueInfoProto(name=nodes[-1][3])]
    opsets = [helper.make_opsetid("", 22), helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("x", 1)]
    return helper.make_model(helper.make_graph(protos, "g", inputs, outputs), opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize(("operator", "domain"), CRASHING)
def test_an_input_of_unknown_type_does_not_end_the_process(operator: str, domain: str) -> None:
    for nodes in (
        [(operator, domain, "missing", "y")],
        [("Custom", "x", "x", "c"), (operator, domain, "c", "y")],
        [("Custom", "x", "x", "c"), ("Relu", "", "c", "r"), (operator, domain, "r", "y"), (operator, domain, "y", "z")],
    ):
        x = helper.make_tensor_value_info("x", 1, [2, 3])
        infer_types(model(nodes, [x]))
        branch = model(nodes, []).graph
        condition = helper.make_tensor_value_info("k", 9, [])
        outer = model([("Not", "", "k", "o")], [condition, x])
        outer.graph.node.append(helper.make_node("If", ["k"], ["i"], then_branch=branch, else_branch=branch))
        infer_types(outer)
        called = model([("f", "x", "x", "o")], [x])
        opsets = list(called.opset_import)
        body = list(branch.node)
        called.functions.append(helper.make_function("x", "f", ["x"], [body[-1].output[0]], body, opsets))
        infer_types(called)


def test_types_that_become_known_are_used() -> None:
    nodes = [
        ("Relu", "", "x", "a"),
        ("EyeLike", "", "a", "b"),
        ("Neg", "", "b", "c"),
        ("EyeLike", "", "c", "d"),
        ("Abs", "", "d", "y"),
    ]
    inferred = infer_types(model(nodes, [helper.make_tensor_value_info("x", 1, [2, 3])]))
    types = value_types(inferred.graph)
    for name in "abcdy":
        tensor = types[name].type.tensor_type
        assert ([dim.dim_value for dim in tensor.shape.dim], tensor.elem_type) == ([2, 3], 1)
