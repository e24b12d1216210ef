"""The file of ``--insert_op_conf``: how images are prepared for a model, in the text format of ATC.

::

    aipp_op {
        aipp_mode: static            # the values are the same in every run
        related_input_rank: 0        # which input of the model
        input_format: RGB888_U8
        src_image_size_w: 256
        src_image_size_h: 256
        crop: true
        load_start_pos_w: 16
        load_start_pos_h: 16
        crop_size_w: 224
        crop_size_h: 224
        mean_chn_0: 124
        var_reci_chn_0: 0.0171248
    }

:data:`KEYS` is the one list of what may be there. Names and ranges are those of ATC's documentation (Configuration File
Template of the AIPP chapter), defaults of the colour matrices those of graphengine v1.8.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from ge.ir.errors import GeError
from ge.ir.parser import read_text

Value: TypeAlias = "bool | int | float | str"

MODES = ("static", "dynamic")
FORMATS: Mapping[str, int] = {"YUV420SP_U8": 3, "XRGB8888_U8": 4, "RGB888_U8": 3, "YUV400_U8": 1}
"""The formats of images, with the channels of a pixel: luma alone (YUV400), a plane of luma and one of pairs of chroma
for four pixels each (YUV420SP, also called NV12), or red, green and blue, with a byte before them (XRGB) or without."""

CHANNELS = range(4)
LARGEST = 4096
"""The largest width and height of an image."""


@dataclass(frozen=True)
class Key:
    """What may stand in an ``aipp_op``. A word is one of ``words``; a number lies between ``low`` and ``high``."""

    name: str
    kind: Literal["word", "flag", "integer", "number"]
    default: Value
    help: str
    low: float = 0
    high: float = 0
    words: Sequence[str] = ()
    is_supported: bool = True
    """Otherwise the key may be there, and has its default value."""


def _integers(names: Sequence[str], high: int, help: str, low: int = 0, default: int = 0) -> Iterator[Key]:
    return (Key(name, "integer", default, help, low, high) for name in names)


def _unsupported(names: str) -> Iterator[Key]:
    kinds = {"resize": "flag", "single_line_mode": "flag", "support_rotation": "flag", "cpadding_value": "number"}
    for name in names.split():
        kind = cast(Any, kinds.get(name, "integer"))
        yield Key(name, kind, {"flag": False, "number": 0.0, "integer": 0}[kind], "", 0, 2**32, is_supported=False)


_YUV_TO_BGR = ((298, 516, 0), (298, -100, -208), (298, 0, 409))
_RGB_TO_YUV = ((66, 129, 25), (-38, -74, 112), (112, -94, -18))
_MATRIX = [f"matrix_r{row}c{column}" for row in range(3) for column in range(3)]
_BY_FORMAT = 2**31
"""Stands for a default that depends on the format."""

KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key("aipp_mode", "word", "", "static: the same in every run; dynamic is refused (GE2044)", words=MODES),
        *_integers(["related_input_rank"], 2**16, "the input of the model that it is for, counted from 0"),
        Key("input_format", "word", "", "what the image is", words=tuple(FORMATS)),
        *_integers(["src_image_size_w", "src_image_size_h"], LARGEST, "the image; 0: the size that the model takes"),
        Key("crop", "flag", False, "cut a part out of the image"),
        *_integers(["load_start_pos_w", "load_start_pos_h"], LARGEST - 1, "where the part begins"),
        *_integers(["crop_size_w", "crop_size_h"], LARGEST, "its size; 0: the size that the model takes, less padding"),
        Key("rbuv_swap_switch", "flag", False, "exchange R and B, or U and V"),
        Key("ax_swap_switch", "flag", False, "move the first of four channels to the end"),
        Key("csc_switch", "flag", False, "convert the colours: (matrix * (pixel - input_bias) >> 8) + output_bias"),
        *_integers(_MATRIX, 2**15 - 1, "row and column of the matrix; BT.601 by default", -(2**15), _BY_FORMAT),
        *_integers(
            [f"input_bias_{i}" for i in range(3)], 255, "for YUV images; 16, 128, 128 by default", 0, _BY_FORMAT
        ),
        *_integers(
            [f"output_bias_{i}" for i in range(3)], 255, "for RGB images; 16, 128, 128 by default", 0, _BY_FORMAT
        ),
        *_integers([f"mean_chn_{i}" for i in CHANNELS], 255, "subtracted from a channel"),
        *(Key(f"min_chn_{i}", "number", 0.0, "subtracted after that", 0, 255) for i in CHANNELS),
        *(Key(f"var_reci_chn_{i}", "number", 1.0, "factor after that", -65504, 65504) for i in CHANNELS),
        Key("padding", "flag", False, "add a border around the result"),
        *_integers([f"{side}_padding_size" for side in ("left", "right", "top", "bottom")], 32, "its width"),
        Key("padding_value", "number", 0.0, "what the border consists of", -65504, 65504),
        *_unsupported("input_edge_idx max_src_image_size support_rotation single_line_mode cpadding_value"),
        *_unsupported("resize resize_output_w resize_output_h raw_rgbir_to_f16_n"),
    )
}
"""Every key, in the order in which what it asks for is done."""


@dataclass(frozen=True)
class Aipp:
    """One ``aipp_op``: values by key, and where in the file they stand."""

    place: str
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    places: Mapping[str, str] = field(default_factory=dict[str, str])

    def __getitem__(self, key: str) -> Any:
        return self.values.get(key, KEYS[key].default)

    def where(self, *keys: str) -> str:
        """Where the first of some keys stands that is there; otherwise where the ``aipp_op`` begins."""
        return next((self.places[key] for key in keys if key in self.places), self.place)

    @property
    def is_yuv(self) -> bool:
        """Whether pixels are luma and chroma."""
        return self["input_format"].startswith("YUV")

    @property
    def matrix(self) -> list[list[int]]:
        """The matrix of the conversion of colours."""
        default = _YUV_TO_BGR if self.is_yuv else _RGB_TO_YUV
        given = [[self[f"matrix_r{row}c{column}"] for column in range(3)] for row in range(3)]
        return [
            [standard if value == _BY_FORMAT else value for value, standard in zip(*rows, strict=True)]
            for rows in zip(given, default, strict=True)
        ]

    @property
    def bias(self) -> list[int]:
        """What the conversion subtracts from YUV pixels before, or adds to what it has made of RGB pixels."""
        given = [self[f"{'input' if self.is_yuv else 'output'}_bias_{channel}"] for channel in range(3)]
        return [
            standard if value == _BY_FORMAT else value for value, standard in zip(given, (16, 128, 128), strict=True)
        ]

    def channel_values(self, key: str, channels: int) -> list[float]:
        """The values of ``mean_chn``, ``min_chn`` or ``var_reci_chn``, one for each channel of the model."""
        return [self[f"{key}_{channel}"] for channel in range(channels)]

    def __str__(self) -> str:
        given = [f"{key}: {_shown(value)}" for key, value in self.values.items() if value != KEYS[key].default]
        return ", ".join(given)


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def aipp_text(entries: Sequence[Aipp]) -> str:
    """What a file says, in one line."""
    return " ".join(f"aipp_op {{ {entry} }}" for entry in entries)


# Reading

_GRAMMAR = r"""
start: block*
block: NAME ":"? "{" field* "}"
field: NAME ":" (NAME | NUMBER) (","|";")?

NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?(?![A-Za-z0-9_.])/
COMMENT: /#[^\n]*/
%ignore COMMENT
%ignore /\s+/
"""

_EXPECTED = {"NAME": "a name", "NUMBER": "a number", "LBRACE": "'{'", "RBRACE": "'}'", "COLON": "':'"}

_FLAGS = {"true": True, "True": True, "t": True, "1": True, "false": False, "False": False, "f": False, "0": False}


@cache
def _lark() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def read_aipp(path: str) -> list[Aipp]:
    """What a file says, one entry for each input. Raises GE1001, GE1004, GE2042 and GE2044."""
    text = read_text(Path(path))
    from lark.exceptions import UnexpectedInput

    try:
        tree = _lark().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(path, text, error) from None
    found = [_aipp(path, block) for block in tree.children]
    if not found:
        raise GeError("GE2042", "the file has no aipp_op { ... }", path)
    ranks = [each["related_input_rank"] for each in found]
    for each, rank in zip(found, ranks, strict=True):
        if ranks.count(rank) > 1:
            what = f"{ranks.count(rank)} entries are about input {rank}"
            raise GeError("GE2042", what, each.where("related_input_rank"))
    return found


def _syntax_error(path: str, text: str, error: Any) -> GeError:
    token: Any = getattr(error, "token", None)
    accepted: Any = getattr(error, "accepts", None) or getattr(error, "allowed", None) or ()
    expected = " or ".join(word for name, word in _EXPECTED.items() if name in accepted) or "something else"
    if token is not None and token.type == "$END":
        return GeError("GE2042", f"expected {expected}, got the end of the file", path)
    found = token or text[error.pos_in_stream : error.pos_in_stream + 20].split()[0]
    return GeError("GE2042", f"expected {expected}, got '{found}'", f"{path}:{error.line}:{error.column}")


def _aipp(path: str, block: Any) -> Aipp:
    title, *fields = cast("list[Any]", block.children)
    place = f"{path}:{title.line}:{title.column}"
    if title != "aipp_op":
        raise GeError("GE2042", f"'{title}' means nothing here: the file consists of aipp_op {{ ... }}", place)
    values: dict[str, Value] = {}
    places: dict[str, str] = {}
    for each in fields:
        key, value = cast("list[Any]", each.children)
        name, where = str(key), f"{path}:{key.line}:{key.column}"
        if name not in KEYS:
            near = get_close_matches(name, KEYS, n=3)
            hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
            raise GeError("GE2042", f"there is no key '{name}'{hint}", where)
        if name in values:
            raise GeError("GE2042", f"'{name}' is there twice", where)
        values[name] = _value(KEYS[name], str(value), f"{path}:{value.line}:{value.column}")
        places[name] = where
    aipp = Aipp(place, values, places)
    _check(aipp)
    return aipp


def _value(key: Key, text: str, where: str) -> Value:
    """The value of a key. Raises GE2042 for one that it cannot have."""
    value = _converted(key, text)
    if value is None or (key.kind in ("integer", "number") and not key.low <= cast(float, value) <= key.high):
        wanted = {
            "word": f"one of {', '.join(key.words)}",
            "flag": "true or false",
            "integer": f"a whole number from {key.low} to {key.high}",
            "number": f"a number from {key.low} to {key.high}",
        }
        raise GeError("GE2042", f"'{key.name}' cannot be {text}: it is {wanted[key.kind]}", where)
    return value


def _converted(key: Key, text: str) -> Value | None:
    try:
        match key.kind:
            case "word":
                return text if text in key.words else None
            case "flag":
                return _FLAGS.get(text)
            case "integer":
                return int(text)
            case "number":
                return float(text)
    except ValueError:
        return None


def _check(aipp: Aipp) -> None:
    """Check what keys say together. Raises GE2042, or GE2044."""
    if aipp["aipp_mode"] == "dynamic":
        raise GeError("GE2044", "'aipp_mode: dynamic' takes its values from each run", aipp.where("aipp_mode"))
    for key, value in aipp.values.items():
        if not KEYS[key].is_supported and value != KEYS[key].default:
            raise GeError("GE2044", f"'{key}: {_shown(value)}' asks for what is not there", aipp.where(key))
    for key in ("aipp_mode", "input_format"):
        if not aipp[key]:
            raise GeError("GE2042", f"'{key}' is missing", aipp.place)
    for key, what in _contradictions(aipp, aipp["input_format"]):
        raise GeError("GE2042", f"'{key}' {what}", aipp.where(key))


def _contradictions(aipp: Aipp, format: str) -> Iterator[tuple[str, str]]:
    """Keys that make no sense for a format of images, and why."""
    if aipp["ax_swap_switch"] and format != "XRGB8888_U8":
        yield "ax_swap_switch", f"is for images with four channels, not for {format}"
    if aipp["csc_switch"] and format == "XRGB8888_U8" and not aipp["ax_swap_switch"]:
        yield "csc_switch", "needs 'ax_swap_switch: true' for XRGB8888_U8, which puts R, G and B first"
    for key in ("csc_switch", "rbuv_swap_switch"):
        if aipp[key] and format == "YUV400_U8":
            yield key, "is for images with colours, not for YUV400_U8"
    for key in ("src_image_size_w", "src_image_size_h", "load_start_pos_w", "load_start_pos_h"):
        if aipp[key] % 2 and format == "YUV420SP_U8":
            yield key, f"is {aipp[key]}: YUV420SP_U8 has pairs, and so even numbers"
