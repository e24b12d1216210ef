"""What is known of an offset into a buffer: a sum of multiples of index values, one of which may choose the copy.

An access to a buffer with two copies has an offset `slot * size + ...`, where `slot` is a remainder by 2 and `size` the
size of one copy, or one that is known. No other term of the offset can look like that: it would reach beyond the copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ge.dialects.cube.instruction import FieldValue, Instruction
from ge.dialects.cube.kernel import AllocOp
from ge.dialects.cube.scalars import constant_value
from ge.ir.rewriting import replace


@dataclass
class Offset:
    """`constant`, plus each of `terms` times its factor, plus `slot` times the size of a copy."""

    constant: int = 0
    terms: dict[SSAValue, int] = dataclass_field(default_factory=dict[SSAValue, int])
    slot: SSAValue | None = None


def offset_of(value: int | SSAValue, alloc: AllocOp | None = None) -> Offset:
    """Take apart an offset into `alloc` (or into global memory)."""
    result = Offset()
    for term, factor in _terms(value, 1):
        if term is None:
            result.constant += factor
        elif alloc is not None and alloc.copy_count > 1 and factor == alloc.copy_bytes and is_slot(term):
            result.slot = term
        else:
            result.terms[term] = result.terms.get(term, 0) + factor
    return result


def is_slot(value: SSAValue) -> bool:
    """Whether a value is a remainder by 2."""
    owner = value.owner
    return isinstance(owner, arith.RemUIOp) and constant_value(owner.rhs) == 2


def _terms(value: int | SSAValue, factor: int) -> Iterator[tuple[SSAValue | None, int]]:
    """The terms of a sum with their factors; a number is a factor of None."""
    number = value if isinstance(value, int) else constant_value(value)
    if number is not None:
        yield None, int(number) * factor
        return
    assert isinstance(value, SSAValue)
    match value.owner:
        case arith.AddiOp() as op:
            yield from _terms(op.lhs, factor)
            yield from _terms(op.rhs, factor)
        case arith.SubiOp() as op:
            yield from _terms(op.lhs, factor)
            yield from _terms(op.rhs, -factor)
        case arith.MuliOp() as op if isinstance(number := constant_value(op.rhs), int):
            yield from _terms(op.lhs, factor * number)
        case arith.MuliOp() as op if isinstance(number := constant_value(op.lhs), int):
            yield from _terms(op.rhs, factor * number)
        case _:
            yield value, factor


def without_slot(value: SSAValue, alloc: AllocOp) -> int | SSAValue:
    """The offset `value` into the first copy of `alloc`; operations for it are added after those for `value`."""
    owner = value.owner
    if not isinstance(owner, Operation) or offset_of(value, alloc).slot is None:
        return value
    if not isinstance(owner, arith.AddiOp):
        return 0
    lhs, rhs = without_slot(owner.lhs, alloc), without_slot(owner.rhs, alloc)
    if lhs == 0 or rhs == 0:
        return rhs if lhs == 0 else lhs
    assert isinstance(lhs, SSAValue) and isinstance(rhs, SSAValue), "a constant is an operation"
    return Builder(InsertPoint.after(owner)).insert(arith.AddiOp(lhs, rhs)).result


def use_first_copy(op: Instruction, alloc: AllocOp) -> None:
    """Let an instruction access the first copy of `alloc` where it accesses the copy in turn."""
    fields: dict[str, FieldValue] = {field.name: op.field(field.name) for field in op.FIELDS}
    before: list[SSAValue] = []
    for field in op.address_fields():
        buffer, offset = op.address(field.name)
        if buffer is alloc.result and isinstance(offset, SSAValue):
            before.append(offset)
            offset = without_slot(offset, alloc)
        elif buffer is alloc.result and isinstance(offset, int):
            offset %= alloc.copy_bytes
        fields[field.name] = (buffer, offset)
    changed = type(op)(**fields)
    changed.attributes |= op.attributes
    replace(op, changed)
    for offset in before:
        _erase_unused(offset)


def _erase_unused(value: SSAValue) -> None:
    """Erase the arithmetic for a value that nothing uses any more."""
    owner = value.owner
    if isinstance(owner, arith.AddiOp | arith.MuliOp | arith.RemUIOp) and not value.uses:
        operands = list(owner.operands)
        owner.detach()
        owner.erase()
        for operand in operands:
            _erase_unused(operand)
