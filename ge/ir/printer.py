"""Writing modules as text that reads back as the same module.

What :class:`GePrinter` adds to xDSL 0.75:

* the model's node names follow each operation as ``loc("conv1")``, and positions in files only on request;
* ``dense<…>`` is written from its bytes: -0.0, infinities and NaN bits survive, and 100 MB take half a second;
* finite floats are decimal, others ``0x…`` with all their digits;
* printable characters of any language are written as they are;
* no two values get one name, and names are the same when the text is read and written again: ``%a_1`` is the second
  ``a``, never the first ``a_1``;
* ``#ge.weights<…>`` go to a side file, inline, or are left out (:class:`~ge.ir.weights.WeightsMode`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import IO, Any, cast

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ge.ir.errors import GeError
from ge.ir.locations import fused_loc, node_names
from ge.ir.weights import WeightsMode, WeightsWriter, atomic_write

_PLAIN_STRING = re.compile(r"[ !#-\[\]-~]*")
"""ASCII that needs no escape: printable, without quote and backslash."""

_NUMBERS = re.compile(r"(_\d+)+$")
"""What tells values of one name apart, once for each time that they were written and read."""

_MAX_LIST_ELEMENTS = 100
"""Elements of ``dense`` beyond which it is written in hexadecimal, as xDSL and MLIR do."""


class Locations(Enum):
    """Which locations are written."""

    NAMES = "names"
    """Names of model nodes only: the text does not change with the file it came from."""
    ALL = "all"
    NONE = "none"


class GePrinter(Printer):
    """Prints the text of any level; see the module docstring."""

    weights_writer: WeightsWriter

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        locations: Locations = Locations.NAMES,
        generic: bool = False,
        weights_writer: WeightsWriter | None = None,
    ) -> None:
        super().__init__(
            stream,
            print_generic_format=generic,
            print_debuginfo=locations is Locations.ALL,
        )
        self.locations = locations
        self.weights_writer = WeightsWriter(WeightsMode.INLINE) if weights_writer is None else weights_writer

    def print_op(self, op: Operation) -> None:
        super().print_op(op)
        if self.locations is Locations.NAMES and node_names(op):
            self.print_string(" ")
            self.print_attribute(fused_loc([op]))

    def print_ssa_value(self, value: SSAValue) -> str:
        if value.name_hint and value not in self._ssa_values:
            self._ssa_values[value] = self._new_name(value.name_hint)
        return super().print_ssa_value(value)

    def _new_name(self, hint: str) -> str:
        """The hint without numbers at its end, and with the next number when there is a value of that name."""
        name = _NUMBERS.sub("", hint) or hint
        count = self.ssa_names.get(name, 0)
        self.ssa_names[name] = count + 1
        return f"{name}_{count}" if count else name

    def print_attribute(self, attribute: Attribute) -> None:
        match attribute:
            case DenseIntOrFPElementsAttr():
                self._print_dense(attribute)
            case DenseArrayBase() if isinstance(attribute.elt_type, AnyFloat):
                self._print_float_array(attribute, attribute.elt_type)
            case _:
                super().print_attribute(attribute)

    def _print_dense(self, attribute: DenseIntOrFPElementsAttr) -> None:
        """Print ``dense<…> : type``: nothing, one element for all, a list, or hexadecimal."""
        element_type = attribute.type.element_type
        data = attribute.data.data
        size = element_type.compile_time_size
        splat = _is_splat(data, size)
        shown = data[:size] if splat else data
        self.print_string("dense")
        with self.in_angle_brackets():
            if not data:
                pass
            elif len(shown) > size * _MAX_LIST_ELEMENTS or not _reads_back(shown, element_type):
                self.print_string(f'"0x{shown.hex().upper()}"')
            else:
                self._print_elements(_unpack(shown, element_type), () if splat else attribute.get_shape(), element_type)
        self.print_string(" : ")
        self.print_attribute(attribute.type)

    def _print_elements(self, values: Sequence[Any], shape: Sequence[int], type: AnyDenseElement) -> None:
        """Print values as nested lists of ``shape``, or one value for the empty shape."""
        if not shape:
            self._print_element(values[0], type)
            return
        step = len(values) // shape[0]
        rows = [values[start : start + step] for start in range(0, len(values), step)]
        with self.in_square_brackets():
            self.print_list(rows, lambda row: self._print_elements(row, shape[1:], type))

    def _print_element(self, value: Any, type: AnyDenseElement) -> None:
        match type:
            case ComplexType():
                self.print_complex(value, type)
            case IntegerType() | IndexType():
                self.print_int(value, type)
            case _:
                self.print_float(value, type)

    def _print_float_array(self, attribute: DenseArrayBase, type: AnyFloat) -> None:
        """Print ``array<f32: 1.0, …>``, values that are not finite by their bits."""
        data, size = attribute.data.data, type.compile_time_size
        elements = [data[start : start + size] for start in range(0, len(data), size)]
        self.print_string("array")
        with self.in_angle_brackets():
            self.print_attribute(type)
            if elements:
                self.print_string(": ")
            self.print_list(elements, lambda element: self._print_float_bytes(element, type))

    def _print_float_bytes(self, element: bytes, type: AnyFloat) -> None:
        value = type.unpack(element, 1)[0]
        if math.isfinite(value):
            self.print_float(value, type)
        else:
            self.print_string(_bits(element))

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Print a finite value as the decimal that reads back, in the style of MLIR, and any other by its bits."""
        if not math.isfinite(value):
            self.print_string(_bits(type.pack((value,))))
            return
        texts = (f"{value:.6e}", f"{value:.8e}", f"{value:.16e}")  # 17 digits tell any two doubles apart
        self.print_string(next(text for text in texts if type.round(float(text)) == value))

    def print_string_literal(self, string: str) -> None:
        if _PLAIN_STRING.fullmatch(string) is None:
            string = "".join(map(_escape, string))
        self.print_string(f'"{string}"')


