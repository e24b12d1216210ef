"""Models of one node, and what they are for older opsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import F32, assert_close, run_reference

from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

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
