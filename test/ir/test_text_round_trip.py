"""Text of any module reads back as the same module, and prints as the same text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute

from ge.ir.attributes import STORAGE_FORMATS, LayoutAttr, WeightsAttr
from ge.ir.constants import constant_attr
from ge.ir.locations import name_loc, node_names
from ge.ir.parser import parse_module
from ge.ir.printer import print_module

FLOATS: list[AnyFloat] = [
    builtin.f16,
    builtin.bf16,
    builtin.f32,
    builtin.f64,
    builtin.f8E4M3FN,
    builtin.f8E5M2,
    builtin.f8E4M3FNUZ,
    builtin.f8E8M0FNU,
    builtin.f4E2M1FN,
]
INTEGERS = [IntegerType(width) for width in (1, 2, 4, 8, 16, 32, 64)]
UNSIGNED = [IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
shapes = st.lists(st.integers(0, 4), max_size=3)


@st.composite
def float_values(draw: st.DrawFn, type: AnyFloat) -> float:
    """A value of the type from random bits, so that NaN, infinities, -0.0 and subnormals occur."""
    bits = draw(st.binary(min_size=type.compile_time_size, max_size=type.compile_time_size))
    return type.unpack(bits, 1)[0]


@st.composite
def scalars(draw: st.DrawFn) -> Attribute:
    if draw(st.booleans()):
        type = draw(st.sampled_from(FLOATS))
        return FloatAttr(draw(float_values(type)), type)
    integer = draw(st.sampled_from([*INTEGERS, *UNSIGNED]))
    low, high = integer.value_range()
    return IntegerAttr(draw(st.integers(low, high - 1)), integer)


@st.composite
def dense(draw: st.DrawFn) -> Attribute:
    """Dense constants of random bytes: every bit pattern of every element type, and splats."""
    type = draw(st.sampled_from([*FLOATS, *INTEGERS[3:], *UNSIGNED, IndexType(), ComplexType(builtin.f32)]))
    shape = draw(shapes)
    count = int(np.prod(shape))
    size = type.compile_time_size
    if draw(st.booleans()):
        data = draw(st.binary(min_size=size, max_size=size)) * count
    else:
        data = draw(st.binary(min_size=size * count, max_size=size * count))
    return DenseIntOrFPElementsAttr(TensorType(type, shape), BytesAttr(data))  # pyright: ignore


@st.composite
def arrays(draw: st.DrawFn) -> Attribute:
    type = draw(st.sampled_from([*FLOATS[:4], *INTEGERS[3:]]))
    size = type.compile_time_size
    return DenseArrayBase(type, BytesAttr(draw(st.binary(max_size=6 * size)).ljust(6 * size, b"\x80")))


weights = st.binary(max_size=40).map(WeightsAttr.from_buffer)
leaves = st.one_of(
    scalars(),
    dense(),
    arrays(),
    weights,
    text.map(StringAttr),
    text.filter(bool).map(SymbolRefAttr),
    st.just(UnitAttr()),
    st.sampled_from(STORAGE_FORMATS).map(LayoutAttr),
    st.sampled_from(STORAGE_FORMATS).map(lambda f: TensorType(builtin.f16, [1, 2, 3], LayoutAttr(f))),
)
attributes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(ArrayAttr), st.dictionaries(text, inner, max_size=3).map(DictionaryAttr)
    ),
    max_leaves=6,
)


def same_after_text(module: ModuleOp) -> None:
    """The module equals what its text reads back as, and prints as the same text again."""
    first = print_module(module)
    again = parse_module(first)
    assert module.is_structurally_equivalent(again), first[:2000]
    assert print_module(again) == first


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(text, attributes, min_size=1, max_size=3))
def test_attributes(found: dict[str, Attribute]) -> None:
    same_after_text(ModuleOp([TestOp(attributes=found)]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(text, st.sampled_from(["x", "x_1", "x_1_1", "x_1_1_1", "a.b", "y"])), max_size=6))
def test_names_survive(names: list[tuple[str, str]]) -> None:
    ops = [TestOp(result_types=[builtin.i32]) for _ in names]
    for op, (node, hint) in zip(ops, names, strict=True):
        op.location = name_loc(node)
        op.results[0].name_hint = hint
    module = ModuleOp(ops)
    same_after_text(module)
    again = parse_module(print_module(module))
    assert [node_names(op) for op in again.ops] == [(node,) for node, _ in names]


@pytest.mark.parametrize("type", [type for type in FLOATS if type.compile_time_size <= 2], ids=str)
def test_every_bit_pattern_of_small_floats(type: AnyFloat) -> None:
    """All values of the 4- and 8-bit types, and every 13th of the 16-bit types, in one array."""
    bits = range(1 << type.bitwidth)[:: 1 if type.compile_time_size == 1 else 13]
    data = b"".join(value.to_bytes(type.compile_time_size, "little") for value in bits)
    same_after_text(ModuleOp([TestOp(attributes={"a": DenseArrayBase(type, BytesAttr(data))})]))


@pytest.mark.parametrize(
    "values", [[-0.0, 0.0], [-0.0, -0.0], [np.nan, np.nan], [np.inf, -np.inf], [16777216.0, 1e-45]]
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_special_values(values: list[float], dtype: type[np.floating]) -> None:
    with np.errstate(over="ignore"):
        array = np.array(values, dtype)
    same_after_text(ModuleOp([TestOp(attributes={"a": constant_attr(array)})]))


def test_minus_zero_splat_keeps_its_sign() -> None:
    module = ModuleOp([TestOp(attributes={"a": constant_attr(np.full(50, -0.0, np.float32))})])
    assert "dense<-0.000000e+00> : tensor<50xf32>" in print_module(module)


def test_minus_infinity_is_not_an_integer() -> None:
    """An attention mask: xDSL reads the bits back as 4286578688.0."""
    module = parse_module('"test.op"() {a = dense<0xff800000> : tensor<4xf32>} : () -> ()')
    (op,) = module.ops
    assert op.attributes["a"] == constant_attr(np.full(4, -np.inf, np.float32))
