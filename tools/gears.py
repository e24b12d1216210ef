"""Gears: the few shapes that a model is to run with, in the three options of ATC.

| option | gears | what is ``-1`` in ``--input_shape`` |
|---|---|---|
| ``--dynamic_batch_size=1,2,4`` | numbers | the first size of inputs |
| ``--dynamic_image_size=416,416;832,832`` | height and width | these two of inputs of four dimensions |
| ``--dynamic_dims=1,224;8,448`` | a number for each ``-1``, in order | any |

An OM file of this compiler has fixed shapes. So everything is checked as in ATC, one gear is compiled as the shape that
it is, and several are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ge.dialects.onnx.shapes.input_shapes import Asked, Range
from ge.ir.errors import GeError

Shapes: TypeAlias = Mapping[str, Sequence[Asked]]
Gear: TypeAlias = tuple[int, ...]

MOST = 100
"""How many gears ATC takes."""

OPTIONS: Mapping[str, int | None] = {"dynamic_batch_size": 1, "dynamic_image_size": 2, "dynamic_dims": None}
"""The options, and how many numbers a gear has; None: one for each ``-1``."""

_IMAGE_AXES = {"NCHW": (2, 3), "NHWC": (1, 2)}
"""Where height and width are."""


def shapes_of_gear(values: Mapping[str, str], shapes: Shapes) -> Shapes:
    """The shapes of inputs with the sizes of the one gear that is asked for; as they are without any.

    Raises GE2003 or GE2008 for options that do not go together, GE2045 for gears that are wrong or do not fit the
    shapes, GE2046 for several.
    """
    given = [option for option in OPTIONS if option in values]
    if not given:
        return shapes
    if len(given) > 1:
        raise GeError("GE2003", f"--{given[0]} and --{given[1]} are both given")
    (option,) = given
    if not shapes:
        raise GeError("GE2008", f"option --input_shape is missing: --{option} says what -1 stands for in it")
    _check_layout(option, values.get("input_format", "NCHW"))
    gears = parse_gears(option, values[option])
    _check_ranges(option, shapes)
    _check_places(option, shapes, values.get("input_format", "NCHW"))
    unknown = sum(size is None for shape in shapes.values() for size in shape)
    if OPTIONS[option] is None and len(gears[0]) != unknown:
        what = f"a gear has {len(gears[0])} numbers, and --input_shape has -1 {unknown} times"
        raise GeError("GE2045", what, f"--{option}")
    if len(gears) > 1:
        raise GeError("GE2046", f"{len(gears)} gears are asked for, and only one can be compiled", f"--{option}")
    return _filled(option, shapes, gears[0])


def parse_gears(option: str, text: str) -> list[Gear]:
    """The gears in the text of an option. Raises GE2045."""
    each = ";" if option != "dynamic_batch_size" else ","
    gears = [_gear(option, gear, number) for number, gear in enumerate(text.removesuffix(each).split(each), 1)]
    for number, gear in enumerate(gears, 1):
        if len(gear) != len(gears[0]):
            raise _wrong(option, number, f"it has {len(gear)} numbers, the first gear has {len(gears[0])}")
        if gear in gears[: number - 1]:
            raise _wrong(option, number, f"{','.join(map(str, gear))} is there twice")
    if len(gears) > MOST:
        raise GeError("GE2045", f"there are {len(gears)} gears, more than {MOST}", f"--{option}")
    return gears


def _gear(option: str, text: str, number: int) -> Gear:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isdecimal() and int(word) > 0):
            raise _wrong(option, number, f"'{word}' is no positive whole number")
    count = OPTIONS[option]
    if count is not None and len(words) != count:
        raise _wrong(option, number, f"'{text.strip()}' is not a height and a width")
    return tuple(map(int, words))


def _wrong(option: str, number: int, what: str) -> GeError:
    return GeError("GE2045", f"gear {number}: {what}", f"--{option}")


def _check_layout(option: str, layout: str) -> None:
    if option == "dynamic_dims" and layout != "ND":
        raise GeError("GE2008", "option --input_format=ND is missing: --dynamic_dims needs it")
    if option == "dynamic_image_size" and layout == "ND":
        raise GeError("GE2003", "--dynamic_image_size is given with --input_format=ND, which says nothing of images")


def _check_ranges(option: str, shapes: Shapes) -> None:
    for name, shape in shapes.items():
        for size in shape:
            if isinstance(size, Range):
                raise GeError("GE2045", f"input '{name}' has the range {size}, where gears need -1", f"--{option}")


def _check_places(option: str, shapes: Shapes, layout: str) -> None:
    """Refuse ``-1`` where the option has no size for it, and shapes without any."""
    found = {name: {axis for axis, size in enumerate(shape) if size is None} for name, shape in shapes.items()}
    if not any(found.values()):
        raise GeError("GE2045", "no size of an input is -1", f"--{option}")
    for name, axes in found.items():
        if option == "dynamic_batch_size" and not axes <= {0}:
            what = f"input '{name}' has -1 as its size {max(axes) + 1}; only the first may be"
            raise GeError("GE2045", what, f"--{option}")
        if option == "dynamic_image_size" and axes and (axes != {*_IMAGE_AXES[layout]} or len(shapes[name]) != 4):
            what = f"of input '{name}', height and width must be -1, and no other size ({layout})"
            raise GeError("GE2045", what, f"--{option}")


def _filled(option: str, shapes: Shapes, gear: Gear) -> Shapes:
    """The shapes with the numbers of a gear for what is not known."""
    numbers = iter(gear)
    filled: dict[str, Sequence[Asked]] = {}
    for name, shape in shapes.items():
        if option != "dynamic_dims":
            numbers = iter(gear)  # the same for every input
        filled[name] = tuple(next(numbers) if size is None else size for size in shape)
    return filled
