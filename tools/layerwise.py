"""Comparing an OM file with its ONNX model operator by operator: where the two begin to differ.

The result of an operator of the OM file stands for that of the last ONNX node in its location, whose name it has kept
through fusion. It is compared in the shape, layout and element type of the model. Results without such a node (changes
of format, values in a shape that the model never has, parts that only the compiler knows) have no verdict.

Rounding differs in both runs, so an operator may differ and the outputs agree. The *first diverging operator* is the
first of those that differ and from which only values that differ, or have no verdict, lead to an output that differs.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ge.dialects.om.values import Area
from ge.ir.errors import GeError
from ge.targets.ascend.om.model import Value
from ge.targets.ascend.runtime import Model, TapPoint
from ge.tools.agreement import Agreement, Judge, Tolerance, compare
from ge.tools.console import print_table
from ge.tools.reference import ReferenceRun, run_nodes


@dataclass(frozen=True)
class Layer:
    """One result of an operator, and how it agrees with the model."""

    point: TapPoint
    node: str
    """The node that it is compared with; empty when there is none."""
    dtype: str
    shape: tuple[int, ...]
    agreement: Agreement | None

    @property
    def differs(self) -> bool:
        """Whether it was compared and is not what the model has."""
        return self.agreement is not None and not self.agreement.passed

    @property
    def verdict(self) -> str:
        """``agrees``, ``DIFFERS``, or ``-`` for what the model has no value of."""
        return "-" if self.agreement is None else "DIFFERS" if self.differs else "agrees"


@dataclass(frozen=True)
class LayerReport:
    """All operators of a run against the model."""

    runner: str
    outputs: Mapping[str, Any]
    agreements: Sequence[Agreement]
    """Of the outputs of the model."""
    layers: Sequence[Layer]
    first: Layer | None
    """The first diverging operator; None when the outputs agree, or no operator that was compared explains them."""


def compare_layers(
    model: Model, path: str, inputs: Mapping[str, Any], tolerance: Tolerance | None = None
) -> LayerReport:
    """Run an OM file and its ONNX model on the same inputs. All values of both are in memory at once."""
    points = model.tap_points
    run = model.run(inputs, tap=["*"] if points else [])
    reference = run_nodes(path, inputs, {name for point in points for name in point.nodes})
    order = {name: number for number, name in enumerate(reference.nodes)}
    judge = Judge(True, tolerance, top1=False)
    layers = [_layer(point, run.taps[point.name], points, reference, order, judge) for point in points]
    agreements = compare(run, reference.outputs, half=True, tolerance=tolerance)
    wrong = [index for index, each in enumerate(agreements) if not each.passed]
    values = [model.output_values[index] for index in wrong if index < len(model.output_values)]
    return LayerReport(reference.runner, run, agreements, layers, first_diverging(layers, values))


def _layer(
    point: TapPoint,
    value: Any,
    points: Sequence[TapPoint],
    reference: ReferenceRun,
    order: Mapping[str, int],
    judge: Judge,
) -> Layer:
    """A result against that of the last node of the model that it stands for and that has a value of its shape.

    Nodes before one of another size are not looked at: the result may be a step that the model does not take.
    """
    dtype, shape = ("", ()) if isinstance(value, list) or value is None else (value.dtype.name, value.shape)
    siblings = sum(each.operator == point.operator for each in points)
    known = sorted((name for name in point.nodes if name in order), key=order.__getitem__, reverse=True)
    for node in known if point.is_last else ():
        results = reference.nodes[node]
        expected = results[point.index] if siblings <= len(results) else None
        if dtype and expected is not None and np.size(expected) != int(np.prod(shape)):
            break
        if expected is not None and (not dtype or _without_ones(np.shape(expected)) == _without_ones(shape)):
            agreement = judge.compare(node, value, _converted(expected, value) if dtype else expected)
            return Layer(point, node, dtype, shape, agreement)
    return Layer(point, "", dtype, shape, None)


def _converted(expected: Any, value: Any) -> Any:
    """A value of the model in the shape of the OM file; what float16 cannot hold is its largest number there."""
    array = np.reshape(expected, value.shape)
    if value.dtype != np.float16 or array.dtype.kind != "f":
        return array
    limit = float(np.finfo(np.float16).max)
    return np.where(np.isfinite(array), np.clip(array, -limit, limit), array)


def _without_ones(shape: Sequence[int]) -> list[int]:
    """The sizes that matter for the order of the elements."""
    return [size for size in shape if size != 1]


def first_diverging(layers: Sequence[Layer], wrong: Sequence[Value]) -> Layer | None:
    """The first layer that differs, of those that lead to a wrong output by nothing that agrees."""
    sources, written = _sources(layers)
    pending = [number for value in wrong for number in _writers(value, written)]
    reached: set[int] = set()
    while pending:
        number = pending.pop()
        verdict = layers[number].agreement
        if number not in reached and (verdict is None or not verdict.passed):
            reached.add(number)
            pending.extend(sources[number])
    return next((layers[number] for number in sorted(reached) if layers[number].differs), None)


def _sources(layers: Sequence[Layer]) -> tuple[list[list[int]], dict[int, Value]]:
    """For each layer the layers whose results it reads; and which results are left at the end of the run."""
    written: dict[int, Value] = {}
    sources: list[list[int]] = []
    for number, layer in enumerate(layers):
        sources.append([source for value in layer.point.inputs for source in _writers(value, written)])
        own = layer.point.value
        if own.area is Area.MEMORY:
            covered = [other for other, value in written.items() if _overlap(own, value) and not _exceeds(value, own)]
            for other in covered:
                del written[other]
        written[number] = own
    return sources, written


def _writers(value: Value, written: Mapping[int, Value]) -> list[int]:
    """The layers whose results a value consists of: by its bytes in device memory, by its name on the host."""
    if value.area is Area.MEMORY:
        return [number for number, other in written.items() if _overlap(value, other)]
    return [number for number, other in written.items() if other.name == value.name]


def _overlap(a: Value, b: Value) -> bool:
    """Whether two values share bytes of device memory."""
    return b.area is Area.MEMORY and a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes


def _exceeds(a: Value, b: Value) -> bool:
    """Whether a value has bytes that another has not."""
    return a.offset < b.offset or a.offset + a.nbytes > b.offset + b.nbytes


# What is shown

HEADER = (
    "node",
    "operator",
    "kind",
    "nodes",
    "dtype",
    "shape",
    "cosine",
    "max error",
    "relative",
    "L2",
    "ULP",
    "verdict",
)


def layer_row(layer: Layer) -> list[str]:
    """What is known of a layer, in the order of the header."""
    point, found = layer.point, layer.agreement
    numbers = ["", "", "", "", ""]
    if found is not None and not found.problem:
        ulp = "" if found.max_ulp is None else str(found.max_ulp)
        errors = [found.max_error, found.relative, found.relative_l2]
        numbers = [f"{found.cosine:.7f}", *(f"{each:.3g}" for each in errors), ulp]
    shape = "x".join(map(str, layer.shape))
    name = layer.node or point.name
    return [name, point.operator, point.kind, " ".join(point.nodes), layer.dtype, shape, *numbers, layer.verdict]


def print_layers(report: LayerReport) -> None:
    """Print one line for each operator, and the first diverging one."""
    shown = [0, 2, 5, 6, 7, 8, 10, 11]
    rows = [[row[column] for column in shown] for row in map(layer_row, report.layers)]
    print_table([HEADER[column] for column in shown], rows, left=(0, 1, 2))
    compared = [layer for layer in report.layers if layer.agreement is not None]
    differ = sum(layer.differs for layer in compared)
    print(f"{len(compared)} of {len(report.layers)} operators compared with {report.runner}, {differ} differ")
    if report.first is None:
        agree = all(each.passed for each in report.agreements)
        print("no operator diverges" if agree else "no operator that was compared explains the outputs")
        return
    first = report.first
    print(f"first diverging operator: {first.node} ({first.point.kind}, from {', '.join(first.point.nodes)})")
    assert first.agreement is not None
    for worst in first.agreement.worst:
        print(f"  {worst}")


def write_layers(report: LayerReport, file: Path) -> None:
    """Write the table as CSV. Raises GE1003."""
    try:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(HEADER)
            writer.writerows(map(layer_row, report.layers))
    except OSError as error:
        raise GeError("GE1003", f"cannot write '{file}': {error.strerror or error}", str(file)) from error
