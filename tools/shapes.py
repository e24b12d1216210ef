"""Shapes on the command line, as ATC writes them: ``name1:1,3,224,224;name2:1,128``."""

from __future__ import annotations

from ge.ir.errors import GeError

FORM = "name1:1,3,224,224;name2:1,128"


def parse_shapes(text: str) -> dict[str, tuple[int, ...]]:
    """The shape of each named input; a name may contain colons, a scalar has no number. Raises GE2006."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part in text.split(";"):
        name, colon, sizes = part.strip().rpartition(":")
        if not colon or not name or name in shapes:
            raise GeError("GE2006", f"input shape '{part}' is not of the form '{FORM}'")
        shapes[name] = tuple(_size(size, part) for size in sizes.split(",") if sizes.strip())
    return shapes


def _size(text: str, part: str) -> int:
    try:
        size = int(text)
    except ValueError:
        size = 0
    if size < 1:
        remedy = "Give every dimension as a positive number: a compiled model has one shape."
        raise GeError("GE2006", f"input shape '{part}': '{text.strip()}' is not a positive number", remedy=remedy)
    return size
