"""Models written for older opsets compute the same, or are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import F32, ModelBuilder, assert_close, run_reference

from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.table import oldest_unchanged
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.opsets import LOWEST_TARGET

Array = NDArray[Any]

random = np.random.default_rng(0)


def f32(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def one_node(
    op_type: str,
    opset: int,
    inputs: Sequence[Array | None],
    constants: dict[int, Any] | None = None,
    outputs: int = 1,
    **attributes: Any,
) -> tuple[ModelProto, dict[str, Array]]:
    """A model of one node called `the_node`, and its inputs; ``constants`` has those that are initializers."""
    constants = {i: np.asarray(value) for i, value in (constants or {}).items()}
    count = max([len(inputs), *(i + 1 for i in constants)])
    feeds = {f"x{i}": value for i, value in enumerate(inputs) if value is not None and i not in constants}
    names = [f"x{i}" if i in constants or f"x{i}" in feeds else "" for i in range(count)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, name="the_node", **attributes)
    graph = helper.make_graph(
        [node],
        "test",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in feeds.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(value, f"x{i}") for i, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model), feeds


def expected(model: ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes, or the reference implementation where onnxruntime has no such kernel."""
    try:
        return run_reference(model, feeds)
    except Exception:
        values: Any = ReferenceEvaluator(model).run(None, dict(feeds))
        return dict(zip([output.name for output in model.graph.output], values, strict=True))


def lowered(model: ModelProto, target: int, feeds: dict[str, Array], tolerance: float = F32) -> ModelProto:
    """The model for opset ``target``, checked, and compared with what it was."""
    exported = export_model(import_model(model), target)
    assert exported.opset_import[0].version == target
    onnx.checker.check_model(exported, full_check=True)
    assert_close(expected(exported, feeds), expected(model, feeds), tolerance)
    return exported


def operators(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


# The conversions that header edits get wrong


def test_relu_15_to_13() -> None:
    model, feeds = one_node("Relu", 15, [f32(4)])
    exported = lowered(model, 13, feeds)
    assert operators(exported) == ["Relu"]
    assert exported.graph.node[0].name == "the_node"


def test_grid_sample_20_to_16() -> None:
    model, feeds = one_node("GridSample", 20, [f32(1, 2, 4, 4), f32(1, 3, 3, 2)], mode="cubic")
    exported = lowered(model, 16, feeds)
    assert attributes(exported.graph.node[0])["mode"] == b"bicubic"


def test_softmax_13_to_12_has_another_form() -> None:
    model, feeds = one_node("Softmax", 13, [f32(2, 3, 4)], axis=1)
    exported = lowered(model, 12, feeds)
    assert operators(exported) == ["Transpose", "Softmax", "Transpose"]
    header_only = ModelProto()
    header_only.CopyFrom(model)
    header_only.opset_import[0].version = 12
    with pytest.raises(AssertionError):
        assert_close(expected(header_only, feeds), expected(model, feeds), F32)


def test_softmax_over_the_last_axis_only_says_which() -> None:
    model, feeds = one_node("Softmax", 13, [f32(2, 3, 4)])
    exported = lowered(model, 11, feeds)
    assert attributes(exported.graph.node[0]) == {"axis": -1}


def test_reduce_mean_18_to_13() -> None:
    model, feeds = one_node("ReduceMean", 18, [f32(2, 3, 4)], {1: np.array([1, -1])})
    exported = lowered(model, 13, feeds)
    assert attributes(exported.graph.node[0]) == {"axes": [1, -1]}
    assert not exported.graph.initializer, "the axes are an attribute now"


def test_split_18_to_13_of_unequal_parts() -> None:
    model, feeds = one_node("Split", 18, [f32(7, 2)], outputs=3, num_outputs=3, axis=0)
    exported = lowered(model, 13, feeds)
    assert numpy_helper.to_array(exported.graph.node[0].attribute[0].t).tolist() == [3, 3, 1]
    assert operators(exported) == ["Constant", "Split"]


def test_split_18_to_13_of_equal_parts() -> None:
    model, feeds = one_node("Split", 18, [f32(6, 2)], outputs=3, num_outputs=3, axis=0)
    assert attributes(lowered(model, 11, feeds).graph.node[0]) == {"axis": 0}


def test_split_of_an_unknown_size_becomes_slices() -> None:
    model, feeds = one_node("Split", 18, [f32(7, 2)], outputs=3, num_outputs=3, axis=0)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    for output, length in zip(model.graph.output, (3, 3, 1), strict=True):
        output.type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, [length, 2]))
    assert operators(lowered(model, 11, feeds))[-3:] == ["Slice"] * 3


