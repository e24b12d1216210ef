"""Attributes keep their values between Python, IR and text."""

import struct

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.ir.core import Block

from ge.dialects.onnx import make_op
from ge.dialects.onnx.attributes import float_text, has_kind, literal_array, literal_of, to_attribute, to_python
from ge.ir.parser import parse_module
from ge.ir.printer import GePrinter

float32 = st.integers(0, 2**32 - 1).map(lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0])
int64 = st.integers(-(2**63), 2**63 - 1)


def bits(value: float) -> bytes:
    return struct.pack("<f", value)


@given(float32)
@example(3.4028234663852886e38)
@example(-3.4028234663852886e38)
def test_float_text_reads_back_as_the_same_float(value: float) -> None:
    text = float_text(value)
    number = struct.unpack("<f", bytes.fromhex(text[2:])[::-1])[0] if text.startswith("0x") else float(text)
    assert bits(number) == bits(value)


@given(value=float32, floats=st.lists(float32), ints=st.lists(int64), axis=int64, text=st.text())
@settings(max_examples=200)
def test_attributes_survive_text(value: float, floats: list[float], ints: list[int], axis: int, text: str) -> None:
    block = Block()
    values = {"keys_floats": floats, "values_int64s": ints, "default_int64": axis, "default_float": value}
    op = make_op("LabelEncoder", [], [], {**values, "default_string": text}, domain="ai.onnx.ml")
    block.add_op(op)
    from io import StringIO

    stream = StringIO()
    GePrinter(stream).print_op(op)
    again = next(iter(parse_module(stream.getvalue()).ops))
    assert again.attributes == op.attributes
    assert [bits(item) for item in to_python(again.attributes["keys_floats"])] == [bits(item) for item in floats]


def test_kinds() -> None:
    values = {"int": 3, "float": 0.5, "string": "a", "ints": [1, 2], "floats": [], "strings": [], "type": f32}
    kinds = {**values, "tensor": np.ones(3)}
    for kind, value in kinds.items():
        attribute: Attribute = to_attribute(kind, value)  # pyright: ignore[reportArgumentType]
        assert [other for other in kinds if has_kind(attribute, other)] == [kind]  # pyright: ignore[reportArgumentType]
        np.testing.assert_array_equal(to_python(attribute), value)


def test_strings_and_large_arrays_are_literals() -> None:
    for array in (np.array([["ä", ""], ["b", "c"]], object), np.arange(1000.0), np.array(True), np.zeros((2, 0))):
        literal, type = literal_of(array)
        again = literal_array(literal, type)
        assert again.shape == array.shape
        np.testing.assert_array_equal(again, array)


def test_large_arrays_are_not_copied() -> None:
    array = np.arange(1000.0)
    literal, type = literal_of(array)
    assert np.shares_memory(array, literal_array(literal, type))
