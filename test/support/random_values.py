"""Random texts, numbers, types, constants and attributes of ONNX models, as odd as the format allows.

:mod:`random_models` makes models of them. Left out are payloads of NaN in attributes and typed fields, and metadata
with one key twice, which a module cannot tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import AttributeProto, SparseTensorProto, TensorProto, TypeProto, helper, numpy_helper

# Texts

ODD_TEXTS = (
    *("", " ", "none", "func", "loc", "true", "%a", "@a", "#a", "!a", "^a", "a.b", "a b", "a-b", "a/b", "a_b", "a_1"),
    *('"', "'", "\\", '\\"', "\\n", "\\0A", "\n", "\t", "\r\n", "\0", "\x7f", "//", "{", "}>", "->", "1", "0x41"),
    *("数", "卷积/权重", "é", "e\u0301", "\u2028", "\u202e", "\ufeff", "\U0001f600", "a::b", "a%3Ab", "ai.onnx", "?"),
)
"""Empty, words and marks of the text form, escapes, other writing systems, and what looks alike."""

texts = st.one_of(st.sampled_from(ODD_TEXTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
identifiers = st.sampled_from(["a", "b", "axis", "alpha", "then_branch", "value", "absent", "operandSegmentSizes"])
names = st.one_of(identifiers, texts)
nonempty_names = names.filter(bool)
byte_strings = st.one_of(texts.map(str.encode), st.binary(max_size=6))

# Numbers

INT64 = st.one_of(st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]), st.integers(-(2**63), 2**63 - 1))

_ODD_FLOATS = [0.0, -0.0, 1e-45, -1e-45, 1.17549435e-38, 3.4028235e38, 0.1, math.inf, -math.inf, math.nan]
FLOAT32 = st.one_of(st.sampled_from(_ODD_FLOATS), st.floats(width=32)).map(lambda x: math.nan if math.isnan(x) else x)

# Types

ELEMENT_TYPES = [number for number in TensorProto.DataType.values() if number != TensorProto.UNDEFINED]
NO_IDENTITY = [n for n in (0, *ELEMENT_TYPES) if TensorProto.DataType.Name(n).startswith(("UNDEFINED", "FLOAT6"))]
"""Element types that Identity does not take."""

PLAIN_TYPES = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE]
"""Element types that operators have had since the oldest opset drawn here."""

KEY_TYPES = [TensorProto.INT64, TensorProto.INT8, TensorProto.UINT32, TensorProto.STRING]

dimensions = st.one_of(st.integers(0, 4), st.none(), st.sampled_from(["n", "batch", "?", "-1", "unk"]), nonempty_names)


def tensor_types(elements: Sequence[int]) -> st.SearchStrategy[TypeProto]:
    shapes = st.one_of(st.none(), st.lists(dimensions, max_size=3))
    return st.builds(helper.make_tensor_type_proto, st.sampled_from(elements), shapes)


def types(elements: Sequence[int] = ELEMENT_TYPES) -> st.SearchStrategy[TypeProto]:
    """Tensors with and without a rank, sequences, optionals and maps of each other, sparse and opaque types, none."""
    sparse = st.builds(
        helper.make_sparse_tensor_type_proto, st.sampled_from(elements), st.lists(dimensions, max_size=2)
    )
    opaque = st.builds(lambda domain, name: TypeProto(opaque_type={"domain": domain, "name": name}), texts, texts)
    denoted = st.builds(_denoted, tensor_types(elements), nonempty_names)
    leaves = st.one_of(tensor_types(elements), sparse, opaque, denoted, st.just(TypeProto()))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(helper.make_sequence_type_proto, inner),
            st.builds(helper.make_optional_type_proto, inner),
            st.builds(helper.make_map_type_proto, st.sampled_from(KEY_TYPES), inner),
        ),
        max_leaves=3,
    )


def _denoted(type: TypeProto, text: str) -> TypeProto:
    """A type, and the first of its dimensions, with a denotation."""
    type.denotation = text
    for dim in type.tensor_type.shape.dim[:1]:
        dim.denotation = text
    return type


# Constants

shapes = st.one_of(
    st.sampled_from([(), (0,), (1,), (2, 0, 3), (1, 1), (300,), (7, 43)]), st.lists(st.integers(0, 4), max_size=3)
)

_BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6, "BOOL": 1}


@st.composite
def arrays(draw: st.DrawFn, data_type: int) -> NDArray[Any]:
    """An array of random bits, or of one element repeated, of any shape."""
    shape = tuple(draw(shapes))
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(data_type))
    count = 1 if draw(st.booleans()) else math.prod(shape)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    name = TensorProto.DataType.Name(data_type)
    if name in ("INT4", "INT2"):
        half = 1 << _BITS[name] - 1
        elements = random.integers(-half, half, count).astype(dtype)
    elif name in _BITS:
        elements = random.integers(0, 1 << _BITS[name], count).astype(np.uint8).view(dtype)
    else:
        elements = np.frombuffer(random.bytes(count * dtype.itemsize), dtype)
    return np.resize(elements, shape) if elements.size else np.zeros(shape, dtype)


@st.composite
def tensors(draw: st.DrawFn, name: str | None = None, elements: Sequence[int] = ELEMENT_TYPES) -> TensorProto:
    """A tensor of any element type, its elements in raw data or in the field of their type."""
    data_type = draw(st.sampled_from(elements))
    name = draw(texts) if name is None else name
    if data_type == TensorProto.STRING:
        shape = draw(st.sampled_from([(), (0,), (1,), (2, 2), (3,)]))
        tensor = TensorProto(name=name, dims=shape, data_type=data_type)
        tensor.string_data.extend(draw(byte_strings) for _ in range(math.prod(shape)))
    else:
        array = draw(arrays(data_type))
        is_typed = draw(st.booleans()) and not _has_payloads(array)
        tensor = (
            helper.make_tensor(name, data_type, array.shape, array.reshape(-1))
            if is_typed
            else numpy_helper.from_array(array, name)
        )
    if draw(st.integers(0, 4)) == 0:
        tensor.data_location = TensorProto.DEFAULT
    document(draw, tensor)
    return tensor


def _has_payloads(array: NDArray[Any]) -> bool:
    """Whether there are NaN, of which typed fields do not keep all bits."""
    is_float = array.dtype.kind in "fc" or array.dtype == ml_dtypes.bfloat16
    return is_float and bool(np.isnan(array).any())


@st.composite
def sparse_tensors(draw: st.DrawFn, name: str | None = None, elements: Sequence[int] = (1, 7, 11)) -> SparseTensorProto:
    """A sparse tensor, with flat indices or with rows of them."""
    dims = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    flat = np.array(sorted(draw(st.sets(st.integers(0, math.prod(dims) - 1)))), np.int64)
    indices = np.stack(np.unravel_index(flat, dims), 1).astype(np.int64) if draw(st.booleans()) else flat
    dtype = helper.tensor_dtype_to_np_dtype(draw(st.sampled_from(elements)))
    values = numpy_helper.from_array(np.arange(1, len(flat) + 1).astype(dtype), draw(texts) if name is None else name)
    sparse = SparseTensorProto(dims=dims, values=values, indices=numpy_helper.from_array(indices, draw(texts)))
    document(draw, sparse.values)
    return sparse


# What is said of everything


def document(draw: st.DrawFn, message: Any) -> None:
    """A text and metadata, sometimes."""
    if draw(st.integers(0, 3)) == 0:
        message.doc_string = draw(texts)
        for key, value in draw(st.dictionaries(texts, texts, max_size=2)).items():
            message.metadata_props.add(key=key, value=value)


# Attributes

_CONTENTS: dict[AttributeProto.AttributeType, st.SearchStrategy[Any]] = {
    AttributeProto.INT: INT64,
    AttributeProto.FLOAT: FLOAT32,
    AttributeProto.STRING: byte_strings,
    AttributeProto.TENSOR: tensors(),
    AttributeProto.SPARSE_TENSOR: sparse_tensors(),
    AttributeProto.TYPE_PROTO: types(),
    AttributeProto.INTS: st.lists(INT64, max_size=3),
    AttributeProto.FLOATS: st.lists(FLOAT32, max_size=3),
    AttributeProto.STRINGS: st.lists(byte_strings, max_size=3),
    AttributeProto.TENSORS: st.lists(tensors(), max_size=2),
    AttributeProto.SPARSE_TENSORS: st.lists(sparse_tensors(), max_size=2),
    AttributeProto.TYPE_PROTOS: st.lists(types(), max_size=2),
}

ATTRIBUTE_KINDS = list(_CONTENTS)

_FIELDS = {
    AttributeProto.INT: "i",
    AttributeProto.FLOAT: "f",
    AttributeProto.STRING: "s",
    AttributeProto.TENSOR: "t",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.TYPE_PROTO: "tp",
    AttributeProto.INTS: "ints",
    AttributeProto.FLOATS: "floats",
    AttributeProto.STRINGS: "strings",
    AttributeProto.TENSORS: "tensors",
    AttributeProto.SPARSE_TENSORS: "sparse_tensors",
    AttributeProto.TYPE_PROTOS: "type_protos",
}


def make_attribute(name: str, kind: AttributeProto.AttributeType, contents: Any) -> AttributeProto:
    """An attribute of a kind, also of an empty list."""
    return AttributeProto(name=name, type=kind, **{_FIELDS[kind]: contents})


@st.composite
def attributes(draw: st.DrawFn, name: str) -> AttributeProto:
    """An attribute of any kind but graphs, with a text about it."""
    kind = draw(st.sampled_from(ATTRIBUTE_KINDS))
    attribute = make_attribute(name, kind, draw(_CONTENTS[kind]))
    attribute.doc_string = draw(texts)
    return attribute
