"""About a hundred damaged files of each kind: every one ends in a result or in one clear message.

The cases are always the same. `python -m bench.fuzz onnx --small --case N` shows one again, with the traceback; the
command without `--small` makes as many others as wanted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.fuzz.campaign import Campaign
from bench.fuzz.verdict import FAILURES


@pytest.mark.parametrize(("target", "count"), [("onnx", 120), ("mlir", 60), ("om", 100)])
def test_damaged_files_end_in_a_result_or_a_message(target: str, count: int, tmp_path: Path) -> None:
    results = list(Campaign(target, 0, tmp_path, small=True).run(range(count)))
    assert [result for result in results if result.verdict in FAILURES] == []
    assert [result.number for result in results] == list(range(count))
    verdicts = {result.verdict for result in results}
    assert {"passed", "refused"} <= verdicts, "cases that are all alike test nothing"
