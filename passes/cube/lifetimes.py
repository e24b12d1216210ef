"""When each buffer of a kernel holds something that is still needed.

Steps number the operations of the kernel in the order of the text. A buffer is live from its first to its last use.
What is used inside a loop, but allocated outside, is live for all of the loop, and so is a buffer with copies for the
loop that it is in: one turn finds there what an earlier one left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation

from ge.dialects.cube.kernel import AllocOp, CubeKernelOp


@dataclass(frozen=True)
class Lifetime:
    """First and last step at which a buffer is live."""

    start: int
    end: int


def lifetimes(kernel: CubeKernelOp) -> dict[AllocOp, Lifetime]:
    """The lifetime of every buffer of a kernel that is used."""
    first = {op: step for step, op in enumerate(kernel.walk())}
    last = {op: max((first[inner] for inner in op.walk()), default=0) for op in first}
    result: dict[AllocOp, Lifetime] = {}
    for alloc in first:
        if not isinstance(alloc, AllocOp) or not alloc.result.uses:
            continue
        users = [_outermost(use.operation, alloc) for use in alloc.result.uses]
        loop = _loop_around(alloc)
        if alloc.copy_count > 1 and loop is not None:
            users.append(loop)
        result[alloc] = Lifetime(min(first[user] for user in users), max(last[user] for user in users))
    return result


def _outermost(user: Operation, alloc: AllocOp) -> Operation:
    """A user, or the outermost loop around it that the allocation is not in."""
    found, op = user, user
    while op.parent is not alloc.parent and (parent := op.parent_op()) is not None:
        op = parent
        if isinstance(op, scf.ForOp):
            found = op
    return found


def _loop_around(op: Operation) -> scf.ForOp | None:
    return next(_loops_around(op), None)


def loop_depth(op: Operation) -> int:
    """How many loops an operation is in."""
    return sum(1 for _ in _loops_around(op))


def _loops_around(op: Operation) -> Iterator[scf.ForOp]:
    """The loops around an operation in its kernel, innermost first."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, CubeKernelOp):
        if isinstance(parent, scf.ForOp):
            yield parent
        parent = parent.parent_op()
