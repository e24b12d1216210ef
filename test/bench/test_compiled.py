"""The benchmark of compiled models: what is measured of a small one, and how reasons of misses are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder

from bench.compiled.detections import detections, overlaps
from bench.compiled.document import FLOAT16, KERNELS, MODEL, NO_RESULT, REWRITES, cause, page, rows
from bench.compiled.measure import DRAWS, measure


def save(m: ModelBuilder, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(m.build(), path)
    return path


def test_a_model_that_agrees(tmp_path: Path) -> None:
    m = ModelBuilder()
    y = m.node("Conv", m.input("x", 1, 16, 8, 8), m.weights(16, 16, 3, 3, scale=0.1))
    m.output(m.node("Softmax", m.node("Flatten", m.node("GlobalAveragePool", y))), m.node("Shape", y))
    result = measure(save(m, tmp_path))
    assert (cause(result), result["half"], len(result["runs"])) == ("", True, len(DRAWS))
    assert result["launches"] > 0
    (floats, integers) = rows("model", result)
    assert floats[:2] == ["model", "1 float"]
    assert floats[8] == integers[8] == "agrees"
    assert integers[:2] == ["", "1 integer"]
    assert "itself" not in result["runs"][0]


@pytest.mark.parametrize(
    "options", [{"precision_mode": "allow_mix_precision"}, {"keep": ["OpType::Mul", "OpType::Sqrt"]}]
)
def test_what_float16_is_too_narrow_for(options: dict[str, Any], tmp_path: Path) -> None:
    """The squares of numbers below 1e-4; the options that keep them in float32 bring the result back."""
    m = ModelBuilder()
    a, b = (m.node("Conv", m.input(name, 1, 16, 8, 8), m.weights(16, 16, 1, 1, scale=1e-5)) for name in "ab")
    length = m.node("Sqrt", m.node("Add", m.node("Mul", a, a), m.node("Mul", b, b)))
    m.output(m.node("Conv", length, m.weights(16, 16, 1, 1)))
    path = save(m, tmp_path)
    result = measure(path)
    assert cause(result) == FLOAT16
    run = result["runs"][0]
    assert run["float32"][0]["passed"]
    assert all(outputs[0]["passed"] for outputs in run["itself"])
    assert not cause(measure(path, **options))


def output(relative: float, *, passed: bool) -> dict[str, Any]:
    facts = {"name": "y", "kind": "float", "passed": passed, "relative": relative, "problem": ""}
    return facts | {"cosine": 1.0, "max_ulp": 3, "max_reference": 2.5, "same_top1": None}


def result_of(found: float, float32: float, ideal: float, itself: float) -> dict[str, Any]:
    """A model of one output; errors beyond 0.4 % miss."""
    each = {"float32": float32, "ideal": ideal, "outputs": found}
    run: dict[str, Any] = {name: [output(error, passed=error <= 4e-3)] for name, error in each.items()}
    run |= {"draw": "normal", "itself": [[output(0.0, passed=True)], [output(itself, passed=itself <= 4e-3)]]}
    return {"launches": 3, "host": 1, "runs": [run]}


CASES = {
    MODEL: result_of(0.02, 0.02, 0.02, 0.01),
    REWRITES: result_of(0.02, 0.02, 0.02, 0.001),
    FLOAT16: result_of(0.02, 0.0, 0.02, 0.001),
    KERNELS: result_of(0.02, 0.0, 0.002, 0.001),
    NO_RESULT: {"error": "GE3001 no such operator"},
    "": result_of(0.002, 0.0, 0.002, 0.001),
}


@pytest.mark.parametrize("reason", CASES)
def test_reasons(reason: str) -> None:
    assert cause(CASES[reason]) == reason


def test_a_model_that_is_hardly_off_itself_explains_nothing() -> None:
    assert cause(result_of(0.5, 0.0, 0.002, 0.005)) == KERNELS
    assert cause(result_of(0.009, 0.0, 0.002, 0.005)) == MODEL


def test_a_kernel_that_adds_in_another_order_is_no_fault() -> None:
    assert cause(result_of(0.0045, 0.0, 0.0039, 0.001)) == FLOAT16


def test_the_page_counts_reasons_and_shows_what_helps() -> None:
    helped = CASES[FLOAT16] | {"remedies": {"`--first`": CASES[FLOAT16], "`--second`": CASES[""]}}
    text = page({"good": CASES[""], "noisy": helped, "bad": CASES[NO_RESULT]})
    assert "* **1 of 3** models agree" in text
    assert (
        "| noisy | 1 float | 1, normal | 2.5 | 1.0000000 | 2.000% | 3 |  | differs: float16 | 3 | 1 | 0.000% |" in text
    )
    assert "no result: GE3001 no such operator" in text
    assert "| noisy | `--second` | 0.200% | agrees | 3 | 1 |" in text


def test_detections_in_any_order() -> None:
    """Two of three are there again, one of them with another score; the third has another label."""
    boxes = np.array([[0, 0, 10, 10], [20, 20, 30, 30], [5, 5, 15, 15]], np.float32)
    expected = {"boxes": boxes, "scores": np.array([0.5, 0.4, 0.3]), "labels": np.array([1, 2, 3])}
    found = {
        "boxes": boxes[::-1] + np.float32(0.1),
        "scores": np.array([0.3, 0.41, 0.5]),
        "labels": np.array([4, 2, 1]),
    }
    facts = detections(found, expected)
    assert facts is not None
    assert (facts["count"], facts["again"]) == (3, 2)
    np.testing.assert_allclose([facts["score"], facts["gap"]], [0.01, 0.1])
    nothing = {name: value[:0] for name, value in expected.items()}
    assert detections(nothing, expected) == {"count": 3, "again": 0, "score": 0.0, "gap": facts["gap"]}
    assert detections(expected, nothing) == {"count": 0, "again": 0, "score": 0.0, "gap": 0.0}
    assert detections({"y": boxes}, {"y": boxes}) is None


def test_overlaps() -> None:
    squares = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [20, 20, 30, 30], [0, 0, 0, 0]], np.float32)
    np.testing.assert_allclose(overlaps(squares[:1], squares), [[1, 1 / 3, 0, 0]])


def test_inputs_are_within_range() -> None:
    """Of every kind: floats of the model's type, and pixels from 0 to 1."""

    class Entry:
        name, type, shape = "x", "tensor(float)", (4, 64)

    class Session:
        @staticmethod
        def get_inputs() -> list[Any]:
            return [Entry]

    values = {draw: make(Session, "any")["x"] for draw, make in DRAWS.items()}
    assert all(value.dtype == np.float32 for value in values.values())
    assert values["pixels"].min() >= 0
    assert values["pixels"].max() <= 1
    assert not np.array_equal(values["normal"], values["normal again"])
