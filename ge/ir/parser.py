"""Reading modules from text: xDSL's parser, made exact.

What :class:`GeParser` adds to xDSL 0.75:

* every operation gets the position of its text as location, inside the node name when it has one;
* ``0x…`` in ``dense<…>`` and ``array<…>`` of floats are the bits of the value, not an integer;
* string literals are UTF-8, so that names in any language stay strings;
* integer types have a largest width, shapes a largest rank, and ``dense`` a largest size: a few characters of text
  would otherwise take any time and memory;
* ``#ge.weights<…>`` find their files relative to the text (see :mod:`ge.ir.weights`);
* tokens are cut by one regular expression, and a tensor type or array that was read before is not read again.

Errors are :class:`~ge.ir.errors.GeError` GE3001 with ``file:line:column`` when a module is read with
:func:`parse_module`.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_left
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, AttributeInvT, Operation, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from ge.ir.attributes import position_of
from ge.ir.errors import GeError, internal_error
from ge.ir.locations import position
from ge.ir.registry import context
from ge.ir.weights import WeightsReader

AttributeT = TypeVar("AttributeT", bound=Attribute)

_TOKEN = re.compile(
    r"""(?:\s++|//[^\n]*+)*+(?:
      (?P<BARE_IDENT>[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<PERCENT_IDENT>%(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
    | (?P<punctuation>->|[:,()}<>=\[\]+/*?|])
    | (?P<FLOAT_LIT>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
    | (?P<INTEGER_LIT>0[xX][0-9a-fA-F]+|[0-9]+)
    | (?P<L_BRACE>\{)(?!-\#)
    | (?P<EXCLAMATION_IDENT>!(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
    | (?P<HASH_IDENT>\#(?:[0-9]+|[A-Za-z$._][A-Za-z0-9$._-]*))
    | (?P<MINUS>-)
    )""",
    re.VERBOSE | re.ASCII,
)
"""The frequent tokens; the rest (strings, symbols, block names, metadata) is left to xDSL's lexer."""

_REPEATED = re.compile(r"(?:tensor|array)<[^<>\"]*(?:<[^<>\"]*>[^<>\"]*)?>")
"""Types and attributes that text repeats often: parsed once for each spelling."""

_KINDS = {name: MLIRTokenKind[name] for name in _TOKEN.groupindex if name != "punctuation"}
_PUNCTUATION = {kind.value: kind for kind in MLIRTokenKind if isinstance(kind.value, str)}


MAX_INTEGER_WIDTH = 4096
"""Bits of an integer type. The range of a type is computed, which takes for ever for the widths that text can name."""

MAX_RANK = 256
"""Dimensions of a shape; NumPy has at most 64."""

MAX_DENSE_ELEMENTS = 1 << 20
"""Elements of ``dense<...>``, which ``dense<0.0>`` spreads one number over. Larger constants are ``#ge.weights``."""

_SHAPE_OF_TOO_HIGH_RANK = re.compile(rf"(?:(?:[0-9]+|\?)\s*x\s*){{{MAX_RANK + 1}}}")


class GeLexer(MLIRLexer):
    """xDSL's lexer, with one regular expression for most tokens and UTF-8 in string literals."""

    _unescaped_characters_regex = re.compile(r'"[^"\\\n\v\f]*+(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*+)*+"')
    """A string literal; unlike xDSL's expression, it takes linear time on a literal that does not end."""

    def lex(self) -> MLIRToken:
        start = self.pos
        match = _TOKEN.match(self.input.content, start)
        if match is None or (group := match.lastgroup) is None:
            return super().lex()
        start, end = match.span(group)
        self.pos = end
        kind = _KINDS.get(group) or _PUNCTUATION[self.input.content[start:end]]
        return Token(kind, Span(start, end, self.input))

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT and _is_utf8(token.span):
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


def _is_utf8(literal: Span[str]) -> bool:
    try:
        StringLiteral(literal.start, literal.end, literal.input).bytes_contents.decode()
    except UnicodeDecodeError:
        return False
    return True


class _FloatBits(int):
    """A hexadecimal literal: the bits of a float where a float is wanted, an integer elsewhere."""

    def as_float(self, type: AnyFloat) -> float:
        """The float of ``type`` with these bits; OverflowError when they are too many."""
        return type.unpack(self.to_bytes(type.compile_time_size, "little"), 1)[0]


_FLOAT_OF_DIGITS: dict[int, AnyFloat] = {4: f16, 8: f32, 16: f64}
"""Digits of a hexadecimal float -> its type, where only the operation's definition knows the type."""


class GeParser(Parser):
    """Parses the text of any level; see the module docstring."""

    weights_reader: WeightsReader

    def __init__(
        self, ctx: Context, text: str, name: str = "<text>", *, weights_reader: WeightsReader | None = None
    ) -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(GeLexer(Input(text, name)))
        self.weights_reader = WeightsReader() if weights_reader is None else weights_reader
        self._file = StringAttr(name)
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._op_span = self._current_token.span
        self._first_uses: dict[str, Span[str]] = {}
        self._known: dict[str, Attribute] = {}

    # Positions

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
            module.location = self._with_position(module.location, 0)  # an implicit module begins with its text
            return module
        except ParseError:
            undefined = next(iter(self.forward_ssa_references), None)
            if undefined is None or self._current_token.kind is not MLIRTokenKind.EOF:
                raise
            self.raise_error(f"value %{undefined} is used but not defined", self._first_uses[undefined])

    def parse_operation(self) -> Operation:
        self._op_span = span = self._current_token.span
        op = super().parse_operation()
        op.location = self._with_position(op.location, span.start)
        return op

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op_type = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if op_type is None:
            known = [op.name for op in self.ctx.loaded_ops]
            close = [f"'{match}'" for match in get_close_matches(name, known, n=1)]
            hint = f", did you mean {close[0]}?" if close else ""
            self.raise_error(f"operation '{name}' is not registered{hint}", self._op_span)
        return op_type

    def _with_position(self, location: LocationAttr, start: Position) -> LocationAttr:
        """``location`` with the text position ``start``, unless it has one."""
        match location:
            case UnknownLoc():
                return self._position(start)
            case NameLoc() if isinstance(location.location, NoneAttr):
                return NameLoc(location.desc, self._position(start))
            case FusedLoc() if position(location) is None:
                parts = cast(ArrayAttr[Attribute], location.locations)
                return FusedLoc((*parts, self._position(start)), location.metadata)
            case _:
                return location

    def _position(self, offset: Position) -> FileLineColLoc:
        line = bisect_left(self._line_ends, offset)
        column = offset - (self._line_ends[line - 1] if line else -1)
        return FileLineColLoc(self._file, IntAttr(line + 1), IntAttr(column))

    # Limits

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        token = self._current_token
        found = super()._parse_optional_integer_or_float_type()
        width: int = cast(Any, found).width.data if isinstance(found, IntegerType) else 0
        if width > MAX_INTEGER_WIDTH:
            self.raise_error(f"integers have at most {MAX_INTEGER_WIDTH} bits", token.span)
        return cast("TypeAttribute | None", found)

    def parse_dimension_list(self) -> list[int]:
        if _SHAPE_OF_TOO_HIGH_RANK.match(self.lexer.input.content, self._current_token.span.start):
            self.raise_error(f"a shape has at most {MAX_RANK} dimensions")
        return super().parse_dimension_list()

    def _parse_dense_literal_type(self) -> Any:
        start = self._current_token.span
        type: Any = super()._parse_dense_literal_type()
        if math.prod(type.get_shape()) > MAX_DENSE_ELEMENTS:
            self.raise_error(f"dense<...> has at most {MAX_DENSE_ELEMENTS} elements, not those of {type}", start)
        return type

    # Speed

    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        return self._parse_once(super()._parse_optional_builtin_parametrized_type)

    def _parse_optional_builtin_parametrized_attr(self) -> Attribute | None:
        return self._parse_once(super()._parse_optional_builtin_parametrized_attr)

    def _parse_once(self, parse: Callable[[], AttributeT | None]) -> AttributeT | None:
        """The result of ``parse``, or what the same text gave before."""
        token = self._current_token
        if token.kind is not MLIRTokenKind.BARE_IDENT:
            return parse()
        match = _REPEATED.match(self.lexer.input.content, token.span.start)
        if match is None:
            return parse()
        if (known := self._known.get(match[0])) is not None:
            self._resume_from(match.end())
            return cast(AttributeT, known)
        if (found := parse()) is not None:
            self._known[match[0]] = found
        return found

    # Exact floats

    class _TensorLiteralElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        """An element of ``dense<...>``, in which hexadecimal literals keep their bits."""

        def to_type(self, parser: AttrParser, type: AnyDenseElement) -> Any:
            if isinstance(type, AnyFloat):
                return _as_float(parser, self.value, type, self.span)
            if isinstance(type, ComplexType) and isinstance(type.element_type, AnyFloat):
                if not isinstance(self.value, tuple):
                    parser.raise_error("expected a complex number (real, imaginary)", self.span)
                return tuple(_as_float(parser, part, type.element_type, self.span) for part in self.value)
            return super().to_type(parser, type)

    def _parse_optional_bool_int_or_float(
        self,
    ) -> tuple[bool, Span[str]] | tuple[int, Span[str]] | tuple[float, Span[str]] | None:
        is_bits = _is_hexadecimal(self._current_token)
        found = super()._parse_optional_bool_int_or_float()
        if found is not None and is_bits:
            return _FloatBits(found[0]), found[1]
        return found

    def _parse_optional_complex(self) -> tuple[Any, Span[str]] | None:
        if self._current_token.kind is not MLIRTokenKind.L_PAREN:
            return None
        start = self._consume_token().span.start
        real, _ = self._parse_bool_int_or_float()
        self.parse_punctuation(",")
        imaginary, _ = self._parse_bool_int_or_float()
        end = self._parse_token(MLIRTokenKind.R_PAREN, "expected ')' after a complex number").span.end
        return (real, imaginary), Span(start, end, self.lexer.input)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        start = self._current_token.span.start
        self.parse_punctuation("<")
        element_type = self.parse_type()
        if isinstance(element_type, IntegerType) and not cast("IntegerType[Any]", element_type).width.data:
            self.raise_error("an array cannot hold integers without bits", start, self.pos)
        if not isinstance(element_type, AnyFloat):
            self._resume_from(start)
            return super()._parse_builtin_densearray_attr()
        data = b""
        if self.parse_optional_punctuation(":") is not None:
            elements = self.parse_comma_separated_list(self.Delimiter.NONE, lambda: self._float_bytes(element_type))
            data = b"".join(elements)
        self.parse_punctuation(">")
        return DenseArrayBase(element_type, BytesAttr(data))

    def _float_bytes(self, type: AnyFloat) -> bytes:
        """The bytes of one float literal; a hexadecimal literal is taken bit by bit."""
        value, span = self._parse_bool_int_or_float()
        if isinstance(value, _FloatBits):
            try:
                return value.to_bytes(type.compile_time_size, "little")
            except OverflowError:
                self.raise_error(f"too many bits for {type}", span)
        return type.pack((float(value),))

    def parse_optional_float(self, *, allow_negative: bool = True) -> float | None:
        token = self._current_token
        if _is_hexadecimal(token) and (type := _FLOAT_OF_DIGITS.get(len(token.text) - 2)) is not None:
            self._consume_token()
            return _FloatBits(token.text, 16).as_float(type)
        return super().parse_optional_float(allow_negative=allow_negative)


def _is_hexadecimal(token: MLIRToken) -> bool:
    return token.kind is MLIRTokenKind.INTEGER_LIT and token.text[:2] in ("0x", "0X")


def _as_float(parser: AttrParser, value: Any, type: AnyFloat, span: Span[str]) -> float:
    """A literal as a float of ``type``."""
    if isinstance(value, tuple):
        parser.raise_error("expected one number, got a complex number", span)
    if not isinstance(value, _FloatBits):
        return float(value)
    try:
        return value.as_float(type)
    except OverflowError:
        parser.raise_error(f"too many bits for {type}", span)


def parse_module(
    source: str | Path,
    ctx: Context | None = None,
    *,
    name: str | None = None,
    verify_weights: bool = True,
    allow_implicit_module: bool = True,
) -> ModuleOp:
    """The module in a text or a file: a ``Path``, or a ``str`` that is one line ending in ``.mlir``, is a file name.

    Weights files are looked for in the folder of the file, or in the current folder for a text, and compared with their
    digests unless ``verify_weights`` is false. ``name`` is the file name in locations and errors. The module is not
    verified. Raises GeError: GE1001 or GE1004 for the file, GE3001 for the text, GE3006 or GE3007 for weights, and
    GE9001 for a fault of ours.
    """
    folder = None
    if isinstance(source, Path) or (source.endswith(".mlir") and "\n" not in source):
        folder = Path(source).parent
        name = str(source) if name is None else name
        source = read_text(Path(source))
    reader = WeightsReader(folder, verify_weights)
    name = "<text>" if name is None else name
    return parse_text(context() if ctx is None else ctx, source, name, reader, allow_implicit_module)


def parse_text(
    ctx: Context, text: str, name: str, weights_reader: WeightsReader, allow_implicit_module: bool = True
) -> ModuleOp:
    """The module in ``text``; every failure is a GeError with the position where reading stopped."""
    parser = None
    try:
        parser = GeParser(ctx, text, name, weights_reader=weights_reader)
        return parser.parse_module(allow_implicit_module)
    except GeError:
        raise
    except ParseError as error:
        raise GeError("GE3001", error.msg, str(error.span.get_location())) from error
    except RecursionError as error:
        raise GeError("GE3001", "regions are nested too deeply", _stop(parser, name)) from error
    except struct.error as error:  # xDSL packs a list of integers before it looks at their type
        raise GeError("GE3001", f"a number does not fit its type: {error}", _stop(parser, name)) from error
    except (ValueError, OverflowError, NotImplementedError, VerifyException) as error:  # what operations say of text
        raise GeError("GE3001", str(error) or type(error).__name__, _stop(parser, name)) from error
    except Exception as error:
        raise internal_error(error, where=_stop(parser, name)) from error


def _stop(parser: GeParser | None, name: str) -> str:
    """Where the parser stands."""
    return name if parser is None else position_of(parser, parser.pos)


def read_text(path: Path) -> str:
    """The text of a stage file. Raises GE1001 when it cannot be read and GE1004 when it is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GeError("GE1001", f"'{path}': {error.strerror or error}", str(path)) from error
    return decode_text(data, str(path))


def decode_text(data: bytes, name: str) -> str:
    """Bytes of a stage file as text. Raises GE1004 when they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise GeError("GE1004", f"'{name}' has byte 0x{data[error.start]:02X} at offset {error.start}", name) from error
