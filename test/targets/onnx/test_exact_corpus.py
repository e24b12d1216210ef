"""A fixed part of the models of onnx.backend.test comes back as it was; bench.onnx_round_trip runs all."""

from __future__ import annotations

from itertools import islice

import pytest

from bench.onnx_round_trip import corpus, outcome

STEP = 6
"""Every sixth model: some of every kind and of nearly every operator."""

CASES = list(islice(corpus(), 0, None, STEP))


@pytest.mark.parametrize("part", range(10))
def test_models_come_back(part: int) -> None:
    """A model of which nodes are converted comes back at the newest opset, any other exactly."""
    found = {case.name: outcome(case.model) for case in CASES[part::10]}
    assert {name: what for name, what in found.items() if what not in ("exact", "converted")} == {}
    assert list(found.values()).count("exact") >= 0.8 * len(found)
