"""Shapes that a user asks for: ``x:1,3,224,224;y:batch,1~8;z:?,-1``, on the command line and in pass options.

An input is a name, a colon, and its sizes; inputs are separated by semicolons. A size is a number, a name, a range
``low~high`` (``low~-1``: without an upper end), or ``?`` or ``-1`` for what the model says. A scalar has no sizes. The
name of an input may contain colons: the last one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from ge.dialects.onnx.shapes import signature
from ge.dialects.onnx.shapes.types import type_of_value
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor, Value, shape_text
from ge.ir.errors import GeError
from ge.maths.symbol_evaluation import substitute
from ge.maths.symbols import Expression, Interval, Size, Symbol, symbol

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

FORM = "name1:1,3,224,224;name2:batch,1~8"


@dataclass(frozen=True)
class Range:
    """Any size from ``low`` to ``high``, both included; None: no upper end."""

    low: int
    high: int | None

    def __str__(self) -> str:
        return f"{self.low}~{-1 if self.high is None else self.high}"


Asked: TypeAlias = "int | str | Range | None"
"""A size that is asked for: a number, a name, a range, or None for what the model says."""

_GRAMMAR = r"""
start: input (";" input)* ";"?
input: INPUT ":" [size ("," size)*]
?size: NUMBER             -> number
     | NUMBER "~" NUMBER  -> range
     | NUMBER "~" REST    -> range
     | NAME               -> name
     | (UNKNOWN | REST)   -> unknown

