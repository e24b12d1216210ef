"""Opening a model: the checks of the file, its skeleton, and the bytes of its tensors wherever they lie.

Nothing large is copied: tensors are views of the memory-mapped model file or of its external data files.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import Message

from ge.dialects.onnx import TensorAttr
from ge.ir.constants import MAX_DENSE_BYTES
from ge.ir.errors import GeError
from ge.ir.weights import Origin
from ge.targets.onnx.limits import check_nodes, check_parts
from ge.targets.onnx.wire import PIECE_MARK, WireError, split, split_message


@dataclass(frozen=True)
class ByteRange:
    """Some bytes, and where they lie on disk (when they do)."""

    view: memoryview
    origin: Origin | None = None
    field: int = onnx.TensorProto.RAW_DATA_FIELD_NUMBER
    """The field of TensorProto that they are, which may be one of a certain element type."""


@dataclass
class ModelFile:
    """A model of which the large tensors have been taken out of the message (see :mod:`ge.targets.onnx.wire`)."""

    proto: onnx.ModelProto
    name: str
    """What errors call it: the path."""
    pieces: list[ByteRange]
    folders: tuple[Path, ...] = ()
    """Where external data may lie: the folder of the path given, and that of the file it links to."""
    small_tensors: dict[bytes, TensorAttr] = field(default_factory=dict[bytes, TensorAttr])
    """What small tensors in attributes became, by their messages: models repeat them."""
    _external: dict[Path, memoryview] = field(default_factory=dict[Path, memoryview])

    def external_bytes(self, tensor: onnx.TensorProto) -> ByteRange:
        """The bytes of a tensor that is not in the message. Raises GE1012 or GE1013."""
        fields = {entry.key: entry.value for entry in tensor.external_data}
        location = fields.get("location", "")
        if location.startswith(PIECE_MARK):
            return self._piece(location, tensor.name)
        path = self._resolve(location, tensor.name)
        data = self._map(path, tensor.name)
        offset = self._number(fields.get("offset", "0"), tensor.name)
        length = self._number(fields.get("length", str(max(len(data) - offset, 0))), tensor.name)
        if offset + length > len(data):
            raise GeError(
                "GE1012",
                f"tensor '{tensor.name}' needs bytes {offset} to {offset + length} of '{path}', which has {len(data)}",
                self.name,
            )
        return ByteRange(data[offset : offset + length], Origin(path, offset))

    def _piece(self, location: str, tensor: str) -> ByteRange:
        """A range that was taken out of the message; a file may only pretend to have been through that."""
        number = location.removeprefix(PIECE_MARK)
        if not number.isdecimal() or int(number) >= len(self.pieces):
            raise GeError("GE1013", f"tensor '{tensor}' lies in '{location}'", self.name)
        return self.pieces[int(number)]

    def _number(self, text: str, tensor: str) -> int:
        """A number of bytes among the external data of a tensor."""
        if not text.isdecimal():
            raise GeError("GE1012", f"tensor '{tensor}' has offset or length '{text}', which is no number", self.name)
        return int(text)

    def _resolve(self, location: str, tensor: str) -> Path:
        """The file of an external tensor: inside the folder of the model, also after following links."""
        relative = Path(location)
        if not location or relative.is_absolute() or ".." in relative.parts or not self.folders:
            raise GeError("GE1013", f"tensor '{tensor}' lies in '{location}'", self.name)
        path = (self.folders[0] / relative).resolve()
        if not any(path.is_relative_to(folder.resolve()) for folder in self.folders):
            raise GeError("GE1013", f"tensor '{tensor}' lies in '{location}', which links to '{path}'", self.name)
        return path

    def _map(self, path: Path, tensor: str) -> memoryview:
        if path not in self._external:
            try:
                self._external[path] = map_file(path)
            except OSError as error:
                raise GeError(
                    "GE1012", f"tensor '{tensor}' lies in '{path}': {error.strerror or error}", self.name
                ) from error
        return self._external[path]


def map_file(path: Path) -> memoryview:
    """The bytes of a file, memory-mapped; an empty file has none. Raises OSError."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def open_model(source: str | Path | onnx.ModelProto) -> ModelFile:
    """Open a model file, or take a model that is in memory. Raises GE1001, GE1010, GE1011 or GE1020."""
    if isinstance(source, onnx.ModelProto):
        return _from_message(source)
    path = Path(source)
    try:
        data = map_file(path)
    except OSError as error:
        raise GeError("GE1001", f"'{path}': {error.strerror or error}", str(path)) from error
    return _from_bytes(data, str(path), path.resolve(), (path.parent, path.resolve().parent))


