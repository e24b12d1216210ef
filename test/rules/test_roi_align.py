"""RoiAlign as grid sampling and pooling gives what RoiAlign gives, and what the backend tests of the standard expect.

The tests print what they expect with four digits, and compare with tolerances of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx.backend.test.case.node import collect_testcases
from onnx_models import F32, assert_close

from ge.dialects.onnx.meaning import run_module
from ge.ir.registry import context
from ge.passes.onnx.fusion_rules import FusionRulesPass
from ge.targets.onnx.importer import import_model

# The collector returns all that it has collected in this process, other operators' cases too.
CASES: dict[str, Any] = {
    case.name: case
    for case in collect_testcases("RoiAlign")
    if case.model is not None and [node.op_type for node in case.model.graph.node] == ["RoiAlign"]
}


def test_there_are_backend_tests() -> None:
    assert {"test_roialign_aligned_false", "test_roialign_aligned_true", "test_roialign_mode_max"} <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_backend_case(name: str) -> None:
    case = CASES[name]
    original, module = import_model(case.model), import_model(case.model)
    FusionRulesPass(only=("roi-align", "roi-align-max")).apply(context(), module)
    names = [op.name for op in module.walk()]
    assert "onnx.RoiAlign" not in names and "onnx.GridSample" in names
    for inputs, (wanted,) in case.data_sets:
        feeds = {info.name: np.asarray(value) for info, value in zip(case.model.graph.input, inputs, strict=True)}
        found = run_module(module, feeds)
        assert_close(found, run_module(original, feeds), F32)
        np.testing.assert_allclose(found["Y"], wanted, case.rtol, case.atol)
