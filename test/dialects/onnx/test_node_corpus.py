"""The node tests of the ONNX standard: every operator, through import, text and export, and evaluated.

One test per operator that a case is about. Cases with another outcome are listed with the reason, and must keep it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from io import StringIO
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx.meaning import run_module
from ge.ir.parser import parse_module
from ge.ir.printer import GePrinter
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

NOT_COMPARED = {
    "test_bernoulli": "random",
    "test_bernoulli_double": "random",
    "test_bernoulli_double_expanded": "random",
    "test_bernoulli_expanded": "random",
    "test_bernoulli_seed": "random",
    "test_bernoulli_seed_expanded": "random",
    "test_resize_downsample_scales_cubic_align_corners": "the case takes the unrounded length, unlike the standard",
    "test_resize_downsample_scales_linear_align_corners": "the case takes the unrounded length, unlike the standard",
    **{
        f"test_image_decoder_decode_{kind}": "the reference needs Pillow"
        for kind in (
            *("bmp_rgb", "jpeg2k_rgb", "jpeg_bgr", "jpeg_grayscale", "jpeg_rgb"),
            *("png_rgb", "pnm_rgb", "tiff_rgb", "webp_rgb"),
        )
    },
}


@cache
def cases() -> dict[str, list[Any]]:
    """The cases by the operator of their last node."""
    by_operator: dict[str, list[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cast("list[Any]", collect_testcases(None)):
            by_operator.setdefault(case.model.graph.node[-1].op_type, []).append(case)
    return by_operator


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operator", sorted(cases()))
def test_operator(operator: str) -> None:
    for case in cases()[operator]:
        module = import_model(case.model)
        module.verify()
        again = check_text(module)
        check_export(again, case.model)
        if case.name not in NOT_COMPARED:
            check_values(again, case)


def text_of(module: ModuleOp, generic: bool = False) -> str:
    stream = StringIO()
    GePrinter(stream, generic=generic).print_op(module)
    return stream.getvalue()


def check_text(module: ModuleOp) -> ModuleOp:
    """Both forms of text read back as the same module."""
    text = text_of(module)
    again = parse_module(text)
    assert text_of(again) == text
    assert text_of(parse_module(text_of(module, generic=True))) == text
    return again


def check_export(module: ModuleOp, model: onnx.ModelProto) -> None:
    """The export is valid, and node by node what was imported when the opset stayed the same.

    Constant nodes become initializers, and a copy when they are outputs: models with them are not compared.
    """
    exported = export_model(module)
    onnx.checker.check_model(exported)
    assert list(map(str, exported.graph.input)) == list(map(str, model.graph.input))
    assert [value.name for value in exported.graph.output] == [value.name for value in model.graph.output]
    has_constants = any(node.op_type == "Constant" for node in model.graph.node)
    if exported.opset_import[0].version == model.opset_import[0].version and not has_constants:
        assert list(nodes(exported.graph)) == list(nodes(model.graph))


def nodes(graph: onnx.GraphProto) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Operators with their inputs and outputs; absent inputs at the end are no inputs."""
    for node in graph.node:
        inputs = list(node.input)
        while inputs and not inputs[-1]:
            inputs.pop()
        yield node.domain, node.op_type, inputs, list(node.output)


def check_values(module: ModuleOp, case: Any) -> None:
    names = [value.name for value in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        results = run_module(module, dict(zip(names, map(as_value, inputs), strict=False)))
        for got, want in zip(results.values(), map(as_value, outputs), strict=True):
            assert_equal(got, want, case.rtol, case.atol, case.name)


def as_value(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return list(value) if isinstance(value, list | tuple) else value


def assert_equal(got: Any, want: Any, rtol: float, atol: float, name: str) -> None:
    if isinstance(want, list):
        assert isinstance(got, list)
        for pair in zip(got, want, strict=True):
            assert_equal(*pair, rtol, atol, name)
        return
    if want is None:
        assert got is None, name
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, name
    if want.dtype.kind in "OUS":
        assert got.astype(str).tolist() == want.astype(str).tolist(), name
        return
    assert got.dtype == want.dtype, name
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol, err_msg=name)
