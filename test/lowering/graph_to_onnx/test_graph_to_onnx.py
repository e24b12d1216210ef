"""From the graph level back to ONNX: the numbers of onnxruntime, before and after, and what cannot go back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f16
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from bench.fuzz.small_models import small_models
from ge.dialects.graph import ViewOp
from ge.dialects.graph.meaning import run_module
from ge.ir.attributes import with_layout
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.verifier import verify_module
from ge.lowering.graph_to_onnx import ConvertGraphToOnnxPass
from ge.maths.layouts import storage_shape
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.tools.compilation import GROUP, STAGES, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.reference import run_onnx


def grouped(model: ModelProto) -> ModuleOp:
    """The module before its kernels are made."""
    module = import_model(model)
    for stage in STAGES[: STAGES.index(GROUP) + 1]:
        run_stage(stage, module, CompileOptions(Path("model.onnx")))
    return module


def back(module: ModuleOp) -> ModelProto:
    ConvertGraphToOnnxPass().apply(Context(), module)
    verify_module(module)
    model = export_model(module)
    onnx.checker.check_model(model, full_check=True)
    return model


def inputs_of(model: ModelProto) -> dict[str, Any]:
    random = np.random.default_rng(0)
    inputs: dict[str, Any] = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [dim.dim_value for dim in tensor.shape.dim]
        inputs[value.name] = random.normal(size=shape).astype(dtype) if dtype.kind == "f" else np.ones(shape, dtype)
    return inputs


@pytest.mark.parametrize("name", small_models())
def test_small_models_come_back(name: str, tmp_path: Path) -> None:
    """Convolutions, fused and grouped, matrix products, host operators, control flow."""
    model = small_models()[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(model, before)
    onnx.save(back(grouped(model)), after)
    inputs = inputs_of(model)
    _, expected = run_onnx(str(before), inputs)
    _, found = run_onnx(str(after), inputs)
    assert [*found] == [*expected]
    for output, value in expected.items():
        if value.dtype.kind != "f":
            assert (found[output] == value).all()
            continue
        assert found[output].dtype == value.dtype
        assert (abs(found[output] - value) <= 1e-3 * abs(value).max() + 1e-3 * abs(value)).all()


def test_nodes_have_the_names_of_the_model() -> None:
    nodes = {node.name: node.op_type for node in back(grouped(small_models()["cnn"])).graph.node}
    assert [*nodes.values()][:2] == ["Conv", "Relu"]
    original = {node.name or node.output[0] for node in small_models()["cnn"].graph.node}
    assert {re.sub(r"(/[A-Z]\w*?)?(_\d+)?$", "", name) for name in nodes} <= original


VIEWS = [
    ("ND", (2, 6), "ND", (3, 4)),
    ("FRACTAL_NZ", (8, 64), "FRACTAL_NZ", (2, 8, 32)),
    ("FRACTAL_NZ", (5, 30), "ND", (2, 5, 16)),
    ("ND", (2, 5, 16), "FRACTAL_NZ", (5, 30)),
    ("NC1HWC0", (1, 20, 2, 3), "ND", (1, 2, 2, 3, 16)),
    ("ND", (1, 32, 1, 1), "NC1HWC0", (1, 20, 1, 1)),
    ("ND", (9, 1, 16, 16), "FRACTAL_Z", (12, 16, 3, 3)),
    ("FRACTAL_Z", (20, 40), "ND", (2, 3, 256)),
    ("FRACTAL_Z", (20, 17, 3, 1), "ND", (6, 2, 256)),
    ("FRACTAL_NZ", (3, 48), "FRACTAL_NZ", (3, 40)),
]


@pytest.mark.parametrize(("source", "shape", "target", "seen"), VIEWS)
def test_views_show_the_same_bytes(
    source: str, shape: tuple[int, ...], target: str, seen: tuple[int, ...], tmp_path: Path
) -> None:
    """The interpreter of the graph level is the judge; pad lanes are zero there, too."""
    assert np.prod(storage_shape(source, shape)) >= np.prod(storage_shape(target, seen))
    block = Block(arg_types=[with_layout(TensorType(f16, shape), source)])
    view = ViewOp(block.args[0], with_layout(TensorType(f16, seen), target))
    block.add_ops([view, ReturnOp(view.y)])
    module = ModuleOp([FuncOp("main", ([block.args[0].type], [view.y.type]), Region(block))])
    x = np.random.default_rng(0).normal(size=shape).astype(np.float16)
    (expected,) = run_module(module, {"arg0": x}).values()
    model = back(module)
    onnx.save(model, tmp_path / "view.onnx")
    _, found = run_onnx(str(tmp_path / "view.onnx"), {model.graph.input[0].name: x})
    assert np.array_equal(next(iter(found.values())), expected) and expected.shape == seen


def test_computed_weights_of_merged_groups_have_no_form() -> None:
    text = """
      func.func @main(%x: tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>, %w: tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>)
          -> tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>> {
        %y = graph.conv2d %x, %w groups 32 group_merge 16 : (tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>,
            tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>
        func.return %y : tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>
      }"""
    with pytest.raises(GeError, match="its weights are computed") as error:
        ConvertGraphToOnnxPass().apply(Context(), parse_module(text))
    assert error.value.code == "GE3004"
