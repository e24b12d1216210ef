"""About a hundred damaged files of each kind: every one ends in a result or in one clear message.

The cases are always the same. `python -m bench.fuzz onnx --small --case N` shows one again, with the traceback; the
command without `--small` makes as many others as wanted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.fuzz.campaign import Campaign
from bench.fuzz.memory import TooMuchMemory, memory_limit, within
from bench.fuzz.page import Run, write_page
from bench.fuzz.sandbox import Result
from bench.fuzz.verdict import FAILURES, MEMORY, PASSED, TRACEBACK, judge


@pytest.mark.parametrize(("target", "count"), [("onnx", 120), ("mlir", 60), ("om", 100)])
def test_damaged_files_end_in_a_result_or_a_message(target: str, count: int, tmp_path: Path) -> None:
    results = list(Campaign(target, 0, tmp_path, small=True).run(range(count)))
    assert [result for result in results if result.verdict in FAILURES] == []
    assert [result.number for result in results] == list(range(count))
    verdicts = {result.verdict for result in results}
    assert {"passed", "refused"} <= verdicts, "cases that are all alike test nothing"


def test_memory_is_counted_also_of_work_in_vain() -> None:
    """On Linux; elsewhere the work ends as it does."""
    with memory_limit(16 << 20):
        bytearray(8 << 20)
    expected = TooMuchMemory if sys.platform.startswith("linux") else ValueError
    with pytest.raises(expected) as error, memory_limit(16 << 20):
        bytearray(b"x" * (16 << 20))
        raise ValueError
    assert judge(error.value) in (MEMORY, TRACEBACK)


def test_memory_of_the_first_time_does_not_count() -> None:
    sizes = iter([64 << 20, 1 << 20])
    assert within(16 << 20, lambda: len(bytearray(b"x" * next(sizes)))) in (1 << 20, 64 << 20)
    if sys.platform.startswith("linux"):
        with pytest.raises(TooMuchMemory):
            within(16 << 20, lambda: bytearray(b"x" * (64 << 20)))


def test_the_page_keeps_what_was_not_run_again(tmp_path: Path) -> None:
    page = tmp_path / "fuzz.md"
    for target, count in (("onnx", 1), ("om", 1), ("onnx", 3)):
        write_page([Run(target, 0, [Result(number, PASSED) for number in range(count)])], f"run {target}", page)
    text = page.read_text()
    assert text.count("# Damaged files") == 1 and text.count("## om\n") == text.count("## onnx\n") == 1
    assert "| onnx | 0 | 3 | 3 |" in text and "| om | 0 | 1 | 1 |" in text and "| onnx | 0 | 1 |" not in text
