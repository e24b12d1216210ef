"""The structural passes keep all bits: every function of their texts is run before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from text_numbers import cases, check_text

HERE = Path(__file__).parent

TEXTS = {
    "eliminate_concat_split": "eliminate-concat-split",
    "eliminate_identity": "eliminate-identity",
    "eliminate_expand": "eliminate-expand",
    "fold_shape_ops": "fold-shape-ops",
    "fold_splats": "fold-splats",
    "gather_to_slice": "gather-to-slice",
    "drop_unused_results": "drop-unused-results",
    "hoist_loop_invariants": "hoist-loop-invariants",
    "inline_if": "inline-if",
    "merge_constants": "merge-constants",
    "onnx_cse": "onnx-cse",
    "sink_cast": "sink-cast",
    "sink_transpose": "sink-transpose",
    "simplify_loop": "simplify-loop",
    "unflatten_softmax": "unflatten-softmax",
    "unroll_loop": "unroll-loop",
    "merge_reshape": "merge-reshape",
    "merge_reshape_into_reduce": "merge-reshape-into-reduce",
    "merge_slice": "merge-slice",
    "merge_slices_to_split": "merge-slices-to-split",
}
"""The passes by their texts."""

GIVEN: dict[tuple[str, str], dict[str, object]] = {
    ("eliminate_identity", "same_type"): {"s": [2, 3], "t": [3, 2], "u": [[1, 2], [3, 4], [5, 6]]},
    ("fold_shape_ops", "unknown_target"): {"x": [[[1.0] * 6] * 2], "n": 3},
    ("merge_reshape", "one_unknown"): {"s": [-1, 4]},
    ("merge_reshape", "behind"): {"x": [[1, 2, 3, 4]], "s": [2, 2]},
    ("sink_cast", "lossy"): {"i": [2**53 + 1, -(2**62) - 1], "x": [1 + 2**-20, 1e6]},
    ("eliminate_identity", "pad_and_slice"): {"p": [0, 0]},
}
"""Inputs that must have certain values."""


@pytest.mark.parametrize(("text", "function"), cases(HERE, list(TEXTS)))
def test_numbers(text: str, function: str) -> None:
    check_text(HERE / f"{text}.mlir", function, TEXTS[text], GIVEN.get((text, function)))
