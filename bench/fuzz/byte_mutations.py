"""Changes of bytes that know nothing of what the bytes mean, beside that lengths and varints are in them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

INTERESTING = (0, 1, 2, 3, 7, 8, 15, 16, 31, 127, 128, 255, 256, 511, 512, 65535, 65536, (1 << 31) - 1, 1 << 31)
"""Integers at which sizes, signs and limits change. Their negatives and 64-bit ones are added below."""

INTEGERS = (
    *INTERESTING,
    *(-number for number in INTERESTING[1:]),
    *((1 << 32) - 1, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63)),
)

Mutation = Callable[[bytes, Random, bytes], bytes]
"""From bytes and other bytes of the same kind to changed bytes."""


def mutate(data: bytes, random: Random, other: bytes) -> bytes:
    """Change bytes in one of the ways below."""
    return random.choice(MUTATIONS)(data, random, other)


def flip_bits(data: bytes, random: Random, _other: bytes) -> bytes:
    """Flip a bit in a few places."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def set_byte(data: bytes, random: Random, _other: bytes) -> bytes:
    """Write a random byte somewhere."""
    changed = bytearray(data)
    if changed:
        changed[random.randrange(len(changed))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return bytes(changed)


def set_word(data: bytes, random: Random, _other: bytes) -> bytes:
    """Write an interesting integer of 2, 4 or 8 bytes somewhere."""
    size = random.choice((2, 4, 8))
    if len(data) < size:
        return data
    start = random.randrange(len(data) - size + 1)
    return data[:start] + word(random.choice(INTEGERS), size) + data[start + size :]


def word(number: int, size: int) -> bytes:
    """The low bytes of an integer, little-endian."""
    return struct.pack("<Q", number & (1 << 64) - 1)[:size]


def set_varint(data: bytes, random: Random, _other: bytes) -> bytes:
    """Replace a byte by a varint: a length or number that is too large, perhaps without an end."""
    start = random.randrange(len(data) + 1)
    varint = random.choice(
        (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\xff" * 11, b"\x80" * 4 + b"\x00", b"\xfe\x7f", b"\x80\x01")
    )
    return data[:start] + varint + data[start + 1 :]


def truncate(data: bytes, random: Random, _other: bytes) -> bytes:
    """Cut the end off."""
    return data[: random.randrange(len(data) + 1)]


def delete(data: bytes, random: Random, _other: bytes) -> bytes:
    """Take a piece out."""
    start, end = _range(data, random)
    return data[:start] + data[end:]


def repeat(data: bytes, random: Random, _other: bytes) -> bytes:
    """Write a piece again, behind itself or elsewhere."""
    start, end = _range(data, random)
    place = random.choice((end, random.randrange(len(data) + 1)))
    return data[:place] + data[start:end] + data[place:]


def insert(data: bytes, random: Random, _other: bytes) -> bytes:
    """Insert random bytes."""
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.choice((1, 1, 2, 4, 8, 100))) + data[place:]


def splice(data: bytes, random: Random, other: bytes) -> bytes:
    """Replace a piece by one of the other bytes."""
    start, end = _range(data, random)
    from_, to = _range(other, random)
    return data[:start] + other[from_:to] + data[end:]


def _range(data: bytes, random: Random) -> tuple[int, int]:
    """A piece of the data, mostly short."""
    start = random.randrange(len(data) + 1)
    length = random.choice((1, 2, 4, 8, 16, 64, 256, len(data)))
    return start, min(len(data), start + length)


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits,
    flip_bits,
    set_byte,
    set_word,
    set_varint,
    truncate,
    delete,
    repeat,
    insert,
    splice,
)
