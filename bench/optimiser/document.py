"""The page docs/optimiser-results.md: tables and totals of what :mod:`bench.optimiser.__main__` measured."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.each_model import GIVEN_UP
from bench.optimiser.agreement import MAX_RELATIVE, MAX_RELATIVE_FLOAT16
from bench.optimiser.tools import ENOUGH_SECONDS
from bench.optimiser.traffic import section

OURS = ("ge -O3", "ge -O2")
PEERS = ("onnxsim", "onnxslim")
REFERENCE = "onnxruntime"
TOOLS = (*OURS, *PEERS, REFERENCE)


@dataclass(frozen=True)
class Outcome:
    """What one tool made of one model. All numbers are missing when it failed."""

    nodes: int | None = None
    seconds: float | None = None
    """The best of all repetitions."""
    megabytes: float | None = None
    distance: float | None = None
    """From the original: the largest difference as a part of the largest value."""
    differs: bool = False
    """Whether something that must be equal is not."""
    limit: float = MAX_RELATIVE
    """Of the distance."""
    own: float = 0.0
    """How far the original is from itself when its inputs move by a rounding; known where the distance is too large."""
    problem: str = "-"
    """What stands in the place of numbers that are missing."""

    @property
    def verdict(self) -> str:
        """The agreement with the original."""
        if self.differs:
            return "**differs**"
        if self.distance is None:
            return "-"
        if self.distance <= self.limit:
            return f"{self.distance:.0e}"
        return f"{self.distance:.0e} ({self.own:.0e})" if self.agrees else f"**{self.distance:.0e}** ({self.own:.0e})"

    @property
    def agrees(self) -> bool:
        """Whether the outputs are those of the original."""
        return self.distance is not None and self.distance <= max(self.limit, 2 * self.own) and not self.differs

    @classmethod
    def of(cls, measured: Mapping[str, Any]) -> Outcome:
        """From what a run printed; see :class:`bench.optimiser.tools.Measurement`."""
        if "operators" not in measured:
            return cls(problem=_problem(measured.get("error", "")))
        agreement: Mapping[str, Any] = measured.get("agreement", {})
        distance = agreement.get("distance")
        nodes, seconds = sum(measured["operators"].values()), min(measured["seconds"])
        differs = "distance" in agreement and distance is None
        limit = agreement.get("limit", MAX_RELATIVE)
        own = agreement.get("own", 0.0)
        return cls(nodes, seconds, measured["peak_megabytes"], distance, differs, limit, own)


def _problem(error: str) -> str:
    """Why there are no numbers, as a cell of a table; what was not run has no error."""
    gave_up = error.removeprefix(GIVEN_UP)
    return f"> {gave_up}" if gave_up != error else "fails" if error else "-"


@dataclass(frozen=True)
class Row:
    """One model."""

    name: str
    original: int
    outcomes: Mapping[str, Outcome]
    commands: Mapping[str, float]
    """The best time of the whole command of each tool that has one and did not fail."""

    @classmethod
    def of(cls, name: str, result: Mapping[str, Any]) -> Row:
        """From what :func:`bench.optimiser.__main__.compare_on` gives."""
        outcomes = {tool: Outcome.of(result["tools"].get(tool, {})) for tool in TOOLS}
        commands: Mapping[str, Any] = result.get("commands", {})
        times = {tool: min(found["seconds"]) for tool, found in commands.items() if "error" not in found}
        return cls(name, sum(result["original"].values()), outcomes, times)

    @property
    def ours(self) -> Outcome:
        """Ours at -O3."""
        return self.outcomes[OURS[0]]


def line(name: str, result: Mapping[str, Any]) -> str:
    """What there is to say of one model, for the terminal."""
    row = Row.of(name, result)
    parts = [f"{name} ({row.original})"]
    for tool, measured in result["tools"].items():
        outcome = row.outcomes[tool]
        if outcome.nodes is None:
            parts.append(f"{tool}: {measured['error'][:80]}")
        else:
            parts.append(f"{tool}: {outcome.nodes} nodes, {outcome.seconds:.2f} s, {outcome.verdict}")
    return " | ".join(parts)


def _cell(value: float | None, form: str, otherwise: str = "-") -> str:
    return otherwise if value is None else format(value, form)


def _ratio(ours: float | None, other: float | None) -> str:
    return "-" if ours is None or other is None else f"{ours / other:.2f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; all columns but the first are numbers."""
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---", *["--:"] * (len(columns) - 1)], *rows)]


