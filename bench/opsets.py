"""Every node test of the ONNX standard, written for every opset that models can be exported for.

::

    python -m bench.opsets                 # the whole run; writes docs/opsets.md
    python -m bench.opsets Softmax Resize  # some operators, to the terminal

A case is imported (which converts it to the newest opset), exported for an opset, checked by ``onnx.checker``, and run
by onnxruntime or the reference implementation of onnx; the results have to be those of the case, or of the same runtime
on the model before. Otherwise the export must have been refused by name. What is refused because inputs are computed is
tried again with all inputs but the first as constants.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.functions import body_opset
from ge.targets.onnx.adapters.schemas import histories
from ge.targets.onnx.adapters.table import adapter, is_widening
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.opsets import LOWEST_TARGET

PAGE = Path(__file__).resolve().parent.parent / "docs" / "opsets.md"

TARGETS = range(LOWEST_TARGET, OPSET + 1)

RANDOM = ("test_bernoulli",)
"""Beginnings of the names of cases whose results are random: only checked, not run."""

UNCHECKED_SHAPES = {
    "test_affine_grid_3d_expanded": "a branch never taken splits 5 elements in 4, and onnx infers other lengths",
    "test_affine_grid_3d_align_corners_expanded": "the same",
}
"""Cases whose inferred shapes are not compared with those that the model states."""

ROUNDED = {"RoiAlign": 1e-4}
"""Operators whose cases give only a few digits of their results, and what those are worth."""

MAX_CONSTANT = 200
"""Elements of an input that is tried as a constant."""


# Cases


@dataclass(frozen=True)
class Case:
    """One test of the standard."""

    name: str
    model: ModelProto
    inputs: dict[str, Any]
    outputs: list[Any]

    @property
    def operator(self) -> str:
        """The operator that the case is about."""
        return self.model.graph.node[-1].op_type

    def with_constants(self) -> Case | None:
        """The case with all small inputs but the first as initializers; None when there are none."""
        small = [name for name, value in list(self.inputs.items())[1:] if _is_small(value)]
        if not small:
            return None
        model = ModelProto()
        model.CopyFrom(self.model)
        model.ir_version = max(model.ir_version, 4)
        model.graph.initializer.extend(numpy_helper.from_array(self.inputs[name], name) for name in small)
        inputs = [value for value in model.graph.input if value.name not in small]
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        kept = {name: value for name, value in self.inputs.items() if name not in small}
        return Case(f"{self.name} (constants)", model, kept, self.outputs)


def _is_small(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufb" and value.size <= MAX_CONSTANT


@cache
def cases() -> tuple[Case, ...]:
    """All cases of ai.onnx."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cast("list[Any]", collect_testcases(None))
    return tuple(_case(case) for case in found if case.model.graph.node[-1].op_type in histories())


def _case(case: Any) -> Case:
    inputs, outputs = case.data_sets[0]
    names = [value.name for value in case.model.graph.input]
    return Case(case.name, case.model, dict(zip(names, map(_value, inputs), strict=False)), list(map(_value, outputs)))


def _value(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, np.generic):
        return np.asarray(value)
    return [_value(item) for item in value] if isinstance(value, list | tuple) else value


# Running


