"""Constants as arrays, both ways, for every element type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import builtin
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, TensorType
from xdsl.ir import Attribute

from ge.ir.attributes import STORAGE_FORMATS, LayoutAttr, WeightsAttr, layout_of, with_layout
from ge.ir.constants import (
    MAX_DENSE_BYTES,
    array_of,
    constant_attr,
    element_type,
    numpy_dtype,
    static_shape,
    tensor_type_of,
)
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.maths import layouts

DTYPES: list[Any] = [
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    *(ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.bfloat16),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz),
    *(ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn),
]


def values_of(dtype: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Ones, and minus ones in the types that have them."""
    has_sign = np.dtype(dtype).name not in ("bool", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
    signs = np.arange(np.prod(shape)).reshape(shape) % 2 * 2 - 1
    return (signs if has_sign and dtype is not ml_dtypes.float8_e8m0fnu else abs(signs)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0, 3), (20, 30)])
def test_array_to_attribute_and_back(dtype: Any, shape: tuple[int, ...]) -> None:
    array = values_of(dtype, shape)
    type = TensorType(element_type(array.dtype), shape)
    attr = constant_attr(array)
    assert attr.name == ("ge.weights" if array.nbytes > MAX_DENSE_BYTES else "dense")
    back = array_of(attr, type)
    assert back.dtype == array.dtype
    assert back.shape == shape
    assert np.array_equal(back, array)
    assert not back.flags.writeable


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_element_types_are_inverse(dtype: Any) -> None:
    assert numpy_dtype(element_type(np.dtype(dtype))) == np.dtype(dtype)


def test_weights_share_memory_with_the_array() -> None:
    array = np.random.default_rng(0).standard_normal(1000)
    attr = constant_attr(array)
    assert np.shares_memory(array_of(attr, TensorType(builtin.f64, [1000])), array)


def test_dense_written_by_hand() -> None:
    (op,) = parse_module(
        '"test.op"() {a = dense<[-1, 7]> : tensor<2xi4>, b = dense<true> : tensor<2x1xi1>} : () -> ()'
    ).ops
    assert array_of(op.attributes["a"]).tolist() == [-1, 7]
    assert array_of(op.attributes["b"]).tolist() == [[True], [True]]


def test_small_integers_are_written_as_numbers() -> None:
    assert str(constant_attr(np.array([-1, 7], ml_dtypes.int4))) == "dense<[-1, 7]> : tensor<2xi4>"
    assert str(constant_attr(np.array([True, False]))) == "dense<[true, false]> : tensor<2xi1>"


def test_constants_in_a_storage_format_have_its_shape() -> None:
    type = with_layout(TensorType(builtin.f16, [3, 5, 2, 2]), "FRACTAL_Z")
    packed = layouts.pack(np.ones((3, 5, 2, 2), np.float16), "FRACTAL_Z")
    attr = constant_attr(packed, type)
    assert np.array_equal(array_of(attr, type), packed)
    with pytest.raises(GeError, match="does not fill"):
        constant_attr(np.ones((3, 5, 2, 2), np.float16), type)


def test_layout_is_part_of_the_type() -> None:
    plain = TensorType(builtin.f16, [1, 16, 2, 2])
    packed = with_layout(plain, "NC1HWC0")
    assert str(packed) == "tensor<1x16x2x2xf16, #ge.layout<NC1HWC0>>"
    assert layout_of(packed) == "NC1HWC0"
    assert with_layout(packed, "ND") == plain
    assert layout_of(plain) == layout_of(builtin.i32) == "ND"


def test_every_storage_format_has_index_maps() -> None:
    assert set(STORAGE_FORMATS) == set(layouts.FORMATS)
    with pytest.raises(Exception, match="unknown storage format"):
        LayoutAttr("NCDHW")


def test_static_shape() -> None:
    assert static_shape(TensorType(builtin.f32, [2, 3])) == (2, 3)
    with pytest.raises(GeError) as error:
        static_shape(TensorType(builtin.f32, [DYNAMIC_INDEX, 3]))
    assert error.value.code == "GE3011"
    with pytest.raises(GeError, match="ranked tensor"):
        tensor_type_of(builtin.i32)


@pytest.mark.parametrize("type", [builtin.f80, IntegerType(3), builtin.NoneType()], ids=str)
def test_types_without_arrays(type: Attribute) -> None:
    with pytest.raises(GeError) as error:
        numpy_dtype(type)
    assert error.value.code == "GE3009"


def test_wrong_sizes_are_refused() -> None:
    weights = WeightsAttr.from_buffer(bytes(12))
    with pytest.raises(GeError, match="12 bytes does not fill"):
        array_of(weights, TensorType(builtin.f32, [4]))
    with pytest.raises(GeError, match="need a type"):
        array_of(weights)
    with pytest.raises(GeError, match="not a constant"):
        array_of(builtin.StringAttr("x"))