def _node_rows(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    for row in rows:
        counts = [_cell(row.outcomes[tool].nodes, "d", row.outcomes[tool].problem) for tool in TOOLS]
        yield [row.name, str(row.original), *counts, *(row.outcomes[tool].verdict for tool in (*OURS, *PEERS))]


def _time_rows(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    for row in rows:
        seconds = [_cell(row.outcomes[tool].seconds, ".3f", row.outcomes[tool].problem) for tool in TOOLS]
        ratios = [_ratio(row.ours.seconds, row.outcomes[peer].seconds) for peer in PEERS]
        peaks = [_cell(row.outcomes[tool].megabytes, ".0f") for tool in (OURS[0], *PEERS)]
        yield [row.name, *seconds, *ratios, *peaks]


def _command_rows(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    for row in rows:
        seconds = [_cell(row.commands.get(tool), ".2f") for tool in (OURS[0], *PEERS)]
        yield [row.name, *seconds, *(_ratio(row.commands.get(OURS[0]), row.commands.get(peer)) for peer in PEERS)]


Number = Callable[[Row, str], float | None]
"""A number of what a tool did with a model; None when it failed."""


def _count(
    rows: Iterable[Row], holds: Callable[[float, float], bool], number: Number, peers: Sequence[str] = PEERS
) -> str:
    """On how many models a number of ours compares with the better one of the peers; a peer that failed has none."""
    total = good = 0
    for row in rows:
        ours = number(row, OURS[0])
        theirs = [value for peer in peers if (value := number(row, peer)) is not None]
        total += 1
        good += ours is not None and all(holds(ours, value) for value in theirs)
    return f"**{good} of {total}**"


def totals(rows: Sequence[Row]) -> list[str]:
    """The sentences that sum up the tables."""
    all_done = [row for row in rows if all(row.outcomes[tool].seconds is not None for tool in (OURS[0], *PEERS))]
    spent = {tool: sum(row.outcomes[tool].seconds or 0.0 for row in all_done) for tool in (OURS[0], *PEERS)}
    times = ", ".join(f"{tool} {seconds:.1f} s" for tool, seconds in spent.items())

    def nodes(row: Row, tool: str) -> float | None:
        return row.outcomes[tool].nodes

    def seconds(row: Row, tool: str) -> float | None:
        return row.outcomes[tool].seconds

    def command(row: Row, tool: str) -> float | None:
        return row.commands.get(tool)

    return [
        f"* never more nodes than the better of {' and '.join(PEERS)}: {_count(rows, lambda a, b: a <= b, nodes)}",
        f"* fewer nodes than both: {_count(rows, lambda a, b: a < b, nodes)}",
        f"* faster than both once it is loaded: {_count(rows, lambda a, b: a < b, seconds)}",
        *(f"  * than {peer}: {_count(rows, lambda a, b: a < b, seconds, [peer])}" for peer in PEERS),
        f"* faster than both as a command: {_count(rows, lambda a, b: a < b, command)}",
        *(f"  * than {peer}: {_count(rows, lambda a, b: a < b, command, [peer])}" for peer in PEERS),
        f"* all outputs agree with the original: **{sum(row.ours.agrees for row in rows)} of {len(rows)}**",
        *(f"  * of {peer}: {sum(row.outcomes[peer].agrees for row in rows)}" for peer in PEERS),
        f"* time of the {len(all_done)} models that all three can read: {times}",
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def page(results: Mapping[str, Mapping[str, Any]], repeat: int) -> str:
    """The page."""
    rows = [Row.of(name, result) for name, result in sorted(results["models"].items())]
    versions = ", ".join(f"{package} {_version(package)}" for package in ("onnx", *PEERS, REFERENCE))
    lines = [
        "# The optimiser beside others",
        "",
        f"Written by `python -m bench.optimiser --models=DIR --repeat={repeat}`, all tools in the same run, each in a",
        f"process of its own for each model. {versions}; Python {platform.python_version()}, {platform.machine()}.",
        "",
        *totals(rows),
        "",
        "## Nodes and agreement",
        "",
        "Nodes of the written ONNX model, graphs inside nodes included; `Constant` nodes are not counted for anybody.",
        "All tools get the model as it is, dynamic inputs included. A tool that has no result after a time is stopped,",
        "and the time stands in its place. onnxruntime's level *extended* makes operators of its own, so its count is",
        "for information; ours are all of the standard. The last columns compare the outputs with those of the",
        "original in onnxruntime, its own optimisations off: the largest difference as a part of the largest value of",
        f"the output, {MAX_RELATIVE:.0e} allowed, {MAX_RELATIVE_FLOAT16:.0e} in float16; *differs* is",
        "another integer or shape. Where a model differs by more, how far the original is from itself when its inputs",
        "move by a rounding stands in parentheses; up to twice that counts as agreement.",
        "",
        *table(["model", "original", *TOOLS, *(f"{tool} differs by" for tool in (*OURS, *PEERS))], _node_rows(rows)),
        "",
        "## Time and memory",
        "",
        f"Seconds from file to file in a process that has the tool loaded, best of {repeat} (of fewer when they take",
        f"more than {ENOUGH_SECONDS:.0f} s); the ratios are of ge -O3 by each peer; MB is the peak of the process.",
        "",
        *table(
            ["model", *TOOLS, *(f"ge / {peer}" for peer in PEERS), *(f"{tool} MB" for tool in ("ge", *PEERS))],
            _time_rows(rows),
        ),
        "",
        "## Time of the whole command",
        "",
        f"Seconds from the start of the process to its end, the best of {repeat} turns: `ge-opt MODEL -O3 -o OUTPUT`,",
        "`onnxsim MODEL OUTPUT` and `onnxslim MODEL OUTPUT`. This is what a user waits for: Python starts, modules and",
        "rules are loaded, which are compiled, as after an installation. The times above are those of the work alone,",
        "as in a program that optimises many models.",
        "",
        *table(["model", OURS[0], *PEERS, *(f"ge / {peer}" for peer in PEERS)], _command_rows(rows)),
        "",
        *section(results["traffic"]),
    ]
    return "\n".join(lines)
