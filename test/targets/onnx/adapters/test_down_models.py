"""Models written for older opsets: what is around the nodes that change, branches and functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from older_opsets import attributes, f32, lowered, one_node, operators
from onnx import ModelProto, TensorProto, helper
from onnx_models import ModelBuilder

from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model


def test_the_ir_version_is_that_of_the_opset() -> None:
    model, _ = one_node("Relu", 22, [f32(4)])
    model.ir_version = 11
    assert export_model(import_model(model), 11).ir_version == helper.OP_SET_ID_VERSION_MAP[("ai.onnx", 11)]


def test_newest_opset_is_what_the_module_is() -> None:
    model, feeds = one_node("ReduceMean", 13, [f32(2, 3)], axes=[1])
    assert operators(lowered(model, OPSET, feeds))[-1] == "ReduceMean"


def test_constants_that_others_read_stay() -> None:
    builder = ModelBuilder(opset=18)
    axes = builder.constant([1], np.int64, name="axes")
    mean = builder.node("ReduceMean", builder.input("x", 2, 3), axes)
    builder.output(builder.node("Mul", mean, builder.node("Cast", axes, to=TensorProto.FLOAT)))
    exported = export_model(import_model(builder.build()), 13)
    assert [tensor.name for tensor in exported.graph.initializer] == ["axes"]


def test_axes_that_are_computed_from_shapes_count_as_constants() -> None:
    model, feeds = one_node("ReduceMean", 18, [f32(2, 3)], {1: np.array([1])})
    model.graph.initializer[0].name = "one"
    model.graph.node.insert(0, helper.make_node("Shape", ["x0"], ["shape"]))
    model.graph.node.insert(1, helper.make_node("Shape", ["shape"], ["rank"]))
    model.graph.node.insert(2, helper.make_node("Sub", ["rank", "one"], ["x1"]))
    exported = lowered(model, 13, feeds)
    assert attributes(next(node for node in exported.graph.node if node.name == "the_node"))["axes"] == [1]


def if_model(opset: int, branch: Callable[[int, str], list[onnx.NodeProto]]) -> ModelProto:
    """A model that takes one of two branches, which read ``x`` from outside."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])
    graphs = [
        helper.make_graph(branch(i, f"y{i}"), f"branch{i}", [], [onnx.ValueInfoProto(name=f"y{i}", type=y.type)])
        for i in range(2)
    ]
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=graphs[0], else_branch=graphs[1])
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
    ]
    graph = helper.make_graph([node], "test", inputs, [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("taken", [True, False])
def test_nodes_in_branches_are_converted(taken: bool) -> None:
    def branch(number: int, output: str) -> list[onnx.NodeProto]:
        axes = helper.make_node("Constant", [], [f"axes{number}"], value_ints=[number])
        return [axes, helper.make_node("ReduceMean", ["x", f"axes{number}"], [output], name=f"mean{number}")]

    model = if_model(18, branch)
    feeds = {"c": np.array(taken), "x": f32(2, 3)}
    exported = lowered(model, 11, feeds)
    graphs = [attribute.g for attribute in exported.graph.node[0].attribute]
    assert [node.op_type for graph in graphs for node in graph.node] == ["ReduceMean", "ReduceMean"]


def test_nodes_in_branches_are_refused_by_name() -> None:
    def branch(number: int, output: str) -> list[onnx.NodeProto]:
        return [helper.make_node("Gelu" if number else "Mish", ["x"], [output], name=f"act{number}")]

    module = import_model(if_model(20, branch))
    assert export_model(module, 13)  # both are functions

    def refused(number: int, output: str) -> list[onnx.NodeProto]:
        cast = helper.make_node("Cast", ["x"], [f"int{number}"], to=TensorProto.INT32)
        invert = helper.make_node("BitwiseNot", [f"int{number}"], [f"not{number}"], name=f"invert{number}")
        return [cast, invert, helper.make_node("Cast", [f"not{number}"], [output], to=TensorProto.FLOAT)]

    with pytest.raises(GeError, match=r"(?s)GE1021.*node 'invert0' \(BitwiseNot\).*node 'invert1'"):
        export_model(import_model(if_model(20, refused)), 13)


def test_new_names_do_not_meet_those_of_the_model() -> None:
    model, feeds = one_node("Softmax", 13, [f32(2, 3, 4)], axis=1)
    model.graph.node.append(helper.make_node("Identity", ["y0"], ["the_node_Transpose"], name="the_node_Softmax"))
    model.graph.output[0].name = "the_node_Transpose"
    exported = lowered(model, 12, feeds)
    values = [name for node in exported.graph.node for name in node.output]
    assert len(values) == len(set(values))
    names = [node.name for node in exported.graph.node]
    assert len(names) == len(set(names))


# Functions


def function_model(*nodes: onnx.NodeProto, opset: int = 18) -> ModelProto:
    """A model that calls a function of some nodes, which make ``b`` from ``a``."""
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("local", "f", ["a"], ["b"], nodes, imports, attributes=["axis"])
    call = helper.make_node("f", ["x"], ["y"], domain="local", name="call", axis=1)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4]) for name in ("x", "y")]
    return helper.make_model(
        helper.make_graph([call], "test", infos[:1], infos[1:]),
        opset_imports=[*imports, helper.make_opsetid("local", 1)],
        functions=[function],
        ir_version=8,
    )


def test_nodes_in_functions_are_converted() -> None:
    axes = helper.make_node("Constant", [], ["axes"], value_ints=[-1])
    model = function_model(
        axes, helper.make_node("ReduceL2", ["a", "axes"], ["n"]), helper.make_node("Div", ["a", "n"], ["b"])
    )
    exported = lowered(model, 13, {"x": f32(2, 3, 4)})
    (function,) = exported.functions
    assert [node.op_type for node in function.node] == ["ReduceL2", "Div"]
    assert function.opset_import[0].version == 13


def test_functions_that_need_types_are_inlined() -> None:
    softmax = helper.make_node("Softmax", ["a"], ["b"], name="soft")
    softmax.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT))
    exported = lowered(function_model(softmax), 11, {"x": f32(2, 3, 4)})
    assert not exported.functions
    assert operators(exported) == ["Transpose", "Softmax", "Transpose"]
