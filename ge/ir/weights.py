"""Bytes of large constants: held as views, written to and read from side files.

A :class:`Weights` is a read-only view of bytes that live somewhere else: in a memory-mapped model file, in a side file,
or in an array. They are never copied on the way through the compiler. In text, weights are one of

* ``#ge.weights<"resnet.weights", 4096, 147456, "…sha256…">``: file (relative to the .mlir), offset, byte count, digest;
* ``#ge.weights<"0x0000803F…">``: the bytes in hexadecimal, in memory order;
* ``#ge.weights<elided, 147456, "…sha256…">``: for reading only; the bytes are not there.

:class:`WeightsWriter` chooses the form when a module is printed, :class:`WeightsReader` opens the files when one is
parsed.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from typing_extensions import Buffer

from ge.ir.errors import GeError

ALIGNMENT = 64
"""Byte alignment of each constant in a side file: one cache line, enough for every element type."""

_HASH_SAMPLE = 64
"""How many leading bytes the hash of weights looks at (equality looks at all of them)."""


@dataclass(frozen=True)
class Origin:
    """Where bytes lie on disk: an absolute file name and a byte offset in it."""

    file: Path
    offset: int


class Weights:
    """A read-only view of ``nbytes`` bytes, equal to another when the bytes are. See the module docstring."""

    __slots__ = ("_buffer", "_digest", "nbytes", "origin")

    def __init__(
        self, buffer: memoryview | None, nbytes: int, origin: Origin | None = None, digest: str | None = None
    ) -> None:
        self._buffer = buffer
        self._digest = digest
        self.nbytes = nbytes
        self.origin = origin

    @property
    def is_elided(self) -> bool:
        """Whether only size and digest are known, because the text left the bytes out."""
        return self._buffer is None

    @property
    def buffer(self) -> memoryview:
        """The bytes: one-dimensional, format "B", read-only. Raises GE3008 when the text left them out."""
        if self._buffer is None:
            raise GeError("GE3008", f"a constant of {self.nbytes} bytes is not in the text")
        return self._buffer

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes in hexadecimal, computed on first use."""
        if self._digest is None:
            self._digest = hashlib.sha256(self.buffer).hexdigest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Weights) or hash(self) != hash(other):
            return False
        if self.origin is not None and self.origin == other.origin and self.nbytes == other.nbytes:
            return True
        return self.digest == other.digest

    def __hash__(self) -> int:
        sample = self._digest if self._buffer is None else self._buffer[:_HASH_SAMPLE].tobytes()
        return hash((self.nbytes, sample))

    def __repr__(self) -> str:
        return f"Weights({self.nbytes} bytes)"


def view_of(buffer: Buffer) -> memoryview:
    """A read-only one-dimensional byte view of any contiguous buffer, without copying."""
    return memoryview(buffer).cast("B").toreadonly()


class WeightsMode(Enum):
    """How a printer writes weights: see the module docstring."""

    FILE = "file"
    INLINE = "inline"
    ELIDED = "elided"


class WeightsWriter:
    """Decides how each constant is written, and collects those that go to the side file.

    ``directory`` is the folder of the text: a constant that lies in a file there or below is written as a reference to
    that file. Any other goes to ``side_file`` (a name in ``directory``), or, without one, inline. :meth:`finish` writes
    the side file.
    """

    def __init__(
        self, mode: WeightsMode = WeightsMode.FILE, directory: Path | None = None, side_file: str | None = None
    ) -> None:
        self.mode = mode
        self.directory = (Path.cwd() if directory is None else directory).resolve()
        self.side_file = side_file
        self._offsets: dict[str, int] = {}
        self._pending: list[tuple[int, Weights]] = []
        self._end = 0

    def place(self, weights: Weights) -> tuple[str, int] | None:
        """The file (relative to the text) and byte offset to write for ``weights``, or None to write them inline."""
        if self.mode is WeightsMode.INLINE:
            return None
        origin = weights.origin
        if origin is not None and origin.file.is_relative_to(self.directory):
            name = origin.file.relative_to(self.directory).as_posix()
            if name != self.side_file:
                return name, origin.offset
        if self.side_file is None:
            return None
        return self.side_file, self._append(weights)

    def _append(self, weights: Weights) -> int:
        """The offset of ``weights`` in the side file; equal bytes are stored once."""
        if (offset := self._offsets.get(weights.digest)) is not None:
            return offset
        offset = -(-self._end // ALIGNMENT) * ALIGNMENT
        self._offsets[weights.digest] = offset
        self._pending.append((offset, weights))
        self._end = offset + weights.nbytes
        return offset

    def finish(self) -> None:
        """Write the side file, if any constant went there; replaces an old one only when complete."""
        if not self._pending or self.side_file is None:
            return
        with atomic_write(self.directory / self.side_file) as stream:
            for offset, weights in self._pending:
                stream.write(bytes(offset - stream.tell()))
                stream.write(weights.buffer)


class WeightsReader:
    """Opens the files that weights in text refer to, each mapped into memory once.

    File names are relative to ``directory``, the folder of the text, and may not leave it. ``verify`` compares the
    digest of each constant with the text (about 1 s per GB).
    """

    def __init__(self, directory: Path | None = None, verify: bool = True) -> None:
        self.directory = (Path.cwd() if directory is None else directory).resolve()
        self.verify = verify
        self._maps: dict[Path, memoryview] = {}

    def read(self, name: str, offset: int, nbytes: int, digest: str, where: str | None = None) -> Weights:
        """The bytes that ``#ge.weights<name, offset, nbytes, digest>`` stands for.

        Raises GE3006 when the name leads out of the folder and GE3007 when the file is not what the text says.
        """
        file = self._inside(name, where)
        view = self._map(file, name, where)
        if offset < 0 or nbytes < 0 or offset + nbytes > view.nbytes:
            what = f"weights file '{name}' has {view.nbytes} bytes, the text wants {nbytes} at offset {offset}"
            raise GeError("GE3007", what, where)
        weights = Weights(view[offset : offset + nbytes], nbytes, Origin(file, offset), None if self.verify else digest)
        if weights.digest != digest:
            what = f"weights file '{name}' has other bytes at offset {offset} than the text says"
            raise GeError("GE3007", what, where)
        return weights

    def _inside(self, name: str, where: str | None) -> Path:
        """The real path of ``name``, which must be in the folder of the text or below."""
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise GeError("GE3006", f"weights file '{name}' is not below the folder of the module", where)
        file = (self.directory / name).resolve()
        if not file.is_relative_to(self.directory):
            raise GeError("GE3006", f"weights file '{name}' is a link out of the folder of the module", where)
        return file

    def _map(self, file: Path, name: str, where: str | None) -> memoryview:
        if file not in self._maps:
            try:
                self._maps[file] = map_file(file)
            except OSError as error:
                what = f"weights file '{name}' cannot be read: {error.strerror or error}"
                raise GeError("GE3007", what, where) from error
        return self._maps[file]


def map_file(path: str | Path) -> memoryview:
    """The bytes of a file, mapped into memory: read on use, never copied. Raises OSError."""
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return view_of(b"")
        return view_of(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


@contextmanager
def atomic_write(path: str | Path) -> Generator[IO[bytes]]:
    """A stream that becomes the file ``path`` when the block ends well, and leaves nothing behind when it does not.

    What is not a regular file (``/dev/null``, a pipe) is written directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The permission bits that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
