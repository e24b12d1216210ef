"""What users need of structural passes: the numbers in the names are ranks in the list of needs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, parser
from onnx_models import ModelBuilder, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx import ABSENT
from ge.ir.registry import context, registry
from ge.passes.pipelines import onnx_pipeline
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.tools.pipeline import parse_pipeline

Feeds = dict[str, NDArray[Any]]


def check(model: ModelProto, feeds: Feeds, *passes: str) -> ModuleOp:
    """Passes (all of -O1 without any given) keep the bits, names and order of the outputs; the module after them."""
    module = import_model(model)
    for each in parse_pipeline(",".join(passes) or onnx_pipeline(1, "model"), registry()):
        each.apply(context(), module)
        module.verify()
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    want, got = run_reference(model, feeds), run_reference(exported, feeds)
    assert list(got) == list(want)
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)
    return module


def count(module: ModuleOp, op_type: str) -> int:
    return sum(op.name == f"onnx.{op_type}" for op in module.walk())


def test_need_11_and_63_transposes_around_a_residual_block_go() -> None:
    """A network of another layout: what needs the order of axes keeps its transposes, all others meet and go."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 8, 6, 6)

    def conv(value: str) -> str:
        inner = builder.node("Transpose", value, perm=[0, 3, 1, 2])
        y = builder.node("Conv", inner, builder.weights(8, 8, 3, 3, scale=0.1), pads=[1] * 4)
        return builder.node("Transpose", y, perm=[0, 2, 3, 1])

    y = builder.node("Transpose", x, perm=[0, 2, 3, 1])
    for _ in range(3):
        branch = builder.node("Relu", builder.node("Add", conv(y), builder.weights(8)))
        y = builder.node("Relu", builder.node("Add", conv(branch), y))
    builder.output(builder.node("Transpose", y, perm=[0, 3, 1, 2]))
    passes = "simplify{passes=cancel-transpose,sink-transpose,eliminate-identity}"
    module = check(builder.build(), builder.random_inputs(), "infer-shapes", passes)
    assert (count(module, "Transpose"), count(module, "Conv")) == (0, 6)


