"""What the operators of plug-ins cost that a compiled model runs on the host, as their definitions estimate it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge.dialects.om import KernelOp, TaskOp
from ge.dialects.om.values import value_bytes
from ge.dialects.onnx import Custom
from ge.dialects.onnx.registered import CustomOperator
from ge.dialects.onnx.shapes.inference import node_of
from ge.dialects.onnx.shapes.types import value_of_type


@dataclass(frozen=True)
class CustomCost:
    """All uses of one operator in one run of the model."""

    operator: str
    plugin: str
    count: int
    flops: int
    bytes: int


def custom_costs(model: ModuleOp) -> list[CustomCost]:
    """The operators of plug-ins in a module of the om level; those with a decomposition are not in it any more."""
    runs = Counter(task.kernel.root_reference.data for task in model.walk() if isinstance(task, TaskOp))
    found: dict[str, CustomCost] = {}
    for kernel in (op for op in model.walk() if isinstance(op, KernelOp)):
        for op in kernel.walk():
            if isinstance(op, Custom) and (definition := op.definition) is not None:
                add(found, op, definition, runs[kernel.sym_name.data])
    return list(found.values())


def add(found: dict[str, CustomCost], op: Custom, definition: CustomOperator, runs: int) -> None:
    """Add ``runs`` runs of an operator to what was found."""
    node = node_of(op, [None if value is None else value_of_type(value.type) for value in op.input_list()])
    cost = definition.cost_of(node)
    moved = cost.bytes if cost.bytes is not None else sum(map(_bytes, (*op.operands, *op.results)))
    so_far = found.get(definition.name) or CustomCost(definition.name, definition.plugin, 0, 0, 0)
    found[definition.name] = CustomCost(
        so_far.operator,
        so_far.plugin,
        so_far.count + runs,
        so_far.flops + runs * cost.flops,
        so_far.bytes + runs * moved,
    )


def _bytes(value: SSAValue) -> int:
    return value_bytes(value.type) or 0
