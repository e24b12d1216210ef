"""Inferred shapes against the arrays that the models of the ONNX test suite give.

Each model is taken without any stated type of a result, once as it is, and once with its small inputs as constants, so
that computed shapes are followed. What is inferred must be true of the arrays, contents included, and no less static
than what the `onnx` package infers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper
from shape_cases import Case, actual, bare, is_static_in_onnx, node_cases
from xdsl.dialects.func import FuncOp

from ge.dialects.onnx import yielded
from ge.dialects.onnx.shapes.inference import infer_function
from ge.dialects.onnx.shapes.values import OptionalOf, Tensor, Value, contradict, is_static
from ge.targets.onnx.importer import import_model

EVERY = os.environ.get("GE_WHOLE_CORPUS") == "1"
"""Whether all models are looked at, which takes minutes; otherwise some of each operator."""

PER_OPERATOR = 10**6 if EVERY else 3

NOT_IMPORTED = {"test_scan_sum": "Scan of opset 8 has a batch axis"}

LARGER_THAN_STATED = {
    "test_resize_downsample_scales_cubic_align_corners": "the case takes the unrounded length, unlike the standard",
    "test_resize_downsample_scales_linear_align_corners": "the case takes the unrounded length, unlike the standard",
}

DATA = Path(onnx.__file__).parent / "backend/test/data"


def inferred(model: ModelProto) -> list[Value]:
    """What is known of the outputs of a model."""
    function = next(op for op in import_model(model).ops if isinstance(op, FuncOp))
    inference = infer_function(function)
    return [inference.value(value) for value in yielded(function.body.block)]


def check(case: Case, model: ModelProto) -> tuple[int, int]:
    """Compare what is inferred with what is there; how many outputs are static for us, and for the onnx package."""
    known = inferred(model)
    static = is_static_in_onnx(model)
    for value, output, is_known in zip(known, case.outputs, static, strict=True):
        want = actual(output)
        if isinstance(value, OptionalOf) and not isinstance(want, OptionalOf):
            want = OptionalOf(want)
        assert not contradict(value, want), f"{case.name}: inferred {value}, is {want}"
        if isinstance(value, Tensor):
            assert is_static(value) or not is_known, f"{case.name}: inferred {value}, onnx knows all of {want}"
            check_contents(case, value, output)
    return sum(map(is_static, known)), sum(static)


def check_contents(case: Case, value: Tensor, output: Any) -> None:
    """Compare the contents that are numbers with the elements."""
    if value.contents is None:
        return
    array = numpy_helper.to_array(output) if isinstance(output, TensorProto) else np.asarray(output)
    for element, want in zip(value.contents, array.reshape(-1).tolist(), strict=True):
        if isinstance(element, int | float):
            assert element == want, f"{case.name}: contents {value.contents}, are {array.tolist()}"


def cases_by_operator() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in node_cases():
        cases = found.setdefault(case.model.graph.node[-1].op_type, [])
        if len(cases) < PER_OPERATOR and case.name not in {*NOT_IMPORTED, *LARGER_THAN_STATED}:
            cases.append(case)
    return found


@cache
def count_operator(operator: str) -> tuple[int, int]:
    """Check the cases of an operator; how many outputs are static for us, and for the onnx package."""
    models = [(case, bare(case, freeze=freeze)) for case in cases_by_operator()[operator] for freeze in (False, True)]
    return total(check(case, model) for case, model in models if model is not None)


def total(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    found = [*counts, (0, 0)]
    return sum(ours for ours, _ in found), sum(theirs for _, theirs in found)


@pytest.mark.parametrize("operator", sorted(cases_by_operator()))
def test_node(operator: str) -> None:
    count_operator(operator)


def folder_cases(folder: str) -> list[Case]:
    """The models in a folder of the package, each with its first set of data."""
    return [case for path in sorted((DATA / folder).glob("*/model.onnx")) if (case := folder_case(path)) is not None]


def folder_case(path: Path) -> Case | None:
    model = onnx.load(path)
    data = path.parent / "test_data_set_0"
    outputs = [read(data / f"output_{index}.pb", value) for index, value in enumerate(model.graph.output)]
    inputs = [read(data / f"input_{index}.pb", value) for index, value in enumerate(model.graph.input)]
    return Case(path.parent.name, model, inputs, outputs)


def read(path: Path, value: onnx.ValueInfoProto) -> Any:
    if not path.exists():
        return None
    if value.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto.FromString(path.read_bytes())
        return numpy_helper.to_list(sequence)
    return numpy_helper.to_array(TensorProto.FromString(path.read_bytes()))


@cache
def count_folder(folder: str) -> tuple[int, int]:
    """Check the models of a folder, and count alike."""
    models = [(case, bare(case)) for case in folder_cases(folder)]
    assert all(model is not None for _, model in models)
    return total(check(case, model) for case, model in models if model is not None)


FOLDERS = ("simple", "pytorch-converted", "pytorch-operator")


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder(folder: str) -> None:
    count_folder(folder)


def test_no_less_is_known_than_onnx_knows() -> None:
    """Over all cases, whichever of them this process has looked at already."""
    ours, theirs = total([*map(count_operator, cases_by_operator()), *map(count_folder, FOLDERS)])
    assert ours >= theirs
    assert ours > 800
