"""What rules say of operators, compared with the table of the standard. What is wrong is GE3021, at its place."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ge.dialects.onnx import OP_CLASSES
from ge.dialects.onnx.schema import Operator
from ge.ir.errors import GeError
from ge.rules.pattern import Node
from ge.rules.syntax import Operation, Place


def wrong(at: Place, what: str, remedy: str | None = None) -> GeError:
    """What is wrong with a rule, at its place."""
    return at.error("GE3021", what, remedy)


def nearest(name: str, known: Sequence[str]) -> str:
    """The end of a message: the name that another one resembles."""
    close = get_close_matches(name, known, n=1)
    return f", did you mean '{close[0]}'?" if close else ""


def find_operator(operation: Operation) -> Operator | None:
    """The table entry of an operation; None when its domain has no table. Raises GE3021."""
    op_class = OP_CLASSES.get((operation.domain, operation.op_type))
    if op_class is not None:
        return op_class.OPERATOR
    if any(domain == operation.domain for domain, _ in OP_CLASSES):
        known = [name for domain, name in OP_CLASSES if domain == operation.domain]
        what = f"operator '{operation.op_type}' does not exist{nearest(operation.op_type, known)}"
        raise wrong(operation.at, what, "Operators have the names of the ONNX standard.")
    return None


def check_count(operation: Operation, operator: Operator) -> None:
    """Check how many inputs an operation has. Raises GE3021."""
    parameters = operator.inputs
    variadic = any(each.variadic for each in parameters)
    least = sum(not each.optional and not each.variadic for each in parameters)
    count = len(operation.inputs)
    if count < least or (count > len(parameters) and not variadic):
        most = "or more" if variadic else f"to {len(parameters)}" if len(parameters) != least else ""
        names = ", ".join(
            each.name + ("?" if each.optional else "...") * (each.optional or each.variadic) for each in parameters
        )
        raise wrong(
            operation.at,
            f"expected {operation.op_type}({names}) with {' '.join([str(least), most]).strip()} inputs, found {count}",
        )


def unknown_attribute(operation: Operation | Node, name: str, operator: Operator, at: Place) -> GeError:
    """The error for an attribute that an operator does not have."""
    known = list(operator.attributes)
    shown = f"; it has {', '.join(known)}" if known else "; it has none"
    return wrong(at, f"'{operation.op_type}' has no attribute '{name}'{nearest(name, known) or shown}")
