"""What the ONNX standard says of one operator: parameters, attributes and types, in a notation like a signature.

The table in :mod:`ge.dialects.onnx.operators` is a list of such entries::

    Operator(
        "Conv",
        22,
        "X: T, W: T, B?: T -> Y: T",
        attribute_lines=("auto_pad: string = 'NOTSET'", "group: int = 1", "kernel_shape: ints?", ...),
        constraints={"T": "float"},
    )

* A parameter is ``name: type``; ``name?`` may be absent, ``name*`` and ``name+`` are variadic with at least zero and
  one values, and ``any`` before the type says that the values of a variadic parameter may differ in type.
* An attribute is ``name: kind = default``; ``kind?`` may be absent without a default; otherwise it is required. The
  kinds are int, float, string, tensor, graph, type, sparse_tensor, and the lists ints, floats, strings.
* A type is a word that a constraint defines (``T``), or a *type set*: element types and groups of them (``f32``,
  ``float``; see :data:`GROUPS`), ``seq(...)``, ``optional(...)`` and ``map(key value)``, separated by spaces.

Entries are parsed when they are first looked at, so that loading the dialect costs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, TypeAlias, cast

AttributeKind: TypeAlias = Literal[
    "int", "float", "string", "tensor", "graph", "type", "sparse_tensor", "ints", "floats", "strings"
]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "int": ("i8", "i16", "i32", "i64"),
    "uint": ("ui8", "ui16", "ui32", "ui64"),
    "float": ("f16", "f32", "f64", "bf16"),
    "float8": ("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"),
    "float6": ("f6E2M3FN", "f6E3M2FN"),
    "float4": ("f4E2M1FN",),
    "scale8": ("f8E8M0FNU",),
    "int4": ("i4", "ui4"),
    "int2": ("i2", "ui2"),
    "bool": ("i1",),
    "complex": ("complex<f32>", "complex<f64>"),
}
"""Names for element types that occur together; a single type is written as in the text of a tensor type."""


@dataclass(frozen=True)
class Parameter:
    """An input or output of an operator."""

    name: str
    type: str
    """A word of the operator's type constraints, or a type set."""
    optional: bool = False
    variadic: bool = False
    min_count: int = 1
    """The least number of values of a variadic parameter."""
    same_type: bool = True
    """Whether all values of a variadic parameter have one type."""


@dataclass(frozen=True)
class AttributeSpec:
    """An attribute of an operator. ``default`` is an int, float, string or list of them, or None."""

    name: str
    kind: AttributeKind
    required: bool
    default: object = None


@dataclass(frozen=True)
class Operator:
    """One operator of the standard, as its newest version defines it (``since``: the opset of that version)."""

    name: str
    since: int
    signature: str
    attribute_lines: tuple[str, ...] = ()
    constraints: Mapping[str, str] = field(default_factory=dict[str, str])
    domain: str = ""

    @property
    def url(self) -> str:
        """The page of the standard that defines the operator."""
        prefix = "onnx_aionnxml_" if self.domain else "onnx__"
        return f"https://onnx.ai/onnx/operators/{prefix}{self.name}.html"

    @cached_property
    def inputs(self) -> tuple[Parameter, ...]:
        """The inputs in order."""
        return tuple(_parameters(self.signature.partition(" -> ")[0]))

    @cached_property
    def outputs(self) -> tuple[Parameter, ...]:
        """The outputs in order."""
        return tuple(_parameters(self.signature.partition(" -> ")[2]))

    @cached_property
    def attributes(self) -> Mapping[str, AttributeSpec]:
        """The attributes by name, regions included (kind ``graph``)."""
        return {spec.name: spec for spec in map(_attribute, self.attribute_lines)}

    @cached_property
    def region_names(self) -> tuple[str, ...]:
        """The names of the attributes that are graphs, in the order of the regions of the operation."""
        return tuple(spec.name for spec in self.attributes.values() if spec.kind == "graph")

    def type_set(self, parameter: Parameter) -> frozenset[str]:
        """The types (as in :data:`GROUPS`) that values of a parameter may have."""
        return expand_type_set(self.constraints.get(parameter.type, parameter.type))


def _parameters(text: str) -> Iterator[Parameter]:
    for part in filter(None, text.split(", ")):
        name, type = part.split(": ", 1)
        same_type = not type.startswith("any ")
        type = type.removeprefix("any ")
        match name[-1]:
            case "?":
                yield Parameter(name[:-1], type, optional=True)
            case "*" | "+":
                yield Parameter(name[:-1], type, variadic=True, min_count=int(name[-1] == "+"), same_type=same_type)
            case _:
                yield Parameter(name, type)


def _attribute(line: str) -> AttributeSpec:
    name, rest = line.split(": ", 1)
    kind, _, default = rest.partition(" = ")
    required = not default and not kind.endswith("?")
    value = cast(object, ast.literal_eval(default)) if default else None
    return AttributeSpec(name, cast(AttributeKind, kind.removesuffix("?")), required, value)


@cache
def expand_type_set(text: str) -> frozenset[str]:
    """The single types of a type set: ``"bool seq(f32 f64)"`` is ``{"i1", "seq(f32)", "seq(f64)"}``."""
    return frozenset(_expand(text))


def _expand(text: str) -> Iterator[str]:
    for word in _words(text):
        if word.endswith(")") and not word.startswith("map("):
            constructor, _, inner = word[:-1].partition("(")
            yield from (f"{constructor}({type})" for type in _expand(inner))
        else:
            yield from GROUPS.get(word, (word,))


def _words(text: str) -> Iterator[str]:
    """Split at the spaces outside parentheses."""
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == " " and depth == 0:
            yield text[start:position]
            start = position + 1
    if start < len(text):
        yield text[start:]
