"""Subgraphs: values from outside, names that hide others, and every way to end a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, parser
from onnx_models import F32, assert_close, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx.functions import inline_functions
from ge.dialects.onnx.meaning import run_module
from ge.ir.parser import parse_module
from ge.targets.onnx.canonical import same_model
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

Feeds = dict[str, NDArray[Any]]

CAPTURE = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2,3] x, bool c) => (float[2,3] y)
<float[3] w = {1, 2, 3}>
{
  a = Relu(x)
  y = If(c) <
    then_branch = yes () => (float[2,3] t) { t = Add(a, w) },
    else_branch = no () => (float[2,3] e) <float[3] v = {5, 6, 7}> { b = Mul(x, v)  e = Sub(b, a) }
  >
}
"""
"""Branches use a value and an initializer of the main graph, and one of their own."""

PASS_THROUGH = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2] x, bool c) => (float[2] y)
{
  a = Neg(x)
  y = If(c) <
    then_branch = yes () => (float[2] t) { t = Identity(a) },
    else_branch = no () => (float[2] e) { e = Identity(x) }
  >
}
"""

NESTED = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2] x, bool c, int64 n) => (float[2] y, float[k,2] rows)
{
  y, rows = If(c) <
    then_branch = yes () => (float[2] t, float[k,2] r) {
      go = Constant <value = bool {1}> ()
      t, r = Loop(n, go, x) <
        body = step (int64 i, bool g, float[2] s) => (bool h, float[2] u, float[2] row) {
          h = Identity(g)
          f = Cast <to = 1> (i)
          u = Add(s, f)
          row = Mul(u, x)
        }
      >
    },
    else_branch = no () => (float[2] e, float[k,2] q) {
      e = Neg(x)
      axis = Constant <value = int64[1] {0}> ()
      q = Unsqueeze(x, axis)
    }
  >
}
"""
"""A loop in a branch, both with values from the main graph."""

STOPS_EARLY = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[4] x, int64 n, bool go) => (float[4] y, float[k,4] rows)
{
  y, rows = Loop(n, go, x) <
    body = step (int64 i, bool g, float[4] s) => (bool h, float[4] u, float[4] row) {
      two = Constant <value = int64 {2}> ()
      h = Less(i, two)
      u = Add(s, s)
      row = Identity(u)
    }
  >
}
"""

COUNTED = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[4] x, int64 n) => (float[k,4] rows)
{
  rows = Loop(n, "") <
    body = step (int64 i, bool g) => (bool h, float[4] row) {
      h = Identity(g)
      row = Add(x, x)
    }
  >
}
"""
"""A loop that has a count and nothing else, so that its last input is an absent one."""

SCAN = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2] x, float[3,2] rows) => (float[2] y, float[3,2] sums)
{
  y, sums = Scan <num_scan_inputs = 1, body = step (float[2] s, float[2] row) => (float[2] t, float[2] u) {
      t = Add(s, row)
      u = Mul(t, x)
    }>(x, rows)
}
"""

BACKWARDS = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2] x, float[2,3] columns) => (float[2] y, float[2,3] sums)
{
  y, sums = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
      scan_output_directions = [1], body = step (float[2] s, float[2] column) => (float[2] t, float[2] u) {
      t = Add(s, column)
      u = Identity(t)
    }>(x, columns)
}
"""


