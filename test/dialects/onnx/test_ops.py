"""Accessors by the names of the standard."""

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.test import TestOp

from ge.dialects.onnx import ABSENT, OnnxOp, constant_value, make_constant, make_op, op_class
from ge.ir.locations import name_loc

TENSOR = TensorType(f32, [2])


def clip_without_minimum() -> OnnxOp:
    x, maximum = TestOp(result_types=[TENSOR, TensorType(f32, [])]).results
    return make_op("Clip", [x, None, maximum, None], [TENSOR], location=name_loc("clip"))


def test_inputs_by_name_and_position() -> None:
    op = clip_without_minimum()
    op.verify()
    assert op.operand("input") is op.operands[0]
    assert op.operand("min") is None
    assert op.operand("max") is op.operands[1]
    assert op.input_list() == [op.operands[0], None, op.operands[1]]
    with pytest.raises(KeyError):
        op.operand("middle")


def test_attributes_have_the_defaults_of_the_standard() -> None:
    x = TestOp(result_types=[TensorType(f32, [1, 2, 4, 4])]).results[0]
    op = make_op("MaxPool", [x], [x.type], {"kernel_shape": [1, 1]})
    assert op.attribute("kernel_shape") == [1, 1]
    assert op.attribute("ceil_mode") == 0
    assert op.attribute("auto_pad") == "NOTSET"
    assert op.attribute("pads") is None
    assert op.attribute("pads", [0, 0, 0, 0]) == [0, 0, 0, 0]
    op.set_attribute("pads", [1, 1, 1, 1])
    assert op.attribute("pads") == [1, 1, 1, 1]
    with pytest.raises(KeyError):
        op.attribute("alpha")


def test_results_by_name() -> None:
    x = TestOp(result_types=[TENSOR]).results[0]
    op = make_op("Dropout", [x], [TENSOR, ABSENT])
    assert op.result("output") is op.results[0]
    assert op.result("mask") is None


def test_identity_of_operators() -> None:
    op = clip_without_minimum()
    assert (op.op_type, op.domain) == ("Clip", "")
    assert type(op) is op_class("Clip")
    with pytest.raises(KeyError):
        op_class("FancyClip")


def test_constants() -> None:
    array = np.arange(6, dtype=np.int64).reshape(2, 3)
    constant = make_constant(array)
    np.testing.assert_array_equal(constant_value(constant.results[0]), array)
    assert constant_value(clip_without_minimum().results[0]) is None
    assert constant_value(None) is None


@pytest.mark.parametrize(
    ("op_type", "attributes", "random"),
    [("RandomNormal", {"shape": [2]}, True), ("RandomNormal", {"shape": [2], "seed": 1.0}, True), ("Relu", {}, False)],
)
def test_random_operators_are_known(op_type: str, attributes: dict[str, object], random: bool) -> None:
    inputs = [] if op_type == "RandomNormal" else [TestOp(result_types=[TENSOR]).results[0]]
    assert make_op(op_type, inputs, [TENSOR], attributes).is_random is random


def test_dropout_is_random_in_training_only() -> None:
    x, ratio, training = TestOp(result_types=[TENSOR, TENSOR, TENSOR]).results
    assert not make_op("Dropout", [x, ratio], [TENSOR]).is_random
    assert make_op("Dropout", [x, None, training], [TENSOR]).is_random
