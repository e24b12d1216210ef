"""Inference goes on where folding found a size that it could not follow itself, and then nothing is left to find."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from ge.dialects.onnx import Constant, make_constant
from ge.dialects.onnx.shapes import inference
from ge.dialects.onnx.shapes.inference import main_function, recall
from ge.ir.printer import print_module
from ge.ir.registry import context
from ge.passes.onnx.infer_shapes import InferShapesPass
from ge.targets.onnx.importer import import_model


def test_a_size_that_only_folding_finds_reaches_all_users() -> None:
    """The size of a Reshape is a sum of more floats than inference follows; an If and an Add come after it."""
    ones = numpy_helper.from_array(np.ones(24, np.float32), "ones")
    rest = numpy_helper.from_array(np.array([-1], np.int64), "rest")
    branch = helper.make_graph(
        [helper.make_node("Neg", ["y"], ["t"])], "g", [], [helper.make_tensor_value_info("t", 1, None)]
    )
    nodes = [
        helper.make_node("ReduceSum", ["ones"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["size"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["size", "rest"], ["sizes"]),
        helper.make_node("Concat", ["rest", "sizes"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
        helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch),
        helper.make_node("Add", ["y", "z"], ["out"]),
    ]
    inputs = [helper.make_tensor_value_info("x", 1, [2, 48]), helper.make_tensor_value_info("c", 9, [])]
    outputs = [helper.make_tensor_value_info("out", 1, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [ones, rest])
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))
    assert "tensor<4x24xf32>" not in print_module(module)
    InferShapesPass().apply(context(), module)
    text = print_module(module)
    for op in ("onnx.Reshape", "onnx.If", "onnx.Neg", "onnx.Add"):
        lines = [line for line in text.splitlines() if op in line]
        assert lines
    assert text.count("tensor<4x24xf32>") >= 5
    assert "onnx.ReduceSum" not in text
    InferShapesPass().apply(context(), module)
    assert print_module(module) == text


def test_what_import_inferred_is_used_once_and_not_where_something_changed() -> None:
    """The index of a size is another one since: what was known of the size does not count any more."""
    index = numpy_helper.from_array(np.array(0, np.int64), "index")
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "index"], ["size"]),
        helper.make_node("Neg", ["size"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", 1, [2, 3])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", 7, None)], [index])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    for changed, expected in ((False, "dense<-2>"), (True, "dense<-3>")):
        module = import_model(model)
        if changed:
            constant = next(op for op in module.walk() if isinstance(op, Constant))
            constant.attributes["value"] = make_constant(np.array(1, np.int64)).attributes["value"]
        InferShapesPass().apply(context(), module)
        assert expected in print_module(module)
        function = main_function(module)
        assert function is not None
        assert recall(function) is None


def test_nothing_is_inferred_again_right_after_the_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the model states just what is inferred, which the import notes when it has inferred."""
    nodes = [helper.make_node("Neg", ["x"], ["inner"]), helper.make_node("Relu", ["inner"], ["y"])]
    inputs, outputs = ([helper.make_tensor_value_info(name, 1, ["n", 3])] for name in "xy")
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    graph.value_info.append(helper.make_tensor_value_info("inner", 1, ["n", 3]))
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))
    text = print_module(module)
    assert "onnx.stated" in text
    visited: list[str] = []
    monkeypatch.setattr(inference, "infer_operation", lambda op, node: visited.append(op.name))
    InferShapesPass().apply(context(), module)
    assert not visited
    assert print_module(module) == text
