"""The pass `note-dataflow`, and what it notes: what a device program computes, whatever the order and the streams."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ConstantOp, RecordOp, WaitOp
from ge.dialects.graph.program import DATAFLOW
from ge.ir.attributes import WeightsAttr
from ge.ir.functions import body_of
from ge.ir.printer import GePrinter
from ge.ir.weights import WeightsMode, WeightsWriter

_DECIDED_LATER = ("cycles", "offset", "offsets", "stream")
"""Properties that say when and where an operation computes, not what."""


@dataclass(frozen=True)
class NoteDataflowPass(ModulePass):
    """Note on a device program what it computes, so that `check-memory` can tell whether a later pass has changed it.

    1. A program of one stream gets the note `graph.dataflow`, before its launches are ordered and put into streams.

    Left alone: everything else; declarations. A note that is there already is replaced.
    """

    name = "note-dataflow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in op.ops:
            if isinstance(program, FuncOp) and not program.is_declaration:
                program.attributes[DATAFLOW] = StringAttr(dataflow(program))


def dataflow(program: FuncOp) -> str:
    """A digest of what a device program computes: SHA-256 in hexadecimal.

    Each value is known by what makes it (kernel and cores, host operations, type) of which values. The digest is of all
    tasks, each as often as it is done, in no order, and of what is returned, in order.
    """
    values: dict[SSAValue, str] = {
        argument: _digest("argument", str(number), str(argument.type))
        for number, argument in enumerate(body_of(program).args)
    }
    done: list[str] = []
    for op in body_of(program).ops:
        if isinstance(op, RecordOp | WaitOp | ReturnOp):
            continue
        made = _digest(_meaning(op), *(values.get(operand, "not made yet") for operand in op.operands))
        values.update({result: _digest(made, str(number)) for number, result in enumerate(op.results)})
        if not isinstance(op, ConstantOp):
            done.append(made)
    last = body_of(program).last_op
    returned = [] if last is None else [values.get(value, "not made yet") for value in last.operands]
    return _digest(*sorted(done), "returned", *returned)


def _meaning(op: Operation) -> str:
    """What an operation computes of its operands, as text."""
    if isinstance(op, ConstantOp) and isinstance(op.value, WeightsAttr):
        return f"{op.name} {op.value.digest} {op.y.type}"
    properties = {name: each for name, each in sorted(op.properties.items()) if name not in _DECIDED_LATER}
    texts = [
        f"{name} = {_text(lambda printer, each=each: printer.print_attribute(each))}"
        for name, each in properties.items()
    ]
    regions = [_text(lambda printer, each=each: printer.print_region(each)) for each in op.regions]
    return "\n".join([op.name, *texts, *(str(type) for type in op.result_types), *regions])


def _text(write: Callable[[GePrinter], None]) -> str:
    """What is printed, with digests in the place of weights."""
    stream = StringIO()
    write(GePrinter(stream, weights_writer=WeightsWriter(WeightsMode.ELIDED)))
    return stream.getvalue()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