def test_need_15_what_is_an_output_or_captured_stays() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[2,1,3] x, bool c)
        => (float[2,3] squeezed, float[3,2] turned, float[2,3] back, float[6] flat, float[6] r)
    <int64[1] one = {1}, int64[1] six = {6}>
    {
      squeezed = Squeeze(x, one)
      turned = Transpose <perm = [1, 0]> (squeezed)
      up = Relu(turned)
      back = Transpose <perm = [1, 0]> (up)
      flat = Reshape(back, six)
      hidden = Reshape(squeezed, six)
      r = If(c) <
        then_branch = yes () => (float[6] t) { t = Neg(hidden) },
        else_branch = no () => (float[6] e) { e = Reshape(turned, six) }
      >
    }
    """
    for condition in (True, False):
        feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 1, 3) - 3, "c": np.array(condition)}
        check(parser.parse_model(text), feeds)
        check(parser.parse_model(text), feeds, onnx_pipeline(3, "model"))


def test_need_19_and_23_loops_with_names_captured_values_and_unused_results() -> None:
    """A loop that may stop early, carries and collects what nobody needs; loops of no turn and of one."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[2] x, int64 n, float[2] outer, bool go)
        => (float[2] total, float[M,2] rows, float[2] once, float[2] never)
    <int64 one = {1}, int64 zero = {0}, bool yes = {1}, float limit = {9}, int64[1] axis = {0}>
    {
      total, idle, same, rows, unread = Loop(n, yes, x, x, outer) <body = turn
        (int64 i, bool c, float[2] a, float[2] b, float[2] d)
        => (bool go_on, float[2] a2, float[2] b2, float[2] d2, float[2] row, float[2] lost) {
          scale = Exp(outer)
          a1 = Mul(a, scale)
          a2 = Add(a1, d)
          b2 = Sin(b)
          d2 = Identity(d)
          sum = ReduceSum <keepdims = 0> (a2, axis)
          go_on = Less(sum, limit)
          row = Neg(a)
          lost = Cos(a)
        }>
      once = Loop(one, yes, x) <body = single (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
          inner = Loop(n, c, a) <body = nested (int64 j, bool e, float[2] g) => (bool e2, float[2] h) {
              e2 = Identity(e)
              h = If(go) <
                then_branch = p () => (float[2] t) { t = Add(g, outer) },
                else_branch = q () => (float[2] f) { f = If(go) <
                    then_branch = u () => (float[2] w) { w = Sin(g) },
                    else_branch = v () => (float[2] z) { z = Sub(g, a) }
                  > }
              >
            }>
          c2 = Identity(go)
          r = Relu(inner)
        }>
      unchanged = Loop(zero, yes, total) <body = none (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
          c2 = Identity(c)
          r = Exp(a)
        }>
      never = Neg(unchanged)
    }
    """
    for turns, condition, level in product((0, 1, 5), (True, False), (1, 3)):
        feeds = {
            "x": np.array([1, -2], np.float32),
            "n": np.array(turns),
            "go": np.array(condition),
            "outer": np.array([0.5, 0.25], np.float32),
        }
        module = check(parser.parse_model(text), feeds, onnx_pipeline(level, "model"))
        assert (count(module, "Loop"), count(module, "Cos"), count(module, "Sin")) == (2, 0, 0)


def test_need_27_any_two_passes_leave_a_model() -> None:
    """Every pair of passes, on casts to the own type, products with one, reshapes, slices and transposes in a chain."""
    builder = ModelBuilder()
    x = builder.input("x", 2, 4, 3)
    y = builder.node("Mul", builder.node("Cast", x, to=1), builder.constant(1.0))
    y = builder.node("Div", builder.node("Cast", y, to=1), builder.constant(2.0))
    y = builder.node("Transpose", builder.node("Reshape", y, builder.constant([2, -1], np.int64)), perm=[1, 0])
    y = builder.node("Relu", builder.node("Transpose", y, perm=[1, 0]))
    parts = [
        builder.node("Slice", y, *(builder.constant([v], np.int64) for v in cut)) for cut in ((0, 5, 1), (5, 12, 1))
    ]
    builder.output(builder.node("Neg", builder.node("Concat", *parts, axis=1)), parts[0])
    model, feeds = builder.build(), builder.random_inputs()
    names = [
        *("eliminate-identity", "merge-reshape", "merge-slice", "sink-cast", "sink-transpose", "merge-slices-to-split"),
        *("eliminate-concat-split", "onnx-cse"),
    ]
    for pair in product(names, repeat=2):
        check(model, feeds, *pair)


def attention_shapes(batch: int | str) -> tuple[ModelProto, Feeds]:
    """What exporters write for ``x.view(b, s, 4, 2).permute(0, 2, 1, 3).reshape(b, s, 8)``."""
    text = f"""
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[{batch},5,8] x) => (float[{batch},5,8] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] first = {{0}}, int64[1] four = {{4}}, int64[1] two = {{2}},
     int64[1] eight = {{8}}>
    {{
      size = Shape(x)
      b = Gather <axis = 0> (size, zero)
      s = Gather <axis = 0> (size, one)
      b1 = Unsqueeze(b, first)
      s1 = Unsqueeze(s, first)
      heads = Concat <axis = 0> (b1, s1, four, two)
      split = Reshape(x, heads)
      turned = Transpose <perm = [0, 2, 1, 3]> (split)
      up = Relu(turned)
      again = Transpose <perm = [0, 2, 1, 3]> (up)
      size2 = Shape(again)
      c = Gather <axis = 0> (size2, zero)
      c1 = Unsqueeze(c, first)
      whole = Concat <axis = 0> (c1, s1, eight)
      y = Reshape(again, whole)
    }}
    """
    return parser.parse_model(text), {"x": np.random.default_rng(0).standard_normal((3, 5, 8)).astype(np.float32)}


def test_need_36_no_shape_arithmetic_remains() -> None:
    for batch in (3, "N"):
        module = check(*attention_shapes(batch))
        assert [count(module, name) for name in ("Shape", "Gather", "Concat", "Unsqueeze")] == [0, 0, 0, 0]
        assert count(module, "Reshape") == 2


def test_need_65_names_and_random_numbers() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[4] x, bool t, int64 n) => (float[4] a, float[4] b, float[4] same, float[4] p, float[4] q, float[4] r)
    {
      a = Relu(x)
      b = Relu(x)
      same = Identity(x)
      p = If(t) <
        then_branch = g1 () => (float[4] u) { u = Neg(x) }, else_branch = g2 () => (float[4] v) { v = Identity(x) }
      >
      q = If(t) <
        then_branch = g3 () => (float[4] w) { w = Neg(x) }, else_branch = g4 () => (float[4] z) { z = Identity(x) }
      >
      r = Loop(n, t, x) <
        body = turn (int64 i, bool c, float[4] s) => (bool d, float[4] e) { d = Identity(c)  e = Identity(s) }
      >
    }
    """
    for condition in (True, False):
        feeds = {"x": np.array([1, -2, 3, -4], np.float32), "t": np.array(condition), "n": np.array(2)}
        check(parser.parse_model(text), feeds)
    builder = ModelBuilder()
    x = builder.input("x", 1000)
    first, second = (builder.node("RandomNormal", shape=[1000], seed=1.0) for _ in range(2))
    training = builder.constant(True, np.bool_)
    dropped = [builder.node("Dropout", x, "", training) for _ in range(2)]
    builder.output(builder.node("Sub", first, second), builder.node("Sub", *dropped))
    module = import_model(builder.build())
    for each in parse_pipeline(onnx_pipeline(3, "model"), registry()):
        each.apply(context(), module)
    assert (count(module, "RandomNormal"), count(module, "Dropout")) == (2, 2)


