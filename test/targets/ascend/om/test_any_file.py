"""OM files of any compiler as text and back: the same bytes, whatever is in them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from om_samples import SAMPLES, model, packed, parts_of, patched
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.om import FileOp, ModelOp
from ge.dialects.om.container import KernelStoreOp
from ge.ir.errors import GeError
from ge.ir.parser import parse_module, parse_text
from ge.ir.printer import print_module
from ge.ir.registry import context
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsMode, WeightsReader
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.kernel_store import pack_store
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.wire import MIN_FIELDS, decode_message, encode_message
from ge.targets.ascend.om.writer import model_bytes, write_module
from ge.tools import ge_run, ge_translate

SMALL = Path(__file__).parent / "inputs" / "small.mlir"
WHOLE = {name: data for name, (data, expected) in SAMPLES.items() if not isinstance(expected, str)}
FUNCTION = ir.ModelDef.DESCRIPTOR


def of_text(module: ModuleOp) -> ModuleOp:
    """The module read back from its text."""
    text = print_module(module, weights=WeightsMode.INLINE)
    return parse_text(context(), text, "<text>", WeightsReader())


def check_exact(data: bytes) -> ModuleOp:
    """The module of a file, which is written as the file, by way of the text."""
    module = read_module(data)
    verify_module(module)
    again = of_text(module)
    verify_module(again)
    assert model_bytes(again) == data
    return module


@pytest.mark.parametrize("name", WHOLE)
def test_samples_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.om"
    path.write_bytes(WHOLE[name])
    module = check_exact(WHOLE[name])
    assert [type(op) for op in module.ops] == [FileOp]
    ge_translate.run(["--om-to-mlir", str(path), "-o", str(tmp_path / "sample.mlir")])
    ge_translate.run(["--mlir-to-om", str(tmp_path / "sample.mlir"), "-o", str(tmp_path / "again.om")])
    assert (tmp_path / "again.om").read_bytes() == WHOLE[name]


@pytest.mark.parametrize("name", ["wide", "kernels", "three models"])
def test_text_of_another_compiler_is_not_run(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample.mlir"
    path.write_text(print_module(read_module(WHOLE[name]), weights=WeightsMode.INLINE))
    with pytest.raises(GeError) as error:
        ge_run.run([str(path)])
    assert error.value.code in ("GE5004", "GE5008")


def test_kernels_are_opaque() -> None:
    (file,) = check_exact(WHOLE["kernels"]).ops
    (store,) = [op for op in file.walk() if isinstance(op, KernelStoreOp)]
    assert [(op.label.data, bytes(op.value.buffer)) for op in store.binaries] == [("conv", b"\x7fELF"), ("", b"")]


# ---------------------------------------------------------------- files of this compiler that something has changed


def small(*more: tuple[int, bytes], definition: bytes = b"") -> bytes:
    """A file of this compiler, with more partitions, and more behind its model definition."""
    data = model_bytes(parse_module(SMALL))
    parts = {PartitionType(kind): bytes(part) for kind, part in read_container(data, "").partitions.items()}
    parts[PartitionType.MODEL_DEF] += definition
    pieces = pack_container("small", [*parts.items(), *more])  # type: ignore[list-item]
    return b"".join(bytes(memoryview(piece)) for piece in pieces)


def test_our_own_file_is_a_model() -> None:
    assert [type(op) for op in check_exact(small()).ops] == [ModelOp]


@pytest.mark.parametrize(
    "data",
    [
        small((13, b"what is this")),
        small(definition=b"\xa2\x06\x03abc"),
        small(definition=b"\x0a\x05small"),
        patched(small(), 200, b"\x01"),
        patched(small(), 81, b"\x00"),
        small((PartitionType.SO_BINS, bytes(4))),
    ],
    ids=["partition", "field", "name twice", "reserved byte", "checksum flag", "libraries"],
)
def test_what_a_model_cannot_say_is_kept(data: bytes) -> None:
    """The run time leaves out what it does not know; the text does not."""
    assert [type(op) for op in check_exact(data).ops] == [FileOp]
    assert [*read_model(data).outputs] == ["y", "count"]


# ---------------------------------------------------------------- anything

KNOWN = sorted({field.number for field in FUNCTION.fields} | {1, 2, 3, 4, 5, 7, 10, 11, 12, 14, 16, 20, 33})
numbers = st.sampled_from(KNOWN) | st.integers(1, (1 << 29) - 1)


def varint(value: int) -> bytes:
    data = bytearray()
    while value >> 7:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def field(number: int, wire: int, content: bytes) -> bytes:
    return varint(number << 3 | wire) + (varint(len(content)) if wire == 2 else b"") + content


integers = st.integers(0, (1 << 64) - 1) | st.integers(0, 300)
leaves = st.one_of(
    st.builds(lambda number, value: field(number, 0, varint(value)), numbers, integers),
    st.builds(lambda number, value: field(number, 1, struct.pack("<Q", value)), numbers, st.integers(0, (1 << 64) - 1)),
    st.builds(lambda number, value: field(number, 5, struct.pack("<I", value)), numbers, st.integers(0, (1 << 32) - 1)),
    st.builds(lambda number, value: field(number, 5, struct.pack("<f", value)), numbers, st.floats(width=32)),
    st.builds(lambda number, content: field(number, 2, content), numbers, st.binary(max_size=12)),
    st.builds(lambda number, content: field(number, 2, content.encode()), numbers, st.text(max_size=8)),
    st.builds(lambda number, values: field(number, 2, b"".join(map(varint, values))), numbers, st.lists(integers)),
)
messages = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda number, fields: field(number, 2, b"".join(fields)), numbers, st.lists(inner, max_size=5)
    ),
    max_leaves=25,
)
bodies = st.lists(messages, max_size=6).map(b"".join)


@settings(max_examples=100)
@given(bodies | st.binary(max_size=60))
def test_messages_are_exact_or_nothing(data: bytes) -> None:
    for schema in (FUNCTION, None):
        message = decode_message(memoryview(data), schema)  # type: ignore[arg-type]
        assert message is None or encode_message(message, schema) == data  # type: ignore[arg-type]


def test_what_is_written_in_a_longer_way_stays_bytes() -> None:
    """Such as the number 1 in two bytes, half a field, or a group."""
    for data in (b"\x10\x81\x00", b"\x0a\x05abc", b"\x0b\x0c", b"\x80", b"\x10" + b"\xff" * 10 + b"\x01"):
        assert decode_message(memoryview(data), None) is None


def test_what_has_too_many_fields_stays_bytes() -> None:
    """Each takes a hundred times its size as an object; a file of more bytes may have more of them."""
    data = field(900, 0, varint(1)) * (MIN_FIELDS + 1)
    assert decode_message(memoryview(data), None) is None
    message = decode_message(memoryview(data), None, MIN_FIELDS + 1)
    assert message is not None and encode_message(message, None) == data
    assert check_exact(packed([(0, data), (1, bytes(8))])) is not None
    numbers = field(7, 2, field(6, 2, field(28, 2, bytes(8 * MIN_FIELDS + 8))))
    assert decode_message(memoryview(numbers), FUNCTION) is None  # type: ignore[arg-type]


def test_depth_has_an_end() -> None:
    data = b""
    for _ in range(150):
        data = field(13, 2, field(6, 2, field(10, 2, field(1, 2, b"k") + field(2, 2, data))))
    message = decode_message(memoryview(field(7, 2, data)), FUNCTION)  # type: ignore[arg-type]
    assert message is not None and encode_message(message, FUNCTION) == field(7, 2, data)  # type: ignore[arg-type]


partitions = st.dictionaries(
    st.integers(1, 30) | st.integers(31, (1 << 32) - 1),
    st.binary(max_size=40) | bodies | st.dictionaries(st.text(max_size=5), st.binary(max_size=9)).map(pack_store),
    max_size=4,
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])
@given(bodies, partitions, st.booleans(), st.lists(st.tuples(st.integers(5, 255), st.binary(min_size=1, max_size=9))))
@example(b"", {}, True, [])
@example(b"", {3: b"\xfd\x6e\x77\x5d" * 3}, False, [(84, b"\xff\xff"), (152, b"\x07")])
def test_any_file_comes_back_as_it_was(
    body: bytes, others: dict[int, bytes], wide: bool, patches: list[tuple[int, bytes]]
) -> None:
    """Random fields, partitions, and bytes of the header, as far as they are an OM file at all."""
    try:
        ir.ModelDef.FromString(body)
    except DecodeError:
        assume(False)
    data = packed([(0, body), *others.items()], wide=wide)
    for place, content in patches:
        data = patched(data, min(place, 256 - len(content)), content)
    try:
        read_container(data, "")
    except GeError:
        assume(False)
    check_exact(data)


# ---------------------------------------------------------------- text that was changed


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("version = 2", "colour = 2", "no field 'colour'"),
        ("version = 2", "version = 2.5", "field 'version' holds no real numbers"),
        ("dim = [1, 1, 4, 4]", "dim = [1, 1, 4.5, 4]", "a list of real numbers"),
        ('"TASK_INFO"', '"TASKS"', "partition type 'TASKS' is unknown"),
        ("wide {", 'wide {colour = "red", ', "no field 'colour'"),
        ("wide {", "wide {model_length = 7 : i64, ", "no field 'model_length'"),
        ("wide {", "wide {is_encrypted = 300 : i64, ", "cannot be that"),
        ("wide {", 'wide {is_encrypted = "x", ', "cannot be that"),
    ],
)
def test_text_without_a_form_in_a_file_is_one_error(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = print_module(read_module(packed(parts_of(model()))), weights=WeightsMode.INLINE)
    assert old in text
    module = parse_text(context(), text.replace(old, new, 1), "<text>", WeightsReader())
    with pytest.raises(GeError, match=words) as error:
        write_module(module, tmp_path / "x.om")
    assert error.value.code == "GE5009" and not (tmp_path / "x.om").exists()


def test_changed_text_is_a_file_of_the_right_size() -> None:
    """Sizes in header and table follow from what is in the file."""
    text = print_module(read_module(packed(parts_of(model()))), weights=WeightsMode.INLINE)
    changed = text.replace('type = "Relu"', 'type = "LeakyRelu"')
    data = model_bytes(parse_text(context(), changed, "<text>", WeightsReader()))
    definition = ir.ModelDef.FromString(bytes(read_container(data, "").partition(PartitionType.MODEL_DEF)))
    assert definition.graph[0].op[4].type == "LeakyRelu"
