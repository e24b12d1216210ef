"""Scalar code: the `arith` operations that the scalar unit of a core executes, and what else a kernel may hold.

Each operation has one row in :data:`SCALAR_OPS`: its class, and its meaning as a Python expression over the operands
`{0}`, `{1}`, ... which the simulator compiles. Values are `index` (Python int), `i1` (0 or 1) and `f32`
(Python float that is a float32). The unsigned operations on `index` are for values that are not negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f32, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import float32

if TYPE_CHECKING:
    from ge.dialects.cube.kernel import CubeKernelOp

SCALAR_TYPES: tuple[Attribute, ...] = (IndexType(), i1, f32)
"""The types of scalar values; their positions number them in the encoding."""


@dataclass(frozen=True)
class ScalarOp:
    """One scalar operation: class, and meaning as a Python expression."""

    op: type[Operation]
    python: str


def divide(a: float, b: float) -> float:
    """Return a / b as IEEE 754 float32 does it."""
    if b == 0.0:
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return float32(a / b)


def remainder(a: int, b: int) -> int:
    """Return a - b * trunc(a / b): the remainder that has the sign of a."""
    return abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b))


def quotient(a: int, b: int) -> int:
    """Return a / b rounded towards zero."""
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


SCALAR_OPS: tuple[ScalarOp, ...] = (
    ScalarOp(arith.AddiOp, "({0} + {1})"),
    ScalarOp(arith.SubiOp, "({0} - {1})"),
    ScalarOp(arith.MuliOp, "({0} * {1})"),
    ScalarOp(arith.DivUIOp, "({0} // {1})"),
    ScalarOp(arith.FloorDivSIOp, "({0} // {1})"),
    ScalarOp(arith.CeilDivUIOp, "-(-{0} // {1})"),
    ScalarOp(arith.CeilDivSIOp, "-(-{0} // {1})"),
    ScalarOp(arith.DivSIOp, "quotient({0}, {1})"),
    ScalarOp(arith.RemUIOp, "({0} % {1})"),
    ScalarOp(arith.RemSIOp, "remainder({0}, {1})"),
    ScalarOp(arith.MinUIOp, "min({0}, {1})"),
    ScalarOp(arith.MinSIOp, "min({0}, {1})"),
    ScalarOp(arith.MaxUIOp, "max({0}, {1})"),
    ScalarOp(arith.MaxSIOp, "max({0}, {1})"),
    ScalarOp(arith.AndIOp, "({0} & {1})"),
    ScalarOp(arith.OrIOp, "({0} | {1})"),
    ScalarOp(arith.XOrIOp, "({0} ^ {1})"),
    ScalarOp(arith.SelectOp, "({1} if {0} else {2})"),
    ScalarOp(arith.AddfOp, "float32({0} + {1})"),
    ScalarOp(arith.SubfOp, "float32({0} - {1})"),
    ScalarOp(arith.MulfOp, "float32({0} * {1})"),
    ScalarOp(arith.DivfOp, "divide({0}, {1})"),
    ScalarOp(arith.NegfOp, "-{0}"),
    ScalarOp(arith.MaximumfOp, "max({0}, {1})"),
    ScalarOp(arith.MinimumfOp, "min({0}, {1})"),
)
"""The scalar operations whose operands are all values. `arith.constant` and `arith.cmpi` are beside it."""

SCALAR_BY_CLASS = {row.op: row for row in SCALAR_OPS}
SCALAR_BY_NAME = {row.op.name: row for row in SCALAR_OPS}

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""The Python operator for each predicate number of `arith.cmpi`; the unsigned ones come last."""

SCALAR_FUNCTIONS = {"divide": divide, "remainder": remainder, "quotient": quotient, "float32": float32}
"""What the expressions call besides built-in functions."""


def constant_value(value: SSAValue) -> int | float | None:
    """The number that `value` is, if an `arith.constant` defines it."""
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    match owner.value:
        case IntegerAttr() as attribute:
            return attribute.value.data & 1 if attribute.type == i1 else attribute.value.data
        case FloatAttr() as attribute:
            return float(attribute.value.data)
        case _:
            return None


def check_scalar_code(kernel: CubeKernelOp) -> None:
    """Raise VerifyException when a kernel holds an operation that a core cannot execute."""
    for op in kernel.walk():
        if op is kernel or (op.name.startswith("cube.") and op.name != kernel.name):
            continue
        match op:
            case scf.ForOp():
                if op.iter_args:
                    raise VerifyException("scf.for carries values through its iterations, which a core cannot do")
            case scf.IfOp():
                if op.results:
                    raise VerifyException("scf.if has results, which a core cannot give it")
            case scf.YieldOp():
                pass
            case arith.ConstantOp() | arith.CmpiOp():
                _check_types(op)
            case _ if type(op) in SCALAR_BY_CLASS:
                _check_types(op)
            case _:
                raise VerifyException(f"{op.name} is not an instruction of a core")


def _check_types(op: Operation) -> None:
    for value in (*op.operands, *op.results):
        if value.type not in SCALAR_TYPES:
            raise VerifyException(f"{op.name} on {value.type}: the scalar unit has index, i1 and f32")
