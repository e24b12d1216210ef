"""Small models that a pass made compute something else: one for each kind of fault, judged by onnxruntime."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import parser
from optimised import check_optimised


class Case(NamedTuple):
    """A model in the text of the ``onnx`` package, without its head, the pass, and inputs one after the other."""

    name: str
    passes: str
    text: str
    feeds: tuple[dict[str, Any], ...]
    opset: int = 21


def _i64(*values: Any) -> Any:
    return np.array(values, np.int64)


def _f32(*values: Any) -> Any:
    return np.array(values, np.float32)


INF = np.inf

CASES = (
    Case(
        "a name in a branch that a constant behind it gets",
        "constant-fold",
        """(bool c, float[2] x) => (float[2] y) {
            a = If(c) <then_branch = then () => (float[2] w) { w = Neg(x) },
                       else_branch = other () => (float[2] b) { b = Abs(x) }>
            k = Constant <value = float[2] {1, 2}> ()
            w = Add(k, k)
            y = Mul(a, w)
        }""",
        ({"c": np.array(True), "x": _f32(1, 2)}, {"c": np.array(False), "x": _f32(-1, 2)}),
    ),
    Case(
        "splat of unknown rank, and a constant with axes",
        "infer-shapes,fold-splats",
        """(int64[n] s) => (int64[m] y) {
            a = ConstantOfShape <value = float[1] {2.0}> (s)
            c = Constant <value = float[1, 1] {3.0}> ()
            b = Add(a, c)
            y = Shape(b)
        }""",
        ({"s": _i64(2)}, {"s": _i64()}, {"s": _i64(2, 0, 3)}),
    ),
    *(
        Case(
            f"{op} of numbers times infinity",
            "strength-reduction",
            f"""(float[n] x) => (float[1] y) {{
                c = Constant <value = float {{inf}}> ()
                a = Constant <value = int64[1] {{0}}> ()
                p = Mul(x, c)
                y = {op}(p, a)
            }}""",
            ({"x": _f32(-1, 2)}, {"x": _f32(0, 1)}, {"x": _f32(1, 2)}),
        )
        for op in ("ReduceSum", "ReduceMean")
    ),
    Case(
        "slices that both begin behind the largest integer",
        "merge-slice",
        """(float[n] x) => (float[m] y) {
            s = Constant <value = int64[1] {9223372036854775807}> ()
            a = Slice(x, s, s)
            y = Slice(a, s, s)
        }""",
        ({"x": _f32(1, 2)},),
    ),
    Case(
        "comparisons with a constant that is NaN",
        "infer-shapes",
        """() => (bool[2] y, bool[2] z) {
            a = Constant <value = float[2] {nan, 2.0}> ()
            b = Constant <value = float[2] {1.0, 3.0}> ()
            y = GreaterOrEqual(a, b)
            z = LessOrEqual(b, a)
        }""",
        ({},),
    ),
    *(
        Case(
            f"a number that is lost beside another one: {formula}",
            "combine-constants",
            f"""(float[n] x) => (float[n] y) {{
                one = Constant <value = float {{1.0}}> ()
                minus = Constant <value = float {{-1.0}}> ()
                few = Constant <value = float {{1e-8}}> ()
                less = Constant <value = float {{-1e-8}}> ()
                {formula}
            }}""",
            ({"x": _f32(-1, -1)}, {"x": _f32(1, 1)}),
        )
        for formula in (
            "a = Add(x, one) y = Add(a, few)",
            "a = Add(x, one) y = Sub(a, less)",
            "a = Sub(x, one) y = Add(a, less)",
            "a = Sub(x, one) y = Sub(a, few)",
            "a = Add(x, minus) y = Sub(few, a)",
            "a = Sub(minus, x) y = Sub(few, a)",
        )
    ),
    Case(
        "zeros that widen a choice",
        "algebraic-simplify",
        """(int32[n] x) => (int32[5] y) {
            zero = Constant <value = int32[5] {0, 0, 0, 0, 0}> ()
            c = Greater(x, zero)
            y = Where(c, x, zero)
        }""",
        ({"x": np.array([3], np.int32)}, {"x": np.arange(-2, 3, dtype=np.int32)}),
    ),
    Case(
        "a loop without a condition that carries nothing any more",
        "drop-unused-results",
        """(int64 n, float[3] x, float[3] s) => (float[k, 3] y) {
            t, y = Loop(n, "", s) <body = turn (int64 i, bool c, float[3] a) => (bool d, float[3] b, float[3] z) {
                d = Identity(c)
                b = Add(a, x)
                z = Neg(x)
            }>
        }""",
        ({"n": np.array(2), "x": _f32(1, 2, 3), "s": _f32(1, 2, 3)},),
    ),
    Case(
        "texts that a loop of no turns collects",
        "simplify-loop",
        """(string[2] s) => (string[k, 2] y) {
            n = Constant <value = int64 {0}> ()
            go = Constant <value = bool {1}> ()
            y = Loop(n, go) <body = turn (int64 i, bool c) => (bool d, string[2] o) {
                d = Identity(c)
                o = Identity(s)
            }>
        }""",
        ({"s": np.array(["a", "b"], object)},),
    ),
    Case(
        "numbers between those of 4 bits",
        "constant-fold",
        """() => (float[4] y, float[2] z) {
            a = Constant <value = float[4] {1.6, -2.5, 9.0, 7.0}> ()
            b = Cast <to = 22> (a)
            y = Cast <to = 1> (b)
            c = Constant <value = float[2] {-8.0, 7.0}> ()
            d = Cast <to = 22> (c)
            z = Cast <to = 1> (d)
        }""",
        ({},),
    ),
    Case(
        "what only feeds a value that goes, in two ways",
        "eliminate-identity,drop-unused-results",
        """(int64 n, float[3] x) => (float[k, 3] y) {
            t, y = Loop(n, "", x) <body = turn (int64 i, bool c, float[3] a) => (bool d, float[3] b, float[3] z) {
                d = Identity(c)
                e = Identity(a)
                f = Neg(e)
                b = Add(f, a)
                z = Neg(x)
            }>
        }""",
        ({"n": np.array(2), "x": _f32(1, 2, 3)},),
    ),
    Case(
        "values that a scan hands on",
        "eliminate-identity",
        """(float[3] x, float[k, 3] rows) => (float[3] y, float[k, 3] z) {
            y, z = Scan <num_scan_inputs = 1, body = turn (float[3] s, float[3] row) => (float[3] a, float[3] b) {
                a = Identity(row)
                b = Identity(s)
            }> (x, rows)
        }""",
        ({"x": _f32(1, 2, 3), "rows": np.arange(6, dtype=np.float32).reshape(2, 3)},),
    ),
    Case(
        "the number of the turn that a loop hands on",
        "eliminate-identity",
        """(int64 n) => (int64 y, int64[k] z) {
            y, z = Loop(n, "", n) <body = turn (int64 i, bool c, int64 s) => (bool d, int64 a, int64 b) {
                d = Identity(c)
                a = Identity(i)
                b = Identity(i)
            }>
        }""",
        ({"n": np.array(3)}, {"n": np.array(0)}),
    ),
    *(
        Case(
            f"slices that go backwards from before the axis: {passes}",
            passes,
            """(int64[3] x) => (int64[1] y, int64[1, 3] z, int64[1] w) {
                front = Constant <value = int64[1] {-5}> ()
                far = Constant <value = int64[1] {-9}> ()
                axis = Constant <value = int64[1] {0}> ()
                back = Constant <value = int64[1] {-1}> ()
                y = Slice(x, front, far, axis, back)
                c = Constant <value = int64[3, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9}> ()
                z = Slice(c, front, far, axis, back)
                two = Constant <value = int64[1] {2}> ()
                a = Slice(x, axis, two, axis)
                w = Slice(a, front, far, axis, back)
            }""",
            ({"x": _i64(1, 2, 3)},),
        )
        for passes in ("infer-shapes", "constant-fold", "merge-slice", "merge-slices-to-split", "onnx-cse")
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bits_are_kept(case: Case) -> None:
    head = f'<ir_version: 10, opset_import: ["" : {case.opset}]> g '
    for feeds in case.feeds:
        check_optimised(parser.parse_model(head + case.text), feeds, case.passes, tolerance=0)