def _from_message(source: onnx.ModelProto) -> ModelFile:
    """A model in memory; its large tensors are taken out of a copy, so that it may have any size."""
    proto, pieces = onnx.ModelProto(), list[bytes]()
    try:
        split_message(source, proto, MAX_DENSE_BYTES, pieces)
    except UnicodeDecodeError:
        return _checked(ModelFile(source, "model", []))
    return _checked(ModelFile(proto, "model", [ByteRange(memoryview(piece)) for piece in pieces]))


def _from_bytes(data: memoryview, name: str, file: Path, folders: tuple[Path, ...]) -> ModelFile:
    if not len(data):
        raise GeError("GE1010", f"'{name}' is empty", name)
    try:
        skeleton, ranges = split(data, MAX_DENSE_BYTES)
        check_parts(memoryview(skeleton), name)
        proto = onnx.ModelProto.FromString(skeleton)
    except GeError:
        raise
    except RecursionError as error:
        raise GeError("GE1020", f"'{name}': graphs are nested too deeply", name) from error
    except WireError as error:
        raise _malformed(data, name, f"the message breaks off at byte {error.position} of {len(data)}") from error
    except Exception as error:
        raise _malformed(data, name, str(error)) from error
    pieces = [ByteRange(data[at : at + length], Origin(file, at), field) for at, length, field in ranges]
    return _checked(ModelFile(proto, name, pieces, folders))


def _checked(model: ModelFile) -> ModelFile:
    """The model, unless it is none. Raises GE1010 or GE1020."""
    proto, name = model.proto, model.name
    if (culprit := _not_text(proto, set())) is not None:
        raise GeError("GE1020", f"'{name}': {culprit} is not UTF-8 text", name)
    if not proto.HasField("graph") or not (proto.ir_version or proto.opset_import):
        raise GeError("GE1010", f"'{name}' has no graph or no version", name)
    check_nodes(proto, name)
    return model


def _not_text(message: Message, known: set[bytes]) -> str | None:
    """The first field of text in a message whose bytes are none, by name; protobuf gives bytes for such a field.

    ``known`` are messages that were looked at: models repeat types and attributes.
    """
    if message.ByteSize() <= _FEW_BYTES:
        serialised = message.SerializeToString()
        if serialised.isascii() or serialised in known:
            return None
        known.add(serialised)
    for descriptor, value in message.ListFields():
        values: Any = value if descriptor.is_repeated else (value,)
        if descriptor.type == descriptor.TYPE_STRING and any(isinstance(each, bytes) for each in values):
            return f"field '{descriptor.name}' of a {message.DESCRIPTOR.name}"
        for inner in values if descriptor.type == descriptor.TYPE_MESSAGE else ():
            if (culprit := _not_text(inner, known)) is not None:
                return culprit
    return None


_FEW_BYTES = 2**12
"""Messages up to this size are serialised, to see whether all their bytes are ASCII, or were seen before."""


def _malformed(data: memoryview, name: str, what: str) -> GeError:
    """Tell a truncated model (its first field is the IR version, as in every model) from something else."""
    if data[0] == 1 << 3:
        return GeError("GE1011", f"'{name}': {what}", name)
    return GeError("GE1010", f"'{name}': {what}", name)
