"""docs/onnx-support.md, from the outcomes of ``python -m bench.onnx_backend``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from onnx import defs

from ge.dialects.onnx import ML_OPSET, OPSET

if TYPE_CHECKING:
    from bench.onnx_backend import Outcome

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "onnx-support.md"

STEPS = {
    "import": "imported",
    "text": "read again from text",
    "export": "exported, same results",
    "evaluate": "evaluated",
    "reference": "onnx.reference",
}
"""Step -> the heading of its column."""

HEAD = f"""# What is supported of ONNX

Written by `python -m bench.onnx_backend`, which runs all cases of `onnx.backend.test` of onnx {onnx.__version__}
(opset {OPSET}, ai.onnx.ml {ML_OPSET}). Of each case, the model is

* *imported* to the onnx level,
* printed as text, *read again*, and printed to the same text,
* *exported* from that; the export is valid, and a runtime (`onnx.reference`; onnxruntime for the light models and for
  what the reference cannot run) gives the same results for it as for the original, byte for byte,
* *evaluated* by `ge.backend`; results are compared with those of the case by the test runner of the onnx package.

`onnx.reference`, with which most cases were made, is judged in the same way in the same run.
"""

OPERATORS = """
## Operators

*Opsets* are those in which the operator changed. *Import* and *evaluate* count the cases that have the operator
somewhere in their model. *Kernel*: the cases of this operator alone that run on the AI Core as a whole, with weights
and parameters constant; all others run on the host. The AI Core computes tensors of float16 and float32 of fixed
shapes; `dialects/graph/capabilities.py` says in what forms. A dash: the package has no case.

| operator | opsets | import | evaluate | kernel |
|---|---|---|---|---|
"""

UNROUNDED = "the case takes the unrounded length of the result; the standard and runtimes take the integer"

REASONS: Mapping[str, str] = {
    "bernoulli": "random: the case has the numbers of one run",
    "test_resize_downsample_scales_cubic_align_corners": UNROUNDED,
    "test_resize_downsample_scales_linear_align_corners": UNROUNDED,
    "test_loop16_seq_none": "the values are equal; the runner of the onnx package cannot compare scalars in a list",
    "test_image_decoder": "decoding images needs Pillow, which was not installed",
    "test_gradient": "the onnx package has no implementation of Gradient, and onnxruntime neither",
    "light_squeezenet": "the logits are 9.5e9, where float32 has only multiples of 1024: their softmax shows only "
    "the order of additions",
}
"""Part of the name of a case -> why it fails, where the message does not say it."""


def write_document(outcomes: Sequence[Outcome]) -> None:
    """Write the document."""
    DOCUMENT.write_text(document(outcomes), encoding="utf-8")


def document(outcomes: Sequence[Outcome]) -> str:
    """The summary, the failures, and the table of operators."""
    return "".join([HEAD, *_summary(outcomes), *_failures(outcomes), OPERATORS, *_operators(outcomes)])


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |\n"


def _summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "\n## Summary\n\n" + _row("cases", "number", *STEPS.values()) + "|---" * (len(STEPS) + 2) + "|\n"
    kinds = list(dict.fromkeys(outcome.kind for outcome in outcomes))
    for kind in [*kinds, "all"]:
        chosen = [outcome for outcome in outcomes if kind in (outcome.kind, "all")]
        yield _row(kind, len(chosen), *(sum(not outcome.steps[step] for outcome in chosen) for step in STEPS))


def _failures(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "\n## What fails\n\n"
    failed = [(outcome, step) for outcome in outcomes for step in STEPS if step != "reference" and outcome.steps[step]]
    if not failed:
        yield "Nothing.\n"
    else:
        yield _row("case", "step", "reason") + "|---|---|---|\n"
    for outcome, step in failed:
        yield _row(outcome.name, STEPS[step], _reason(outcome.name, outcome.steps[step]))
    only = [o for o in outcomes if o.steps["reference"] and not o.steps["evaluate"]]
    yield f"\nCases that `ge.backend` passes and `onnx.reference` does not: {len(only)}.\n\n"
    if only:
        yield _row("case", "message of onnx.reference") + "|---|---|\n"
    for outcome in only:
        yield _row(outcome.name, outcome.steps["reference"])


def _reason(name: str, message: str) -> str:
    return next((reason for part, reason in REASONS.items() if part in name), message)


def _operators(outcomes: Sequence[Outcome]) -> Iterator[str]:
    by_operator: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for operator in outcome.operators:
            by_operator.setdefault(operator, []).append(outcome)
    for operator, versions in sorted(_versions().items(), key=lambda item: ("::" in item[0], item[0])):
        chosen = by_operator.get(operator, [])
        counts = [_share(sum(not outcome.steps[step] for outcome in chosen), chosen) for step in ("import", "evaluate")]
        alone = [outcome for outcome in chosen if outcome.target]
        on_core = sum(outcome.target == "AI Core" for outcome in alone)
        kernel = f"AI Core {on_core}/{len(alone)}, else host" if on_core else "host"
        yield _row(operator, ", ".join(map(str, versions)), *counts, kernel)


def _share(number: int, of: Sequence[object]) -> str:
    return f"{number}/{len(of)}" if of else "–"


def _versions() -> dict[str, list[int]]:
    """The opsets in which each operator changed; those that the newest opset does not have any more are left out."""
    found: dict[str, list[int]] = {}
    newest: dict[str, defs.OpSchema] = {}
    for schema in defs.get_all_schemas_with_history():
        if "preview" in schema.domain:
            continue
        name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
        found.setdefault(name, []).append(schema.since_version)
        if name not in newest or newest[name].since_version < schema.since_version:
            newest[name] = schema
    return {name: sorted(set(versions)) for name, versions in found.items() if not newest[name].deprecated}
