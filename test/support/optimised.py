"""A model before and after the passes of a level: the same interface, and the same numbers in onnxruntime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto
from onnx_models import F32, assert_close, run_reference

from ge.ir.registry import context, registry
from ge.ir.verifier import verify_module
from ge.passes.pipelines import onnx_pipeline
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.tools.pipeline import PassRunner, parse_pipeline


def optimise(model: ModelProto, pipeline: str | int = 3) -> ModelProto:
    """The model after passes (a text, or a level), each of which leaves a valid module; checked by onnx."""
    module = import_model(model)
    text = onnx_pipeline(pipeline, "model") if isinstance(pipeline, int) else pipeline
    PassRunner(verify_module, str).run(context(), module, parse_pipeline(text, registry()))
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    return exported


def count(model: ModelProto) -> Counter[str]:
    """How often each operator is in the graph of a model, but for constants."""
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Constant")


def names_of(model: ModelProto) -> list[str]:
    """The names of all values that a graph defines."""
    graph = model.graph
    outputs = [name for node in graph.node for name in node.output if name]
    return [value.name for value in graph.input] + [tensor.name for tensor in graph.initializer] + outputs


def check_optimised(
    model: ModelProto, feeds: Mapping[str, NDArray[Any]], pipeline: str | int = 3, *, tolerance: float = F32
) -> ModelProto:
    """The optimised model, when its interface is that of the original, its names differ, and its outputs agree.

    Without a tolerance they are equal, NaN included.
    """
    found = optimise(model, pipeline)
    for before, after in ((model.graph.input, found.graph.input), (model.graph.output, found.graph.output)):
        assert [value.name for value in before] == [value.name for value in after]
    names = names_of(found)
    assert len(names) == len(set(names))
    got, want = run_reference(found, feeds), run_reference(model, feeds)
    if tolerance:
        assert_close(got, want, tolerance)
    for name, value in want.items():
        assert got[name].dtype == value.dtype
        if not tolerance:
            np.testing.assert_array_equal(got[name], value, err_msg=name)
    return found
