"""What an older opset cannot say is refused by name, and the oldest opset that can is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from older_opsets import Array, f32, one_node
from onnx import TensorProto, helper
from onnx_models import ModelBuilder

from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.table import oldest_unchanged
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.opsets import LOWEST_TARGET

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
    ("ReduceLogSumExp", 28, [f32(2, 3), np.array([1])], {1: np.array([1])}, {}, 18),
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
