"""What an ``aipp_op`` means for an input of a model: sizes and channels, checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from xdsl.dialects.builtin import Float16Type, f32
from xdsl.ir import Attribute, SSAValue

from ge.dialects.onnx import ranked, static_shape
from ge.ir.errors import GeError
from ge.passes.onnx.aipp_config import FORMATS, Aipp

Layout: TypeAlias = Literal["NCHW", "NHWC"]

Size: TypeAlias = tuple[int, int]
"""Height and width."""

_SWAPPED = {"YUV420SP_U8": [0, 2, 1], "RGB888_U8": [2, 1, 0], "XRGB8888_U8": [0, 3, 2, 1]}
"""The order of channels when red and blue, or U and V, are exchanged."""


@dataclass(frozen=True)
class Plan:
    """How an image becomes the input of a model."""

    aipp: Aipp
    layout: Layout
    element: Attribute
    """Of the input of the model: f32 or f16."""
    batch: int
    channels: int
    """That the model takes."""
    size: Size
    """Of the image."""
    start: Size
    """Where the part begins that the model takes, from the top and from the left."""
    part: Size
    border: Sequence[int]
    """Added around the part: top, bottom, left, right."""

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of the bytes that a run is given."""
        height, width = self.size
        if self.aipp["input_format"] == "YUV420SP_U8":
            return self.batch, height * 3 // 2, width
        return self.batch, height, width, FORMATS[self.aipp["input_format"]]

    @property
    def order(self) -> list[int]:
        """The channels of the image that go on, in their order."""
        format = self.aipp["input_format"]
        order = _SWAPPED[format] if self.aipp["rbuv_swap_switch"] else list(range(FORMATS[format]))
        if self.aipp["ax_swap_switch"]:
            order = [*order[1:], order[0]]
        return order[: 3 if self.aipp["csc_switch"] else self.channels]


def make_plan(aipp: Aipp, name: str, value: SSAValue, layout: Layout) -> Plan:
    """How to prepare the input ``name`` of a model. Raises GE2043 where that cannot be."""
    return _Planner(aipp, name, layout).plan(value)


@dataclass(frozen=True)
class _Planner:
    aipp: Aipp
    name: str
    layout: Layout

    def plan(self, value: SSAValue) -> Plan:
        type, shape = ranked(value), static_shape(value)
        if type is None or shape is None or len(shape) != 4:
            self.refuse(f"it is {value.type}, and not of four dimensions that are fixed", "related_input_rank")
        element = type.element_type
        if element != f32 and not isinstance(element, Float16Type):
            self.refuse(f"it is {value.type}, and not of f32 or f16", "related_input_rank")
        batch, channels, height, width = (
            shape[axis] for axis in ([0, 1, 2, 3] if self.layout == "NCHW" else [0, 3, 1, 2])
        )
        self.check_channels(channels)
        sides = ("top", "bottom", "left", "right")
        border = [self.aipp[f"{side}_padding_size"] if self.aipp["padding"] else 0 for side in sides]
        part = (height - sum(border[:2]), width - sum(border[2:]))
        if min(part) < 1:
            self.refuse(f"the border leaves nothing of {_text((height, width))} for the image", "padding")
        size, start = self.cut(part) if self.aipp["crop"] else (self.whole(part), (0, 0))
        return Plan(self.aipp, self.layout, element, batch, channels, size, start, part, border)

    def check_channels(self, channels: int) -> None:
        """The model takes all channels, or after a conversion the first; the fourth of RGBX may be left out."""
        format, allowed = self.aipp["input_format"], {FORMATS[self.aipp["input_format"]]}
        if self.aipp["ax_swap_switch"]:
            allowed = {3, 4}
        if self.aipp["csc_switch"]:
            allowed = {1, 3}
        if channels not in allowed:
            gives = f"{format} gives {' or '.join(map(str, sorted(allowed)))} channels"
            self.refuse(f"{gives}, and the model takes {channels}, as {self.layout}", "input_format")

    def whole(self, part: Size) -> Size:
        """The size of an image of which nothing is cut off."""
        size = (self.aipp["src_image_size_h"] or part[0], self.aipp["src_image_size_w"] or part[1])
        if size != part:
            self.refuse(f"the image is {_text(size)}, {_needs(part)}", "src_image_size_w", "src_image_size_h")
        if self.aipp["input_format"] == "YUV420SP_U8" and any(length % 2 for length in size):
            self.refuse(f"an image of {_text(size)} cannot be YUV420SP_U8, which has pairs", "input_format")
        return size

    def cut(self, part: Size) -> tuple[Size, Size]:
        """The size of an image of which a part is cut out, and where that begins."""
        aipp = self.aipp
        for key in ("src_image_size_h", "src_image_size_w"):
            if not aipp[key]:
                self.refuse(f"a part of the image is cut out, and '{key}' is missing", "crop")
        asked = (aipp["crop_size_h"] or part[0], aipp["crop_size_w"] or part[1])
        if asked != part:
            self.refuse(f"the part is {_text(asked)}, {_needs(part)}", "crop_size_w", "crop_size_h")
        size = (aipp["src_image_size_h"], aipp["src_image_size_w"])
        start = (aipp["load_start_pos_h"], aipp["load_start_pos_w"])
        if any(first + length > all for first, length, all in zip(start, part, size, strict=True)):
            what = (
                f"the part of {_text(part)} from ({start[1]}, {start[0]}) on is not inside the image of {_text(size)}"
            )
            self.refuse(what, "load_start_pos_w", "load_start_pos_h", "crop")
        return size, start

    def refuse(self, what: str, *keys: str) -> NoReturn:
        raise GeError("GE2043", f"input '{self.name}': {what}", self.aipp.where(*keys))


def _needs(part: Size) -> str:
    return f"and the model needs {_text(part)}"


def _text(size: Size) -> str:
    """Width and height, in the order in which people say them."""
    return f"{size[1]} x {size[0]}"
