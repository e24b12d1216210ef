"""The verifier: every fault is one error that names the operation and its place."""

from __future__ import annotations

import pytest

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.verifier import verify_module

VALID = {
    "nested regions see what is around them": """
func.func @main(%n: index, %x: i32) {
  %one = arith.constant 1 : index
  scf.for %i = %one to %n step %one {
    %y = arith.addi %x, %x : i32
    scf.for %j = %one to %i step %one {
      %z = arith.addi %y, %x : i32
    }
  }
  func.return
}""",
    "blocks see the values of other blocks": """
func.func @main(%c: i1) -> i32 {
  %a = arith.constant 1 : i32
  cf.br ^next(%a : i32)
^next(%b: i32):
  %d = arith.addi %a, %b : i32
  cf.cond_br %c, ^next(%d : i32), ^end
^end:
  func.return %d : i32
}""",
    "notes that nobody knows": "func.func @main() attributes {graph.colour = 1, mine.note} {\n  func.return\n}",
    "a module needs no terminator": '%0 = "test.op"() : () -> i32\n"test.op"(%0) : (i32) -> ()',
}

INVALID = {
    "use before definition": (
        '%1 = "test.op"(%0) : (i32) -> i32\n%0 = "test.op"() : () -> i32',
        "GE3003",
        "'test.op': operand #0 is used before it is defined",
        "t.mlir:1:1",
    ),
    "use of its own result": ('%0 = "test.op"(%0) : (i32) -> i32', "GE3003", "operand #0", "t.mlir:1:1"),
    "use through an isolated region": (
        '%0 = "test.op"() : () -> i32\nfunc.func @f() -> i32 {\n  func.return %0 : i32\n}',
        "GE3003",
        "'func.return': operand #0",
        "t.mlir:3:3",
    ),
    "use after a region": (
        '"test.op"() ({\n  %0 = "test.op"() : () -> i32\n  "test.termop"() : () -> ()\n}) : () -> ()\n'
        '"test.op"() ({\n  "test.termop"(%0) : (i32) -> ()\n}) : () -> ()',
        "GE3001",
        "value %0 is used but not defined",
        "t.mlir:6:17",
    ),
    "use before definition in one of several blocks": (
        "func.func @f() {\n  cf.br ^a\n^a:\n  %1 = arith.addi %0, %0 : i32\n"
        "  %0 = arith.constant 1 : i32\n  func.return\n}",
        "GE3003",
        "'arith.addi': operand #0",
        "t.mlir:4:3",
    ),
    "no terminator": (
        "func.func @f() {\n  %0 = arith.constant 1 : i32\n}",
        "GE3002",
        "'func.func': a block must end with a terminator, not with 'arith.constant'",
        "t.mlir:2:3",
    ),
    "empty block": (
        '"test.op"() ({\n^a:\n}) : () -> ()',
        "GE3002",
        "'test.op': a block must end with a terminator",
        "t.mlir:1:1",
    ),
    "wrong number of operands": (
        'func.func @f(%x: i32) {\n  %0 = "arith.addi"(%x) : (i32) -> i32 loc("sum")\n  func.return\n}',
        "GE3002",
        "'arith.addi': Expected 2 operands, but got 1",
        "t.mlir:2:3 (node 'sum')",
    ),
    "branch in the middle": (
        'func.func @f() {\n  "cf.br"() [^a] : () -> ()\n  "cf.br"() [^a] : () -> ()\n^a:\n  func.return\n}',
        "GE3002",
        "'cf.br': an operation with successors must be the last of its block",
        "t.mlir:2:3",
    ),
    "a function without a type, which its return would look at": (
        '"func.func"() ({\n  func.return\n}) {sym_name = "f"} : () -> ()',
        "GE3002",
        "'func.func': property 'function_type' expected",
        "t.mlir:1:1",
    ),
    "a storage format of another rank": (
        '%0 = "test.op"() : () -> tensor<4x4xf16, #ge.layout<NC1HWC0>>',
        "GE3002",
        "'test.op': no storage shape for rank 2 in format NC1HWC0",
        "t.mlir:1:1",
    ),
    "a storage format of another rank of an argument": (
        "func.func @f(%x: tensor<4xf16, #ge.layout<FRACTAL_NZ>>) {\n  func.return\n}",
        "GE3002",
        "'func.func': no storage shape for rank 1 in format FRACTAL_NZ",
        "t.mlir:1:1",
    ),
    "too few names": (
        'func.func @main(%x: i32, %y: i32) attributes {graph.input_names = ["x"]} {\n  func.return\n}',
        "GE3002",
        "'graph.input_names' must be a list of strings, one for each argument",
        "t.mlir:1:1",
    ),
    "names that are not text": (
        "func.func @main(%x: i32) -> i32 attributes {onnx.output_names = [1]} {\n  func.return %x : i32\n}",
        "GE3002",
        "'onnx.output_names' must be a list of strings, one for each result",
        "t.mlir:1:1",
    ),
    "a wrong note of an argument": (
        'func.func @main(%x: i32 {onnx.dims = "N"}) {\n  func.return\n}',
        "GE3002",
        "'onnx.dims' must be a list of strings",
        "t.mlir:1:1",
    ),
    "a negative size": (
        "func.func @main() attributes {graph.memory_size = -1 : i64} {\n  func.return\n}",
        "GE3002",
        "'graph.memory_size' must be a 64-bit integer that is not negative",
        "t.mlir:1:1",
    ),
    "a note of a module": (
        'builtin.module attributes {onnx.opsets = {ai.onnx = "new"}} {\n}',
        "GE3002",
        "'onnx.opsets' must be a dictionary of 64-bit integers",
        "t.mlir:1:1",
    ),
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_valid(text: str) -> None:
    verify_module(parse_module(text))


@pytest.mark.parametrize(("text", "code", "what", "where"), INVALID.values(), ids=INVALID)
def test_invalid(text: str, code: str, what: str, where: str) -> None:
    with pytest.raises(GeError) as error:
        verify_module(parse_module(text, name="t.mlir"))
    assert (error.value.code, error.value.where) == (code, where)
    assert what in error.value.what
    assert "\n" not in error.value.what
