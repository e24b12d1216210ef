"""The fast kernels against onnxruntime, on shapes where padding, strides, dilations and groups all matter."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_models import F16, F32, assert_close, run_reference

from ge.dialects.onnx.kernels import KERNELS
from ge.dialects.onnx.meaning import run_module
from ge.targets.onnx.importer import import_model

Shape = tuple[int, ...]

CASES: list[tuple[str, list[Shape], dict[str, Any]]] = [
    ("Conv", [(2, 3, 9, 8), (4, 3, 3, 3), (4,)], {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    ("Conv", [(1, 4, 9, 8), (6, 2, 3, 2)], {"group": 2, "dilations": [2, 3]}),
    ("Conv", [(2, 6, 7, 7), (6, 1, 3, 3), (6,)], {"group": 6, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("Conv", [(2, 6, 7, 7), (12, 1, 3, 3)], {"group": 6, "pads": [1, 1, 1, 1]}),
    ("Conv", [(1, 3, 8, 7), (2, 3, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", [(1, 3, 8, 7), (2, 3, 2, 2)], {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
    ("Conv", [(1, 3, 8, 7), (2, 3, 2, 2)], {"auto_pad": "VALID"}),
    ("Conv", [(1, 5, 6, 6), (7, 5, 1, 1), (7,)], {}),
    ("Conv", [(2, 3, 11), (4, 3, 3)], {"pads": [1, 1], "strides": [2]}),
    ("Conv", [(1, 2, 5, 6, 7), (3, 2, 2, 3, 2)], {"pads": [1, 1, 0, 0, 1, 1]}),
    ("ConvTranspose", [(1, 4, 5, 4), (4, 3, 3, 2), (3,)], {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
    ("ConvTranspose", [(2, 4, 5, 5), (4, 2, 3, 3)], {"group": 2, "dilations": [2, 1], "output_padding": [1, 0],
                                                  "strides": [2, 2]}),
    ("ConvTranspose", [(1, 2, 3, 3), (2, 3, 3, 3)], {"output_shape": [7, 8], "strides": [2, 2]}),
    ("ConvTranspose", [(1, 2, 3, 3), (2, 3, 3, 3)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("ConvTranspose", [(1, 2, 3, 3), (2, 3, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("MaxPool", [(2, 3, 9, 8)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 2]}),
    ("MaxPool", [(1, 3, 9, 8)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", [(1, 3, 9, 8)], {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    ("MaxPool", [(1, 3, 7)], {"kernel_shape": [2], "auto_pad": "SAME_LOWER", "strides": [2]}),
    ("AveragePool", [(2, 3, 9, 8)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 2]}),
    ("AveragePool", [(2, 3, 9, 8)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "count_include_pad": 1}),
    ("AveragePool", [(1, 3, 9, 8)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("AveragePool", [(1, 3, 9, 8)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 1],
                                     "count_include_pad": 1}),
    ("AveragePool", [(1, 3, 9, 8)], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("LpPool", [(2, 3, 9, 8)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 2]}),
    ("LpPool", [(2, 3, 9, 8)], {"kernel_shape": [3, 2], "auto_pad": "SAME_LOWER", "strides": [2, 1], "p": 1}),
    ("LpPool", [(2, 3, 9)], {"kernel_shape": [4], "auto_pad": "SAME_UPPER", "p": 3}),
    ("LpPool", [(1, 3, 9, 8)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("GlobalAveragePool", [(2, 3, 5, 6)], {}),
    ("GlobalMaxPool", [(2, 3, 5, 6)], {}),
    ("GlobalMaxPool", [(2, 3, 5)], {}),
    ("BatchNormalization", [(2, 3, 5, 6), (3,), (3,), (3,), (3,)], {"epsilon": 0.01}),
    ("BatchNormalization", [(4, 3), (3,), (3,), (3,), (3,)], {}),
    ("Gemm", [(3, 4), (4, 5), (5,)], {"alpha": 0.5, "beta": 2.0}),
    ("Gemm", [(4, 3), (5, 4), (3, 1)], {"transA": 1, "transB": 1}),
    ("MatMul", [(2, 1, 3, 4), (5, 4, 2)], {}),
    ("MatMul", [(4,), (4, 2)], {}),
    ("LRN", [(2, 7, 3, 3)], {"size": 5, "alpha": 0.1, "beta": 0.6, "bias": 2.0}),
    ("LRN", [(1, 3, 4, 4)], {"size": 7}),
    ("Flatten", [(2, 3, 4)], {}),
    ("Flatten", [(2, 3, 4)], {"axis": 0}),
    ("Flatten", [(2, 3, 4)], {"axis": 3}),
    ("Flatten", [(2, 3, 4)], {"axis": -1}),
    ("LogSoftmax", [(3, 7)], {}),
    ("LogSoftmax", [(2, 5, 3)], {"axis": 1}),
]  # fmt: skip


def model_of(op_type: str, shapes: list[Shape], attributes: dict[str, Any], dtype: int) -> onnx.ModelProto:
    names = [f"x{i}" for i in range(len(shapes))]
    node = helper.make_node(op_type, names, ["y"], name="node", **attributes)
    inputs = [helper.make_tensor_value_info(*pair) for pair in zip(names, [dtype] * len(names), shapes, strict=True)]
    graph = helper.make_graph([node], "test", inputs, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


@pytest.mark.parametrize("dtype", [onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16], ids=["f32", "f16"])
@pytest.mark.parametrize(("op_type", "shapes", "attributes"), CASES)
def test_kernel(op_type: str, shapes: list[Shape], attributes: dict[str, Any], dtype: int) -> None:
    model = model_of(op_type, shapes, attributes, dtype)
    random = np.random.default_rng(0)
    numpy_type = helper.tensor_dtype_to_np_dtype(dtype)
    inputs = {f"x{i}": np.abs(random.standard_normal(s)).astype(numpy_type) for i, s in enumerate(shapes)}
    got = run_module(import_model(model), inputs)
    assert_close(got, run_reference(model, inputs), F32 if dtype == onnx.TensorProto.FLOAT else F16)


SUMS: list[tuple[str, list[Shape], dict[str, Any]]] = [
    ("InstanceNormalization", [(2, 4, 2048), (4,), (4,)], {}),
    ("LayerNormalization", [(2, 4, 2048), (2048,)], {}),
    ("LpPool", [(2, 4, 2048)], {"kernel_shape": [2048]}),
    ("ReduceL2", [(2, 4, 2048)], {}),
]
"""Of numbers around 30, whose squares add up to more than float16 holds."""


@pytest.mark.parametrize(("op_type", "shapes", "attributes"), SUMS)
def test_sums_of_float16(op_type: str, shapes: list[Shape], attributes: dict[str, Any]) -> None:
    model = model_of(op_type, shapes, attributes, onnx.TensorProto.FLOAT16)
    random = np.random.default_rng(0)
    inputs = {f"x{i}": (random.standard_normal(s) * 20 + 30).astype(np.float16) for i, s in enumerate(shapes)}
    assert_close(run_module(import_model(model), inputs), run_reference(model, inputs), F16)


@pytest.mark.parametrize(("shape", "axis", "flat"), [((2, 0, 3), 1, (2, 0)), ((0, 2, 3), 2, (0, 3)), ((0,), 0, (1, 0))])
def test_flattening_nothing(shape: Shape, axis: int, flat: Shape) -> None:
    """The reference of the onnx package asks NumPy for a size that it cannot tell."""
    module = import_model(model_of("Flatten", [shape], {"axis": axis}, onnx.TensorProto.FLOAT))
    assert run_module(module, {"x0": np.zeros(shape, np.float32)})["y"].shape == flat


@pytest.mark.parametrize(
    ("shape", "picked", "axis"),
    [((1, 512), (1, 128), 1), ((3, 4), (2, 6), 1), ((3, 4), (5, 2), 0), ((2, 3, 4), (2, 2, 3), -2), ((4,), (0,), 0)],
)
def test_gather_elements(shape: Shape, picked: Shape, axis: int) -> None:
    random = np.random.default_rng(0)
    data = random.standard_normal(shape).astype(np.float32)
    indices = random.integers(-shape[axis], shape[axis], picked)
    infos = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape),
             helper.make_tensor_value_info("i", onnx.TensorProto.INT64, picked)]  # fmt: skip
    node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    feeds = {"x": data, "i": indices}
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
    np.testing.assert_array_equal(run_module(import_model(model), feeds)["y"], wanted)


@pytest.mark.parametrize(("axis", "p"), [(0, 1), (1, 1), (-1, 2), (0, 2)])
def test_lp_normalization(axis: int, p: int) -> None:
    """Signs count in no norm; a vector of zeros stays one."""
    x = np.array([[3, 0, -4], [-1, 0, 0.5]], np.float32)
    model = model_of("LpNormalization", [(2, 3)], {"axis": axis, "p": p}, onnx.TensorProto.FLOAT)
    assert_close(run_module(import_model(model), {"x0": x}), run_reference(model, {"x0": x}), F32)


def test_quantize_linear_of_4_bits_and_in_blocks() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[5] x) => (float[5] y, int8[5] z) {
        s = Constant <value = float {0.5}> ()
        o = Constant <value = int4 {1}> ()
        q = QuantizeLinear(x, s, o)
        y = DequantizeLinear(q, s, o)
        scales = Constant <value = float[3] {0.5, 1.0, 2.0}> ()
        offsets = Constant <value = int8[3] {1, 2, 3}> ()
        z = QuantizeLinear <axis = 0, block_size = 2> (x, scales, offsets)
    }"""
    model = onnx.parser.parse_model(text)
    inputs = {"x": np.array([1e10, -1e10, 1.25, 2, np.inf], np.float32)}
    assert_close(run_module(import_model(model), inputs), run_reference(model, inputs), 0)


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("values", [[-np.inf, 0.5], [1e10, 1e-3]])
def test_one_hot(axis: int, values: list[float]) -> None:
    inputs = {"i": np.array([[0, 3], [-1, 9]]), "d": np.array([4]), "v": np.array(values, np.float32)}
    types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in inputs.items()}
    infos = [helper.make_tensor_value_info(name, types[name], value.shape) for name, value in inputs.items()]
    node = helper.make_node("OneHot", list(inputs), ["y"], axis=axis)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    got = run_module(import_model(model), inputs)["y"]
    np.testing.assert_array_equal(got, run_reference(model, inputs)["y"])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize(("parts", "axis"), [((), 1), ((1,), 0), ((3,), 1), ((2,), -2)])
