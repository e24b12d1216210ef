"""The kernel store: kernel binaries by name, one after the other, without a count.

Each record is a 12-byte head (magic, length of the name, length of the binary; 32-bit little-endian), the name without
a terminating zero, and the binary. The partitions TBE_KERNELS and CUST_AICPU_KERNELS have this form.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from typing_extensions import Buffer

from ge.ir.errors import GeError

MAGIC = 0x5D776EFD
_HEAD = struct.Struct("<III")


def pack_store(kernels: Mapping[str, Buffer]) -> bytes:
    """The bytes of a store of `kernels`, in the order given."""
    records = bytearray()
    for name, binary in kernels.items():
        encoded = name.encode()
        records += _HEAD.pack(MAGIC, len(encoded), memoryview(binary).nbytes)
        records += encoded
        records += binary
    return bytes(records)


def read_store(store: memoryview, where: str) -> dict[str, memoryview]:
    """The binaries of a store by name, as views. Raises GE5005 for anything but whole records of different names."""
    kernels: dict[str, memoryview] = {}
    position = 0
    while position < store.nbytes:
        if store.nbytes - position < _HEAD.size:
            raise GeError("GE5005", "the kernel store ends inside a record", where)
        magic, name_size, binary_size = _HEAD.unpack_from(store, position)
        if magic != MAGIC:
            raise GeError("GE5005", f"a kernel record begins with {magic:#x}, not with {MAGIC:#x}", where)
        binary_start = position + _HEAD.size + name_size
        end = binary_start + binary_size
        if end > store.nbytes:
            raise GeError("GE5005", "a kernel is longer than the kernel store", where)
        name = _decode_name(store[position + _HEAD.size : binary_start], where)
        if name in kernels:
            raise GeError("GE5005", f"kernel '{name}' occurs twice", where)
        kernels[name] = store[binary_start:end]
        position = end
    return kernels


def _decode_name(encoded: memoryview, where: str) -> str:
    try:
        return bytes(encoded).decode()
    except UnicodeDecodeError as error:
        raise GeError("GE5005", "the name of a kernel is not UTF-8 text", where) from error
