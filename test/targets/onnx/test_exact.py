"""Everything that a model can hold comes back: from the importer through text to the exporter."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from exact import CUSTOM, assert_same, check_exact, custom, model_of, tensor, value
from onnx import (
    ModelProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    helper,
    parser,
)
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from ge.dialects.onnx import OnnxOp
from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

NAMES = [
    "1",
    "2",
    "-",
    "a-b",
    "a_b",
    "a/b",
    "a.b",
    "a b",
    "数",
    "卷积/权重",
    "a_1",
    "a_2",
    '"',
    "%a",
    "\\",
    "\n",
    "none",
]

x, y = value("x", 2), value("y", 2)


# Names


def test_value_and_node_names() -> None:
    nodes, last = [], "x"
    for name in NAMES:
        nodes.append(helper.make_node("Relu", [last], [name], name=name))
        last = name
    check_exact(model_of([*nodes, helper.make_node("Relu", [last], ["y"])], [x], [y]))


def test_initializer_names() -> None:
    tensors = [tensor(name, index, 1) for index, name in enumerate(NAMES)]
    model = model_of([helper.make_node("Sum", ["x", *NAMES], ["y"])], [x], [y], initializer=tensors)
    module = check_exact(model)
    outputs = run_module(module, {"x": np.zeros(2, np.float32)})
    np.testing.assert_array_equal(outputs["y"], [sum(range(len(NAMES))), len(NAMES)])


def test_node_names_that_are_empty_or_alike() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"], name="n"),
        helper.make_node("Relu", ["b"], ["c"], name="n"),
        helper.make_node("Constant", [], ["d"], name="n", value=tensor("", 1, 2)),
        helper.make_node("Constant", [], ["e"], value=tensor("t", 1, 2)),
        helper.make_node("Sum", ["c", "d", "e"], ["y"], name="a"),
    ]
    check_exact(model_of(nodes, [x], [y]))


def test_inputs_and_outputs_that_are_not_there() -> None:
    nodes = [
        helper.make_node("Clip", ["x", "", "m"], ["a"]),
        helper.make_node("Clip", ["a", "m", ""], ["b"]),
        helper.make_node("Clip", ["b", "", ""], ["c"]),
        custom(["c", "", "", "m", ""], ["", "d", ""]),
        custom([""], ["", ""]),
        custom([], []),
        helper.make_node("Dropout", ["d"], ["y", ""]),
    ]
    check_exact(model_of(nodes, [x, value("m")], [y], opsets=CUSTOM))


# Graphs as a whole


def test_initializers_that_are_inputs() -> None:
    """As all are before IR version 4, in any order; text and type of the input are kept."""
    node = helper.make_node("Sum", ["x", "v", "w"], ["y"])
    inputs = [value("w", "n"), x, value("v", 2)]
    inputs[0].doc_string = "a weight"
    model = model_of([node], inputs, [y], opsets={"": 8}, initializer=[tensor("v", 1, 2), tensor("w", 3, 4)])
    model.ir_version = 3
    module = check_exact(model)
    np.testing.assert_array_equal(run_module(module, {"x": np.ones(2, np.float32)})["y"], [5, 7])
    del model.graph.input[0]
    model.ir_version = 4
    check_exact(model)


def test_outputs_that_no_node_computes() -> None:
    outputs = [value(name, 2) for name in ("x", "w", "y")]
    check_exact(model_of([helper.make_node("Relu", ["x"], ["y"])], [x], outputs, initializer=[tensor("w", 1, 2)]))


def test_what_is_said_of_everything() -> None:
    """Text and metadata of the model, the graph, nodes, attributes, tensors, inputs, outputs and other values."""
    inner = value("i", 2)
    nodes = [
        helper.make_node("LeakyRelu", ["x"], ["i"], alpha=0.5),
        helper.make_node("Constant", [], ["c"], name="c", value=tensor("t", 1, 2)),
        helper.make_node("Sum", ["i", "w", "c"], ["y"], name="s"),
    ]
    model = model_of(nodes, [x, value("w", 2)], [y], initializer=[tensor("w", 1, 2)], value_info=[inner, value("c", 2)])
    graph, constant = model.graph, model.graph.node[1]
    attributes = [graph.node[0].attribute[0], constant.attribute[0]]
    tensors = [graph.initializer[0], constant.attribute[0].t]
    documented = [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *tensors]
    for number, message in enumerate((*documented, *attributes)):
        message.doc_string = f"text {number}\nof 两 lines"
    for number, message in enumerate(documented):
        message.metadata_props.add(key="z", value=str(number))
        message.metadata_props.add(key="a.b/名", value="")
    check_exact(model)


def test_fields_of_the_model() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [x], [y], name="main/图")
    model.producer_name, model.producer_version, model.domain = "test", "1.2", "org.example"
    model.model_version = -7
    check_exact(model)


def test_quantization_training_and_devices() -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"])
    node.device_configurations.add(configuration_id="two").sharding_spec.add(tensor_name="x").device.extend([0, 1])
    model = model_of([node], [x], [y], initializer=[tensor("w", 1, 2)])
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    training = model.training_info.add()
    training.algorithm.CopyFrom(helper.make_graph([helper.make_node("Neg", ["w"], ["v"])], "step", [], [value("v", 2)]))
    training.update_binding.add(key="w", value="v")
    model.configuration.add(name="two", num_devices=2)
    check_exact(model)


def test_stated_types() -> None:
    """Less than inference finds, other words for it, values of other graphs, in any order."""
    nodes = [helper.make_node("Relu", [name], [result]) for name, result in ("xa", "ab", "bc", "cd", "dy")]
    stated = [
        value("gone", 7),
        helper.make_tensor_value_info("c", TensorProto.FLOAT, None),
        value("b", "batch", 3),
        ValueInfoProto(name="d"),
        value("x", "batch", 3),
        value("y", "batch", 3),
    ]
    check_exact(model_of(nodes, [value("x", "batch", 3)], [value("y", None, "m")], value_info=stated))


@pytest.mark.parametrize(
    "type",
    [
        helper.make_tensor_type_proto(TensorProto.FLOAT, None),
        helper.make_tensor_type_proto(TensorProto.FLOAT, []),
        helper.make_tensor_type_proto(TensorProto.FLOAT, ["?", "?", -1, None, 0, "名"]),
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.STRING, ["n", 2])),
        helper.make_optional_type_proto(helper.make_sequence_type_proto(helper.make_tensor_type_proto(7, None))),
        helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.INT64, ["n"])),
        helper.make_map_type_proto(TensorProto.INT64, helper.make_map_type_proto(TensorProto.INT8, TypeProto())),
        helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3, "n"]),
        TypeProto(opaque_type=TypeProto.Opaque(domain="com.example", name="Table")),
        TypeProto(tensor_type=TypeProto.Tensor(elem_type=1), denotation="IMAGE"),
        TypeProto(tensor_type=TypeProto.Tensor(shape=onnx.TensorShapeProto(dim=[{"dim_value": 3, "denotation": "C"}]))),
    ],
    ids=str,
)
def test_types_of_values(type: TypeProto) -> None:
    infos = [helper.make_value_info(name, type) for name in "xyz"]
    nodes = [custom(["x"], ["z"]), custom(["z"], ["y"])]
    check_exact(model_of(nodes, infos[:1], infos[1:2], opsets=CUSTOM, value_info=infos[2:]))


# Graphs in nodes


def test_graphs_with_names_of_their_own() -> None:
    """Both branches use the same names, an outer value and initializers; the graphs have texts and metadata."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[2] x, bool c, int64 n) => (float[2] y, float[k,2] r)
    <float[2] w = {1, 2}>
    {
      a = Relu(x)
      y = If(c) <
        then_branch = yes () => (float[2] t) <float[2] v = {5, 6}> { b = Add(a, v)  t = Sub(b, w) },
        else_branch = yes () => (float[2] t) <float[2] v = {7, 8}> { b = Mul(x, v)  t = Sub(b, a) }
      >
      z, r = Loop(n, , y) <
        body = step (int64 i, bool g, float[2] s) => (bool g, float[2] u, float[2] row) {
          u = Add(s, a)
          row = If(g) <
            then_branch = yes () => (float[2] t) { t = Add(u, w) },
            else_branch = no () => (float[2] e) { e = Neg(s) }
          >
        }
      >
    }
    """
    model = parser.parse_model(text)
    for attribute in model.graph.node[1].attribute:
        graph = attribute.g
        graph.doc_string = f"the branch {attribute.name}"
        graph.metadata_props.add(key="a", value="b")
        graph.value_info.append(value("b", 2))
        graph.quantization_annotation.add(tensor_name="b")
        graph.output[0].doc_string = "result"
        attribute.doc_string = "a graph"
    check_exact(model)


def test_graph_that_says_nothing() -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "", [], [ValueInfoProto(name="t")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)
    check_exact(model_of([node], [x, value("c", type=TensorProto.BOOL)], [y]))


def test_initializers_that_are_inputs_of_a_graph_in_a_node() -> None:
    inputs = [value("i", type=7), value("g", type=9), value("w", 2), value("s", 2)]
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "w"], ["t"])], "body", inputs, [value("g", type=9), value("t", 2)]
    )
    body.initializer.append(tensor("w", 1, 2))
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    module = check_exact(model_of([node], [x, value("n", type=7)], [y]))
    outputs = run_module(module, {"x": np.zeros(2, np.float32), "n": np.array(3)})
    np.testing.assert_array_equal(outputs["y"], [3, 6])


def test_hidden_names_are_renamed() -> None:
    """ONNX forbids them: the values are right, and the export is valid."""
    branch = helper.make_graph(
        [helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Neg", ["b"], ["a"])], "g", [], [value("a", 2)]
    )
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["r"], then_branch=branch, else_branch=branch),
        helper.make_node("Add", ["r", "a"], ["y"]),
    ]
    model = model_of(nodes, [x, value("c", type=TensorProto.BOOL)], [y])
    exported = export_model(import_model(model))
    onnx.checker.check_model(exported, full_check=True)
    feeds = {"x": np.ones(2, np.float32), "c": np.array(True)}
    np.testing.assert_allclose(run_module(import_model(exported), feeds)["y"], 2 * np.exp(feeds["x"]), rtol=1e-6)
    inner = exported.graph.node[1].attribute[0].g
    assert [list(node.output) for node in inner.node] == [["b"], ["a_1"]]


# Opsets


def test_domains() -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    model = model_of([node], [x], [y], opsets={"ai.onnx.ml": 3, "": 17, "com.microsoft": 1, "ai.onnx.preview": 1})
    check_exact(model)
    model.opset_import.add(domain="ai.onnx", version=17)
    node.domain = "ai.onnx"
    check_exact(model)
    model.opset_import.add(domain="com.microsoft", version=2)
    with pytest.raises(GeError, match=r"GE1015.*imports domain 'com.microsoft' twice, as 1 and 2"):
        import_model(model)


def test_model_without_operators_of_the_standard() -> None:
    scaler = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", scale=[2.0], offset=[0.0])
    check_exact(model_of([scaler], [x], [y], opsets={"ai.onnx.ml": 1}))


def test_value_that_is_defined_twice() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])]
    with pytest.raises(GeError, match=r"GE1020.*value 'y' is defined twice in graph 'g'"):
        import_model(model_of(nodes, [x], [y]))
    twice = [tensor("w", 1, 2), tensor("w", 3, 4)]
    with pytest.raises(GeError, match=r"GE1020.*value 'w' is defined twice"):
        import_model(model_of([helper.make_node("Relu", ["x"], ["y"])], [x], [y], initializer=twice))


def test_canonical_form_tells_models_apart() -> None:
    """The check of this file can fail."""
    model = model_of([helper.make_node("Relu", ["x"], ["y"], name="n")], [x], [y], initializer=[tensor("w", 1)])
    changes = [
        lambda m: setattr(m.graph.node[0], "name", "m"),
        lambda m: setattr(m.graph.initializer[0], "raw_data", b"\x00\x00\x00\x80"),
        lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "n"),
        lambda m: setattr(m.graph.node[0], "doc_string", "d"),
        lambda m: m.graph.initializer.add(name="v", data_type=1, dims=[0]),
    ]
    for change in changes:
        other = ModelProto()
        other.CopyFrom(model)
        change(other)
        with pytest.raises(AssertionError):
            assert_same(other, model)


def test_a_value_that_takes_a_name_which_only_a_type_was_stated_of() -> None:
    """Quantisers leave types of values behind that are there no more; what has such a name later is of another type."""
    stated = helper.make_tensor_value_info("left", TensorProto.FLOAT, [7])
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32),
        helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT),
    ]
    model = model_of(nodes, [x], [y], value_info=[stated])
    module = check_exact(model)
    cast = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Cast")
    cast.attributes["onnx.outputs"] = ArrayAttr([StringAttr("left")])
    exported = export_model(module)
    assert [node.output[0] for node in exported.graph.node] == ["left", "y"]
    assert not [info for info in exported.graph.value_info if info.type.tensor_type.elem_type == TensorProto.FLOAT]
    onnx.checker.check_model(exported, full_check=True)