@pytest.mark.parametrize("has_zero", [False, True])
def test_quantize_linear(dtype: type, parts: Shape, axis: int, *, has_zero: bool) -> None:
    """What is beyond the integers, also those of 32 bits, becomes the nearest."""
    if not has_zero and dtype != np.uint8:
        return
    inputs: dict[str, Any] = {
        "x": np.array([[0.5, 1e10, -3e38], [np.inf, -2.5, 40]], np.float32),
        "s": np.resize(np.array([0.25, 1.5, 1e-3], np.float32), parts),
    }
    if has_zero:
        inputs["z"] = np.resize(np.array([5, 100, 3], dtype), parts)
    types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in inputs.items()}
    infos = [helper.make_tensor_value_info(name, types[name], value.shape) for name, value in inputs.items()]
    node = helper.make_node("QuantizeLinear", list(inputs), ["y"], axis=axis)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert_close(run_module(import_model(model), inputs), run_reference(model, inputs), 0)


@pytest.mark.parametrize("given", range(2, 5))
@pytest.mark.parametrize("start", [-9, -2, 0, 2, 9])
def test_slice(given: int, start: int) -> None:
    """Parts of two axes; of both in order without the axes, and forwards without the steps."""
    bounds = [[start, 1], [-9 if given == 4 else 3, 3], [-1, 0], [-2, 1]][:given]
    feeds = {"x": np.arange(20.0).reshape(4, 5), **{f"n{i}": np.array(each) for i, each in enumerate(bounds)}}
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in feeds.items()}
    infos = [helper.make_tensor_value_info(name, types[name], array.shape) for name, array in feeds.items()]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)
    graph = helper.make_graph([helper.make_node("Slice", list(feeds), ["y"])], "test", infos, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert_close(run_module(import_model(model), feeds), run_reference(model, feeds), 0)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("axes", [None, [3, -2]])
@pytest.mark.parametrize("pads", [[2, 1, 1, 0], [-1, 1, 2, -2], [0, -3, 0, -1], [-2, 2, 0, 0]])
def test_pad(mode: str, axes: list[int] | None, pads: list[int]) -> None:
    """Pads of the last two axes, begins before ends; negative ones take away first."""
    given = np.array(pads if axes else [0, 0, *pads[:2], 0, 0, *pads[2:]])
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 6)).astype(np.float32)
    feeds = {"x": x, "pads": given, "value": np.array(7, np.float32)}
    if axes is not None:
        feeds["axes"] = np.array(axes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Pad", list(feeds), ["y"], mode=mode)], "test", infos, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    assert_close(run_module(import_model(model), feeds), run_reference(model, feeds), 0)


def test_every_kernel_is_tested() -> None:
    assert {op_type for op_type, _, _ in CASES} | {
        "Resize",
        "NonMaxSuppression",
        "ConstantOfShape",
        "DequantizeLinear",
        "LpNormalization",
        "OneHot",
        "Pad",
        "QuantizeLinear",
        "GatherElements",
        "ConvInteger",
        "MatMulInteger",
        "QLinearConv",
        "RoiAlign",
        "Slice",
    } == set(KERNELS)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize(
    ("shape", "axis", "parts"),
    [((2, 3, 4), 1, (3,)), ((2, 3, 4), -1, (4,)), ((2, 3), 0, ()), ((5,), 0, (1,)), ((), 0, ()), ((0, 3), 1, (3,))],
)
@pytest.mark.parametrize("zero", ["none", "all zero", "some"])
def test_dequantize_linear_keeps_every_bit(dtype: type, shape: Shape, axis: int, parts: Shape, zero: str) -> None:
    """The reference subtracts and multiplies in the same order; 32-bit integers, which do not fit, are its own."""
    rng = np.random.default_rng(7)
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    scale = rng.standard_normal(parts).astype(np.float32)
    inputs = {"x": x, "s": scale}
    if zero != "none":
        inputs["z"] = np.asarray(rng.integers(limits.min // 2, limits.max // 2, parts) * (zero == "some"), dtype)
    node = helper.make_node("DequantizeLinear", list(inputs), ["y"], axis=axis)
    types = {name: helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype) for name, value in inputs.items()}
    infos = [helper.make_tensor_value_info(name, types[name], np.shape(value)) for name, value in inputs.items()]
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    got = run_module(import_model(model), inputs)["y"]
    reference: Any = ReferenceEvaluator(model)
    want = np.asarray(reference.run(None, inputs)[0])
    assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


@pytest.mark.parametrize(
    ("shapes", "zeros"),
    [
        (((5, 7), (7, 3)), ()),
        (((5, 300), (300, 3)), ((), ())),
        (((5, 7), (7, 3)), ((5,), (3,))),
        (((2, 5, 7), (2, 7, 3)), ((1,),)),
        (((0, 7), (7, 3)), ((), ())),
    ],
)
@pytest.mark.parametrize("types", [*itertools.product([np.uint8, np.int8], repeat=2)])
def test_matmul_integer(shapes: Sequence[Shape], zeros: Sequence[Shape], types: Sequence[Any]) -> None:
    """Of all integers of 8 bits, with a zero point for the whole, or for each row of A and column of B."""
    random = np.random.default_rng(0)
    a, b, *zero_points = (
        random.integers(np.iinfo(type).min, np.iinfo(type).max, shape, type, endpoint=True)
        for shape, type in zip([*shapes, *zeros], [*types, *types], strict=False)
    )
    feeds = dict(zip("abcd", map(np.asarray, (a, b, *zero_points)), strict=False))
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)
    graph = helper.make_graph([helper.make_node("MatMulInteger", list(feeds), ["y"])], "test", infos, [y])
    got = run_module(import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])), feeds)["y"]
    left, right = a.astype(np.int64), b.astype(np.int64)
    if zero_points:
        left = left - (zero_points[0][:, None] if zeros[0] == (5,) else zero_points[0])
    if zero_points[1:]:
        right = right - zero_points[1]
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, left @ right)


