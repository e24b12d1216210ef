"""Changes of MLIR text: of its tokens, lines and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[A-Za-z_$.][A-Za-z0-9_$.-]*|[%#!^]\d+|\d+(?:\.\d*)?(?:e[+-]?\d+)?|->|\S'
)
"""Roughly the tokens of MLIR."""

_NUMBER = re.compile(r"(?<![A-Za-z_0-9.%#])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

_TYPE = re.compile(r"(?:tensor|!tile\.\w+|!cube\.\w+)<[^<>]*(?:<[^<>]*>[^<>]*)?>|\b[fi]\d+\b|\bindex\b")

NUMBERS = (
    *("0", "1", "-1", "2", "3", "15", "16", "17", "255", "256", "1023", "65535", "65536", "2147483647", "2147483648"),
    *("4294967296", "1099511627776", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.5"),
    *("1" + "0" * 30, "0x10", "0x7FC00000", "1.0e+400", "-0.0", "1e5"),
)

TYPES = (
    *("f16", "f32", "f64", "bf16", "i1", "i8", "i32", "i64", "ui8", "si16", "i0", "i999999999", "index", "none"),
    *("tensor<*xf32>", "tensor<f32>", "tensor<?xf32>", "tensor<4xi32>", "tensor<1x2x3x4xf16>", "tensor<0xf32>"),
    *("tensor<99999999999x99999999999xf32>", "tensor<-1xf32>", "memref<4xf32>", "vector<4xf32>", "complex<f32>"),
    *("tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>>", "tensor<4x4xf16, #ge.layout<FRACTAL_NZ>>", "tuple<f32>"),
    *("!onnx.unknown", "!onnx.string", "!tile.gm<4x16xf16>", "!tile.tile<4x16xf16>", "!cube.buffer<l1>", "() -> ()"),
)

ATTRIBUTES = (
    *("unit", "true", '"text"', "@symbol", "@a::@b", "[]", "{}", "{a = 1}", '[1, "a"]', "dense<0> : tensor<2xi8>"),
    *("array<i64: 1, 2>", "array<f32: 0.5>", "1 : i32", "1.0 : f32", "dense<[1.0, 2.0]> : tensor<2xf16>"),
    *("affine_map<(d0) -> (d0)>", "#ge.layout<NC1HWC0>", '#ge.weights<"model.weights", 0, 16, "00">', "loc(unknown)"),
    *('#ge.weights<"0x00FF">', "#graph.activation<relu>", "#graph.activation<clip, 0.0, 6.0>"),
    *("dense<> : tensor<0xf32>", "array<i66: 1>", "#onnx.tensor<dense<1> : tensor<i8>>"),
)

CHARACTERS = (
    *("\x00", "\u200b", "é", "卷", "🦆", "\u202e", "\t", "\r", "\\"),
    *('"', "'", "`", "$", "~", "\x7f", "//", "/*"),
)

Mutation = Callable[[str, Random, str], str]
"""From a text and another text of the same kind to a changed text."""


def mutate(text: str, random: Random, other: str) -> str:
    """Change a text in one of the ways below."""
    return random.choice(MUTATIONS)(text, random, other)


def _spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(text)]


def _replace(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def _token(text: str, random: Random) -> tuple[int, int]:
    """A random token; the empty end of a text without any."""
    spans = _spans(text)
    return random.choice(spans) if spans else (len(text), len(text))


def delete_token(text: str, random: Random, _other: str) -> str:
    return _replace(text, _token(text, random), "")


def double_token(text: str, random: Random, _other: str) -> str:
    start, end = _token(text, random)
    return text[:end] + " " + text[start:end] + text[end:]


def swap_tokens(text: str, random: Random, _other: str) -> str:
    """Exchange two tokens, mostly close to each other."""
    spans = _spans(text)
    if len(spans) < 2:
        return text
    first = random.randrange(len(spans) - 1)
    last = random.choice((first + 1, min(first + random.randrange(1, 8), len(spans) - 1), len(spans) - 1))
    (a, b), (c, d) = spans[first], spans[last]
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def replace_token(text: str, random: Random, other: str) -> str:
    """Replace a token by another that begins alike: a value by a value, a name by a name."""
    start, end = _token(text, random)
    source = random.choice((text, other))
    kind = _kind(text[start:end])
    alike = [source[a:b] for a, b in _spans(source) if _kind(source[a:b]) == kind]
    return _replace(text, (start, end), random.choice(alike)) if alike else text


def _kind(token: str) -> str:
    first = token[:1]
    if first.isalpha():
        return "name"
    return "number" if first.isdigit() else first


def any_token(text: str, random: Random, other: str) -> str:
    """Replace a token by any other."""
    start, end = _token(other, random)
    return _replace(text, _token(text, random), other[start:end])


def change_everywhere(text: str, random: Random, other: str) -> str:
    """Replace all that is spelt like a token by another that begins alike: a type or name changes consistently."""
    start, end = _token(text, random)
    old = text[start:end]
    if not old[-1:].isalnum():
        return text
    source = random.choice((text, other))
    alike = sorted({source[a:b] for a, b in _spans(source) if _kind(source[a:b]) == _kind(old)})
    new = random.choice((*NUMBERS, *alike) if old.isdigit() else (*alike, old))
    return re.sub(rf"(?<![\w%@#!.$]){re.escape(old)}(?![\w.$-])", lambda _: new, text)


def swap_values(text: str, random: Random, _other: str) -> str:
    """Use another value as an operand."""
    spans = [match.span() for match in re.finditer(r"%[\w.$#-]+", text)]
    if not spans:
        return text
    a, b = random.choice(spans)
    return _replace(text, random.choice(spans), text[a:b])


def change_dimension(text: str, random: Random, _other: str) -> str:
    """Change a number of a shape, there or wherever that shape is."""
    spans = [match.span(1) for match in re.finditer(r"(?<=[<x])(\d+|\?)(?=x)", text)]
    if not spans:
        return text
    start, end = random.choice(spans)
    new = random.choice(("?", "0", "1", "2", "3", "16", "17", "32", "1000", "65536", "99999999999"))
    shape = re.compile(r"<[\dx?]+x").search(text, max(start - 40, 0))
    if random.random() < 0.5 or shape is None:
        return _replace(text, (start, end), new)
    return text.replace(shape[0], re.sub(r"\d+|\?", new, shape[0], count=1))


def change_number(text: str, random: Random, _other: str) -> str:
    spans = [match.span() for match in _NUMBER.finditer(text)]
    if not spans:
        return text
    start, end = random.choice(spans)
    near = [str(int(text[start:end]) + step) for step in (-1, 1)] if text[start:end].lstrip("-").isdigit() else []
    return _replace(text, (start, end), random.choice((*NUMBERS, *near * 8)))


def change_type(text: str, random: Random, _other: str) -> str:
    spans = [match.span() for match in _TYPE.finditer(text)]
    return _replace(text, random.choice(spans), random.choice(TYPES)) if spans else text


def change_attribute(text: str, random: Random, _other: str) -> str:
    """Replace what follows an equals sign."""
    spans = [match.span(1) for match in re.finditer(r"= *([^\s,}%]+)", text)]
    return _replace(text, random.choice(spans), random.choice(ATTRIBUTES)) if spans else text


def add_attribute(text: str, random: Random, _other: str) -> str:
    """Put an attribute into a dictionary, or a new dictionary behind something."""
    name = random.choice(("a", "value", "axis", "onnx.dims", '"x y"', "sym_name", "operandSegmentSizes", "卷"))
    entry = f"{name} = {random.choice(ATTRIBUTES)}"
    places = [match.end() for match in re.finditer(r"\{", text)]
    if places and random.random() < 0.6:
        place = random.choice(places)
        return f"{text[:place]}{entry}, {text[place:]}"
    _, place = _token(text, random)
    return f"{text[:place]} {{{entry}}} {text[place:]}"


def change_characters(text: str, random: Random, _other: str) -> str:
    """Insert, delete or replace a character."""
    place = random.randrange(len(text) + 1)
    return text[:place] + random.choice(("", *CHARACTERS)) + text[place + random.choice((0, 1)) :]


def change_lines(text: str, random: Random, other: str) -> str:
    """Delete, double, move or exchange a line, or take one of another text."""
    lines, others = text.split("\n"), other.split("\n")
    line = random.randrange(len(lines))
    place = random.randrange(len(lines) + 1)
    match random.randrange(5):
        case 0:
            del lines[line]
        case 1:
            lines.insert(place, lines[line])
        case 2:
            lines.insert(place, lines.pop(line))
        case 3:
            lines.insert(place, random.choice(others))
        case _:
            lines[line] = random.choice(others)
    return "\n".join(lines)


def change_bracket(text: str, random: Random, other: str) -> str:
    """Delete, empty, double, nest or exchange something in brackets."""
    pairs = _brackets(text)
    if not pairs:
        return text
    start, end = random.choice(pairs)
    inside = text[start + 1 : end - 1]
    match random.randrange(6):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[: start + 1] + text[end - 1 :]
        case 2:
            return text[:end] + random.choice(("", ", ", " ")) + text[start:end] + text[end:]
        case 3:
            return text[: start + 1] + text[start:end] + text[end - 1 :]
        case 4:
            return text[: start + 1] + inside + ", " + inside + text[end - 1 :]
        case _:
            others = _brackets(other)
            a, b = random.choice(others) if others else (0, 0)
            return text[:start] + other[a:b] + text[end:]


def _brackets(text: str) -> Sequence[tuple[int, int]]:
    """Where brackets begin and end, strings left aside."""
    closing = {"}": "{", ")": "(", "]": "[", ">": "<"}
    stack: list[tuple[str, int]] = []
    found: list[tuple[int, int]] = []
    for start, end in _spans(text):
        token = text[start:end]
        if token in "{([<":
            stack.append((token, start))
        elif token in closing and stack and stack[-1][0] == closing[token]:
            found.append((stack.pop()[1], end))
    return found


def nest_deeply(text: str, random: Random, _other: str) -> str:
    """Put something into very many brackets."""
    depth = random.choice((50, 300, 3000, 100000))
    left, right = random.choice(
        (
            ("builtin.module {\n", "}\n"),
            ("[", "]"),
            ("(", ")"),
            ("<", ">"),
            ("{a = ", "}"),
            ("tensor<4x", ">"),
            ("complex<", ">"),
            ("tuple<", ">"),
            ("loc(", ")"),
            ("fused[", "]"),
            ('"test.op"() ({\n', "}) : () -> ()\n"),
            ("!onnx.sequence<", ">"),
            ("() -> ", ""),
            ("- ", ""),
        )
    )
    if left.endswith("\n") and random.random() < 0.7:
        return left * depth + text + right * depth
    start, end = _token(text, random)
    return text[:start] + left * depth + text[start:end] + right * depth + text[end:]


def truncate(text: str, random: Random, _other: str) -> str:
    return text[: random.randrange(len(text) + 1)]


_SELDOM: tuple[Mutation, ...] = (
    *(delete_token, double_token, swap_tokens, any_token, change_characters, change_lines, nest_deeply, truncate),
    *(change_bracket, change_bracket, change_lines, add_attribute),
)
"""Most results of these are no MLIR at all."""

_OFTEN: tuple[Mutation, ...] = (
    *(replace_token, replace_token, change_number, change_number, change_type, change_attribute, add_attribute),
    *(change_everywhere, change_everywhere, swap_values, change_dimension, change_dimension),
)

MUTATIONS: tuple[Mutation, ...] = (*_SELDOM, *_OFTEN * 3)
