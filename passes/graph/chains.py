"""Replacing several operations by few, and taking out what nothing uses any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from ge.dialects.graph import ConstantOp
from ge.ir.locations import fused_loc, is_unknown
from ge.ir.rewriting import erase_if_unused, replace_value


def replace_chain(chain: Sequence[Operation], new_ops: Sequence[Operation]) -> None:
    """Put `new_ops`, the last of which gives the result, in the place of the last operation of `chain`.

    They stand for all of `chain`, whose operations follow each other: a producer comes before its users. Those that
    nothing else uses go, with the constants that only they used.
    """
    last = chain[-1]
    location = fused_loc(chain)
    for op in new_ops:
        if is_unknown(op.location):
            op.location = location
    block = last.parent
    assert block is not None, "operations of a function are in a block"
    block.insert_ops_before(list(new_ops), last)
    replace_value(last.results[0], new_ops[-1].results[0])
    erase_unused(reversed(chain))


def erase_unused(ops: Iterable[Operation]) -> None:
    """Erase those of `ops` whose results nothing uses, in the order given: users before producers."""
    for op in ops:
        constants = [operand.owner for operand in dict.fromkeys(op.operands) if isinstance(operand.owner, ConstantOp)]
        if erase_if_unused(op):
            for constant in constants:
                erase_if_unused(constant)
