"""Slices take what onnxruntime takes, for every start, end and step around small axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from onnx import parser
from onnx_models import run_reference

from ge.maths.slices import positions, python_slice

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
g (int64[n] x, int64[1] start, int64[1] end, int64[1] axis, int64[1] step) => (int64[m] y) {
    y = Slice(x, start, end, axis, step)
}"""

CASES = list(product((-9, -4, -3, -1, 0, 1, 3, 9), (-9, -4, -3, -1, 0, 1, 3, 9), (-2, -1, 1, 2)))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_positions(size: int) -> None:
    model = parser.parse_model(MODEL)
    if not size:
        assert not any(len(positions(*case, 0)) for case in CASES)
        return
    for start, end, step in CASES[:: 1 if size == 3 else 5]:
        numbers = {"start": start, "end": end, "axis": 0, "step": step}
        feeds = {"x": np.arange(size), **{name: np.array([number]) for name, number in numbers.items()}}
        want = run_reference(model, feeds)["y"].tolist()
        taken = positions(start, end, step, size)
        assert list(taken) == want == list(range(size))[python_slice(taken)], (start, end, step)


def test_behind_all() -> None:
    assert positions(-1, -(2**63), -1, 4) == range(3, -1, -1)
    assert positions(1, 2**63 - 1, 2, 4) == range(1, 4, 2)
