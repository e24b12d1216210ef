"""From the text of a rule file to :mod:`ge.rules.syntax`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken

from ge.ir.errors import GeError
from ge.rules.syntax import (
    Alternatives,
    AttributeOf,
    Binary,
    Choice,
    Expression,
    Function,
    Index,
    Listing,
    Name,
    Number,
    Operation,
    Optional,
    Place,
    RuleText,
    Slice,
    Statement,
    Text,
    Unary,
    Variadic,
)

RESERVED = frozenset(["rule", "match", "where", "rewrite", "sample", "if", "else", "and", "or", "not", "in"])
"""Words that are no names."""


def parse_rules(text: str, file: str) -> list[RuleText]:
    """The rules of a text. Raises GE3020 with line, column, what was found and what was expected."""
    try:
        tree = _lark().parse(text + "\n")  # pyright: ignore[reportUnknownMemberType]
        return [_Reader(file).rule(each) for each in _trees(tree)]
    except UnexpectedToken as error:
        raise _syntax_error(error, text, file) from None
    except RecursionError as error:
        raise GeError("GE3020", "an expression is nested too deeply", file) from error


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, postlex=_Lines())


class _Lines:
    """Takes out the ends of lines that end no statement: inside brackets, repeated, and at the beginning."""

    always_accept: ClassVar[tuple[str, ...]] = ("_NL", "UNKNOWN")

    def process(self, stream: Iterable[Token]) -> Iterator[Token]:
        """The tokens that the parser sees."""
        depth, after_line = 0, True
        for token in stream:
            depth += (token.type in ("LPAR", "LSQB")) - (token.type in ("RPAR", "RSQB"))
            if token.type != "_NL":
                after_line = False
                yield token
            elif depth <= 0 and not after_line:
                after_line = True
                yield token


# Errors

_WORDS = {
    "NAME": "a name",
    "OPERATOR": "an operator such as Add",
    "RULE_NAME": "the name of the rule (small letters, digits and -)",
    "NUMBER": "a number",
    "TEXT": 'a text in "quotes"',
    "_NL": "the end of the line",
    "COMPARATOR": "a comparison",
    "$END": "the end of the file",
}
"""What the terminals of the grammar are called in messages; others are shown as they are written."""

_STARTS = frozenset({"NAME", "NUMBER", "TEXT", "OPERATOR", "LPAR", "LSQB"})
_CONTINUATIONS = frozenset(
    {"SIGN", "FACTOR_SIGN", "POWER_SIGN", "COMPARATOR", "AND", "OR", "IF", "IN", "VBAR", "DOT", "LSQB", "ELSE"}
)


def _syntax_error(error: UnexpectedToken, text: str, file: str) -> GeError:
    token: Token = error.token
    found = {"$END": "the end of the file", "_NL": "the end of the line"}.get(token.type, f"'{token}'")
    line, column = token.line, token.column
    if token.type == "$END" or line is None or column is None:
        line, column = text.count("\n") + 1, len(text.rpartition("\n")[2]) + 1
    expected = f"expected {_expected(error.accepts or ())}, found {found}{_meant(text, line)}"
    return Place(file, line, column).error("GE3020", expected)


_PARTS = ("match", "where", "rewrite", "sample")
"""The words that begin the parts of a rule, each alone on its line."""


def _meant(text: str, line: int) -> str:
    """The end of a message: which part begins in this line, or the one before, when its word is misspelt."""
    lines = text.split("\n")
    for number in (line - 1, line):
        word = lines[number - 1].partition("#")[0].strip() if 0 < number <= len(lines) else ""
        close = get_close_matches(word, _PARTS, n=1) if word not in _PARTS else []
        if close:
            return f"; is '{word}' in line {number} meant to be '{close[0]}'?"
    return ""


def _expected(terminals: Iterable[str]) -> str:
    """The terminals that could come next, in words."""
    names = set(terminals)
    names -= {"_NL"} if "$END" in names else set()
    shown: list[str] = []
    if names >= _STARTS - {"OPERATOR", "TEXT"}:
        names -= {*_STARTS, "NOT", "SIGN"}
        shown.append("a value")
    if len(names - _CONTINUATIONS):
        names -= _CONTINUATIONS
    shown += sorted(_WORDS.get(name) or _written(name) for name in names)
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing more"


def _written(terminal: str) -> str:
    pattern = next((each.pattern for each in _lark().terminals if each.name == terminal), None)
    return f"'{pattern.value}'" if pattern is not None else terminal


# Trees


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree)]


class _Reader:
    """Makes objects of the trees of one file."""

    def __init__(self, file: str) -> None:
        self.file = file

    def at(self, part: Tree[Token] | Token) -> Place:
        """The place of the first token in a tree that is kept: brackets and `not` are not."""
        first: Any = part
        while not isinstance(first, Token):
            first = next((child for child in first.children if child is not None), None)
            if first is None:
                return Place(self.file, 1, 1)
        return Place(self.file, first.line or 1, first.column or 1)

    def rule(self, tree: Tree[Token]) -> RuleText:
        parts: list[Any] = list(tree.children)
        name, description, match, where, rewrite, sample = parts
        return RuleText(
            name=str(name),
            description="" if description is None else str(description)[1:-1],
            match=self.statements(match),
            where=() if where is None else self.expressions(where.children),
            rewrite=self.statements(rewrite),
            sample=() if sample is None else self.statements(sample),
            at=self.at(name),
        )

    def statements(self, tree: Any) -> tuple[Statement, ...]:
        return tuple(map(self.statement, tree.children))

    def statement(self, tree: Tree[Token]) -> Statement:
        *targets, value = tree.children
        return Statement(tuple(self.name(each) for each in targets), self.expression(value), self.at(tree))

    def name(self, token: Any) -> Name:
        at = self.at(token)
        if str(token) in RESERVED:
            raise at.error("GE3020", f"'{token}' is a word of the language, expected a name")
        return Name(str(token), at)

    def expression(self, tree: Any) -> Expression:
        """The object of any expression."""
        make: Callable[[Sequence[Any], Place], Expression] = getattr(self, f"_{tree.data}")
        return make(tree.children, self.at(tree))

    def expressions(self, trees: Sequence[Any]) -> tuple[Expression, ...]:
        return tuple(self.expression(tree) for tree in trees if tree is not None)

    def _alternatives(self, parts: Sequence[Any], at: Place) -> Expression:
        choices = self.expressions(parts)
        return choices[0] if len(choices) == 1 else Alternatives(choices, at)

    def _choice(self, parts: Sequence[Any], at: Place) -> Expression:
        then, condition, otherwise = self.expressions(parts)
        return Choice(condition, then, otherwise, at)

    def _or_(self, parts: Sequence[Any], at: Place) -> Expression:
        left, right = self.expressions(parts)
        return Binary("or", left, right, at)

    def _and_(self, parts: Sequence[Any], at: Place) -> Expression:
        left, right = self.expressions(parts)
        return Binary("and", left, right, at)

    def _not_(self, parts: Sequence[Any], at: Place) -> Expression:
        return Unary("not", self.expression(parts[0]), at)

    def _in_(self, parts: Sequence[Any], at: Place) -> Expression:
        item, items = self.expressions(parts)
        return Binary("in", item, items, at)

    def _binary(self, parts: Sequence[Any], at: Place) -> Expression:
        left, sign, right = parts
        return Binary(str(sign), self.expression(left), self.expression(right), at)

    def _unary(self, parts: Sequence[Any], at: Place) -> Expression:
        operand = self.expression(parts[1])
        if isinstance(operand, Number) and parts[0] == "-":
            return Number(-operand.value, at)
        return Unary(str(parts[0]), operand, at)

    def _index(self, parts: Sequence[Any], at: Place) -> Expression:
        array, index = self.expressions(parts)
        return Index(array, index, at)

    def _slice(self, parts: Sequence[Any], at: Place) -> Expression:
        start, stop = (None if part is None else self.expression(part) for part in parts)
        return Slice(start, stop, at)

    def _attribute(self, parts: Sequence[Any], at: Place) -> Expression:
        return AttributeOf(str(parts[0]), str(parts[1]), at)

    def _number(self, parts: Sequence[Any], at: Place) -> Expression:
        text = str(parts[0])
        return Number(int(text) if text.isdecimal() else float(text), at)

    def _text(self, parts: Sequence[Any], at: Place) -> Expression:
        return Text(str(parts[0])[1:-1], at)

    def _name(self, parts: Sequence[Any], at: Place) -> Expression:
        return self.name(parts[0])

    def _list(self, parts: Sequence[Any], at: Place) -> Expression:
        return Listing(self.expressions(parts), at)

    def _function(self, parts: Sequence[Any], at: Place) -> Expression:
        return Function(str(parts[0]), self.expressions(parts[1:]), at)

    def _optional(self, parts: Sequence[Any], at: Place) -> Expression:
        return Optional(self.name(parts[0]).name, at)

    def _variadic(self, parts: Sequence[Any], at: Place) -> Expression:
        return Variadic(self.name(parts[0]).name, at)

    def _operation(self, parts: Sequence[Any], at: Place) -> Expression:
        domain, _, op_type = str(parts[0]).rpartition("::")
        inputs: list[Expression] = []
        attributes: list[tuple[str, Expression]] = []
        copied: list[Name] = []
        others = False
        for part in filter(None, parts[1:]):
            match part.data:
                case "keyword":
                    attributes.append((str(part.children[0]), self.expression(part.children[1])))
                case "attributes_of":
                    copied.append(self.name(part.children[0]))
                case "other_attributes":
                    others = True
                case _ if attributes or copied or others:
                    raise self.at(part).error("GE3020", "an input comes before the attributes")
                case _:
                    inputs.append(self.expression(part))
        return Operation(domain, op_type, tuple(inputs), tuple(attributes), others, tuple(copied), at)