def _bits(element: bytes) -> str:
    """Little-endian bytes as one hexadecimal number with all its digits."""
    return f"0x{element[::-1].hex().upper()}"


def _escape(character: str) -> str:
    """A character in a string literal: as it is when printable, otherwise the hexadecimal of its UTF-8 bytes."""
    if character == "\\":
        return "\\\\"
    if character.isprintable() and character != '"':
        return character
    return "".join(f"\\{byte:02X}" for byte in character.encode())


def _is_splat(data: bytes, size: int) -> bool:
    """Whether all elements of ``size`` bytes are the same bit by bit (-0.0 and 0.0 are not)."""
    first = data[:size]
    return len(data) > size and data[size : 2 * size] == first and data == first * (len(data) // size)


def _unpack(data: bytes, type: AnyDenseElement) -> Sequence[Any]:
    return type.unpack(data, len(data) // type.compile_time_size)


def _reads_back(data: bytes, type: AnyDenseElement) -> bool:
    """Whether the elements, written as numbers, give the same bytes again (NaN payloads and padding bits do not)."""
    try:
        values = _unpack(data, type)
        return DenseIntOrFPElementsAttr.from_list(TensorType(cast(Any, type), [len(values)]), values).data.data == data
    except (NotImplementedError, OverflowError):
        return False


def print_module(
    module: Operation,
    *,
    locations: Locations = Locations.NAMES,
    generic: bool = False,
    weights: WeightsMode = WeightsMode.INLINE,
) -> str:
    """The text of a module, complete in itself unless ``weights`` says otherwise; ends with a newline."""
    return _text(module, locations, generic, WeightsWriter(weights))


def write_module(
    module: Operation,
    path: str | Path,
    *,
    locations: Locations = Locations.NAMES,
    generic: bool = False,
    weights: WeightsMode = WeightsMode.FILE,
) -> None:
    """Write a module to ``path``, and its large constants to ``<stem>.weights`` next to it.

    Constants that lie in a file of the same folder stay there. Both files are replaced only when complete. Raises
    GE1003 when a file cannot be written.
    """
    path = Path(path)
    writer = WeightsWriter(weights, path.parent, f"{path.stem}.weights")
    text = _text(module, locations, generic, writer)
    try:
        writer.finish()
        with atomic_write(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise GeError("GE1003", f"'{path}': {error.strerror or error}", str(path)) from error


def _text(module: Operation, locations: Locations, generic: bool, writer: WeightsWriter) -> str:
    stream = StringIO()
    GePrinter(stream, locations=locations, generic=generic, weights_writer=writer).print_op(module)
    return stream.getvalue() + "\n"
