"""What rules say of operators, compared with the table of the standard. What is wrong is GE3021, at its place."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from ge.dialects.onnx import OP_CLASSES
from ge.dialects.onnx.schema import Operator
from ge.ir.errors import GeError
from ge.rules.functions import CONSTANTS
from ge.rules.pattern import ABSENT_WORD, Node
from ge.rules.syntax import Expression, Listing, Name, Number, Operation, Place, Text


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


def check_inputs(operation: Operation, operator: Operator) -> None:
    """Check that `none` stands only where an operator can do without the input. Raises GE3021."""
    for position, each in enumerate(operation.inputs):
        parameter = operator.inputs[min(position, len(operator.inputs) - 1)] if operator.inputs else None
        if isinstance(each, Name) and each.name == ABSENT_WORD and parameter is not None and not parameter.optional:
            raise wrong(each.at, f"'{operation.op_type}' needs its input '{parameter.name}'")


def check_attributes(operation: Operation, operator: Operator | None) -> None:
    """Check names of attributes, and those values that are written out. Raises GE3021."""
    seen: set[str] = set()
    for name, value in operation.attributes:
        if name in seen:
            raise wrong(value.at, f"attribute '{name}' is given already")
        seen.add(name)
        if operator is None:
            continue
        if name not in operator.attributes:
            raise unknown_attribute(operation, name, operator, value.at)
        kind = operator.attributes[name].kind
        if kind in KINDS and (written := written_out(value)) is not None and not has_kind(written, kind):
            raise wrong(value.at, f"attribute '{name}' of '{operation.op_type}' is {KINDS[kind]}")


KINDS = {
    "int": "an integer",
    "float": "a number",
    "string": "a text",
    "ints": "a list of integers",
    "floats": "a list of numbers",
    "strings": "a list of texts",
}
"""What the kinds of attributes that rules can write are called."""


def written_out(value: Expression) -> object:
    """The number, text or list that an expression is; None when it is computed."""
    match value:
        case Number(number):
            return number
        case Text(text):
            return text
        case Name(name):
            return CONSTANTS.get(name)
        case Listing(items):
            found = [written_out(item) for item in items]
            return None if None in found else found
        case _:
            return None


def has_kind(value: object, kind: str) -> bool:
    """Whether a number, text, list or array can be an attribute of a kind."""
    if type(value) is int:
        return kind in ("int", "float")
    array = np.asarray(value)
    if array.ndim != kind.endswith("s"):
        return False
    if kind.startswith("string") or array.dtype.kind not in "iubf":
        return kind.startswith("string") and (array.dtype.kind == "U" or not array.size)
    return kind.startswith("float") or bool((array == np.floor(array)).all())


def unknown_attribute(operation: Operation | Node, name: str, operator: Operator, at: Place) -> GeError:
    """The error for an attribute that an operator does not have."""
    known = list(operator.attributes)
    shown = f"; it has {', '.join(known)}" if known else "; it has none"
    return wrong(at, f"'{operation.op_type}' has no attribute '{name}'{nearest(name, known) or shown}")
