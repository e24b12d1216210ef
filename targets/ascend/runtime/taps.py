"""The values inside a model that a run can return: results of its operators, under the names of the ONNX model.

The result of an operator that stands for several nodes (`Conv`, `BatchNormalization` and `Relu` in one kernel) is that
of the last of them and has its name. Operators that the compiler has added before or between (changes of format) have
the nodes of the operator that they serve: only the last operator of a node has the node's name, the others their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import node_names
from ge.targets.ascend.om.kernels import host_module
from ge.targets.ascend.om.model import OmModel, Task, Value


@dataclass(frozen=True)
class TapPoint:
    """A result of an operator."""

    name: str
    """Of the node whose value it is, or of the operator; ``name:1`` for the second result, and so on."""
    nodes: tuple[str, ...]
    """The nodes of the ONNX model that it stands for; the last one computes this value."""
    operator: str
    kind: str
    """The type of the operator, such as Conv2D; for work of the host that of ONNX."""
    index: int
    """Which result of the operator it is."""
    value: Value
    inputs: tuple[Value, ...]
    """What the operator reads."""
    is_last: bool
    """Whether no later operator stands for the same node."""

    def is_named(self, pattern: str) -> bool:
        """Whether a pattern (``*`` and ``?`` as in file names) fits the name, the operator or one of the nodes."""
        return any(fnmatchcase(name, pattern) for name in (self.name, self.operator, *self.nodes))


def tap_points(model: OmModel) -> tuple[TapPoint, ...]:
    """All results of all tasks, in the order of the run."""
    found = [(task, number, nodes) for task in model.tasks for number, nodes in enumerate(_origins(model, task))]
    last = {nodes[-1]: task for task, _, nodes in found if nodes}
    seen: Counter[str] = Counter()
    points: list[TapPoint] = []
    for task, index, nodes in found:
        is_last = bool(nodes) and last[nodes[-1]] is task
        name = nodes[-1] if is_last else task.operator
        name = f"{name}/{task.kind}" if not is_last and name in last else name
        label = f"{name}:{seen[name]}" if seen[name] else name
        seen[name] += 1
        points.append(
            TapPoint(label, nodes, task.operator, task.kind, index, task.outputs[index], task.inputs, is_last)
        )
    return tuple(points)


def _origins(model: OmModel, task: Task) -> Sequence[tuple[str, ...]]:
    """The nodes that each result of a task stands for."""
    if not task.on_host or len(task.outputs) == 1:
        return [task.nodes] * len(task.outputs)
    function = next(op for op in host_module(bytes(model.host_kernels[task.kernel])).ops if isinstance(op, FuncOp))
    last = body_of(function).last_op
    owners = () if last is None else [result.owner for result in last.operands]
    return [node_names(owner) if isinstance(owner, Operation) else () for owner in owners]


def chosen(points: Iterable[TapPoint], patterns: Sequence[str]) -> Mapping[str, TapPoint]:
    """The points that patterns name, by the name of their value. Raises GE6012 for a pattern that names none."""
    points = list(points)
    for pattern in patterns:
        if not any(point.is_named(pattern) for point in points):
            names = ", ".join(f"'{point.name}'" for point in points[:5])
            raise GeError("GE6012", f"no operator is called '{pattern}'; the first are {names}")
    return {point.value.name: point for point in points if any(point.is_named(pattern) for pattern in patterns)}
