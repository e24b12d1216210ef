"""The page docs/compiled-results.md."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bench.spine import table
from ge.tools.agreement import FLOAT32_TOLERANCE, MAX_RELATIVE, MIN_COSINE

Result = Mapping[str, Any]

MODEL, FLOAT16, REWRITES, KERNELS, NO_RESULT = "the model", "float16", "rewrites", "kernels", "no result"

REASONS = ("", MODEL, FLOAT16, REWRITES, KERNELS)
"""What moves an output beyond the limits, from nothing to the gravest."""

FAULTS = (REWRITES, KERNELS, NO_RESULT)
"""What would be a fault of the compiler."""

AS_GOOD_AS_IT_GETS = ("", MODEL)
"""What no option of the compiler makes better."""


FACTOR = 2
"""How many times another run's distance explains ours: what is rounded otherwise does not fall the same way."""


@dataclass(frozen=True)
class Remedy:
    """Options that let less of a model be float16."""

    text: str
    """The options of ge-compiler; what is in the file of ``--keep_dtype`` in parentheses."""
    arguments: tuple[str, ...]
    """Those of :mod:`bench.compiled.measure`."""


REMEDIES = (
    Remedy("`--precision_mode=allow_mix_precision`", ("--precision_mode=allow_mix_precision",)),
    Remedy("`--keep_dtype` (`OpType::Conv`)", ("--keep=OpType::Conv",)),
    Remedy(
        "`--keep_dtype` (`OpType::Conv`, `OpType::ConvTranspose`, `OpType::MatMul`)",
        ("--keep=OpType::Conv", "--keep=OpType::ConvTranspose", "--keep=OpType::MatMul"),
    ),
    Remedy("`--precision_mode=must_keep_origin_dtype`", ("--precision_mode=must_keep_origin_dtype",)),
)
"""From the one that keeps most on the device to the one that keeps nothing there."""

COLUMNS = (
    *("model", "outputs", "inputs", "largest", "cosine", "max error", "ULP", "top-1", "verdict", "launches", "host"),
    *("float32", "ideal", "itself"),
)

HEAD = f"""# The numbers of compiled models

Written by `python -m bench.compiled --models=DIR --write`: every model is compiled for Ascend310P3, run on the
simulator on several random inputs, and compared with onnxruntime {{onnxruntime}} (Python {{python}}, {{machine}}).

{{summary}}

* *outputs*: how many of each class; the numbers are those of the one, and of the *inputs*, that is furthest from the
  limits. Inputs are normally distributed (twice), or within 0 and 1 as pixels are; integers are within their range.
* *largest*: max\\|b\\|; *max error*: max\\|a-b\\| as a part of it. *ULP*: steps of float16 between two elements.
* The limits are those of `ge-run --compare` ([running.md](running.md)): cosine at least {MIN_COSINE}, max error at most
  {100 * MAX_RELATIVE:g} %, the same top-1; where nothing is float16, {FLOAT32_TOLERANCE:g} of the largest value plus as
  much of each value; integers are equal.
* *all zero*: the head of the model has never been trained; `ge-run --layerwise` compares what comes before it.
* *launches*, *host*: kernels, and tasks of the host, of one run.

Where an output misses the limits, its errors on the same inputs tell why:

* *itself*: onnxruntime beside itself: the same model with inputs rounded to float16, or without the optimisations of
  onnxruntime. Where that misses the limits, too, and we are at most {FACTOR} times as far, they ask for more than the
  model tells (*the model*).
* *float32*: the graph before precision is assigned, by its definition. A miss here is one of rewrites.
* *ideal*: the graph after that, by its definition: every value rounded once to its type. Kernels are not expected to do
  better. One of kernels is a miss where this is within the limits, and we are more than {FACTOR} times as far.
* Otherwise the number format is the reason (*float16*).
"""