INPUT: /[^;:\s](?:[^;]*[^;\s])?(?=\s*:[^:;]*(;|$))/
NUMBER: /[0-9]+(?![A-Za-z0-9_.])/
NAME: /[A-Za-z_][A-Za-z0-9_.\/-]*/
REST: "-1"
UNKNOWN: "?"
%ignore /\s+/
"""

_EXPECTED: Mapping[str, str] = {
    "INPUT": f"an input of the form '{FORM}'",
    "NUMBER": "a number",
    "NAME": "a name",
    "UNKNOWN": "'?'",
    "REST": "'-1'",
    "COLON": "':'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "TILDE": "'~'",
}


@cache
def _lark() -> Lark:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr")


def parse_input_shapes(text: str, option: str = "--input-shape") -> dict[str, tuple[Asked, ...]]:
    """The sizes asked for each input of a text. Raises GE2006, which says what is wrong in which column."""
    from lark.exceptions import UnexpectedInput

    try:
        tree = cast(Any, _lark()).parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error, option) from None
    shapes: dict[str, tuple[Asked, ...]] = {}
    for entry in cast("list[Tree[Token]]", tree.children):
        name, *sizes = cast("list[Any]", entry.children)
        if str(name) in shapes:
            raise GeError("GE2006", f"'{text}': input '{name}' is there twice", f"{option}, column {name.column}")
        shapes[str(name)] = tuple(_asked(size, text, option) for size in sizes if size is not None)
    return shapes


def _syntax_error(text: str, error: UnexpectedInput, option: str) -> GeError:
    known = cast(Any, error)
    at_end = getattr(getattr(known, "token", None), "type", "") == "$END"
    column = len(text) + 1 if at_end else known.column
    tokens = set(getattr(known, "accepts", None) or getattr(known, "allowed", None) or ()) - {"$END"}
    expected = " or ".join(sorted(_EXPECTED.get(token, token) for token in tokens))
    found = "the end" if at_end else repr(text[column - 1 :])
    what = f"'{text}' is no list of input shapes: expected {expected}, got {found}"
    return GeError("GE2006", what, f"{option}, column {column}", remedy=f"Write it as {FORM}.")


def _asked(size: Any, text: str, option: str) -> Asked:
    words = [str(token) for token in size.children]
    match str(size.data):
        case "number":
            asked: Asked = int(words[0])
        case "range":
            asked = Range(int(words[0]), None if words[1] == "-1" else int(words[1]))
        case "name":
            return words[0]
        case _:
            return None
    if isinstance(asked, int):
        wrong = "a size is a positive number" if asked < 1 else ""
    else:
        wrong = "a range ends at a greater number" if asked.high is not None and asked.high <= asked.low else ""
    if wrong:
        raise GeError("GE2006", f"'{text}': '{asked}': {wrong}", f"{option}, column {size.children[0].column}")
    return asked


# What the sizes mean for the inputs of a model


@dataclass(frozen=True)
class Fixed:
    """The shapes of all inputs after what was asked for."""

    shapes: Mapping[str, Shape | None]
    sizes: Mapping[str, Size]
    """What names of dimensions stand for now."""
    bounds: Mapping[str, Interval]
    """Bounds of names, by their new names."""


def fix_shapes(
    declared: Mapping[str, Shape | None], asked: Mapping[str, Sequence[Asked]], where: str | None = None
) -> Fixed:
    """Give inputs the sizes that are asked for. A name that gets a size has it in all inputs.

    When one name gets different sizes, each input keeps what is asked for it, and the name means nothing elsewhere.
    Raises GE1019 for an input that does not exist, another rank, or another number than the model has.
    """
    sizes: dict[str, Size] = {}
    torn: set[str] = set()
    shapes = dict(declared)
    bounds: dict[str, Interval] = {}
    for name, wanted in asked.items():
        if name not in declared:
            known = ", ".join(described(*item) for item in declared.items())
            raise GeError("GE1019", f"'{name}' is not an input of the model; its inputs are {known}", where)
        shape = declared[name]
        if shape is None:
            shape = (None,) * len(wanted)
        if len(shape) != len(wanted) or not all(map(_fits, shape, wanted)):
            text = ",".join("?" if size is None else str(size) for size in wanted)
            what = f"input '{name}' cannot have shape {text}: it is {described(name, declared[name])}"
            raise GeError("GE1019", what, where)
        dims: list[Dim] = []
        for axis, (dim, size) in enumerate(zip(shape, wanted, strict=True)):
            new = _new_dim(f"{name}_{axis}", dim, size, bounds)
            old = _single_name(dim)
            if old is not None and size is not None:
                torn |= {old} if sizes.setdefault(old, new or 0) != new else set()
            dims.append(new)
        shapes[name] = tuple(dims)
    known = {old: size for old, size in sizes.items() if old not in torn}
    for name, shape in shapes.items():
        if shape is not None:
            kept = name in asked
            shapes[name] = tuple(
                dim if dim is None or (kept and asked[name][axis] is not None) else _renamed(dim, known, torn)
                for axis, dim in enumerate(shape)
            )
    return Fixed(shapes, known, bounds)


def described(name: str, shape: Shape | None) -> str:
    """An input for a message: ``x[batch, 3, 224, 224]``."""
    return f"{name}{shape_text(shape)}"


def _fits(dim: Dim, asked: Asked) -> bool:
    """Whether a dimension of a model may have a size. Some models write 0 for a dimension that they do not know."""
    if isinstance(asked, int) and asked < 1:
        return False
    if not isinstance(dim, int) or dim == 0 or asked is None:
        return True
    if isinstance(asked, Range):
        return asked.low <= dim and (asked.high is None or dim <= asked.high)
    return dim == asked


def _single_name(dim: Dim) -> str | None:
    """The name of a dimension that is nothing but a name."""
    match dim:
        case Expression(terms) if list(terms.values()) == [1]:
            atoms = next(iter(terms))
            return atoms[0].name if len(atoms) == 1 and isinstance(atoms[0], Symbol) else None
        case _:
            return None


def _new_dim(own_name: str, dim: Dim, asked: Asked, bounds: dict[str, Interval]) -> Dim:
    """A dimension after what is asked for it; ``own_name`` is for a range of a dimension without a name."""
    match asked:
        case None:
            return dim
        case int():
            return asked
        case str():
            return symbol(asked)
        case Range():
            if isinstance(dim, int) and dim:
                return dim
            name = _single_name(dim) or own_name
            bounds[name] = (asked.low, asked.high)
            return symbol(name, asked.low, asked.high)


def _renamed(dim: Size, sizes: Mapping[str, Size], torn: set[str]) -> Dim:
    if isinstance(dim, Expression) and any(found.name in torn for found in dim.symbols):
        return None
    return substitute(dim, sizes.get)


def fix_arguments(function: FuncOp, asked: Mapping[str, Sequence[Asked]]) -> None:
    """Give the arguments of a function the shapes asked for by their ONNX names. Raises GE1019."""
    block = function.body.block
    names = input_names(function)
    values = signature.read_arguments(function, signature.read_names(function))
    declared = {name: value.shape for name, value in zip(names, values, strict=True) if isinstance(value, Tensor)}
    fixed = fix_shapes(declared, asked)
    new: list[Value] = []
    for name, argument, value in zip(names, list(block.args), values, strict=True):
        if isinstance(value, Tensor):
            value = Tensor(value.element, fixed.shapes[name])
            type = type_of_value(value)
            if type != argument.type:
                Rewriter.replace_value_with_new_type(argument, type).name_hint = argument.name_hint
        new.append(value)
    signature.write_arguments(function, new)
    signature.write_bounds(function, {**signature.read_names(function).bounds, **fixed.bounds})
    results = function.function_type.outputs.data
    function.function_type = FunctionType.from_lists([argument.type for argument in block.args], results)


def input_names(function: FuncOp) -> list[str]:
    """The ONNX names of the arguments of a function; those in its text when it notes none."""
    names = function.attributes.get("onnx.input_names")
    if isinstance(names, ArrayAttr):
        return [name.data for name in cast("ArrayAttr[StringAttr]", names)]
    return [argument.name_hint or f"x{argument.index}" for argument in function.body.block.args]
