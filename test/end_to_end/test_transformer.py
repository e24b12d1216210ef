"""A small transformer, from the ONNX model to the simulated chip: what attention needs beside its products."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from ge import Runtime
from ge.dialects.om import OperatorOp
from ge.targets.ascend.om.writer import model_bytes
from ge.tools import ge_om
from ge.tools.agreement import compare
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.reference import run_onnx

WIDTH, HEADS, LENGTH = 64, 2, 24


def linear(m: ModelBuilder, x: str, inputs: int, outputs: int) -> str:
    weights = m.weights(inputs, outputs, scale=inputs**-0.5)
    return m.node("Add", m.node("MatMul", x, weights), m.weights(outputs, scale=0.1))


def norm(m: ModelBuilder, x: str) -> str:
    return m.node("LayerNormalization", x, m.weights(WIDTH, scale=0.1, offset=1.0), m.weights(WIDTH, scale=0.1))


def attention(m: ModelBuilder, x: str, mask: str | None) -> str:
    """Self-attention as exporters write it: with a mask of one product split in three, without one of three."""
    apart, joined = (m.constant(shape, np.int64) for shape in ((1, LENGTH, HEADS, 32), (1, LENGTH, WIDTH)))
    if mask is None:
        parts = [linear(m, x, WIDTH, WIDTH) for _ in "qkv"]
    else:
        first = m.node("Split", linear(m, x, WIDTH, 3 * WIDTH), outputs=3, axis=2, num_outputs=3)
        parts = [first, f"{first}_1", f"{first}_2"]
    q, k, v = (m.node("Reshape", each, apart) for each in parts)
    q, v = (m.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
    k = m.node("Mul", m.node("Transpose", k, perm=[0, 2, 3, 1]), m.constant(32**-0.5))
    scores = m.node("MatMul", q, k)
    scores = scores if mask is None else m.node("Add", scores, mask)
    y = m.node("Transpose", m.node("MatMul", m.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return linear(m, m.node("Reshape", y, joined), WIDTH, WIDTH)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers: one with a causal mask, which leaves some rows of it a single element."""
    m = ModelBuilder(opset=20)
    x = m.input("x", 1, LENGTH, WIDTH)
    mask = m.constant(np.triu(np.full((1, 1, LENGTH, LENGTH), -1e9), 1))
    for each in (mask, None):
        x = m.node("Add", x, attention(m, norm(m, x), each))
        x = m.node("Add", x, linear(m, m.node("Gelu", linear(m, norm(m, x), WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH))
    m.output(norm(m, x))
    path = tmp_path_factory.mktemp("transformer") / "model.onnx"
    onnx.save(m.build(), path)
    return path


@pytest.mark.parametrize("level", [0, 1, 3])
def test_the_chip_computes_what_onnxruntime_does(model: Path, level: int) -> None:
    inputs = {"x": np.random.default_rng(4).standard_normal((1, LENGTH, WIDTH)).astype(np.float32)}
    module = compile_model(CompileOptions(model, level=level)).module
    outputs = Runtime(strict=True).run(model_bytes(module), inputs)
    agreements = compare(outputs, run_onnx(str(model), inputs)[1], half=True)
    assert all(each.passed for each in agreements), agreements


def test_attention_is_products_and_softmax_alone(model: Path) -> None:
    """Nothing on the host, nothing transposed, and only the input and the output are converted.

    The last normalisation converts its result to float32 itself. The keys are scaled as they are cut out of a larger
    product.
    """
    module = compile_model(CompileOptions(model)).module
    kinds = Counter(op.kind.data for op in module.walk() if isinstance(op, OperatorOp))
    assert kinds["TransData"] == 2 and not kinds["Cast"], kinds
    assert not {"TransposeD", "HostCall", "Add", "Mul"} & {*kinds}, kinds
    assert kinds["SoftmaxV2"] == 2 and kinds["LayerNormV4"] == 5 and kinds["SliceD"] == 3, kinds


def test_the_graph_in_the_file_is_the_model(model: Path, tmp_path: Path) -> None:
    file, extracted = tmp_path / "model.om", tmp_path / "extracted"
    file.write_bytes(model_bytes(compile_model(CompileOptions(model)).module))
    ge_om.run(["extract", str(file), "--output", str(extracted)])
    inputs = {"x": np.random.default_rng(5).standard_normal((1, LENGTH, WIDTH)).astype(np.float32)}
    outputs = run_onnx(str(extracted / "graph.onnx"), inputs)[1]
    agreements = compare(outputs, run_onnx(str(model), inputs)[1], half=True)
    assert all(each.passed for each in agreements), agreements