ITSELF = """
## Models that are as far from themselves

These miss the limits in onnxruntime alone, when a rounding is moved:

* A model that quantises (`quant_...`, `pkg_ddddocr_common_old`) makes steps of roundings, of 1/255 of the largest value
  and more. An output that is quantised itself (all of `quant_*_qdq_*`) cannot be off by less than one of its steps.
* Numbers far below what is shown: `pkg_ppocrv4_det` gives probabilities around 1e-7 for noise, and the Sigmoid of
  onnxruntime is not more exact than 6e-8 itself.
"""

DETECTIONS_HEAD = """
## Detectors

Detectors with random weights have scores that are nearly equal, so that a rounding decides which of two boxes comes
first, suppresses the other, or is among the last that are given. Their outputs are compared by position all the same.
Here they are compared in any order, on the inputs that miss: how many boxes there are *again*, with the same label and
at least 95 % in common; how far the *scores* of those are apart at most; how far *neighbours* are, of all scores in
order (the median).
"""

DETECTIONS_COLUMNS = ("model", "inputs", "boxes", "again", "scores", "neighbours")

REMEDY_HEAD = """
## What brings the others within the limits

Where the number format is the reason, an option of ge-compiler lets less of the model be float16. What is kept runs on
the host, in the precision of the model. These were tried, in this order, and the table has the first that helps:

{remedies}

*max error* is of the worst output and input, of those that do not miss in onnxruntime alone.
"""

REMEDY_COLUMNS = ("model", "options", "max error", "verdict", "launches", "host")


def rows(name: str, result: Result) -> list[list[str]]:
    """The cells of one model: a row for each class of outputs."""
    if "error" in result:
        return [[name, *[""] * 7, f"{NO_RESULT}: {result['error'][:100]}", *[""] * 5]]
    classes = Counter(each["kind"] for each in result["runs"][0]["outputs"])
    found = [_row(name, result, kind, count) for kind, count in classes.items()]
    return [found[0], *(["", *cells[1:9], *[""] * 2, *cells[11:]] for cells in found[1:])]


def _row(name: str, result: Result, kind: str, count: int) -> list[str]:
    run, index = max(_outputs(result, kind), key=lambda each: _gravity(*each))
    output, reason = run["outputs"][index], _reason(run, index)
    numbers = (f"{output['max_reference']:.2g}", f"{output['cosine']:.7f}", f"{output['relative']:.3%}")
    measured = [output["problem"], "", "", ""] if output["max_ulp"] is None else [*numbers, str(output["max_ulp"])]
    return [
        name,
        f"{count} {kind}",
        f"{len(result['runs'])}, {run['draw']}",
        *measured,
        {True: "same", False: "other", None: ""}[output["same_top1"]],
        _verdict(output, reason),
        str(result["launches"]),
        str(result["host"]),
        *(_cell([run[each][index]]) if each in run else "" for each in ("float32", "ideal")),
        _cell([outputs[index] for outputs in run["itself"]]) if "itself" in run else "",
    ]


def _verdict(output: Result, reason: str) -> str:
    """The verdict of an output; of zeros it says little."""
    if reason:
        return f"differs: {reason}"
    return "agrees" if output["max_ulp"] is None or output["max_reference"] else "agrees: all zero"


def _outputs(result: Result, kind: str = "") -> Iterator[tuple[Result, int]]:
    """Every run, with the index of every output of a class."""
    for run in result["runs"]:
        for index, output in enumerate(run["outputs"]):
            if kind in ("", output["kind"]):
                yield run, index


def _gravity(run: Result, index: int) -> tuple[int, float]:
    """What comes first when the worst output is shown: by reason, then by distance."""
    return REASONS.index(_reason(run, index)), _distance(run["outputs"][index])


def _distance(output: Result) -> float:
    """How far an output is from its reference; without end, when they cannot be compared."""
    return float("inf") if output["problem"] and not output["passed"] else output["relative"]


