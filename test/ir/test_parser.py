"""The parser: what it reads, where it says it stopped, and how long it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import FloatAttr, StringAttr, f16, f32

from ge.ir.errors import GeError
from ge.ir.locations import node_names, position
from ge.ir.parser import parse_module

ERRORS = {
    "undefined value": ('\n  "test.op"(%0) : (i32) -> ()', "value %0 is used but not defined", "2:13"),
    "unknown operation": ("\n  func.fun", "operation 'func.fun' is not registered", "2:3"),
    "misspelt operation": ("func.func @f() {\n  func.retrun\n}", "did you mean 'func.return'?", "2:3"),
    "unknown attribute": ('"test.op"() {a = #nothing.here} : () -> ()', "'nothing.here' is not registered", "1:31"),
    "wrong storage format": ('"test.op"() {a = #ge.layout<X>} : () -> ()', "unknown storage format 'X'", "1:31"),
    "defined twice": ('%0 = "test.op"() : () -> i32\n%0 = "test.op"() : () -> i32', "%0 is already defined", "2:1"),
    "wrong number of elements": ('"test.op"() {a = dense<[1]> : tensor<2xi8>} : () -> ()', "Shape mismatch", "1:43"),
    "too many bits": ('"test.op"() {a = dense<0x10000> : tensor<1xf16>} : () -> ()', "too many bits for f16", "1:24"),
    "too wide": ('"test.op"() {a = 1 : i999999999} : () -> ()', "integers have at most 4096 bits", "1:22"),
    "odd hexadecimal": ('"test.op"() {a = #ge.weights<"0x123">} : () -> ()', "two hexadecimal digits per byte", "1:30"),
    "unterminated string": ('"test.op"() {a = "x} : () -> ()', "closing string literal", "1:18"),
    "nothing": ("", "Could not parse entire input", "1:1"),
    "binary": ("\x00\x01", "Unexpected character", "1:1"),
}


@pytest.mark.parametrize(("text", "what", "where"), ERRORS.values(), ids=ERRORS)
def test_errors_have_a_position(text: str, what: str, where: str) -> None:
    with pytest.raises(GeError) as error:
        parse_module(text, name="t.mlir")
    assert error.value.code == "GE3001"
    assert what in error.value.what
    assert error.value.where == f"t.mlir:{where}"


def test_missing_file() -> None:
    with pytest.raises(GeError, match="No such file") as error:
        parse_module(Path("nothing.mlir"))
    assert error.value.code == "GE1001"


def test_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_bytes(b"ab\xff")
    with pytest.raises(GeError, match="byte 0xFF at offset 2") as error:
        parse_module(str(tmp_path / "x.mlir"))
    assert error.value.code == "GE1004"


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(GeError, match="nested too deeply"):
        parse_module('"test.op"() ({' * 5000)


@pytest.mark.parametrize("text", ['"' + "a" * 50_000, " " * 50_000 + "\x00", "// a   \n" * 5000 + "\x00"])
def test_damaged_text_ends(text: str) -> None:
    """xDSL's expression for string literals takes time exponential in the length of one that does not end: for ever."""
    with pytest.raises(GeError):
        parse_module(text)


def test_operations_know_their_position() -> None:
    module = parse_module(
        '"test.op"() : () -> ()\n  "test.op"() : () -> () loc("a")\n"test.op"() : () -> () loc(fused["b", "c"])',
        name="t",
    )
    first, second, third = module.ops
    assert [position(op.location) for op in (first, second, third)] == ["t:1:1", "t:2:3", "t:3:1"]
    assert [node_names(op) for op in (first, second, third)] == [(), ("a",), ("b", "c")]


def test_hexadecimal_is_bits_only_for_floats() -> None:
    (op,) = parse_module('"test.op"() {a = 0x10 : i32, b = 0x7C00 : f16, c = 0x10 : f32} : () -> ()').ops
    assert str(op.attributes["a"]) == "16 : i32"
    assert op.attributes["b"] == FloatAttr(float("inf"), f16)
    assert op.attributes["c"] == FloatAttr(2.2420775429197073e-44, f32)


def test_escapes_of_other_writers_are_strings() -> None:
    """MLIR writes every byte beyond ASCII as an escape."""
    (op,) = parse_module(r'"test.op"() {a = "\E5\8D\B7\E7\A7\AF"} : () -> ()').ops
    assert op.attributes["a"] == StringAttr("卷积")


def test_aliases() -> None:
    (op,) = parse_module('!t = tensor<2xf32>\n#a = 7 : i32\n%0 = "test.op"() {a = #a} : () -> !t').ops
    assert (str(op.results[0].type), str(op.attributes["a"])) == ("tensor<2xf32>", "7 : i32")


@pytest.mark.parametrize(
    ("raised", "code", "what"),
    [
        (ValueError("no such size"), "GE3001", "no such size"),
        (KeyError("size"), "GE9001", "internal error: KeyError: 'size'"),
    ],
)
def test_a_fault_of_a_parse_method_is_no_error_of_the_text(
    raised: Exception, code: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: object) -> None:
        raise raised

    monkeypatch.setattr("xdsl.dialects.func.ReturnOp.parse", parse)
    with pytest.raises(GeError) as error:
        parse_module("func.func @f() {\n  func.return\n}", name="t.mlir")
    assert (error.value.code, error.value.what) == (code, what)


@pytest.mark.parametrize("offset", ["9223372036854775808", "-9223372036854775809", "1" + "0" * 30])
def test_integers_of_a_list_that_are_too_large_are_errors_of_the_text(offset: str) -> None:
    launch = f'%0 = graph.launch @k() blocks 1 type "K" offsets [{offset}] : () -> tensor<2xf16>'
    host = f"%0 = graph.host() offsets [{offset}] : () -> tensor<2xf16> {{\n}}"
    for text in (launch, host):
        with pytest.raises(GeError) as error:
            parse_module(text, name="t.mlir")
        assert error.value.code == "GE3001"
