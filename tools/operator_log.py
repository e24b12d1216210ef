"""What computes each operator of a model: the kernel, or the host and why. ``--op_debug_log=true``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, ViewOp
from ge.dialects.graph.capabilities import obstacle
from ge.dialects.graph.program import main_function
from ge.dialects.onnx import Constant, OnnxOp
from ge.ir.locations import node_names

HEADER = ("operator", "nodes", "runs on", "how")

Row: TypeAlias = Sequence[str]
"""The kind of an operator of the device program, the nodes of the model that it stands for, where it runs, and how."""

NOT_ON_CORE = "the AI Core has no kernel for it in this form"
KEPT = "it keeps the precision of the model"


def host_reasons(module: ModuleOp) -> Iterator[tuple[str, str]]:
    """The nodes that the AI Core has no kernel for, once fusion has done what it can, and why."""
    for op in main_function(module).body.block.ops:
        if isinstance(op, ConstantOp | ReturnOp) or (reason := obstacle(op)) is None:
            continue
        for name in _names(op):
            yield name, NOT_ON_CORE if isinstance(op, HostOp) else reason


def _names(op: Operation) -> list[str]:
    """The nodes that an operation stands for; those inside of one of the host."""
    return [name for each in _inner(op) for name in node_names(each)] if isinstance(op, HostOp) else [*node_names(op)]


def _inner(op: HostOp) -> list[OnnxOp]:
    """The operators that one of the host consists of."""
    return [each for each in op.body.block.ops if isinstance(each, OnnxOp) and not isinstance(each, Constant)]


def operator_rows(program: ModuleOp, reasons: Mapping[str, str]) -> list[Row]:
    """A row for each operator of a device program. ``reasons`` is what :func:`host_reasons` found before."""
    rows: list[Row] = []
    for op in main_function(program).body.block.ops:
        match op:
            case LaunchOp():
                how = f"kernel {op.kernel.root_reference.data}, {op.blocks.value.data} blocks"
                rows.append([op.op_type.data, " ".join(_names(op)), "AI Core", how])
            case HostOp():
                rows += [_host_row(each, op, reasons) for each in _inner(op)]
            case ViewOp():
                rows.append(["Reshape", " ".join(_names(op)), "-", "the same bytes under another shape"])
            case _:
                pass
    return rows


def _host_row(op: OnnxOp, host: HostOp, reasons: Mapping[str, str]) -> Row:
    """The row of an operator that runs in an operation of the host; it may have its names from there."""
    names = node_names(op) or node_names(host)
    return [op.op_type, " ".join(names), "host", next((reasons[name] for name in names if name in reasons), KEPT)]