def _cell(outputs: Sequence[Result]) -> str:
    """The error of an output in another run, the worst of several."""
    output = max(outputs, key=lambda each: (not each["passed"], _distance(each)))
    number = output["problem"] if output["max_ulp"] is None else f"{output['relative']:.3%}"
    return number if output["passed"] or output["max_ulp"] is None else f"{number} (misses)"


def _reason(run: Result, index: int) -> str:
    """What moves an output beyond the limits: the first of the runs that misses them, too. Empty when it agrees."""
    if run["outputs"][index]["passed"]:
        return ""
    found = _distance(run["outputs"][index])
    own = [_distance(outputs[index]) for outputs in run["itself"] if not outputs[index]["passed"]]
    if own and found <= FACTOR * max(own):
        return MODEL
    if not run["float32"][index]["passed"]:
        return REWRITES
    ideal = run["ideal"][index]
    return KERNELS if ideal["passed"] and found > FACTOR * _distance(ideal) else FLOAT16


def cause(result: Result) -> str:
    """What moves a model beyond the limits, the gravest of all reasons; empty when it agrees."""
    if "error" in result:
        return NO_RESULT
    return max((_reason(run, index) for run, index in _outputs(result)), key=REASONS.index, default="")


def is_detector(result: Result) -> bool:
    """Whether detections were compared, because an output misses."""
    return any(run.get("detections") for run in result.get("runs", ()))


def page(results: Mapping[str, Result]) -> str:
    """The text of the page."""
    head = HEAD.format(
        onnxruntime=version("onnxruntime"),
        python=platform.python_version(),
        machine=platform.machine(),
        summary="\n".join(_summary(results)),
    )
    models = sorted(results.items())
    lines = [head, *table(COLUMNS, [row for model in models for row in rows(*model)]), ITSELF]
    helped = [_remedy_row(name, result["remedies"]) for name, result in models if "remedies" in result]
    lines += [DETECTIONS_HEAD, *table(DETECTIONS_COLUMNS, [row for model in models for row in _detections(*model)])]
    tried = REMEDY_HEAD.format(remedies="\n".join(f"* {remedy.text}" for remedy in REMEDIES))
    return "\n".join([*lines, tried, *table(REMEDY_COLUMNS, helped), ""])


def _detections(name: str, result: Result) -> Iterator[list[str]]:
    """The rows of a detector: one for each input on which an output misses."""
    for run in result.get("runs", ()):
        if found := run.get("detections"):
            counts = [str(found["count"]), str(found["again"])]
            yield [name, run["draw"], *counts, f"{found['score']:.1e}", f"{found['gap']:.1e}"]


def _summary(results: Mapping[str, Result]) -> list[str]:
    """How many models agree, and how many do not for which reason."""
    causes = Counter(map(cause, results.values()))
    words = {
        "": "agree with onnxruntime within the limits",
        FLOAT16: "miss them because of the number format: see below for detectors, and for options that help",
        MODEL: "miss them by no more than onnxruntime itself, when a rounding is moved",
        REWRITES: "miss them because of rewrites",
        KERNELS: "miss them because of kernels",
        NO_RESULT: "have no result",
    }
    return [f"* **{causes[each]} of {len(results)}** models {text}" for each, text in words.items()]


def _remedy_row(name: str, tried: Mapping[str, Result]) -> list[str]:
    """The first options that bring a model within the limits, or else the last that were tried."""
    helps = (each for each in tried.items() if cause(each[1]) in AS_GOOD_AS_IT_GETS)
    text, result = next(helps, list(tried.items())[-1])
    if "error" in result:
        return [name, text, "", f"{NO_RESULT}: {result['error']}", "", ""]
    outputs = [run["outputs"][index] for run, index in _outputs(result) if _reason(run, index) != MODEL]
    error = max(map(_distance, outputs), default=0.0)
    verdict = {"": "agrees", MODEL: "as near as the model to itself"}.get(cause(result), f"differs: {cause(result)}")
    return [name, text, f"{error:.3%}", verdict, str(result["launches"]), str(result["host"])]
