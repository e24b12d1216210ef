"""The optimisation levels as written pipelines: which pass runs from which level on, and in which order.

**To add a pass to the levels, add one line to a table below**: its name and the lowest level that runs it.

| level | what it promises |
|---|---|
| ``-O0`` | only what later levels need: shapes that are known, constants that are constants, operators with a kernel |
| ``-O1`` | every result keeps its bits, and each pass is one walk over the model |
| ``-O2`` | fewer operators that compute the same formula with the same constants: results move by a rounding at most |
| ``-O3`` | everything: constants computed anew (folded weights, joined products) and rounded once |

A local rewrite belongs into ``SIMPLIFY`` or ``RECOGNISE``, whose passes consist of rules and share one worklist: what
one of them uncovers the others see at once. A pass that looks at a whole block has a place of its own in ``ONNX`` or
``GRAPH``. Order inside a worklist is the order in which rules are tried on one operation.

:func:`onnx_pipeline` and :func:`graph_pipeline` give the texts; ``ge-opt -O2 --print-pipeline`` shows them, and ``-p``
takes them back. docs/optimiser.md describes the levels for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ge.ir.errors import GeError

LEVELS = (0, 1, 2, 3)

NEVER = len(LEVELS)
"""The level of rules that run only when they are asked for."""

DEFAULT_LEVEL = 3
"""What ge-compiler does when no level is asked for, as ATC."""

Use: TypeAlias = Literal["model", "device"]
"""What becomes of the optimised model: it stays a model at the onnx level, or it is compiled for the device."""


@dataclass(frozen=True)
class Step:
    """A pass, or a group of them, in a pipeline."""

    text: str
    """The pass as in a pipeline: its name, with options in braces."""
    level: int
    """The lowest level that runs it."""
    use: Use | None = None
    """It runs only for this use; None: for both."""
    is_fusion: bool = False
    """Whether ``--no-fusion`` leaves it out: it makes one operation of several."""
    rules: tuple[Step, ...] = ()
    """Rules of the pass that have a lowest level, or a use, of their own."""

    def runs(self, level: int, use: Use) -> bool:
        """Whether a level runs it."""
        return self.level <= level and self.use in (None, use)


@dataclass(frozen=True)
class Worklist:
    """Passes that consist of rules, and run together in the pass `simplify`."""

    steps: tuple[Step, ...]


PREPARE = (
    Step("inline-functions", 0),
    Step("infer-shapes", 0),
    Step("decompose-custom", 0, use="device"),
    Step("constant-fold", 0),
)

SIMPLIFY = Worklist(
    (
        Step("eliminate-identity", 1),
        Step("inline-if", 1),
        Step("merge-reshape", 1),
        Step("merge-slice", 1),
        Step("gather-to-slice", 1),
        Step("eliminate-concat-split", 1),
        Step("merge-slices-to-split", 1),
    )
)  # fmt: skip
"""Fewer operators, not other ones."""

RECOGNISE = Worklist(
    (
        Step("fusion-rules", 2, is_fusion=True, rules=(
            *(Step(rule, 3) for rule in ("add-constants", "subtract-constant", "multiply-constants")),
            *(Step(rule, 3) for rule in ("divide-by-constant", "divide-divided")),
            *(Step(f"layer-norm{part}", 2, "model") for part in ("", "-scale", "-scale-constant", "-shift")),
            *(Step(f"rms-norm{part}", 2, "model") for part in ("", "-scale")),
            *(Step(f"roi-align{part}", NEVER) for part in ("", "-max")),
        )),
    )
)  # fmt: skip
"""One operator in the place of the chain that exporters write."""

ONNX: tuple[Step | Worklist, ...] = (
    *PREPARE,
    Step("fold-shape-ops", 1),
    SIMPLIFY,
    Step("onnx-cse", 1),
    RECOGNISE,
    Step("onnx-dce", 1),
)
"""The passes on the model, in order."""

GRAPH: tuple[Step | Worklist, ...] = (
    Step("graph-fold-constants", 1),
    Step("graph-eliminate-identity", 1),
    Step("recognise-activations", 2, is_fusion=True),
    Step("channel-shuffle", 1),
    Step("fuse-conv-bn-relu", 3, is_fusion=True),
    Step("fold-conv-bn", 3, is_fusion=True),
    Step("decompose-lrn", 0),
    Step("batch-norm-to-conv", 0),
    Step("fuse-binary-activation", 2, is_fusion=True),
)
"""The passes on the graph of the device, in order; there is no graph level when the model stays a model."""


def parse_level(text: str) -> int:
    """The level that ``2``, ``O2`` or ``o2`` names. Raises GE2006."""
    number = text.removeprefix("O").removeprefix("o")
    if number not in map(str, LEVELS):
        raise GeError("GE2006", f"'{text}' is no optimisation level", remedy="The levels are O0, O1, O2 and O3.")
    return int(number)


def onnx_pipeline(level: int, use: Use) -> str:
    """The passes of a level on the model, as a pipeline text."""
    return ",".join(_texts(ONNX, level, use))


def graph_pipeline(level: int) -> str:
    """The passes of a level on the graph of the device, as a pipeline text."""
    return ",".join(_texts(GRAPH, level, "device"))


def fusion_passes() -> frozenset[str]:
    """The passes that make one operation of several: what ``--no-fusion`` leaves out."""
    return frozenset(step.text for step in _steps((*ONNX, *GRAPH)) if step.is_fusion)


def needed_passes() -> frozenset[str]:
    """The passes that every level runs; nothing switches them off."""
    return frozenset(step.text for step in _steps((*ONNX, *GRAPH)) if step.level == 0)


def graph_fusions() -> frozenset[str]:
    """The passes that ``ALL`` of the section ``GraphFusion`` of a switch file means: those that fuse no kernels."""
    return frozenset(step.text for step in _steps((*ONNX, *GRAPH)) if step.level > 0) - buffer_fusions()


def buffer_fusions() -> frozenset[str]:
    """The passes that ``ALL`` of the section ``UBFusion`` means: operations of the device joined in one kernel."""
    return frozenset(step.text for step in _steps(GRAPH) if step.is_fusion)


def _texts(table: Sequence[Step | Worklist], level: int, use: Use) -> Iterator[str]:
    for entry in table:
        steps = [step for step in _steps([entry]) if step.runs(level, use)]
        if isinstance(entry, Step):
            yield from (step.text for step in steps)
        elif steps:
            off = ",".join(rule.text for step in steps for rule in step.rules if not rule.runs(level, use))
            yield f"simplify{{passes={','.join(step.text for step in steps)}{f' off={off}' if off else ''}}}"


def _steps(table: Sequence[Step | Worklist]) -> Iterator[Step]:
    for entry in table:
        yield from (entry,) if isinstance(entry, Step) else entry.steps