def f32(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


TRUE, FALSE = np.array(True), np.array(False)

CASES: list[tuple[str, Feeds]] = [
    (CAPTURE, {"x": f32(2, 3), "c": TRUE}),
    (CAPTURE, {"x": f32(2, 3), "c": FALSE}),
    (PASS_THROUGH, {"x": f32(2), "c": TRUE}),
    (PASS_THROUGH, {"x": f32(2), "c": FALSE}),
    (NESTED, {"x": f32(2), "c": TRUE, "n": np.array(3)}),
    (NESTED, {"x": f32(2), "c": FALSE, "n": np.array(3)}),
    (STOPS_EARLY, {"x": f32(4), "n": np.array(5), "go": TRUE}),
    (STOPS_EARLY, {"x": f32(4), "n": np.array(2), "go": TRUE}),
    (STOPS_EARLY, {"x": f32(4), "n": np.array(0), "go": TRUE}),
    (STOPS_EARLY, {"x": f32(4), "n": np.array(5), "go": FALSE}),
    (COUNTED, {"x": f32(4), "n": np.array(3)}),
    (SCAN, {"x": f32(2), "rows": f32(3, 2)}),
    (BACKWARDS, {"x": f32(2), "columns": f32(2, 3)}),
]


@pytest.mark.parametrize(("text", "feeds"), CASES)
def test_text_export_and_meaning(text: str, feeds: Feeds) -> None:
    model = parser.parse_model(text)
    want = run_reference(model, feeds)
    module = parse_module(str(import_model(model)))
    module.verify()
    assert_close(run_module(module, feeds), want, F32)
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    assert_close(run_reference(exported, feeds), want, F32)


def test_branch_that_gives_an_outer_value_is_exported_with_a_copy() -> None:
    model = parser.parse_model(PASS_THROUGH)
    module = import_model(model)
    for identity in [op for op in module.walk() if op.name == "onnx.Identity"]:
        identity.results[0].replace_all_uses_with(identity.operands[0])
        identity.detach()
        identity.erase()
    assert "onnx.Identity" not in str(module)
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    for condition in (TRUE, FALSE):
        feeds = {"x": f32(2), "c": condition}
        assert_close(run_reference(exported, feeds), run_reference(model, feeds), F32)


def test_copies_of_outer_values_have_names_of_their_own() -> None:
    """Also other ones than copies behind the inner graph."""
    text = """<ir_version: 10, opset_import: ["" : 21]> g (int64 n, float[3] x) => (float[3] y) {
        go = Constant <value = bool {1}> ()
        y = Loop(n, go, x) <body = outer (int64 i, bool c, float[3] a) => (bool d, float[3] b) {
            b = Loop(n, go, a) <body = inner (int64 j, bool e, float[3] f) => (bool g, float[3] h) {
                g = Identity(go)
                h = Add(f, x)
            }>
            d = Identity(go)
        }>
    }"""
    module = import_model(parser.parse_model(text))
    run_pass(module, "eliminate-identity")
    (outer,) = (attribute.g for node in export_model(module).graph.node for attribute in node.attribute if node.input)
    (inner,) = (attribute.g for node in outer.node for attribute in node.attribute)
    names = [name for graph in (inner, outer) for node in graph.node for name in node.output]
    assert len(set(names)) == len(names) == 4


def test_inner_name_that_hides_an_outer_one() -> None:
    """ONNX forbids it, exporters do it: the inner value counts inside, the outer one after."""
    branch = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Identity", ["a"], ["t"])],
        "branch",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, [2])],
    )
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["r"], then_branch=branch, else_branch=branch),
        helper.make_node("Add", ["r", "a"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x, helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = import_model(model)
    value = f32(2)
    feeds: Feeds = {"x": value, "c": TRUE}
    np.testing.assert_allclose(run_module(module, feeds)["y"], np.exp(value) - value, rtol=1e-6)
    np.testing.assert_allclose(run_reference(export_model(module), feeds)["y"], np.exp(value) - value, rtol=1e-6)


def result_types(module: ModuleOp, name: str) -> list[str]:
    return [str(type) for op in module.walk() if op.name == name for type in op.result_types]


def test_length_of_scan_outputs_is_not_the_trip_count() -> None:
    """The loop may stop early: one dimension is not known, the others are."""
    model = parser.parse_model(STOPS_EARLY)
    trips = helper.make_tensor("n", TensorProto.INT64, [], [5])
    model.graph.initializer.append(trips)
    assert result_types(import_model(model), "onnx.Loop") == ["tensor<4xf32>", "tensor<?x4xf32>"]


def test_branches_of_different_shape() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[1,4] x, bool c) => (float[k,4] y)
    {
      y = If(c) <
        then_branch = yes () => (float[1,4] t) { t = Neg(x) },
        else_branch = no () => (float[2,4] e) { e = Concat <axis = 0> (x, x) }
      >
    }
    """
    module = import_model(parser.parse_model(text))
    assert result_types(module, "onnx.If") == ["tensor<?x4xf32>"]
    for condition, rows in ((TRUE, 1), (FALSE, 2)):
        assert run_module(module, {"x": f32(1, 4), "c": condition})["y"].shape == (rows, 4)


def test_local_functions() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    agraph (float[2] x) => (float[2] y)
    {
      a = local.twice(x)
      y = local.twice(a)
    }
    <domain: "local", opset_import: ["" : 17]>
    twice (x) => (y) { y = Add(x, x) }
    """
    model = parser.parse_model(text)
    module = parse_module(str(import_model(model)))
    names = [op.name for op in module.walk() if op.name.startswith("onnx.")]
    assert names == ["onnx.Call", "onnx.Call", "onnx.Add"]
    np.testing.assert_allclose(run_module(module, {"x": f32(2)})["y"], 4 * f32(2))
    assert same_model(export_model(module), model)
    inline_functions(module)
    module.verify()
    assert [op.name for op in module.walk() if op.name.startswith("onnx.")] == ["onnx.Add", "onnx.Add"]
    np.testing.assert_allclose(run_module(module, {"x": f32(2)})["y"], 4 * f32(2))


def test_operators_of_other_domains_are_kept() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "com.example" : 3]>
    agraph (float[2] x) => (float[2] y)
    <float[2] a>
    {
      a = com.example.Fancy <alpha = 0.5, mode = "fast", sizes = [1, 2]> (x, , x)
      y = Relu(a)
    }
    """
    model = parser.parse_model(text)
    module = parse_module(str(import_model(model)))
    module.verify()
    assert result_types(module, "onnx.Custom") == ["tensor<2xf32>"]
    exported = export_model(module)
    assert {entry.domain: entry.version for entry in exported.opset_import} == {"": 17, "com.example": 3}
    assert exported.graph.node[0] == model.graph.node[0]
