"""The benchmark of memory: graphs of each shape, and the page."""

from random import Random
from typing import Any

import pytest

from bench.memory.document import page
from bench.memory.planning import SHAPES, planned


@pytest.mark.parametrize("shape", SHAPES)
def test_graphs_are_in_a_legal_order(shape: str) -> None:
    for number, work in enumerate(SHAPES[shape](200, Random(0)).work):
        assert work.makes == (number,)
        assert all(value < number for value in work.reads)


@pytest.mark.parametrize("shape", SHAPES)
def test_plans_are_no_better_than_possible(shape: str) -> None:
    assert all(level.ratio >= 1 for level in planned(shape, 1_000).levels.values())


def test_the_page_says_what_is_missed() -> None:
    plan = {"launches": 3, "host": 0, "values": 2, "peak": 2000, "bound": 1000, "least": 900, "sum": 4000}
    plan |= {"low": 2000, "wide": 4000}
    arena = {"asked": 1500, "used": 3000}
    refused = {"error": "GE3001 no such operator"}
    models: dict[str, Any] = {"good": {"plan": plan, "arena": arena}, "bad": {"plan": refused, "arena": arena}}
    text = page({"models": models, "planning": []})
    assert "at most 1.02 x the bound of the order: **0 of 1**" in text
    assert "less than the arena of onnxruntime: **1 of 1**" in text
    assert "less than operators ask it for: **0 of 1**" in text
    assert "less than the arena, counted in float32: **0 of 1**" in text
    assert "| good | 3 | 0 | 0.002 | 0.001 | 2.000 (2.000) |" in text
    assert "| bad | GE3001 no such operator |" in text