def test_need_74_constant_conditions_and_branches_of_other_shapes() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[1,4] x, bool c) => (float[N,4] y, float[M,4] z)
    {
      no = Constant <value = bool {0}> ()
      y = If(no) <
        then_branch = g1 () => (float[1,4] p) { p = Neg(x) },
        else_branch = g2 () => (float[2,4] q) { q = Concat <axis = 0> (x, x) }
      >
      z = If(c) <
        then_branch = g3 () => (float[1,4] r) { r = Neg(x) },
        else_branch = g4 () => (float[2,4] s) { s = Concat <axis = 0> (x, x) }
      >
    }
    """
    for condition in (True, False):
        feeds = {"x": np.ones((1, 4), np.float32), "c": np.array(condition)}
        module = check(parser.parse_model(text), feeds)
        assert count(module, "If") == 1


def test_passes_alone() -> None:
    """A pass does nothing to a module without operations of its level."""
    module = ModuleOp([])
    for name in ("onnx-cse", "merge-constants", "fold-shape-ops", "sink-transpose"):
        run_pass(module, name)


def test_unused_results_of_imported_operations() -> None:
    """An If, an LSTM, a MaxPool and a Scan of which only some results are used, with the names and types of a model."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    agraph (float[3,1,4] x, bool c) => (float[1,1,2] h, float[1,3,3] p, float[3,1,4] b, float[4] total)
    <float[4] start = {0, 0, 0, 0}, int64[1] one = {1}>
    {
      y, h, unread = LSTM <hidden_size = 2> (x, weights, recurrent)
      turned = Transpose <perm = [1, 0, 2]> (x)
      p, positions = MaxPool <kernel_shape = [2]> (turned)
      a, b, d = If(c) <
        then_branch = yes () => (float[3,1,4] a1, float[3,1,4] b1, float[3,1,4] d1)
          { a1 = Neg(x)  b1 = Exp(x)  d1 = Identity(x) },
        else_branch = no () => (float[3,1,4] a2, float[3,1,4] b2, float[3,1,4] d2)
          { a2 = Exp(x)  b2 = Sin(x)  d2 = Cos(x) }
      >
      flat = Squeeze(x, one)
      total, rows = Scan <num_scan_inputs = 1, body = add (float[4] s, float[4] v) => (float[4] s2, float[4] row)
        { s2 = Add(s, v)  row = Neg(v) }> (start, flat)
    }
    """
    model = parser.parse_model(text)
    random = np.random.default_rng(0)
    for name, shape in (("weights", (1, 8, 4)), ("recurrent", (1, 8, 2))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(random.standard_normal(shape).astype("f4"), name))
    for condition in (True, False):
        feeds = {"x": random.standard_normal((3, 1, 4)).astype(np.float32), "c": np.array(condition)}
        module = check(model, feeds)
        results = {op.name: [result.type != ABSENT for result in op.results] for op in module.walk()}
        assert results["onnx.LSTM"] == [False, True]
        assert results["onnx.MaxPool"] == results["onnx.If"] == results["onnx.Scan"] == [True]
        assert (count(module, "Cos"), count(module, "Neg")) == (0, 0)
