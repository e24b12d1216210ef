"""Models written for older opsets compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from older_opsets import Array, attributes, expected, f32, lowered, one_node, operators, random
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import F32, assert_close, run_reference

from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

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
