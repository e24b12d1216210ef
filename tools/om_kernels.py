"""The kernels of an OM file as text, each with the operators that it runs for: ``ge-om dump``."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge.ir.errors import GeError
from ge.ir.printer import print_module
from ge.ir.weights import WeightsMode
from ge.targets.ascend.om.container import PartitionType
from ge.targets.ascend.om.file import OmFile, kernel_name, node_names
from ge.targets.ascend.om.kernels import decode_core_kernel, host_module

_SHOWN_BYTES = 32
"""How much of a binary is shown that is not in our encoding."""


def kernel_names(file: OmFile) -> list[str]:
    """The kernels of all stores, in file order."""
    return [name for store in file.kernels.values() for name in store]


def users(file: OmFile, kernel: str) -> Iterator[str]:
    """The operators that a kernel runs for, with the nodes of the model that each stands for."""
    for op in file.operators:
        if kernel_name(op) == kernel:
            nodes = ", ".join(node_names(op))
            yield f"{op.type} '{op.name}'" + (f" for {nodes}" if nodes and nodes != op.name else "")


def kernel_text(file: OmFile, kernel: str) -> str:
    """A kernel, disassembled. A binary of another compiler is shown as its size and first bytes."""
    for kind, store in file.kernels.items():
        if kernel in store:
            lines = [f"// kernel '{kernel}' of {kind.name}, {store[kernel].nbytes} bytes"]
            lines += [f"// runs for {user}" for user in users(file, kernel)] or ["// no operator runs it"]
            return "\n".join([*lines, _disassembled(file, kind, kernel)])
    known = ", ".join(kernel_names(file)) or "none"
    raise GeError("GE2006", f"'{file.path}' has no kernel '{kernel}'", remedy=f"The kernels are: {known}.")


def _disassembled(file: OmFile, kind: PartitionType, kernel: str) -> str:
    binary = bytes(file.kernels[kind][kernel])
    if not file.is_ours:
        more = "..." if len(binary) > _SHOWN_BYTES else ""
        return f"// not in the encoding of this compiler: {binary[:_SHOWN_BYTES].hex(' ')}{more}"
    if kind is PartitionType.CUST_AICPU_KERNELS:
        return print_module(host_module(binary), weights=WeightsMode.ELIDED)
    operation: Operation = decode_core_kernel(kernel, binary).definition
    operation.detach()
    return print_module(ModuleOp([operation]), weights=WeightsMode.ELIDED)
