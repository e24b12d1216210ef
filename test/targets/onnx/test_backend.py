"""The backend interface of ONNX: a model, a node, what is refused, and the tests of the standard that go through it."""

from __future__ import annotations

import unittest
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import ModelProto, parser
from onnx.backend.base import Backend
from onnx.backend.test import BackendTest

import ge.backend
from ge.ir.errors import GeError

SUM = """<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2] a, float[2] b) => (float[2] sum, float[2] difference) { sum = Add(a, b) difference = Sub(a, b) }"""

CUSTOM = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
agraph (float[2] a) => (float[2] y) { y = local.Draw(a) }"""


def array(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def test_model() -> None:
    prepared = ge.backend.prepare(parser.parse_model(SUM))
    for inputs in ([array(1, 2), array(3, 5)], {"b": array(3, 5), "a": array(1, 2)}):
        outputs = cast(Any, prepared.run(inputs))
        np.testing.assert_array_equal(outputs[0], [4, 7])
        np.testing.assert_array_equal(outputs["difference"], [-2, -3])
    np.testing.assert_array_equal(ge.backend.run_model(parser.parse_model(SUM), (array(1, 1), array(0, 0)))[0], [1, 1])


def test_node() -> None:
    clip = onnx.helper.make_node("Clip", ["x", "", "most"], ["y"])
    np.testing.assert_array_equal(ge.backend.run_node(clip, [array(-1, 9), np.float32(2)])[0], [-1, 2])
    clip = onnx.helper.make_node("Clip", ["x"], ["y"], max=2.0)
    np.testing.assert_array_equal(ge.backend.run_node(clip, array(-1, 9), opset_version=6)[0], [-1, 2])
    concat = onnx.helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)
    np.testing.assert_array_equal(ge.backend.run_node(concat, [[array(1), array(2)]])[0], [1, 2])
    scale = onnx.helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.0], scale=[2.0])
    np.testing.assert_array_equal(ge.backend.run_node(scale, [array(1, 2)])[0], [0, 2])


def test_an_optional_is_its_element_or_none() -> None:
    for inputs, has in (("x", True), ("", False)):
        text = f"""<ir_version: 8, opset_import: ["" : 18]>
            agraph (float[2] x) => (bool has, optional(float[2]) o) {{
              o = Optional <type: type_proto = float[2]> ({inputs})
              has = OptionalHasElement (o)
            }}"""
        has_element, optional = ge.backend.run_model(parser.parse_model(text), array(1, 2))
        assert has_element == has
        np.testing.assert_array_equal(optional, array(1, 2) if has else None)
    text = """<ir_version: 8, opset_import: ["" : 18]>
        agraph (float[2] x) => (float[2] y) { o = Optional (x) y = OptionalGetElement (o) }"""
    np.testing.assert_array_equal(ge.backend.run_model(parser.parse_model(text), array(1, 2))[0], [1, 2])


def test_what_is_refused() -> None:
    model = parser.parse_model(SUM)
    errors = {
        "GE2006": lambda: ge.backend.prepare(model, "CUDA"),
        "GE6002": lambda: ge.backend.run_model(model, [array(1, 2)]),
        "GE1017": lambda: ge.backend.run_node(onnx.helper.make_node("Clip", ["x"], ["y"], max=2.0), [array(1)]),
    }
    for code, run in errors.items():
        with pytest.raises(GeError) as error:
            run()
        assert error.value.code == code


def test_compatibility() -> None:
    assert issubclass(ge.backend.GraphEngineBackend, Backend)
    assert ge.backend.is_compatible(parser.parse_model(SUM))
    assert not ge.backend.is_compatible(parser.parse_model(SUM), "CUDA")
    assert not ge.backend.is_compatible(parser.parse_model(CUSTOM))
    assert not ge.backend.is_compatible(ModelProto())
    assert ge.backend.supports_device("CPU")
    assert not ge.backend.supports_device("CUDA")


@pytest.mark.filterwarnings("ignore")
def test_backend_tests_of_the_standard_run() -> None:
    """A few of the cases, by the runner of the onnx package; bench/onnx_backend.py runs all of them."""
    tests = BackendTest(ge.backend.GraphEngineBackend, __name__)
    for pattern in ("test_softmax_axis", "test_if_seq", "test_expand_shape_model", "test_operator_conv", "test_Conv1d"):
        tests.include(f"^{pattern}.*_cpu$")
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in tests.test_cases.values())
    result = unittest.TestResult()
    suite.run(result)
    excluded = [reason for _, reason in result.skipped if "no matched include pattern" not in reason]
    assert not (result.failures or result.errors or excluded), [*result.failures, *result.errors, *excluded]
    assert result.testsRun - len(result.skipped) >= 20
