"""Functions of a model: kept through text and export, inlined with the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from exact import check_exact, model_of, value
from numpy.typing import NDArray
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper, parser
from onnx_models import F32, assert_close, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx import OPSET, Call
from ge.dialects.onnx.functions import inline_functions
from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.verifier import verify_module
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

X: dict[str, NDArray[Any]] = {"x": np.array([-1.5, 2.0], np.float32)}

x, y = value("x", 2), value("y", 2)

SCALED = """
<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
agraph (float[2] x) => (float[2] y)
{
  [first] a = local.scaled <factor = 3.0> (x)
  b = local.twice (a)
  y = local.scaled (b)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
scaled <factor: float = 0.5> (v) => (w) {
  [f] f = Constant <value_float: float = @factor> ()
  [mul] w = Mul (v, f)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
twice (v) => (w) {
  one = local.scaled <factor = 1.0> (v)
  w = Add (one, v)
}
"""


def calls(module: ModuleOp) -> list[Call]:
    return [op for op in module.walk() if isinstance(op, Call)]


def check(model: ModelProto, want: NDArray[Any], feeds: dict[str, NDArray[Any]] | None = None) -> ModuleOp:
    """The model comes back, and computes what is wanted before and after inlining; the inlined module."""
    feeds = X if feeds is None else feeds
    module = check_exact(model)
    assert calls(module)
    np.testing.assert_allclose(run_module(module, feeds)["y"], want, rtol=1e-6)
    assert inline_functions(module)
    verify_module(module)
    assert not calls(module)
    np.testing.assert_allclose(run_module(module, feeds)["y"], want, rtol=1e-6)
    exported = export_model(module)
    assert not exported.functions
    onnx.checker.check_model(exported)
    np.testing.assert_allclose(run_module(import_model(exported), feeds)["y"], want, rtol=1e-6)
    return module


def test_attributes_and_functions_in_functions() -> None:
    model = parser.parse_model(SCALED)
    module = check(model, X["x"] * 3 * 2 * 0.5)
    exported = export_model(module)
    assert_close(run_reference(exported, X), run_reference(model, X), F32)
    nodes = [(node.name, node.op_type, list(node.output)) for node in exported.graph.node]
    assert ("first/mul", "Mul", ["a"]) in nodes
    assert ("y/mul", "Mul", ["y"]) in nodes
    assert "tensor<2xf32>" in str(module)


def test_text() -> None:
    text = str(import_model(parser.parse_model(SCALED)))
    assert 'onnx.Call @"local::scaled"(%x) {factor = 3.000000e+00 : f32, onnx.outputs = ["a"]' in text
    assert 'func.func private @"local::scaled"(%v: !onnx.unknown) -> !onnx.unknown' in text
    assert 'onnx.Custom "" "Constant"() {value_float = #onnx.ref<float "factor">' in text


def function(nodes: list[NodeProto], name: str = "f", **fields: Any) -> FunctionProto:
    """A function of one input v and one output w."""
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("local", 1)]
    given: dict[str, Any] = {"domain": "local", "name": name, "node": nodes, "opset_import": imports}
    make: Any = FunctionProto
    return make(**{"input": ["v"], "output": ["w"], **given, **fields})


def call(
    name: str = "f", inputs: list[str] | None = None, outputs: list[str] | None = None, **fields: Any
) -> NodeProto:
    inputs, outputs = ["x"] if inputs is None else inputs, ["y"] if outputs is None else outputs
    return helper.make_node(name, inputs, outputs, domain="local", **fields)


OPSETS = {"": OPSET, "local": 1}


def test_everything_that_a_function_says() -> None:
    nodes = [
        helper.make_node("Constant", [], ["c"], name="c", value=numpy_helper.from_array(np.ones(100, np.float32), "t")),
        helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0),
        helper.make_node("Mul", ["v", "s"], ["w"], name="m"),
    ]
    stated = [value("w", 2), value("v", "n"), value("s")]
    f = function(nodes, value_info=stated, doc_string="text", overload="a::b%", attribute=["k", "a"])
    f.attribute_proto.extend([helper.make_attribute("z", 1.5, doc_string="a number"), helper.make_attribute("b", [1])])
    f.metadata_props.add(key="pkg", value="名")
    f.node[1].doc_string = "sum"
    unused = function([helper.make_node("Neg", ["v"], ["w"])], "包::unused", domain="a:b")
    node = call(overload="a::b%")
    check(model_of([node], [x], [y], opsets={**OPSETS, "a:b": 1}, functions=[f, unused]), X["x"] * 100)


def test_overloads() -> None:
    functions = [function([helper.make_node(op, ["v"], ["w"])], overload=op) for op in ("Neg", "Exp")]
    nodes = [call(outputs=["a"], overload="Exp"), call(inputs=["a"], overload="Neg")]
    check(model_of(nodes, [x], [y], opsets=OPSETS, functions=functions), -np.exp(X["x"]))


def test_function_in_the_place_of_an_operator() -> None:
    f = function([helper.make_node("Neg", ["v"], ["w"])], "Relu", domain="")
    check(model_of([helper.make_node("Relu", ["x"], ["y"])], [x], [y], functions=[f]), -X["x"])


def test_inputs_and_outputs_that_are_not_there() -> None:
    """Also in a graph in the function."""
    clip = helper.make_graph([helper.make_node("Clip", ["v", "low", "high"], ["t"])], "g", [], [value("t", 2)])
    f = function(
        [
            helper.make_node("If", ["c"], ["w"], then_branch=clip, else_branch=clip),
            helper.make_node("Neg", ["v"], ["u"]),
        ],
        input=["c", "v", "low", "high"],
        output=["u", "w"],
    )
    zero = numpy_helper.from_array(np.zeros((), np.float32), "zero")
    nodes = [
        call(inputs=["c", "x", "", "zero"], outputs=["", "a"]),
        call(inputs=["c", "x", "zero"], outputs=["", "b"]),
        helper.make_node("Sub", ["a", "b"], ["s"]),
        call(inputs=["c", "s"], outputs=["y"]),
    ]
    c = value("c", type=TensorProto.BOOL)
    model = model_of(nodes, [x, c], [y], opsets=OPSETS, functions=[f], initializer=[zero])
    want = -(np.minimum(X["x"], 0) - np.maximum(X["x"], 0))
    check(model, want, {**X, "c": np.array(True)})


def test_results_that_are_inputs_or_given_twice() -> None:
    f = function([helper.make_node("Neg", ["v"], ["n"])], output=["n", "v", "n"])
    nodes = [call(outputs=["a", "b", "c"]), helper.make_node("Sum", ["a", "b", "c"], ["y"])]
    check(model_of(nodes, [x], [y], opsets=OPSETS, functions=[f]), -X["x"])


def test_graph_as_attribute() -> None:
    """The function runs, once each, the graphs that the call gives."""
    branches = [
        helper.make_graph([helper.make_node(op, ["x"], ["t"])], op, [], [value("t", 2)]) for op in ("Neg", "Exp")
    ]
    node = helper.make_node("If", ["c"], ["w"])
    for name in ("then_branch", "else_branch"):
        node.attribute.append(AttributeProto(name=name, type=AttributeProto.GRAPH, ref_attr_name=name[:4]))
    f = function([node], input=["c"], attribute=["then", "else"])
    graphs: dict[str, Any] = {"then": branches[0], "else": branches[1]}
    nodes = [call(inputs=["c"], **graphs)]
    c = value("c", type=TensorProto.BOOL)
    model = model_of(nodes, [x, c], [y], opsets=OPSETS, functions=[f])
    check(model, -X["x"], {**X, "c": np.array(True)})
    check(model, np.exp(X["x"]), {**X, "c": np.array(False)})


def test_attributes_that_the_call_leaves_out() -> None:
    """Without a default of the function, the operator has its own."""
    node = helper.make_node("LeakyRelu", ["v"], ["w"])
    node.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope"))
    f = function([node], attribute=["slope"])
    nodes = [call(outputs=["a"]), call(inputs=["a"], slope=0.5)]
    want = np.where(X["x"] < 0, X["x"] * np.float32(0.01) * np.float32(0.5), X["x"])
    check(model_of(nodes, [x], [y], opsets=OPSETS, functions=[f]), want)


def test_names_of_inlined_nodes_differ() -> None:
    nodes = [helper.make_node("Neg", ["v"], ["n"], name="n"), helper.make_node("Exp", ["n"], ["w"])]
    names = [call(outputs=["a"]), call(inputs=["a"])]
    module = check(model_of(names, [x], [y], opsets=OPSETS, functions=[function(nodes)]), np.exp(-np.exp(-X["x"])))
    exported = export_model(module)
    assert [(node.name, node.output[0]) for node in exported.graph.node] == [
        ("a/n", "a/n_output_0"),
        ("a/w", "a"),
        ("y/n", "y/n_output_0"),
        ("y/w", "y"),
    ]


def test_functions_of_an_older_opset() -> None:
    """Kept while all nodes mean the same today, inlined and converted otherwise."""
    f = function([helper.make_node("Neg", ["v"], ["w"])], opset_import=[helper.make_opsetid("", 11)])
    module = check(model_of([call()], [x], [y], opsets=OPSETS, functions=[f]), -X["x"])
    assert module.attributes
    squeeze = helper.make_node("Softmax", ["v"], ["w"])
    f = function([squeeze], opset_import=[helper.make_opsetid("", 11)])
    three = np.ones((2, 2, 2), np.float32)
    model = model_of([call()], [value("x", 2, 2, 2)], [value("y", 2, 2, 2)], opsets=OPSETS, functions=[f])
    module = import_model(model)
    assert not calls(module)
    np.testing.assert_allclose(run_module(module, {"x": three})["y"], three / 4, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 2])
def test_functions_that_call_themselves(size: int) -> None:
    names = [f"f{n}" for n in range(size)]
    functions = [function([call(names[n - 1], ["v"], ["w"])], names[n]) for n in range(size)]
    model = model_of([call("f0")], [x], [y], opsets=OPSETS, functions=functions)
    with pytest.raises(GeError, match=r"GE1020.*calls itself"):
        run_module(import_model(model), X)


def test_call_of_what_is_not_there() -> None:
    text = str(import_model(parser.parse_model(SCALED)))
    with pytest.raises(GeError, match=r"GE3002.*the module has no function @local::none"):
        verify_module(parse_module(text.replace('@"local::scaled"(%x)', '@"local::none"(%x)')))


@pytest.mark.parametrize("nodes", ["b = l.g (a, a)", "b, c = l.g (a)"])
@pytest.mark.parametrize("name", ["f", "unused"])
def test_call_in_a_function_that_gives_or_takes_too_much(nodes: str, name: str) -> None:
    text = f"""
    <ir_version: 10, opset_import: ["" : 21, "l" : 1]> m (float[4] x) => (float[4] y) {{ y = l.f (x) }}
    <domain: "l", opset_import: ["" : 21, "l" : 1]> {name} (a) => (b) {{ {nodes} }}
    <domain: "l", opset_import: ["" : 21]> g (a) => (b) {{ b = Relu (a) }}
    """
    with pytest.raises(GeError, match="but the function @l::g has 1"):
        import_model(parser.parse_model(text))


def test_node_that_is_not_valid_in_a_function() -> None:
    f = function([helper.make_node("Neg", ["v"], ["w"], name="n", alpha=1.0)])
    with pytest.raises(GeError, match=r"(?s)GE1017.*alpha.*function 'f', node 'n'"):
        import_model(model_of([call()], [x], [y], opsets=OPSETS, functions=[f]))
