"""Changes of protobuf messages that leave them decodable: what a message says becomes wrong, not its form.

One walk over a message with the library's reflection serves ONNX models and OM files alike. A *field* below is a place
in the tree of messages: a message and one of its fields. Nodes, inputs, attributes and dimensions are dropped, doubled,
moved, renamed after another, put inside each other, or get values of another size or sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from random import Random
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from bench.fuzz.byte_mutations import INTEGERS, flip_bits

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, (1 << 64) - 1),
}
"""Range of each integer type."""

FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-38, 3e38, float("inf"), float("-inf"), float("nan"))

TEXTS = (
    *("", "x", "ai.onnx", "ai.onnx.ml", "com.example", "a b", "卷积", "%x"),
    *('"', "\\", "a\nb", "\x00", "../x", "x" * 300),
)
"""Names that something may stumble over."""

_MAX_COPY_BYTES = 1 << 16
"""Messages larger than this are not put into others, so that a few mutations cannot grow a case without end."""


Descriptor = Any
"""A FieldDescriptor; the library has two classes of this name."""


class Field(NamedTuple):
    """A field of a message in a tree."""

    message: Message
    descriptor: Descriptor


def fields(message: Message, depth: int = 0) -> Iterator[Field]:
    """All fields in a tree of messages that are set."""
    if depth > 40:
        return
    for descriptor, value in message.ListFields():
        yield Field(message, descriptor)
        for inner in _messages(descriptor, value):
            yield from fields(inner, depth + 1)


def _messages(descriptor: Descriptor, value: Any) -> Sequence[Message]:
    """The messages that a field holds."""
    if descriptor.message_type is None:
        return ()
    if is_map(descriptor):
        is_message = descriptor.message_type.fields_by_name["value"].message_type is not None
        return [value[key] for key in sorted(value)] if is_message else ()
    return list(value) if descriptor.is_repeated else (value,)


def is_map(descriptor: Descriptor) -> bool:
    """Whether a field is a map."""
    return descriptor.message_type is not None and descriptor.message_type.GetOptions().map_entry


def mutate(message: Message, random: Random, words: Sequence[str] = ()) -> None:
    """Change a tree of messages in one of the ways below. `words` are texts that other messages of the kind hold."""
    found = list(fields(message))
    if not found:
        return
    for _ in range(20):
        change = random.choice(MUTATIONS)
        if change(random.choice(found), random, _Tree(message, found, words)):
            return


class _Tree(NamedTuple):
    root: Message
    fields: list[Field]
    words: Sequence[str]


Mutation = Callable[[Field, Random, _Tree], bool]
"""Changes a field; False when that way does not apply to it."""


def drop(field: Field, random: Random, _tree: _Tree) -> bool:
    """Take out the field, or one of its elements."""
    message, descriptor = field
    value = getattr(message, descriptor.name)
    if is_map(descriptor):
        del value[random.choice(sorted(value))]
    elif descriptor.is_repeated:
        del value[random.randrange(len(value))]
    else:
        message.ClearField(descriptor.name)
    return True


def double(field: Field, random: Random, _tree: _Tree) -> bool:
    """Repeat an element of a list, at a random place."""
    return _rearrange(field, random, lambda items: items.insert(random.randrange(len(items) + 1), random.choice(items)))


def move(field: Field, random: Random, _tree: _Tree) -> bool:
    """Move an element of a list."""
    return _rearrange(
        field,
        random,
        lambda items: items.insert(random.randrange(len(items) + 1), items.pop(random.randrange(len(items)))),
    )


def _rearrange(field: Field, random: Random, change: Callable[[list[Any]], None]) -> bool:
    message, descriptor = field
    if not descriptor.is_repeated or is_map(descriptor):
        return False
    value: MutableSequence[Any] = getattr(message, descriptor.name)
    items = list(value)
    if descriptor.message_type is not None:
        items = [_copy(item) for item in items]
    change(items)
    message.ClearField(descriptor.name)
    getattr(message, descriptor.name).extend(items)
    return True


def rename_key(field: Field, random: Random, tree: _Tree) -> bool:
    """Give an entry of a map another name."""
    message, descriptor = field
    if not is_map(descriptor) or descriptor.message_type.fields_by_name["value"].message_type is None:
        return False
    value = getattr(message, descriptor.name)
    key = random.choice(sorted(value))
    value[_text(random, tree)].CopyFrom(value[key])
    if random.random() < 0.5:
        del value[key]
    return True


def change_scalar(field: Field, random: Random, tree: _Tree) -> bool:
    """Give a number, text or bytes another value."""
    message, descriptor = field
    if descriptor.message_type is not None:
        return False
    value = getattr(message, descriptor.name)
    if not descriptor.is_repeated:
        setattr(message, descriptor.name, _scalar(descriptor, value, random, tree))
        return True
    position = random.randrange(len(value))
    value[position] = _scalar(descriptor, value[position], random, tree)
    return True


def set_field(field: Field, random: Random, tree: _Tree) -> bool:
    """Set a field that its message does not have, or add an element to a list."""
    message = field.message
    descriptor = random.choice(message.DESCRIPTOR.fields)
    if is_map(descriptor):
        return False
    if descriptor.message_type is None:
        value = _scalar(descriptor, None, random, tree)
        if descriptor.is_repeated:
            getattr(message, descriptor.name).append(value)
        else:
            setattr(message, descriptor.name, value)
        return True
    donors = [inner for inner in _all_messages(tree) if inner.DESCRIPTOR.full_name == descriptor.message_type.full_name]
    donor = _copy(random.choice(donors)) if donors else None
    return _put(message, descriptor, donor)


def graft(field: Field, random: Random, tree: _Tree) -> bool:
    """Replace a message by another of its kind from elsewhere in the tree, perhaps by one around it."""
    message, descriptor = field
    if descriptor.message_type is None or is_map(descriptor):
        return False
    donors = [inner for inner in _all_messages(tree) if inner.DESCRIPTOR.full_name == descriptor.message_type.full_name]
    donor = _copy(random.choice(donors))
    if donor.ByteSize() > _MAX_COPY_BYTES:
        return False
    value = getattr(message, descriptor.name)
    target = value[random.randrange(len(value))] if descriptor.is_repeated else value
    target.CopyFrom(donor)
    return True


def _put(message: Message, descriptor: Descriptor, donor: Message | None) -> bool:
    """Put a copy, or an empty message, into a field."""
    if donor is not None and donor.ByteSize() > _MAX_COPY_BYTES:
        return False
    value = getattr(message, descriptor.name)
    target = value.add() if descriptor.is_repeated else value
    if donor is None:
        target.SetInParent()
    else:
        target.CopyFrom(donor)
    return True


def _all_messages(tree: _Tree) -> list[Message]:
    return [tree.root, *(inner for field in tree.fields for inner in _messages(field.descriptor, _value(field)))]


def _value(field: Field) -> Any:
    return getattr(field.message, field.descriptor.name)


def _copy(message: Message) -> Message:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _scalar(descriptor: Descriptor, value: Any, random: Random, tree: _Tree) -> Any:
    """Another value for a scalar field; `value` is the old one, or None."""
    kind = descriptor.cpp_type
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        near = 0 if value is None else value + random.choice((-1, 1))
        return min(high, max(low, random.choice((near, random.randrange(64), random.choice(INTEGERS)))))
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return random.choice(FLOATS)
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return not value
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice(descriptor.enum_type.values).number
    if descriptor.type == FieldDescriptor.TYPE_BYTES:
        return flip_bits(value, random, b"") if value and random.random() < 0.5 else _text(random, tree).encode()
    return _text(random, tree)


def _text(random: Random, tree: _Tree) -> str:
    """A text of this tree, of another one, or one that something may stumble over."""
    choice = random.random()
    if choice < 0.5:
        here = [text for field in tree.fields for text in _texts(field)]
        return random.choice(here) if here else ""
    if choice < 0.75 and tree.words:
        return random.choice(tree.words)
    return random.choice(TEXTS)


def _texts(field: Field) -> Sequence[str]:
    """The texts that a field holds; what is not UTF-8, after a change before this one, cannot be put elsewhere."""
    if is_map(field.descriptor):
        return sorted(_value(field))
    if field.descriptor.type != FieldDescriptor.TYPE_STRING:
        return ()
    values = _value(field) if field.descriptor.is_repeated else (_value(field),)
    return [value for value in values if isinstance(value, str)]


MUTATIONS: tuple[Mutation, ...] = (
    drop,
    drop,
    double,
    move,
    rename_key,
    change_scalar,
    change_scalar,
    change_scalar,
    set_field,
    graft,
)
