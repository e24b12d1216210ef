"""Which operations run on the host: those without a kernel, and cheap ones that are alone among them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import (
    ConstantOp,
    Conv2DOp,
    FusionOp,
    HostOp,
    IntegerConv2DOp,
    IntegerMatmulOp,
    LayerNormOp,
    MatmulOp,
    Pool2DOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    SoftmaxOp,
)
from ge.dialects.graph.base import tensor
from ge.dialects.graph.capabilities import obstacle, takes_formats
from ge.dialects.graph.host import host_equivalent
from ge.ir.rewriting import replace
from ge.passes.graph import report

NAME = "assign-precision"

WORTH_A_CONVERSION = (Conv2DOp, MatmulOp, IntegerConv2DOp, IntegerMatmulOp, Pool2DOp, SoftmaxOp, LayerNormOp)
"""Operations for which it pays to bring values of the host into float16 and back."""


def is_device(op: Operation) -> bool:
    """Whether an operation is to run on the device."""
    return not isinstance(op, ConstantOp | HostOp | ReturnOp)


def laid_out(block: Block) -> bool:
    """Whether every operation of the device has values in storage formats that a kernel of its takes."""
    return all(takes_formats(op) for op in block.ops if is_device(op) and not isinstance(op, FusionOp))


def without_kernel(op: Operation) -> bool:
    """Whether a device operation has no kernel; the reason goes into the report."""
    if not is_device(op) or (reason := obstacle(op)) is None:
        return False
    report.missed(NAME, op, f"it runs on the host: {reason}")
    return True


def move_to_host(op: Operation) -> None:
    """Put the ONNX equivalent of an operation into a host region; what is on the host already stays."""
    if is_device(op):
        host = host_equivalent(op)
        replace(op, host, host.outputs)


def reduced_for_host(op: Operation) -> bool:
    """Whether a reduction gives something to the host only, which has its operand, too, and can reduce that itself."""
    if not isinstance(op, ReduceOp) or not all(isinstance(user, HostOp) for user in _readers(op.y)):
        return False
    if not any(isinstance(other, HostOp) for other in (op.x.owner, *(use.operation for use in op.x.uses))):
        return False
    report.missed(NAME, op, "it runs on the host: that has its operand, and wants its result")
    return True


def sliced_from_host(op: Operation) -> Sequence[Operation]:
    """What moves to the host with a slice of a value of the host, of which the device wants parts only, each byte once.

    That is the slice, behind the reshapes before it; nothing for any other operation. Then the parts go to the device,
    and the value as a whole need not: a kernel that slices rows which are no whole blocks does so in a storage format,
    in which they can take several times their bytes.
    """
    if not isinstance(op, SliceOp):
        return ()
    path: list[Operation] = [op]
    whole = op.x
    while isinstance(whole.owner, ReshapeOp):
        path.append(whole.owner)
        whole = whole.owner.x
    readers = list(_readers(whole))
    parts = [reader.y for reader in readers if isinstance(reader, SliceOp)]
    wants_more = any(not isinstance(reader, SliceOp | HostOp | ReturnOp) for reader in readers)
    if not isinstance(whole.owner, HostOp) or wants_more or sum(map(_elements, parts)) > _elements(whole):
        return ()
    report.missed(NAME, op, "it runs on the host: that has its operand, and the device wants parts of it only")
    return path[::-1]


def _elements(value: SSAValue) -> int:
    return math.prod(tensor(value).get_shape())


def _readers(value: SSAValue) -> Iterator[Operation]:
    """The users of a value, also of reshapes of it."""
    for use in value.uses:
        yield from _readers(use.operation.y) if isinstance(use.operation, ReshapeOp) else (use.operation,)


def stranded(block: Block) -> list[Operation]:
    """The cheap device operations whose neighbourhood has nothing that is worth a conversion, but touches the host.

    A neighbourhood is a set of device operations that exchange values. One of reshapes alone is left as it is.
    """
    return [op for group in _neighbourhoods(block) if _is_stranded(group) for op in group]


def only_reshaped(block: Block) -> set[Operation]:
    """The reshapes between values of the model or the host only: views, which need no conversion."""
    groups = _neighbourhoods(block)
    return {op for group in groups if all(isinstance(op, ReshapeOp) for op in group) for op in group}


def _is_stranded(group: list[Operation]) -> bool:
    if any(isinstance(op, WORTH_A_CONVERSION) for op in group) or all(isinstance(op, ReshapeOp) for op in group):
        return False
    return any(isinstance(other, HostOp) for op in group for other in _around(op))


def _around(op: Operation) -> Iterator[Operation]:
    """The producers and the users of an operation's values."""
    for operand in op.operands:
        if isinstance(operand.owner, Operation):
            yield operand.owner
    for result in op.results:
        for use in result.uses:
            yield use.operation


def _neighbourhoods(block: Block) -> list[list[Operation]]:
    """The device operations, in groups that exchange values, each in program order."""
    group_of: dict[Operation, list[Operation]] = {}
    order = [op for op in block.ops if is_device(op) and not isinstance(op, ConstantOp)]
    for start in order:
        if start in group_of:
            continue
        members: list[Operation] = []
        pending = [start]
        while pending:
            op = pending.pop()
            if op not in group_of and is_device(op):
                group_of[op] = members
                members.append(op)
                pending += _around(op)
    groups = {id(group): group for group in group_of.values()}
    position = {op: i for i, op in enumerate(order)}
    return [sorted(group, key=position.__getitem__) for group in groups.values()]