def test_split_of_computed_lengths_becomes_slices() -> None:
    model, feeds = one_node("Split", 13, [f32(7, 2), np.array([2, 0, 5])], outputs=3, axis=0)
    for output, length in zip(model.graph.output, (2, 0, 5), strict=True):
        output.type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, [length, 2]))
    assert operators(lowered(model, 11, feeds))[-3:] == ["Slice"] * 3


# One case for each adapter, beyond what the node tests of the standard reach

DOWN: list[tuple[str, int, int, list[Array | None], dict[int, Any], dict[str, Any]]] = [
    # axes
    ("ReduceMax", 20, 19, [random.random((2, 3)) > 0.5], {1: np.array([1])}, {}),
    ("ReduceSum", 13, 11, [f32(2, 3, 4)], {1: np.array([0, 2])}, {"keepdims": 0}),
    ("ReduceSum", 13, 11, [f32(2, 3)], {}, {}),
    ("ReduceSum", 13, 12, [f32(2, 3)], {}, {"noop_with_empty_axes": 1}),
    ("ReduceSumSquare", 18, 11, [f32(2, 3)], {}, {"noop_with_empty_axes": 1}),
    ("Squeeze", 13, 11, [f32(1, 3, 1)], {1: np.array([0, -1])}, {}),
    ("Unsqueeze", 21, 11, [f32(3, 2)], {1: np.array([0, -1])}, {}),
    # softmax
    ("LogSoftmax", 13, 11, [f32(2, 3, 4)], {}, {"axis": 0}),
    ("Hardmax", 13, 11, [f32(2, 3, 4)], {}, {"axis": -2}),
    # slicing
    ("Split", 18, 11, [f32(6, 2)], {1: np.array([2, 4])}, {"axis": 0}),
    ("Pad", 18, 13, [f32(2, 3)], {1: np.array([1, 2]), 2: np.float32(7), 3: np.array([-1])}, {}),
    ("Pad", 18, 13, [f32(2, 3), np.array([1, 2]), None], {3: np.array([-1])}, {}),
    ("Pad", 19, 11, [f32(2, 3)], {1: np.array([1, 0, 2, 5])}, {"mode": "wrap"}),
    ("Pad", 13, 11, [random.random((2, 3)) > 0.5], {1: np.array([1, 0, 2, 5]), 2: np.array(True)}, {}),
    ("ArgMax", 12, 11, [np.array([[1, 3, 3], [2, 2, 1]], np.float32)], {}, {"select_last_index": 1, "axis": 1}),
    ("ArgMin", 13, 11, [np.array([[1, 1, 3], [2, 2, 1]], np.int32)], {}, {"select_last_index": 1, "keepdims": 0}),
    ("Trilu", 14, 11, [f32(2, 4, 5)], {1: np.array(1)}, {"upper": 0}),
    ("Trilu", 14, 13, [random.integers(0, 9, (4, 5)), np.array(-1)], {}, {}),
    # gathering
    ("GatherND", 12, 11, [f32(2, 3, 4), np.array([[[1], [0]], [[2], [2]]])], {}, {"batch_dims": 1}),
    ("GatherND", 13, 11, [f32(2, 2, 3), np.array([[[0], [2]], [[1], [1]]])], {}, {"batch_dims": 2}),
    # arithmetic
    ("Add", 14, 13, [np.array([100, 3], np.int8), np.array([100, -5], np.int8)], {}, {}),
    ("Div", 14, 11, [np.array([-7, 9], np.int8), np.array([2, -4], np.int8)], {}, {}),
    ("Relu", 14, 13, [np.array([-7, 9], np.int64)], {}, {}),
    ("Relu", 14, 11, [np.array([-7, 9], np.int32)], {}, {}),
    ("Clip", 12, 11, [np.array([-7, 0, 9], np.int64)], {1: np.array(-1), 2: np.array(5)}, {}),
    ("Clip", 13, 11, [np.array([-7, 0, 9], np.int32), None, np.array(5, np.int32)], {}, {}),
    ("Max", 13, 11, [np.array([1, 5]), np.array([3]), np.array([[2], [4]])], {}, {}),
    ("Min", 13, 11, [np.array([1, 5], np.uint8), np.array([3, 3], np.uint8)], {}, {}),
    ("Pow", 15, 11, [f32(3), np.array([2, 3, 2])], {}, {}),
    ("Pow", 13, 11, [np.array([2, -3], np.int32), np.array([3, 2], np.int32)], {}, {}),
    ("Mod", 28, 27, [np.array([-7.5, 7.5, 6, -6, 0], np.float32), np.array([2, -2, -3, 4, 5], np.float32)], {}, {}),
    ("Mod", 13, 11, [np.array([-7, 7]), np.array([2, -2])], {}, {}),
    ("CumSum", 14, 11, [f32(2, 3).astype(np.float16), np.array(1)], {}, {}),
    ("IsInf", 20, 11, [np.array([1, np.inf], np.float16)], {}, {}),
    ("Dropout", 13, 11, [f32(4)], {1: np.float32(0.3), 2: np.array(False)}, {"seed": 3}),
    ("MaxPool", 12, 11, [random.integers(-9, 9, (1, 1, 4, 4)).astype(np.int8)], {}, {"kernel_shape": [2, 2]}),
    ("Celu", 12, 11, [f32(5)], {}, {"alpha": 2.0}),
    ("GreaterOrEqual", 16, 11, [f32(5), f32(5)], {}, {}),
    # casts
    ("Cast", 19, 11, [f32(3)], {}, {"to": TensorProto.INT32, "saturate": 0}),
    ("CastLike", 19, 11, [f32(3), np.array([1])], {}, {}),
    # pooling
    ("AveragePool", 19, 11, [f32(1, 2, 7, 8)], {}, {"kernel_shape": [2, 3], "dilations": [2, 1]}),
    ("AveragePool", 19, 11, [f32(1, 2, 7, 8)], {},
     {"kernel_shape": [2, 3], "dilations": [2, 2], "pads": [1, 0, 1, 2], "strides": [2, 1]}),
    ("AveragePool", 19, 11, [f32(2, 2, 7, 8)], {},
     {"kernel_shape": [2, 2], "dilations": [2, 2], "pads": [1, 1, 1, 1], "strides": [2, 2], "count_include_pad": 1}),
    ("AveragePool", 22, 19, [f32(1, 1, 2, 2)], {},
     {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    ("MaxPool", 22, 12, [f32(1, 1, 2, 5)], {},
     {"kernel_shape": [1, 3], "strides": [2, 3], "pads": [0, 1, 0, 1], "ceil_mode": 1}),
    ("LpPool", 18, 11, [f32(1, 2, 7, 8)], {}, {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1, "p": 3}),
    ("AveragePool", 19, 11, [f32(1, 2, 7)], {}, {"kernel_shape": [2], "dilations": [1]}),
    ("LpPool", 18, 11, [f32(1, 2, 7)], {}, {"kernel_shape": [2], "dilations": [1], "ceil_mode": 0}),
    # normalization
    ("GroupNormalization", 21, 17, [f32(1, 4, 3, 3), f32(4), f32(4)], {}, {"num_groups": 2}),
    ("LayerNormalization", 17, 11, [f32(2, 3, 4), f32(4), f32(4)], {}, {}),
    # resize
    ("Resize", 18, 13, [f32(1, 2, 3, 4)], {2: np.array([2, 1.5], np.float32)}, {"axes": [2, -1], "mode": "linear"}),
    ("Resize", 18, 11, [f32(1, 2, 3, 4)], {3: np.array([6, 7])}, {"axes": [2, 3], "mode": "nearest"}),
    ("Resize", 18, 13, [f32(1, 2, 4, 6)], {3: np.array([8, 9])},
     {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}),
    ("Resize", 19, 18, [f32(1, 1, 4, 4)], {2: np.array([1, 1, 2, 0.5], np.float32)},
     {"coordinate_transformation_mode": "half_pixel_symmetric", "mode": "linear"}),
    ("Resize", 18, 13, [f32(1, 1, 4, 4)], {2: np.array([1, 1, 2, 2], np.float32)}, {"antialias": 1, "mode": "linear"}),
    ("Resize", 18, 13, [f32(1, 1, 4, 4)], {3: np.array([1, 1, 8, 8])}, {"antialias": 1, "mode": "linear"}),
    ("Resize", 18, 11, [f32(1, 1, 4, 4), np.array([0.2, 0.1, 0.8, 0.9], np.float32), None], {3: np.array([3, 3])},
     {"axes": [2, 3], "mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}),
    # sampling
    ("RoiAlign", 16, 11, [f32(1, 2, 8, 8), np.array([[0, 0, 4, 4]], np.float32), np.array([0])], {},
     {"output_height": 2, "output_width": 2, "coordinate_transformation_mode": "output_half_pixel"}),
    ("DFT", 20, 19, [f32(1, 8, 4, 1)], {2: np.array(1)}, {}),
    ("DFT", 20, 17, [f32(1, 8, 4, 1)], {}, {}),
    # shapes
    ("OptionalHasElement", 18, 15, [f32(2)], {}, {}),
    ("OptionalGetElement", 18, 15, [f32(2)], {}, {}),
    ("Shape", 15, 11, [f32(2, 3, 4)], {}, {"start": 1}),
    ("Shape", 15, 14, [f32(2, 3, 4)], {}, {"start": -2, "end": -1}),
    ("Reshape", 14, 13, [f32(0, 3)], {1: np.array([3, 0])}, {"allowzero": 1}),
    ("Reshape", 14, 13, [f32(2, 3)], {1: np.array([3, 2])}, {"allowzero": 1}),
    # recurrent
    ("GRU", 14, 11, [f32(1, 5, 3), f32(1, 12, 3), f32(1, 12, 4), None, None, f32(1, 1, 4)], {},
     {"hidden_size": 4, "layout": 1}),
    # quantization
    ("QuantizeLinear", 13, 11, [f32(2, 3)],
     {1: np.array([0.1, 0.2, 0.3], np.float32), 2: np.array([1, 2, 3], np.uint8)}, {}),
    ("DequantizeLinear", 13, 12, [random.integers(0, 99, (3, 2), np.uint8)],
     {1: np.array([0.1, 0.2, 0.3], np.float32), 2: np.array([1, 2, 3], np.uint8)}, {"axis": 0}),
    ("QuantizeLinear", 21, 19, [f32(4, 2)], {1: np.array([[0.1, 0.2], [0.3, 0.1]], np.float32)},
     {"axis": 0, "block_size": 2}),
    ("QuantizeLinear", 21, 13, [f32(4)], {1: np.float32(0.01), 2: np.array(3, np.int16)}, {}),
    ("DequantizeLinear", 21, 13, [np.array([-300, 5, 700], np.int16)],
     {1: np.float32(0.5), 2: np.array(7, np.int16)}, {}),
    ("QuantizeLinear", 13, 11, [f32(4)], {1: np.float32(0.1), 2: np.uint8(3)}, {"axis": 0}),
    ("DequantizeLinear", 13, 11, [np.array([3, 4], np.uint8)], {1: np.float32(0.1)}, {"axis": 0}),
    ("DequantizeLinear", 23, 22, [np.array([3, 4], np.uint8)], {1: np.float32(0.1)}, {"output_dtype": 10}),
    ("DequantizeLinear", 21, 19, [np.array([3, -4], np.int16)], {1: np.float16(0.5), 2: np.array(7, np.int16)}, {}),
    ("QuantizeLinear", 23, 22, [f32(4)], {1: np.float32(0.5), 2: np.uint8(3)}, {"precision": 1}),
    ("QuantizeLinear", 23, 22, [f32(4)], {1: np.float32(0.5), 2: np.uint8(3)}, {"precision": 10}),
    ("QuantizeLinear", 23, 21, [f32(4).astype(np.float16)], {1: np.float32(0.5), 2: np.uint8(3)}, {}),
    ("QuantizeLinear", 21, 19, [f32(4, 2)], {1: np.ones((2, 2), np.float32)},
     {"axis": 0, "block_size": 2, "output_dtype": TensorProto.FLOAT8E4M3FN}),
    ("QuantizeLinear", 21, 19, [f32(4)], {1: np.float32(0.01)}, {"output_dtype": TensorProto.INT8}),
    ("QuantizeLinear", 19, 13, [f32(4).astype(np.float16)], {1: np.float16(0.5), 2: np.array(1, np.int8)}, {}),
]  # fmt: skip

OUTPUTS = {"Split": 2}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("op_type", "opset", "target", "inputs", "constants", "given"),
    DOWN,
    ids=[f"{case[0]}-{case[1]}-{case[2]}-{i}" for i, case in enumerate(DOWN)],
)
def test_older_form_computes_the_same(
    op_type: str,
    opset: int,
    target: int,
    inputs: list[Array | None],
    constants: dict[int, Any],
    given: dict[str, Any],
) -> None:
    model, feeds = one_node(op_type, opset, inputs, constants, OUTPUTS.get(op_type, 1), **given)
    half = TensorProto.FLOAT16 in {
        value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)
    }
    lowered(model, target, feeds, 1e-3 if half else F32)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_average_with_dilations_and_padding_by_size(auto_pad: str) -> None:
    """Against the definition: onnxruntime and the reference of onnx both forget the dilations in the padding."""
    model, feeds = one_node(
        "AveragePool", 19, [f32(1, 1, 8)], kernel_shape=[3], dilations=[2], strides=[2], auto_pad=auto_pad
    )
    exported = export_model(import_model(model), 11)
    onnx.checker.check_model(exported, full_check=True)
    x = feeds["x0"][0, 0]
    begin = -1 if auto_pad == "SAME_UPPER" else -2  # 4 windows that reach over 5 elements: 3 of padding
    windows = [[start, start + 2, start + 4] for start in range(begin, begin + 8, 2)]
    means = [np.mean([x[i] for i in window if 0 <= i < 8]) for window in windows]
    assert_close(run_reference(exported, feeds), {"y0": np.array([[means]], np.float32)}, F32)


def test_training_of_batch_normalization() -> None:
    inputs: list[Array | None] = [f32(2, 3, 4), f32(3), f32(3), f32(3), np.abs(f32(3))]
    model, feeds = one_node("BatchNormalization", 15, inputs, outputs=3, training_mode=1, momentum=0.7)
    assert "BatchNormalization" not in operators(lowered(model, 13, feeds))


def test_random_bfloat16_is_made_in_float() -> None:
    model, _ = one_node("RandomUniform", 22, [], shape=[2, 3], dtype=TensorProto.BFLOAT16, low=-1.0)
    exported = export_model(import_model(model), 13)
    onnx.checker.check_model(exported, full_check=True)
    assert operators(exported) == ["RandomUniform", "Cast"]
    assert attributes(exported.graph.node[0])["low"] == -1


def test_bfloat16_computes_in_float() -> None:
    model, _ = one_node("Sin", 22, [f32(3)])
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        value.type.tensor_type.elem_type = TensorProto.BFLOAT16
    exported = export_model(import_model(model), 13)
    onnx.checker.check_model(exported, full_check=True)
    assert operators(exported) == ["Cast", "Sin", "Cast"]
    assert [node.name for node in exported.graph.node][-1] == "the_node"


# Refusals

REFUSED: list[tuple[str, int, int, list[Array | None], dict[int, Any], dict[str, Any], int, str]] = [
    ("GridSample", 20, 16, [f32(1, 1, 2, 2, 2), f32(1, 2, 2, 2, 3)], {}, {}, 20, "4 dimensions, not 5"),
    ("GridSample", 20, 13, [f32(1, 1, 2, 2), f32(1, 2, 2, 2)], {}, {}, 16, "GridSample does not exist before opset 16"),
    ("ReduceMean", 18, 13, [f32(2, 3), np.array([1])], {}, {}, 18, "'axes' is computed"),
    ("ScatterND", 18, 17, [f32(3), np.array([[0]]), f32(1)], {}, {"reduction": "max"}, 18, "reduction = 'max'"),
    ("ScatterND", 16, 13, [f32(3), np.array([[0]]), f32(1)], {}, {"reduction": "add"}, 16, "no attribute 'reduction'"),
    ("Dropout", 13, 11, [f32(3)], {1: np.float32(0.5), 2: np.array(True)}, {}, 12, "training"),
    ("Pow", 13, 11, [np.array([2, 3]), np.array([2, 3])], {}, {}, 12, "64-bit"),
    ("Resize", 18, 13, [f32(1, 1, 8, 8)], {2: np.array([1, 1, 0.5, 0.5], np.float32)},
     {"antialias": 1, "mode": "linear"}, 18, "antialias"),
    ("Resize", 18, 13, [f32(1, 1, 8, 8)], {3: np.array([1, 1, 4, 4])},
     {"antialias": 1, "keep_aspect_ratio_policy": "not_larger", "mode": "linear"}, 18, "antialias"),
    ("Resize", 18, 13, [f32(1, 1, 9, 6)], {3: np.array([4, 5])},
     {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"}, 18, "keep_aspect_ratio_policy"),
    ("AveragePool", 22, 19, [f32(1, 1, 2, 5)], {},
     {"kernel_shape": [1, 3], "strides": [2, 3], "pads": [0, 0, 1, 0], "ceil_mode": 1, "count_include_pad": 1},
     22, "counts windows"),
    ("BitShift", 28, 27, [np.array([1], np.int8), np.array([1], np.int8)], {}, {"direction": "LEFT"}, 28, "int8"),
    ("Equal", 19, 18, [np.array(["a"]), np.array(["b"])], {}, {}, 19, "string"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op_type", "opset", "target", "inputs", "constants", "given", "lowest", "why"),
    REFUSED,
    ids=[f"{case[0]}-{case[1]}-{case[2]}" for case in REFUSED],
)
def test_refusals_name_the_node_and_the_lowest_opset(
    op_type: str,
    opset: int,
    target: int,
    inputs: list[Array | None],
    constants: dict[int, Any],
    given: dict[str, Any],
    lowest: int,
    why: str,
) -> None:
    model, _ = one_node(op_type, opset, inputs, constants, **given)
    module = import_model(model)
    with pytest.raises(GeError) as error:
        export_model(module, target)
    assert error.value.code == "GE1021"
    assert error.value.where == f"node 'the_node' ({op_type})"
    assert why in error.value.what
    assert error.value.what.endswith(f"the lowest opset that can express it is {lowest}")
    export_model(module, lowest)


def test_unknown_types_and_ranks_are_refused() -> None:
    model, _ = one_node("Softmax", 13, [f32(2, 3)], axis=0)
    model.graph.node.insert(0, helper.make_node("Foreign", ["x"], ["x0"], domain="elsewhere"))
    model.graph.input[0].name = "x"
    model.opset_import.append(helper.make_opsetid("elsewhere", 1))
    module = import_model(model)
    with pytest.raises(GeError, match=r"(?s)the rank of its input 'input' is not known.*node 'the_node'"):
        export_model(module, 12)


def test_all_refused_nodes_are_listed() -> None:
    builder = ModelBuilder(opset=20)
    x, grid = builder.input("x", 1, 1, 4, 4), builder.input("grid", 1, 4, 4, 2)
    sampled = builder.node("GridSample", x, grid, name="sample")
    builder.output(builder.node("BitwiseNot", builder.node("Cast", sampled, to=TensorProto.INT32), name="invert"))
    module = import_model(builder.build())
    with pytest.raises(GeError, match=r"(?s)node 'sample' .*node 'invert' \(BitwiseNot\).*--target-opset=18 or more"):
        export_model(module, 13)
    assert export_model(module, 18).opset_import[0].version == 18


@pytest.mark.parametrize("target", [LOWEST_TARGET - 1, OPSET + 1])
def test_opsets_out_of_range_are_refused(target: int) -> None:
    model, _ = one_node("Relu", 15, [f32(4)])
    with pytest.raises(GeError, match=f"(?s)GE2006.*opset {target} is not between {LOWEST_TARGET} and {OPSET}"):
        export_model(import_model(model), target)


# Without a target

DEFAULT: list[tuple[str, int, list[Array | None], dict[int, Any], dict[str, Any], int]] = [
    ("Pad", 13, [f32(2, 3)], {1: np.array([1, 0, 1, 0])}, {"mode": "edge"}, 11),
    ("Pad", 19, [f32(2, 3)], {1: np.array([1, 0, 1, 0])}, {"mode": "wrap"}, 19),
    ("Mod", 13, [np.array([5]), np.array([3])], {}, {}, 11),
    ("Mod", 28, [f32(3), f32(3)], {}, {}, 28),
    ("Pow", 15, [f32(3), np.array([2, 3, 2])], {}, {}, 12),
    ("Relu", 14, [np.array([1], np.int32)], {}, {}, 14),
    ("Relu", 14, [f32(2)], {}, {}, 11),
    ("Softmax", 13, [f32(2, 3)], {}, {}, 13),
    ("Shape", 15, [f32(2, 3)], {}, {"start": 1}, 15),
]
"""The last number is the oldest opset from 11 on at which the node means the same as it is."""


@pytest.mark.parametrize(
    ("op_type", "opset", "inputs", "constants", "given", "oldest"), DEFAULT, ids=[f"{c[0]}-{c[1]}" for c in DEFAULT]
)
def test_oldest_opset_that_needs_no_conversion(
    op_type: str, opset: int, inputs: list[Array | None], constants: dict[int, Any], given: dict[str, Any], oldest: int
) -> None:
    model, _ = one_node(op_type, opset, inputs, constants, **given)
    types = {value.name: value.type for value in (*model.graph.input, *model.graph.output)}
    types.update((t.name, helper.make_tensor_type_proto(t.data_type, t.dims)) for t in model.graph.initializer)
    assert oldest_unchanged(model.graph.node[0], types, 11) == oldest
    assert export_model(import_model(model)).opset_import[0].version == max(opset, oldest)


# The model around


def test_the_ir_version_is_that_of_the_opset() -> None:
    model, _ = one_node("Relu", 22, [f32(4)])
    model.ir_version = 11
    assert export_model(import_model(model), 11).ir_version == helper.OP_SET_ID_VERSION_MAP[("ai.onnx", 11)]


def test_newest_opset_is_what_the_module_is() -> None:
    model, feeds = one_node("ReduceMean", 13, [f32(2, 3)], axes=[1])
    assert operators(lowered(model, OPSET, feeds))[-1] == "ReduceMean"


def test_constants_that_others_read_stay() -> None:
    builder = ModelBuilder(opset=18)
    axes = builder.constant([1], np.int64, name="axes")
    mean = builder.node("ReduceMean", builder.input("x", 2, 3), axes)
    builder.output(builder.node("Mul", mean, builder.node("Cast", axes, to=TensorProto.FLOAT)))
    exported = export_model(import_model(builder.build()), 13)
    assert [tensor.name for tensor in exported.graph.initializer] == ["axes"]


def test_axes_that_are_computed_from_shapes_count_as_constants() -> None:
    model, feeds = one_node("ReduceMean", 18, [f32(2, 3)], {1: np.array([1])})
    model.graph.initializer[0].name = "one"
    model.graph.node.insert(0, helper.make_node("Shape", ["x0"], ["shape"]))
    model.graph.node.insert(1, helper.make_node("Shape", ["shape"], ["rank"]))
    model.graph.node.insert(2, helper.make_node("Sub", ["rank", "one"], ["x1"]))
    exported = lowered(model, 13, feeds)
    assert attributes(next(node for node in exported.graph.node if node.name == "the_node"))["axes"] == [1]


def if_model(opset: int, branch: Callable[[int, str], list[onnx.NodeProto]]) -> ModelProto:
    """A model that takes one of two branches, which read ``x`` from outside."""
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])
    graphs = [
        helper.make_graph(branch(i, f"y{i}"), f"branch{i}", [], [onnx.ValueInfoProto(name=f"y{i}", type=y.type)])
        for i in range(2)
    ]
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=graphs[0], else_branch=graphs[1])
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
    ]
    graph = helper.make_graph([node], "test", inputs, [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("taken", [True, False])
def test_nodes_in_branches_are_converted(taken: bool) -> None:
    def branch(number: int, output: str) -> list[onnx.NodeProto]:
        axes = helper.make_node("Constant", [], [f"axes{number}"], value_ints=[number])
        return [axes, helper.make_node("ReduceMean", ["x", f"axes{number}"], [output], name=f"mean{number}")]

    model = if_model(18, branch)
    feeds = {"c": np.array(taken), "x": f32(2, 3)}
    exported = lowered(model, 11, feeds)
    graphs = [attribute.g for attribute in exported.graph.node[0].attribute]
    assert [node.op_type for graph in graphs for node in graph.node] == ["ReduceMean", "ReduceMean"]


def test_nodes_in_branches_are_refused_by_name() -> None:
    def branch(number: int, output: str) -> list[onnx.NodeProto]:
        return [helper.make_node("Gelu" if number else "Mish", ["x"], [output], name=f"act{number}")]

    module = import_model(if_model(20, branch))
    assert export_model(module, 13)  # both are functions

    def refused(number: int, output: str) -> list[onnx.NodeProto]:
        cast = helper.make_node("Cast", ["x"], [f"int{number}"], to=TensorProto.INT32)
        invert = helper.make_node("BitwiseNot", [f"int{number}"], [f"not{number}"], name=f"invert{number}")
        return [cast, invert, helper.make_node("Cast", [f"not{number}"], [output], to=TensorProto.FLOAT)]

    with pytest.raises(GeError, match=r"(?s)GE1021.*node 'invert0' \(BitwiseNot\).*node 'invert1'"):
        export_model(import_model(if_model(20, refused)), 13)


def test_new_names_do_not_meet_those_of_the_model() -> None:
    model, feeds = one_node("Softmax", 13, [f32(2, 3, 4)], axis=1)
    model.graph.node.append(helper.make_node("Identity", ["y0"], ["the_node_Transpose"], name="the_node_Softmax"))
    model.graph.output[0].name = "the_node_Transpose"
    exported = lowered(model, 12, feeds)
    values = [name for node in exported.graph.node for name in node.output]
    assert len(values) == len(set(values))
    names = [node.name for node in exported.graph.node]
    assert len(names) == len(set(names))


# Functions


def function_model(*nodes: onnx.NodeProto, opset: int = 18) -> ModelProto:
    """A model that calls a function of some nodes, which make ``b`` from ``a``."""
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("local", "f", ["a"], ["b"], nodes, imports, attributes=["axis"])
    call = helper.make_node("f", ["x"], ["y"], domain="local", name="call", axis=1)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4]) for name in ("x", "y")]
    return helper.make_model(
        helper.make_graph([call], "test", infos[:1], infos[1:]),
        opset_imports=[*imports, helper.make_opsetid("local", 1)],
        functions=[function],
        ir_version=8,
    )


def test_nodes_in_functions_are_converted() -> None:
    axes = helper.make_node("Constant", [], ["axes"], value_ints=[-1])
    model = function_model(
        axes, helper.make_node("ReduceL2", ["a", "axes"], ["n"]), helper.make_node("Div", ["a", "n"], ["b"])
    )
    exported = lowered(model, 13, {"x": f32(2, 3, 4)})
    (function,) = exported.functions
    assert [node.op_type for node in function.node] == ["ReduceL2", "Div"]
    assert function.opset_import[0].version == 13


def test_functions_that_need_types_are_inlined() -> None:
    softmax = helper.make_node("Softmax", ["a"], ["b"], name="soft")
    softmax.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT))
    exported = lowered(function_model(softmax), 11, {"x": f32(2, 3, 4)})
    assert not exported.functions
    assert operators(exported) == ["Transpose", "Softmax", "Transpose"]
