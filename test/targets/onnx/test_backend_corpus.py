"""A fixed part of the backend tests of ONNX through every step; `python -m bench.onnx_backend` runs all of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench.onnx_backend import KINDS, Case, Outcome, cases, run_case
from bench.onnx_backend_document import REASONS, STEPS, document

EVERY = {"node": 19, "simple": 1, "pytorch-converted": 2, "pytorch-operator": 2}
"""Of each kind, every so many cases; the light models are in test/end_to_end."""


def chosen(kind: str) -> Sequence[Case]:
    of_kind = [case for case in cases() if case.kind == kind]
    return [case for case in of_kind[:: EVERY[kind]] if not any(part in case.name for part in REASONS)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", EVERY)
def test_every_step_of_a_case_succeeds(kind: str) -> None:
    outcomes = [run_case(case) for case in chosen(kind)]
    failed = {
        f"{outcome.name} {step}": reason
        for outcome in outcomes
        for step, reason in outcome.steps.items()
        if reason and step != "reference"
    }
    assert not failed
    assert all(set(outcome.steps) == set(STEPS) for outcome in outcomes)


def test_the_part_is_large_enough() -> None:
    assert list(EVERY) == list(KINDS[:-1])
    assert sum(len(chosen(kind)) for kind in EVERY) >= 150


def test_document_counts_and_explains() -> None:
    passed = dict.fromkeys(STEPS, "")
    outcomes = [
        Outcome("test_relu", "node", ["Relu"], passed, "AI Core"),
        Outcome("test_relu_2", "node", ["Relu"], {**passed, "reference": "it is slow"}, "host"),
        Outcome("test_abs", "simple", ["Abs"], {**passed, "evaluate": "a | b"}, "host"),
    ]
    lines = document(outcomes).splitlines()
    assert "| node | 2 | 2 | 2 | 2 | 2 | 1 |" in lines
    assert "| all | 3 | 3 | 3 | 3 | 2 | 2 |" in lines
    assert "| test_abs | evaluated | a \\| b |" in lines
    assert "| test_relu_2 | it is slow |" in lines
    assert "| Relu | 1, 6, 13, 14 | 2/2 | 2/2 | AI Core 1/2, else host |" in lines
    assert "| Abs | 1, 6, 13 | 1/1 | 0/1 | host |" in lines
