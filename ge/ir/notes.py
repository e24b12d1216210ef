"""Notes: attributes named after a dialect (``graph.input_names``) that operations of any dialect may carry.

A function has notes for its arguments and results, too.

A dialect whose passes read notes says which there are and what each holds. The verifier checks them, so that passes may
take them as they are, and a wrong one in a text is an error of that text (GE3002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Note:
    """What a note holds: ``what`` in words, and whether the attribute of an operation is that."""

    what: str
    holds: Callable[[Operation, Attribute], bool]


class NotedDialect(Dialect):
    """A dialect with notes."""

    def __init__(
        self,
        name: str,
        operations: Sequence[type[Operation]],
        attributes: Sequence[type[Attribute]],
        notes: Mapping[str, Note],
    ) -> None:
        super().__init__(name, list(operations), list(attributes))
        self.notes = notes


def verify_notes(op: Operation) -> None:
    """Check the notes of an operation, and those that a function has for its arguments. Raises VerifyException."""
    for table in (op.attributes, *_argument_notes(op)):
        _verify_table(op, table)


def _argument_notes(op: Operation) -> Iterator[Mapping[str, Attribute]]:
    for key in ("arg_attrs", "res_attrs"):
        tables = op.properties.get(key)
        if isinstance(tables, ArrayAttr):
            yield from (each.data for each in cast("ArrayAttr[Attribute]", tables) if isinstance(each, DictionaryAttr))


def _verify_table(op: Operation, table: Mapping[str, Attribute]) -> None:
    for name, attribute in table.items():
        dialect, dot, _ = name.partition(".")
        note = _notes_of(dialect).get(name) if dot else None
        if note is not None and not note.holds(op, attribute):
            raise VerifyException(f"'{name}' must be {note.what}")


@cache
def _notes_of(dialect: str) -> Mapping[str, Note]:
    """The notes of a registered dialect, which is imported for that."""
    from ge.ir.registry import registry

    load = registry().dialects.get(dialect)
    found = None if load is None else load()
    return found.notes if isinstance(found, NotedDialect) else {}


# ---------------------------------------------------------------- kinds of notes

Count = Callable[[Operation], int | None]
"""How many elements a list must have; None when any number will do."""


def any_number(_op: Operation) -> None:
    """Lists of any length."""


def arguments(op: Operation) -> int | None:
    """The number of arguments of a function."""
    type = op.properties.get("function_type")
    return len(type.inputs) if isinstance(type, FunctionType) else None


def returned(op: Operation) -> int | None:
    """The number of results that a function returns."""
    type = op.properties.get("function_type")
    return len(type.outputs) if isinstance(type, FunctionType) else None


def is_strings(attribute: Attribute) -> bool:
    """Whether an attribute is a list of strings."""
    items = cast("ArrayAttr[Attribute]", attribute) if isinstance(attribute, ArrayAttr) else None
    return items is not None and all(isinstance(item, StringAttr) for item in items)


def strings(count: Count, of: str) -> Note:
    """A list of strings, one for each of something."""

    def holds(op: Operation, attribute: Attribute) -> bool:
        items = cast("ArrayAttr[StringAttr]", attribute)
        return is_strings(attribute) and count(op) in (None, len(items))

    return Note(f"a list of strings, one for each {of}", holds)


def integers(count: Count, of: str) -> Note:
    """A list of 64-bit integers, one for each of something."""

    def holds(op: Operation, attribute: Attribute) -> bool:
        items = cast("DenseArrayBase[I64]", attribute)
        return isinstance(attribute, DenseArrayBase) and items.elt_type == i64 and count(op) in (None, len(items))

    return Note(f"a list of 64-bit integers, one for each {of}", holds)


def _is_integer(_op: Operation, attribute: Attribute) -> bool:
    return isinstance(attribute, IntegerAttr) and cast("IntegerAttr[I64]", attribute).type == i64


def _is_natural(op: Operation, attribute: Attribute) -> bool:
    return _is_integer(op, attribute) and cast("IntegerAttr[I64]", attribute).value.data >= 0


def _is_string(_op: Operation, attribute: Attribute) -> bool:
    return isinstance(attribute, StringAttr)


def dictionary(of: str, holds: Callable[[Operation, Attribute], bool]) -> Note:
    """A dictionary whose values are all of one kind."""

    def all_hold(op: Operation, attribute: Attribute) -> bool:
        entries = attribute.data if isinstance(attribute, DictionaryAttr) else {"": attribute}
        return isinstance(attribute, DictionaryAttr) and all(holds(op, entry) for entry in entries.values())

    return Note(f"a dictionary of {of}", all_hold)


INTEGER = Note("a 64-bit integer", _is_integer)
NATURAL = Note("a 64-bit integer that is not negative", _is_natural)
STRING = Note("a string", _is_string)
INTEGERS_BY_NAME = dictionary("64-bit integers", _is_integer)
STRINGS_BY_NAME = dictionary("strings", _is_string)
