"""Models of older opsets mean the same after import, or are refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import F32, assert_close, run_reference

from ge.dialects.onnx import OPSET
from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.opsets import keeps_meaning

Array = NDArray[Any]

random = np.random.default_rng(0)


def f32(*shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> Array:
    return np.abs(f32(*shape))


def i64(*values: int) -> Array:
    return np.array(values, np.int64)


SCALES = np.array([1, 1, 2, 2], np.float32)

CASES: list[tuple[str, int, list[Array], dict[str, Any]]] = [
    # form changed: attribute to input
    ("Squeeze", 11, [f32(1, 3, 1)], {"axes": [0]}),
    ("Squeeze", 11, [f32(1, 3, 1)], {}),
    ("Unsqueeze", 11, [f32(3)], {"axes": [0, 2]}),
    ("ReduceSum", 11, [f32(2, 3, 4)], {"axes": [1], "keepdims": 0}),
    ("ReduceMean", 11, [f32(2, 3, 4)], {"axes": [1, -1]}),
    ("ReduceMean", 17, [f32(2, 3, 4)], {}),
    ("ReduceMax", 12, [f32(2, 3, 4)], {"axes": [0]}),
    ("ReduceL2", 13, [f32(2, 3, 4)], {"axes": [2]}),
    ("ReduceLogSumExp", 13, [f32(2, 3, 4)], {"axes": [2]}),
    ("Clip", 6, [f32(9)], {"min": -0.5, "max": 0.5}),
    ("Clip", 10, [f32(9)], {"min": 0.0}),
    ("Slice", 9, [f32(4, 5)], {"starts": [1, 0], "ends": [3, -1], "axes": [0, 1]}),
    ("Slice", 9, [f32(4, 5)], {"starts": [1], "ends": [3]}),
    ("Pad", 2, [f32(2, 3)], {"pads": [0, 1, 0, 2], "value": 1.5}),
    ("Pad", 10, [f32(2, 3)], {"pads": [0, 1, 0, 2], "mode": "reflect"}),
    ("TopK", 9, [f32(3, 5)], {"k": 2, "axis": 1}),
    ("Split", 11, [f32(6, 2)], {"axis": 0, "split": [2, 4]}),
    ("Split", 11, [f32(6, 2)], {"axis": 0}),
    ("Split", 13, [f32(6, 2)], {"axis": 0}),
    ("Dropout", 7, [f32(4)], {}),
    ("Dropout", 10, [f32(4)], {"ratio": 0.3}),
    ("DFT", 17, [f32(1, 8, 1)], {"axis": 1}),
    ("Reshape", 1, [f32(2, 3)], {"shape": [3, 2]}),
    # meaning changed
    ("Softmax", 9, [f32(2, 3, 4)], {}),
    ("Softmax", 11, [f32(2, 3, 4)], {"axis": 1}),
    ("Softmax", 12, [f32(2, 3, 4)], {"axis": 2}),
    ("LogSoftmax", 11, [f32(2, 3, 4)], {}),
    ("Hardmax", 11, [f32(2, 3, 4)], {}),
    ("Hardmax", 12, [f32(2, 3, 4)], {"axis": 0}),
    ("Upsample", 7, [f32(1, 2, 3, 3)], {"scales": [1.0, 1.0, 2.0, 2.0]}),
    ("Upsample", 9, [f32(1, 2, 3, 3), SCALES], {"mode": "linear"}),
    ("Upsample", 9, [f32(1, 2, 3, 3), np.array([1, 1, 2.5, 3], np.float32)], {}),
    ("Resize", 10, [f32(1, 2, 3, 3), SCALES], {"mode": "linear"}),
    ("Resize", 10, [f32(1, 2, 8, 8), np.array([1, 1, 0.6, 0.4], np.float32)], {}),
    ("Resize", 11, [f32(1, 2, 4, 4), f32(0), SCALES], {"mode": "cubic"}),
    ("RoiAlign", 10, [f32(1, 2, 8, 8), np.array([[0, 0, 4, 4]], np.float32), i64(0)],
     {"output_height": 2, "output_width": 2}),
    ("GroupNormalization", 18, [f32(1, 4, 3, 3), f32(2), f32(2)], {"num_groups": 2}),
    ("GridSample", 16, [f32(1, 2, 4, 4), f32(1, 3, 3, 2)], {"mode": "bicubic"}),
    ("PRelu", 6, [f32(1, 3, 4, 4), f32(3)], {}),
    ("PRelu", 6, [f32(1, 3, 4, 4), f32(1)], {}),
    ("Add", 6, [f32(1, 3, 4, 4), f32(4)], {"broadcast": 1}),
    ("Mul", 6, [f32(2, 3), f32(2, 3)], {}),
    ("Gemm", 6, [f32(2, 3), f32(3, 4), f32(4)], {"broadcast": 1}),
    ("BatchNormalization", 6, [f32(2, 3, 4, 4), f32(3), f32(3), f32(3), positive(3)], {"is_test": 1}),
    ("BatchNormalization", 9, [f32(2, 3, 4, 4), f32(3), f32(3), f32(3), positive(3)], {}),
    ("Scatter", 9, [f32(3, 3), np.array([[0, 1, 2]]), f32(1, 3)], {}),
    # only more types or attributes since: nothing may change
    ("AveragePool", 7, [f32(1, 2, 5, 5)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("MaxPool", 8, [f32(1, 2, 5, 5)], {"kernel_shape": [2, 2]}),
    ("LSTM", 7, [f32(5, 1, 3), f32(1, 16, 3), f32(1, 16, 4)], {"hidden_size": 4}),
    ("Cast", 9, [f32(3)], {"to": onnx.TensorProto.INT64}),
    ("ArgMax", 11, [f32(3, 4)], {"axis": 1}),
    ("DepthToSpace", 10, [f32(1, 8, 2, 2)], {"blocksize": 2}),
]  # fmt: skip

OUTPUTS = {"TopK": 2, "Split": 2, "LSTM": 2}

CONSTANTS = {"Upsample": [1], "Resize": [1, 2], "Reshape": [1], "Tile": [1]}
"""Positions of inputs that are initializers."""


def one_node(
    op_type: str, opset: int, arrays: Sequence[Array], attributes: dict[str, Any]
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    names = [f"x{i}" for i in range(len(arrays))]
    constants = [i for i in CONSTANTS.get(op_type, []) if i < len(arrays)]
    outputs = [f"y{i}" for i in range(OUTPUTS.get(op_type, 1))]
    node = helper.make_node(op_type, names, outputs, name="the_node", **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for i, (name, array) in enumerate(zip(names, arrays, strict=True))
        if i not in constants
    ]
    initializers = [numpy_helper.from_array(arrays[i], names[i]) for i in constants]
    graph = helper.make_graph(
        [node], "test", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], initializers
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model, {name: array for i, (name, array) in enumerate(zip(names, arrays, strict=True)) if i not in constants}


def expected(model: onnx.ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes at the opset of the model, or the reference where onnxruntime has no such kernel."""
    try:
        return run_reference(model, feeds)
    except Exception:
        values: Any = ReferenceEvaluator(model).run(None, dict(feeds))
        return dict(zip([output.name for output in model.graph.output], values, strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("op_type", "opset", "arrays", "attributes"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_old_node_means_the_same(op_type: str, opset: int, arrays: list[Array], attributes: dict[str, Any]) -> None:
    model, feeds = one_node(op_type, opset, arrays, attributes)
    want = expected(model, feeds)
    module = import_model(model)
    module.verify()
    assert_close(run_module(module, feeds), want, F32)
    exported = export_model(module)
    onnx.checker.check_model(exported)
    assert exported.opset_import[0].version >= opset
    assert_close(run_reference(exported, feeds), want, F32)


@pytest.mark.parametrize(
    ("op_type", "opset", "arrays", "attributes", "why"),
    [
        ("LpPool", 1, [f32(1, 1, 4, 4)], {}, "its attribute 'kernel_shape' is missing"),
        ("LpPool", 1, [f32(1, 1, 4, 4)], {"kernel_shape": [2, 2], "p": 2.5}, "is an integer, not 2.5"),
    ],
)
def test_what_cannot_be_converted_is_refused_by_name(
    op_type: str, opset: int, arrays: list[Array], attributes: dict[str, Any], why: str
) -> None:
    model, _ = one_node(op_type, opset, arrays, attributes)
    with pytest.raises(GeError, match=rf"(?s)GE1016.*{op_type}.*{opset}|GE1016.*{why}") as error:
        import_model(model)
    assert "the_node" in str(error.value.where)
    assert why in str(error.value)


def test_unchanged_model_keeps_its_opset() -> None:
    model, _ = one_node("Conv", 11, [f32(1, 2, 5, 5), f32(3, 2, 3, 3)], {})
    exported = export_model(import_model(model))
    assert exported.opset_import[0].version == 11


def test_header_only_edit_of_the_opset_is_detected() -> None:
    model, _ = one_node("ReduceMean", 13, [f32(2, 3)], {"axes": [1]})
    model.opset_import[0].version = 18
    with pytest.raises(GeError, match=r"(?s)GE1017.*ReduceMean has no attribute 'axes' at opset 18.*the_node"):
        import_model(model)


def test_too_many_inputs_for_the_opset_are_detected() -> None:
    model, _ = one_node("Clip", 6, [f32(3), f32(), f32()], {})
    with pytest.raises(GeError, match=r"(?s)GE1017.*Clip has at most 1 inputs, not 3, at opset 6"):
        import_model(model)


def test_newer_opset_than_ours_is_refused() -> None:
    model, _ = one_node("Relu", OPSET + 1, [f32(3)], {})
    with pytest.raises(GeError, match=f"(?s)GE1015.*{OPSET + 1}.*{OPSET}"):
        import_model(model)


def test_unused_domains_and_the_long_name_of_the_empty_domain_are_accepted() -> None:
    model, feeds = one_node("Relu", 13, [f32(3)], {})
    del model.opset_import[:]
    model.opset_import.extend(
        helper.make_opsetid(domain, version)
        for domain, version in (("ai.onnx", 13), ("ai.onnx.ml", 3), ("com.microsoft", 1), ("", 13))
    )
    np.testing.assert_array_equal(run_module(import_model(model), feeds)["y0"], np.maximum(feeds["x0"], 0))


def test_two_versions_of_one_domain_are_refused() -> None:
    model, _ = one_node("Relu", 13, [f32(3)], {})
    model.opset_import.append(helper.make_opsetid("ai.onnx", 14))
    with pytest.raises(GeError, match=r"(?s)GE1015.*13 and 14"):
        import_model(model)


def test_chains_of_changed_nodes_and_names() -> None:
    """New values get names of their own; names of the model are not touched."""
    squeeze = helper.make_node("Squeeze", ["x"], ["a"], name="first", axes=[0])
    unsqueeze = helper.make_node("Unsqueeze", ["a"], ["first_Constant"], axes=[0])
    mean = helper.make_node("ReduceMean", ["first_Constant"], ["y"], axes=[1])
    graph = helper.make_graph(
        [squeeze, unsqueeze, mean],
        "test",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 4])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1, 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    feeds = {"x": f32(1, 3, 4)}
    exported = export_model(import_model(model))
    others = [node for node in exported.graph.node if node.op_type != "Constant"]
    assert [(node.name, node.op_type, list(node.output)) for node in others] == [
        ("first", "Squeeze", ["a"]),
        ("", "Unsqueeze", ["first_Constant"]),
        ("", "ReduceMean", ["y"]),
    ]
    assert_close(run_reference(exported, feeds), run_reference(model, feeds), F32)


@pytest.mark.parametrize(
    ("op_type", "old", "new", "kept"),
    [
        ("Relu", 6, 28, True),
        ("Conv", 1, 28, True),
        ("Cast", 13, 28, True),
        ("Softmax", 12, 13, False),
        ("Softmax", 13, 28, True),
        ("PRelu", 6, 7, False),
        ("Resize", 10, 11, False),
        ("Split", 13, 18, False),
        ("ReduceMean", 17, 18, False),
        ("Upsample", 9, 10, False),
    ],
)
def test_which_operators_keep_their_meaning(op_type: str, old: int, new: int, kept: bool) -> None:
    assert keeps_meaning(op_type, old, new) is kept