def run_onnxruntime(model: ModelProto, inputs: Mapping[str, Any]) -> list[Any]:
    """The outputs by onnxruntime, without its own optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return cast("list[Any]", session.run(None, dict(inputs)))


def run_reference(model: ModelProto, inputs: Mapping[str, Any]) -> list[Any]:
    """The outputs by the reference implementation of onnx."""
    evaluator: Any = ReferenceEvaluator(model)
    return evaluator.run(None, dict(inputs))


def differs(got: Sequence[Any], want: Sequence[Any], tolerance: float = 1e-5) -> str:
    """How two lists of outputs differ; "" when they agree. ``tolerance`` is of float32; that of float16 is 1e-3."""
    if len(got) != len(want):
        return f"{len(got)} outputs instead of {len(want)}"
    return next(filter(None, (_differs(a, b, tolerance) for a, b in zip(got, want, strict=True))), "")


def _differs(got: Any, want: Any, tolerance: float) -> str:
    if isinstance(want, list):
        return differs(got, cast("list[Any]", want), tolerance) if isinstance(got, list) else "no sequence"
    if got is None or want is None:
        return "" if got is want else "absent"
    a, b = np.asarray(got), np.asarray(want)
    if b.dtype.kind in "OUS":
        return "" if a.astype(str).tolist() == b.astype(str).tolist() else "other texts"
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
    if b.dtype.kind in "iub" and "float" not in b.dtype.name:
        return "" if np.array_equal(a, b) else "other integers"
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    if b.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        tolerance = 1e-3
    a, b = a.astype(wide), b.astype(wide)
    scale = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    close = np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return "" if close.all() else f"off by {np.abs(a - b).max()}"


RUNTIMES: Mapping[str, Callable[[ModelProto, Mapping[str, Any]], list[Any]]] = {
    "onnxruntime": run_onnxruntime,
    "reference": run_reference,
}


class Expectation:
    """What the models made of a case have to compute: the outputs of the case, or what a runtime makes of the case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._before: dict[str, list[Any] | None] = {}

    def failure(self, model: ModelProto) -> str:
        """How a model fails; "" when one runtime agrees, or when no runtime can run the case itself either."""
        problems: list[str] = []
        for name, run in RUNTIMES.items():
            try:
                results = run(model, self.case.inputs)
            except Exception as error:
                problems.append(f"{name}: {' '.join(str(error).split())[:200]}")
                continue
            problem = differs(results, self.case.outputs, ROUNDED.get(self.case.operator, 1e-5))
            if problem and (before := self.before(name)) is not None:
                problem = differs(results, before)
            if not problem:
                return ""
            problems.append(f"{name}: {problem}")
        return "; ".join(problems) if any(self.before(name) is not None for name in RUNTIMES) else ""

    def before(self, name: str) -> list[Any] | None:
        """What a runtime computes of the case itself; None when it cannot."""
        if name not in self._before:
            try:
                self._before[name] = RUNTIMES[name](self.case.model, self.case.inputs)
            except Exception:
                self._before[name] = None
        return self._before[name]


# Checking


@dataclass
class Report:
    """What became of the cases of one operator."""

    agreed: int = 0
    lowest_agreed: bool = False
    """Whether a case was written for the lowest opset."""
    refused: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    """Lowest opset -> reasons."""
    needs_constants: bool = False
    """Whether a refusal was for an input that is computed."""
    failures: list[str] = field(default_factory=list[str])

    def add(self, other: Report) -> None:
        """Count the results of another report in this one."""
        self.agreed += other.agreed
        self.lowest_agreed |= other.lowest_agreed
        self.needs_constants |= other.needs_constants
        self.failures += other.failures
        for lowest, reasons in other.refused.items():
            self.refused.setdefault(lowest, set()).update(reasons)


def check(case: Case, targets: Iterable[int] = TARGETS) -> Report:
    """Write a case for each of ``targets``, and compare what the results compute."""
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = import_model(case.model)
        expectation = Expectation(case)
        for target in targets:
            try:
                model = export_model(module, target)
            except GeError as error:
                _note_refusal(error, case, report)
                continue
            failure = _invalid(case, model) or ("" if case.name.startswith(RANDOM) else expectation.failure(model))
            if failure:
                report.failures.append(f"{case.name} at opset {target}: {failure}")
            report.agreed += not failure
            report.lowest_agreed |= not failure and target == LOWEST_TARGET
    return report


def check_with_constants(case: Case, targets: Sequence[int] = TARGETS) -> Report:
    """Check a case; what is refused because an input is computed, once more with constants."""
    report = check(case, targets)
    if report.needs_constants and (constant := case.with_constants()) is not None:
        again = check(constant, targets)
        again.needs_constants = True
        again.failures += report.failures
        return again
    return report


def _note_refusal(error: GeError, case: Case, report: Report) -> None:
    """Enter a refusal; one that does not name the node and the lowest opset is a failure."""
    message, _, lowest = error.what.rpartition("; the lowest opset that can express it is ")
    if error.code != "GE1021" or not lowest.isdigit() or not (error.where or "").startswith("node '"):
        report.failures.append(f"{case.name}: {error}")
        return
    reason = message.partition(": ")[2]
    report.needs_constants |= "has to be constant" in reason
    report.refused.setdefault(int(lowest), set()).add(reason)


