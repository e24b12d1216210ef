"""Constants and attributes come back bit for bit: from the importer through text to the exporter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exact import CUSTOM, check_exact, custom, model_of, tensor, value
from numpy.typing import NDArray
from onnx import (
    AttributeProto,
    SparseTensorProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

from ge.dialects.onnx.meaning import run_module

x, y = value("x", 2), value("y", 2)


# Constants


ELEMENT_TYPES = [name for name in TensorProto.DataType.keys() if name not in ("UNDEFINED", "STRING")]  # noqa: SIM118


@pytest.mark.parametrize("count", [0, 5, 1001])
@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_element_types(name: str, count: int) -> None:
    """As raw data and in the typed field, in an initializer and in a node, with every pattern of bits."""
    data_type = TensorProto.DataType.Value(name)
    array = random_bits(data_type, count)
    raw = numpy_helper.from_array(array, "w")
    assert raw.data_type == data_type
    typed = helper.make_tensor("v", data_type, array.shape, array.reshape(-1))
    node = helper.make_node("Constant", [], ["c"], value=raw)
    outputs = [value(name, count, type=data_type) for name in ("w", "v", "c")]
    module = check_exact(model_of([node], [], outputs, initializer=[raw, typed]))
    results = run_module(module, {})
    for result, want in zip(results.values(), (raw, typed, raw), strict=True):
        np.testing.assert_array_equal(bits(result), bits(numpy_helper.to_array(want)))


def random_bits(data_type: int, count: int) -> NDArray[Any]:
    """Elements of random bits; NaN payloads aside."""
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(data_type))
    random = np.random.default_rng(count)
    if dtype.kind in "fc" and dtype.itemsize > 1:
        parts = random.standard_normal(2 * count) * np.exp(random.uniform(-20, 20, 2 * count))
        parts[::7], parts[1::11], parts[2::13], parts[3::17] = np.nan, np.inf, -np.inf, -0.0
        parts[np.abs(parts) > 6e4] = 6e4
        return parts[:count].astype(dtype) if dtype.kind == "f" else parts.view(np.complex128).astype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, count).astype(dtype)
    width = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}
    name = TensorProto.DataType.Name(data_type)
    if name in ("INT4", "INT2"):
        half = 1 << width[name] - 1
        return random.integers(-half, half, count).astype(dtype)
    if name in width:
        return random.integers(0, 1 << width[name], count).astype(np.uint8).view(dtype)
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype)


def bits(array: NDArray[Any]) -> NDArray[Any]:
    """What an array holds, byte by byte; small integers, whose upper bits do not count, as they are."""
    is_small = "int4" in str(array.dtype) or "int2" in str(array.dtype)
    return array.astype(np.int8) if is_small else np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def test_constant_nodes() -> None:
    values: dict[str, Any] = {
        "value_float": -0.0,
        "value_floats": [float("inf"), 1e-45],
        "value_int": -(2**63),
        "value_ints": [2**63 - 1],
        "value_string": "ä\n",
        "value_strings": [b"\xff\x00", b"", b"a\x00"],
        "value": numpy_helper.from_array(np.array(3.5)),
    }
    nodes = [helper.make_node("Constant", [], [name], **{name: v}) for name, v in values.items()]
    outputs = [ValueInfoProto(name="value_int", type=helper.make_tensor_type_proto(TensorProto.INT64, []))]
    module = check_exact(model_of(nodes, [], outputs))
    assert run_module(module, {})["value_int"] == -(2**63)


def test_string_tensors() -> None:
    strings = TensorProto(name="w", dims=[2, 3], data_type=TensorProto.STRING)
    strings.string_data.extend([b"", b"a\x00", b"\xff\xfe", "名".encode(), b'"\\', b"0x41"])
    y = value("y", 2, 3, type=TensorProto.STRING)
    check_exact(model_of([helper.make_node("Identity", ["w"], ["y"])], [], [y], initializer=[strings]))


def sparse(name: str, indices: Any) -> SparseTensorProto:
    return SparseTensorProto(
        dims=[3, 4], values=tensor(name, 1, 2), indices=numpy_helper.from_array(np.array(indices, np.int64), "i")
    )


@pytest.mark.parametrize("indices", [[3, 5], [[0, 3], [1, 1]]], ids=["flat", "rows"])
def test_sparse_tensors(indices: Any) -> None:
    node = helper.make_node("Constant", [], ["c"], sparse_value=sparse("", indices))
    add = helper.make_node("Add", ["c", "s"], ["y"])
    model = model_of([node, add], [], [value("y", 3, 4)], sparse_initializer=[sparse("s", indices)])
    model.graph.sparse_initializer[0].values.doc_string = "values"
    want = np.zeros((3, 4), np.float32)
    want[0, 3], want[1, 1] = 2, 4
    np.testing.assert_array_equal(run_module(check_exact(model), {})["y"], want)


# Attributes


def test_attributes_of_every_kind() -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "", [], [ValueInfoProto(name="t")])
    type = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", None])
    values: dict[str, Any] = {
        "f": float("-inf"),
        "i": -1,
        "s": "名",
        "blob": b"\xff\x00",
        "t": tensor("name", 1),
        "big": tensor("", *range(100)),
        "g": graph,
        "sp": sparse("v", [3, 5]),
        "tp": type,
        "fs": [1e-45, -0.0, 3.0],
        "is": [2**63 - 1, 0],
        "ss": ["", "a"],
        "blobs": [b"\xff", b"a"],
        "ts": [tensor("a", 1), tensor("", 2)],
        "gs": [graph, graph],
        "sps": [sparse("v", [3, 5])],
        "tps": [type, helper.make_tensor_type_proto(1, None)],
        "a.b": 1,
        "a b": 2,
        "none": 3,
        "absent": 4,
        "名": 5,
    }
    node = custom(**values)
    kinds = ("FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSORS", "TYPE_PROTOS")
    node.attribute.extend(AttributeProto(name=f"no{k}", type=k) for k in kinds)
    for attribute in node.attribute:
        attribute.doc_string = f"about {attribute.name}"
    check_exact(model_of([node], [x], [y], opsets=CUSTOM))


def test_types_as_attributes() -> None:
    type = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"]))
    output = helper.make_value_info("y", type)
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    check_exact(model_of([helper.make_node("Optional", [], ["y"], type=inner)], [], [output]))


def test_kinds_of_attributes_that_the_model_leaves_out() -> None:
    """As in IR version 1."""
    node = helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.5)
    node.attribute[0].ClearField("type")
    check_exact(model_of([node], [x], [y]))
