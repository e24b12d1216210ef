"""In what two OM files differ, by partition, operator, weight and kernel: ``ge-om diff``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.tools.om_inspection import descriptor
from ge.tools.om_json import message_json
from ge.tools.om_kernels import kernel_names, kernel_text

T = TypeVar("T")

_SHOWN_LINES = 40
"""How many lines of the difference between two kernels are shown."""


def differences(a: OmFile, b: OmFile) -> list[str]:
    """The differences, a line each (a kernel is followed by lines of its text); none when the files say the same."""
    files = (a, b)
    attributes = [_attributes(file.definition.attr) for file in files]
    operators = [{op.name: op for op in file.operators} for file in files]
    weights = [{op.name: (op, data) for op, data in file.constants()} for file in files]
    kernels = [{name: name for name in kernel_names(file)} for file in files]
    return [
        *_partitions(a, b),
        *_entries("model attribute", attributes[0], attributes[1], _values),
        *_entries("operator", operators[0], operators[1], _operators),
        *_entries("weight", weights[0], weights[1], _weights),
        *_entries("kernel", kernels[0], kernels[1], _kernels(a, b)),
    ]


def _entries(
    what: str, a: Mapping[str, T], b: Mapping[str, T], changes: Callable[[T, T], Iterator[str]]
) -> Iterator[str]:
    """Entries that only one side has, and what ``changes`` says of those that both have."""
    for name in a:
        if name not in b:
            yield f"{what} '{name}': only in the first file"
        else:
            yield from (f"{what} '{name}': {change}" for change in changes(a[name], b[name]))
    yield from (f"{what} '{name}': only in the second file" for name in b if name not in a)


def _partitions(a: OmFile, b: OmFile) -> Iterator[str]:
    if a.size != b.size:
        yield f"file: {a.size} bytes, {b.size} bytes"
    yield from _entries("partition", a.partitions, b.partitions, _bytes)


def _bytes(a: memoryview, b: memoryview) -> Iterator[str]:
    if a.nbytes != b.nbytes:
        yield f"{a.nbytes} bytes, {b.nbytes} bytes"
    elif a != b:
        yield f"{a.nbytes} bytes, other content"


def _attributes(attributes: Mapping[str, ir.AttrDef]) -> dict[str, Any]:
    return {name: message_json(attributes[name]) for name in sorted(attributes)}


def _values(a: Any, b: Any) -> Iterator[str]:
    if a != b:
        yield f"{_short(a)}, {_short(b)}"


def _operators(a: ir.OpDef, b: ir.OpDef) -> Iterator[str]:
    """Type, inputs, types of results, places in memory, attributes."""
    sides = [
        {
            "type": op.type,
            "inputs": list(op.input),
            "results": [descriptor(desc) for desc in op.output_desc],
            "offsets": list(op.output_i),
            "stream": op.stream_id,
            **{f"attribute '{name}'": value for name, value in _attributes(op.attr).items() if name != "value"},
        }
        for op in (a, b)
    ]
    for name in dict.fromkeys((*sides[0], *sides[1])):
        found = [side.get(name) for side in sides]
        if found[0] != found[1]:
            yield f"{name} is {_short(found[0])}, {_short(found[1])}"


def _short(value: Any) -> str:
    """A value in few words; an attribute without its field name."""
    if isinstance(value, dict) and len(value) == 1:  # pyright: ignore[reportUnknownArgumentType]
        (value,) = value.values()  # pyright: ignore[reportUnknownVariableType]
    text = "nothing" if value is None else str(value)  # pyright: ignore[reportUnknownArgumentType]
    return text if len(text) <= 60 else f"{text[:57]}..."


def _weights(a: tuple[ir.OpDef, memoryview], b: tuple[ir.OpDef, memoryview]) -> Iterator[str]:
    """The type of a constant, and how far its elements are apart."""
    types = [str(descriptor(op.attr["value"].t.desc)) for op, _ in (a, b)]
    if types[0] != types[1]:
        yield f"{types[0]}, {types[1]}"
    elif a[1] != b[1]:
        yield f"other values{_distance(a, b)}"


_FLOATS = {ir.DT_FLOAT: np.float32, ir.DT_FLOAT16: np.float16, ir.DT_DOUBLE: np.float64}


def _distance(a: tuple[ir.OpDef, memoryview], b: tuple[ir.OpDef, memoryview]) -> str:
    """The greatest difference of floating-point constants."""
    dtype = _FLOATS.get(a[0].attr["value"].t.desc.dtype)
    if dtype is None or a[1].nbytes != b[1].nbytes:
        return ""
    x, y = (np.frombuffer(data, dtype).astype(np.float64) for _, data in (a, b))
    return f", at most {np.abs(x - y).max():.3g} apart, of numbers up to {max(np.abs(x).max(), np.abs(y).max()):.3g}"


def _kernels(a: OmFile, b: OmFile) -> Callable[[str, str], Iterator[str]]:
    def changes(name: str, _: str) -> Iterator[str]:
        binaries = [store[name] for file in (a, b) for store in file.kernels.values() if name in store]
        if binaries[0] == binaries[1]:
            return
        texts = [kernel_text(file, name).splitlines() for file in (a, b)]
        lines = list(islice(difflib.unified_diff(texts[0], texts[1], lineterm="", n=1), 2, None))
        more = [f"... and {len(lines) - _SHOWN_LINES} lines more"] if len(lines) > _SHOWN_LINES else []
        yield "\n  ".join([f"{binaries[0].nbytes} bytes, {binaries[1].nbytes} bytes", *lines[:_SHOWN_LINES], *more])

    return changes