def _invalid(case: Case, model: ModelProto) -> str:
    """What ``onnx.checker`` has against a model, unless it has something against the case as well."""
    full_check = case.name.partition(" ")[0] not in UNCHECKED_SHAPES
    try:
        onnx.checker.check_model(model, full_check=full_check)
    except Exception as error:
        try:
            onnx.checker.check_model(case.model, full_check=full_check)
        except Exception:
            return ""
        return f"onnx.checker: {error}"
    return ""


# The page


def main(arguments: Sequence[str]) -> None:
    """Run all cases, or those of the operators named."""
    start = time.perf_counter()
    reports: dict[str, Report] = {}
    for case in cases():
        if arguments and case.operator not in arguments:
            continue
        report = check_with_constants(case)
        reports.setdefault(case.operator, Report()).add(report)
        for failure in report.failures:
            print(failure, flush=True)
    print(summary(reports), f"{time.perf_counter() - start:.0f} s")
    if not arguments:
        PAGE.write_text(page(reports))
    if any(report.failures for report in reports.values()):
        raise SystemExit(1)


def summary(reports: Mapping[str, Report]) -> str:
    """The numbers of a run."""
    agreed = sum(report.agreed for report in reports.values())
    failed = sum(len(report.failures) for report in reports.values())
    return f"{len(reports)} operators: {agreed} models agree, {failed} fail."


def page(reports: Mapping[str, Report]) -> str:
    """The text of docs/opsets.md."""
    lines = [
        "# Opsets",
        "",
        f"Models of opset 1 to {OPSET} are converted to opset {OPSET} when they are read, and written",
        f"for any opset from {LOWEST_TARGET} on with `--target-opset=N`. This page is generated by",
        "`python -m bench.opsets`, which writes the node tests of the ONNX standard for every opset and compares",
        "what they compute.",
        "",
        "| column | what |",
        "|---|---|",
        "| versions | of the operator in the standard; **bold** where its form or meaning changed |",
        "| up | `=` nodes stay as they are; `x` there are adapters |",
        "| down | `=` stays if all it uses was there; `x` adapters; `f` becomes the function that defines it |",
        "| lowest opset | that its node tests can be written for; several where it depends on what they use |",
        "",
        "A node that uses what an older opset lacks is refused (GE1021) with its name, the reason and the lowest",
        "opset; the page ends with the reasons. Some conversions need inputs, such as axes, to be constant.",
        "",
        "| operator | versions | up | down | lowest opset |",
        "|---|---|---|---|---|",
        *(f"{decisions(operator)} {_lowest(operator, reports.get(operator))} |" for operator in histories()),
        "",
        "## What cannot be written for older opsets",
        "",
        "| operator | needs opset | because |",
        "|---|---|---|",
        *_reasons(reports),
    ]
    return "\n".join(lines) + "\n"


def decisions(operator: str) -> str:
    """The row of an operator up to what only a run can tell."""
    versions = [schema.since_version for schema in histories()[operator]]
    pairs = list(pairwise(versions))
    shown = [str(versions[0]), *(str(v) if is_widening(operator, v) else f"**{v}**" for v in versions[1:])]
    up = {"x" if adapter(operator, old, new) else "=" for old, new in pairs}
    down = {_way_down(operator, version) for version in versions if version > LOWEST_TARGET}
    return f"| {operator} | {', '.join(shown)} | {_signs(up)} | {_signs(down)} |"


def _signs(signs: Iterable[str]) -> str:
    return " ".join(sorted(filter(None, signs)))


def _way_down(operator: str, version: int) -> str:
    """How nodes of one version of an operator are written for the opset before."""
    schemas = {schema.since_version: schema for schema in histories()[operator]}
    before = max((v for v in schemas if v < version), default=0)
    if adapter(operator, version, before):
        return "x"
    if before and not schemas[before].deprecated:
        return "="
    return "f" if body_opset(schemas[version]) else ""


def _lowest(operator: str, report: Report | None) -> str:
    """The lowest opsets of the cases of an operator."""
    if report is None:
        return str(max(histories()[operator][0].since_version, LOWEST_TARGET))
    own = {LOWEST_TARGET} if report.lowest_agreed else set[int]()
    return ", ".join(map(str, sorted(own | set(report.refused))))


def _reasons(reports: Mapping[str, Report]) -> Iterator[str]:
    for operator in sorted(reports):
        for lowest, reasons in sorted(reports[operator].refused.items()):
            for reason in sorted(reasons):
                yield f"| {operator} | {lowest} | {reason} |"


if __name__ == "__main__":
    main(sys.argv[1:])
