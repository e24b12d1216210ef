"""What the tasks of a device program read and make in the arena, in the terms of :mod:`ge.maths.ordering`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp
from ge.dialects.graph.streams import TaskOp, stream_of
from ge.dialects.om.values import slot_bytes, value_bytes
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where
from ge.maths.ordering import Work, least_of_any_order


@dataclass(frozen=True)
class ProgramWork:
    """The work of a device program: its tasks, what each reads and makes in the arena, and the bytes of values."""

    operations: tuple[TaskOp, ...]
    work: tuple[Work, ...]
    values: tuple[SSAValue, ...]
    """The results of the tasks."""
    sizes: tuple[int, ...]
    """The bytes of their slots; 0 for those that are not in the arena: returned ones, and those of unknown size."""

    @property
    def least_bytes(self) -> int:
        """No order of the operations takes fewer bytes."""
        return least_of_any_order(self.work, self.sizes)


def program_work(program: FuncOp, in_place: bool = True) -> ProgramWork:
    """The tasks of a program, with the values that lie in the arena.

    Host work has copied its operands before it writes a result. Where ``in_place``, the result of a launch may be
    written over the operands that its kernel allows, unless it or a task of another stream reads those in another way.
    """
    block = list(body_of(program).ops)
    root = value_roots(program, block)
    returned = {root[value] for value in block[-1].operands}
    operations = tuple(op for op in block if isinstance(op, LaunchOp | HostOp))
    values = tuple(result for op in operations for result in op.results)
    numbers: dict[SSAValue, int] = {value: number for number, value in enumerate(values)}
    sizes = tuple(
        0 if (size := value_bytes(each.type)) is None or each in returned else slot_bytes(size) for each in values
    )
    streams: dict[SSAValue, set[int]] = {}
    for op in operations:
        for value in op.operands:
            streams.setdefault(root[value], set()).add(stream_of(op))

    def known(values: Iterable[SSAValue]) -> tuple[int, ...]:
        return tuple(numbers[root[value]] for value in values if root[value] in numbers)

    def over(op: TaskOp) -> tuple[int, ...]:
        if not in_place or not isinstance(op, LaunchOp):
            return ()
        otherwise = {root[value] for number, value in enumerate(op.inputs) if number not in op.replaceable}
        allowed = [root[op.inputs[number]] for number in op.replaceable]
        return known(each for each in allowed if each not in otherwise and streams[each] == {stream_of(op)})

    work = tuple(Work(known(op.operands), known(op.results), isinstance(op, HostOp), over(op)) for op in operations)
    return ProgramWork(operations, work, values, sizes)


def value_roots(program: FuncOp, operations: Sequence[Operation]) -> dict[SSAValue, SSAValue]:
    """For every value the one whose bytes it is: itself, or what it is a view of. Raises GE3004."""
    roots: dict[SSAValue, SSAValue] = {argument: argument for argument in program.body.block.args}
    for op in operations:
        match op:
            case ViewOp():
                roots[op.y] = roots[op.x]
            case ConstantOp() | LaunchOp() | HostOp() | RecordOp() | WaitOp() | ReturnOp():
                roots.update({result: result for result in op.results})
            case _:
                raise GeError("GE3004", f"a device program cannot contain {op.name}", where(op))
    return roots