@pytest.mark.parametrize("zeros", [(), ((),), ((), ()), ((), (6,))])
@pytest.mark.parametrize(
    "attributes",
    [{"pads": [1, 0, 2, 1], "strides": [2, 1]}, {"group": 2, "dilations": [2, 1]}, {"auto_pad": "SAME_UPPER"}],
)
def test_conv_integer(zeros: Sequence[Shape], attributes: dict[str, Any]) -> None:
    """Padding stands for 0, not for the integer 0; zero points are of the whole, or of each output channel of W."""
    random = np.random.default_rng(0)
    shapes = [(2, 4, 9, 8), (6, 4 // attributes.get("group", 1), 3, 3), *zeros]
    arrays = [np.asarray(random.integers(0, 256, shape), np.uint8) for shape in shapes]
    feeds = dict(zip("xwab", arrays, strict=False))
    node = helper.make_node("ConvInteger", list(feeds), ["y"], **attributes)
    infos = [helper.make_tensor_value_info(name, onnx.TensorProto.UINT8, value.shape) for name, value in feeds.items()]
    graph = helper.make_graph([node], "test", infos, [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    reference: Any = ReferenceEvaluator(model)
    got = run_module(import_model(model), feeds)["y"]
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, reference.run(None, feeds)[0])


@pytest.mark.parametrize("places", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("ratio", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_roi_align(places: str, ratio: int, count: int) -> None:
    """Of regions inside, over the edges, outside, empty, and with corners exchanged where onnxruntime takes that."""
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 3, 9, 14)).astype(np.float32)
    corners = random.uniform(-12, 40, (count, 4)).astype(np.float32)
    step = 1 if places == "half_pixel" and not ratio else 2
    corners[::step] = np.sort(corners[::step].reshape(-1, 2, 2), axis=1).reshape(-1, 4)
    corners[::5, 2:] = corners[::5, :2]
    feeds: dict[str, Any] = {"x": x, "regions": corners, "batches": random.integers(0, 2, count)}
    options: dict[str, Any] = {"output_height": 3, "output_width": 4, "sampling_ratio": ratio, "spatial_scale": 0.5}
    node = helper.make_node("RoiAlign", list(feeds), ["y"], coordinate_transformation_mode=places, **options)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "test", infos, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    got, want = run_module(import_model(model), feeds), run_reference(model, feeds)
    assert_close(got, want, F32)


@pytest.mark.parametrize("shape", [[2, 3], [0, 3], []])
@pytest.mark.parametrize("value", [None, np.float32(-0.0), np.int64(7), np.float16(0.5), np.bool_(True)])
def test_constant_of_shape(shape: list[int], value: Any) -> None:
    """One value everywhere, -0.0 among them, which is no zero of memory."""
    given: dict[str, Any] = {} if value is None else {"value": onnx.numpy_helper.from_array(np.array([value]))}
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], **given)
    info = helper.make_tensor_value_info("s", onnx.TensorProto.INT64, [len(shape)])
    graph = helper.make_graph([node], "g", [info], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    got = run_module(import_model(model), {"s": np.array(shape, np.int64)})["y"]
    want = np.full(shape, 0.0 if value is None else value, np.float32 if value is None else value.dtype)
    assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


@pytest.mark.parametrize("from_centre", [0, 1])
@pytest.mark.parametrize(("most", "score"), [(5, None), (1000, 0.5), (0, None)])
def test_non_max_suppression(from_centre: int, most: int, score: float | None) -> None:
    """Many overlapping boxes, some empty or with corners exchanged, equal scores, two classes, two images."""
    random = np.random.default_rng(0)
    boxes = random.uniform(0, 1, (2, 80, 4)).astype(np.float32)
    boxes[:, :5, 2:] = boxes[:, :5, :2]
    scores = random.integers(0, 20, (2, 2, 80)).astype(np.float32) / np.float32(20)
    limits = [
        np.array([most]),
        np.array([0.3], np.float32),
        *([] if score is None else [np.array([score], np.float32)]),
    ]
    names = [f"x{i}" for i in range(2 + len(limits))]
    node = helper.make_node("NonMaxSuppression", names, ["y"], center_point_box=from_centre)
    feeds: dict[str, Any] = dict(zip(names, [boxes, scores, *limits], strict=True))
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [None, 3])
    graph = helper.make_graph([node], "test", inputs, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    assert_close(run_module(import_model(model), feeds), run_reference(model, feeds), F32)


@pytest.mark.parametrize("places", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize(
    ("mode", "attributes"),
    [
        ("nearest", {"nearest_mode": "round_prefer_floor"}),
        ("nearest", {"nearest_mode": "round_prefer_ceil"}),
        ("nearest", {"nearest_mode": "floor"}),
        ("nearest", {"nearest_mode": "ceil"}),
        ("linear", {}),
        ("cubic", {}),
        ("cubic", {"cubic_coeff_a": -0.5, "exclude_outside": 1}),
    ],
)
@pytest.mark.parametrize(("height", "width"), [(8, 10), (3, 4), (1, 7), (4, 5)])
def test_resize_to_sizes(places: str, mode: str, attributes: dict[str, Any], height: int, width: int) -> None:
    """Enlarging, shrinking, to one pixel, and not at all."""
    sizes = helper.make_tensor("sizes", onnx.TensorProto.INT64, [4], [1, 2, height, width])
    check_resize(sizes, ["x", "", "", "sizes"], {"mode": mode, "coordinate_transformation_mode": places, **attributes})


@pytest.mark.parametrize("places", ["half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scale", [0.6, 0.8, 1.7, 2.0])
def test_resize_by_scales(places: str, mode: str, scale: float) -> None:
    """Scales whose product with the size is no integer: the coordinates use the scale, the shape is rounded down."""
    scales = helper.make_tensor("scales", onnx.TensorProto.FLOAT, [4], [1, 1, scale, scale])
    check_resize(scales, ["x", "", "scales"], {"mode": mode, "coordinate_transformation_mode": places})


def check_resize(constant: onnx.TensorProto, inputs: list[str], attributes: dict[str, Any]) -> None:
    node = helper.make_node("Resize", inputs, ["y"], **attributes)
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 2, 4, 5])
    graph = helper.make_graph([node], "test", [x], [onnx.ValueInfoProto(name="y")], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    feeds = {"x": np.random.default_rng(0).standard_normal((1, 2, 4, 5)).astype(np.float32)}
    assert_close(run_module(import_model(model), feeds), run_reference(model, feeds), F32)
