"""The page docs/fuzz.md: what came of campaigns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.fuzz.memory import MEMORY_FACTOR, MEMORY_FLOOR
from bench.fuzz.sandbox import CPU_SECONDS, MEMORY_BYTES, Result
from bench.fuzz.verdict import FAILURES, PASSED, REFUSED, REPOSITORY, STOPPED
from ge.ir.errors import ERRORS

PAGE = REPOSITORY / "docs" / "fuzz.md"

_INTRODUCTION = f"""\
# Damaged files

Each case is a small valid model (`onnx`), module of any level (`mlir`) or OM file (`om`) that one to five mutations
have damaged: bytes, fields of messages, tokens of text, operations of the module, partitions, kernels. It goes through
reading, verification, text and back, export, passes on their own, and the stages of the compiler (`mlir`: of its
level); an OM file goes through all that `ge-om` and `ge-translate` do, and a run. It must end in a result or in one
clear message. A failure would be any other exception, a message that hides a fault of the program, more than
{CPU_SECONDS:.0f} s of CPU time, more than {MEMORY_BYTES >> 20} MB of memory beyond what the process has at the start,
the end of the process, or a text that reads back as another module. An OM file, which may have its weights beside it,
must not need more than {MEMORY_FACTOR} times its size while it is read, shown and written (at least
{MEMORY_FLOOR >> 20} MB are allowed). *Stopped* are programs that ran for as long as they say, until the time was over.

`python -m bench.fuzz onnx --seed=1 --case=N` shows case N with its traceback.
"""


@dataclass(frozen=True)
class Run:
    """The results of one campaign."""

    target: str
    seed: int
    results: Sequence[Result]


def write_page(runs: Sequence[Run], command: str, page: Path = PAGE) -> None:
    """Write the part of the page about the targets of these runs; the parts about others stay."""
    title = ", ".join(dict.fromkeys(run.target for run in runs))
    parts = _parts(page.read_text()) if page.exists() else {}
    parts[title] = "\n".join(["", f"Written by `{command}`.", "", *_campaigns(runs), "", *_codes(runs), ""])
    page.write_text("\n".join([_INTRODUCTION, *(f"## {name}\n{text}" for name, text in sorted(parts.items()))]))


def _parts(text: str) -> dict[str, str]:
    """The parts of a page by their titles, without its introduction."""
    parts = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    return {title: f"{part.rstrip()}\n" for title, _, part in parts}


def _campaigns(runs: Sequence[Run]) -> list[str]:
    rows = [
        "| files | seed | cases | result | refused | stopped | failures | longest | peak memory of the process |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        counts = Counter(result.verdict for result in run.results)
        failures = sum(count for verdict, count in counts.items() if verdict in FAILURES)
        longest = max(result.seconds for result in run.results)
        peak = max(result.peak_bytes for result in run.results) >> 20
        numbers = (len(run.results), counts[PASSED], counts[REFUSED], counts[STOPPED], failures)
        rows.append(f"| {run.target} | {run.seed} | {' | '.join(map(str, numbers))} | {longest:.1f} s | {peak} MB |")
    return rows


def _codes(runs: Sequence[Run]) -> list[str]:
    """How often each error was the answer, over all seeds."""
    targets = list(dict.fromkeys(run.target for run in runs))
    counts = {target: Counter[str]() for target in targets}
    for run in runs:
        counts[run.target].update(result.code for result in run.results if result.verdict == REFUSED)
    codes = sorted({code for counter in counts.values() for code in counter})
    rows = [f"| refused with | {' | '.join(targets)} |", f"|---|{'---|' * len(targets)}"]
    for code in codes:
        numbers = " | ".join(str(counts[target][code]) for target in targets)
        rows.append(f"| {code} {ERRORS[code].title} | {numbers} |")
    return rows
