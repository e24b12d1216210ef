"""Weights in a file of their own beside the OM file: ``--external_weight=1``.

The OM file has no partition WEIGHTS_DATA then. It says the name of the file, without a folder, and the SHA-256 of its
bytes; its attribute ``weight_size`` is the size. The file is nothing but the block of weights, and it is mapped into
memory to be read.

The name is that of the OM file when it was written, and the digest: ``resnet50.om`` has the weights
``resnet50.DIGEST.weights``. So the weights of two versions of a model are two files, and an OM file finds its own
whenever the process that replaces it is killed: the weights file is complete before the OM file that names it is there,
and none is ever changed. Both may be moved to another folder together, and the OM file may get another name. Files
that no OM file names any more may be deleted.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import Buffer

from ge.ir.errors import GeError
from ge.ir.weights import Weights, atomic_write, map_file
from ge.targets.ascend.om.container import Container, PartitionType
from ge.targets.ascend.om.conventions import WEIGHTS_FILE, WEIGHTS_SHA256
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir

_DIGITS_IN_NAME = 32
"""Hexadecimal digits of the digest in the name: 128 bits, which no two contents share by chance."""


@dataclass(frozen=True)
class WeightsFile:
    """What an OM file says of its weights file."""

    name: str
    size: int
    """In bytes."""
    digest: str
    """SHA-256 in hexadecimal."""

    @classmethod
    def of(cls, stem: str, weights: Weights) -> WeightsFile:
        """The file of some weights whose name begins with ``stem``. Raises GE5009 for what begins no name of a file."""
        if stem != plain_name(stem):
            raise GeError("GE5009", f"the name of a weights file cannot begin with {stem!r}")
        return cls(f"{stem}{_ending(weights.digest)}", weights.nbytes, weights.digest)

    @property
    def stem(self) -> str:
        """What the name begins with."""
        return self.name.removesuffix(_ending(self.digest))

    @classmethod
    def named_in(cls, definition: ir.ModelDef, where: str) -> WeightsFile | None:
        """The file that a model definition names; None when it names none.

        Raises GE5007 for a name that no digest of this kind ends, or of another folder.
        """
        if WEIGHTS_FILE not in definition.attr:
            return None
        name, digest = (
            definition.attr[key].s.decode(errors="replace") if key in definition.attr else ""
            for key in (WEIGHTS_FILE, WEIGHTS_SHA256)
        )
        size = definition.attr["weight_size"].i if "weight_size" in definition.attr else -1
        found = cls(name, size, digest)
        is_name = name.endswith(_ending(digest)) and found.stem == plain_name(found.stem)
        if size < 0 or not is_name or not re.fullmatch("[0-9a-f]{64}", digest):
            what = f"it names weights file {name!r} of {size} bytes and digest {digest[:64]!r}"
            raise GeError("GE5007", f"{what}: no such file lies beside an OM file", where)
        return found

    def read(self, folder: Path) -> memoryview:
        """The bytes of the file in a folder, mapped into memory. Raises GE5010 and GE5011."""
        path = folder / self.name
        if path.exists() and not path.is_file():
            raise GeError("GE5010", f"weights file '{self.name}' is no regular file", str(path))
        try:
            data = map_file(path)
        except OSError as error:
            raise GeError("GE5010", f"cannot read weights file '{self.name}': {error.strerror}", str(path)) from error
        if data.nbytes != self.size:
            what = f"weights file '{self.name}' has {data.nbytes} bytes, the model has {self.size} of weights"
            raise GeError("GE5011", what, str(path))
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise GeError("GE5011", f"weights file '{self.name}' has other bytes than those of the model", str(path))
        return data

    def is_in(self, folder: Path) -> bool:
        """Whether the file is there already, whole."""
        try:
            self.read(folder)
        except GeError:
            return False
        return True

    def write(self, folder: Path, data: Buffer) -> None:
        """Put the file into a folder, unless it is there; it appears when it is complete. Raises OSError."""
        if self.is_in(folder):
            return
        with atomic_write(folder / self.name) as stream:
            stream.write(data)


def _ending(digest: str) -> str:
    """How the name of a weights file ends."""
    return f".{digest[:_DIGITS_IN_NAME]}.weights"


def plain_name(name: str) -> str:
    """A name without characters that file systems treat differently; not empty, and of at most 100 characters."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:100].rstrip("._") or "unnamed"


def weights_of(container: Container, definition: ir.ModelDef, folder: Path | None, where: str) -> memoryview:
    """The weights of an OM file in ``folder``: those in it, or those of its weights file.

    Raises GE5007 for both, GE5010 and GE5011 for a weights file that is not there (also when the OM file is no file: no
    folder) or not the right one.
    """
    external = WeightsFile.named_in(definition, where)
    if external is None:
        return container.partition(PartitionType.WEIGHTS_DATA)
    if PartitionType.WEIGHTS_DATA in container.partitions:
        raise GeError("GE5007", f"it has weights, and names weights file '{external.name}'", where)
    if folder is None:
        raise GeError("GE5010", f"weights file '{external.name}' lies beside the OM file, which is no file", where)
    return external.read(folder)
