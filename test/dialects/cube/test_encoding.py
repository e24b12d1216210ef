"""Binaries: what is written reads back, and damaged ones are refused."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge.dialects.cube.encoding import decode, encode
from ge.dialects.cube.kernel import AllocOp, CubeKernelOp
from ge.dialects.cube.scalars import SCALAR_OPS, ScalarOp
from ge.ir.errors import GeError
from ge.ir.registry import context

KERNEL = """
cube.kernel @k(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(8) outputs(1) {
  %core = cube.block_idx
  %c0 = arith.constant -3 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 0x7F800000 : f32
  %yes = arith.constant true
  %a = cube.alloc size = 4096, copies = 2, address = 64 : !cube.buffer<ub>
  %l0a = cube.alloc size = 512, address = 0 : !cube.buffer<l0a>
  %l1 = cube.alloc size = 512, address = 0 : !cube.buffer<l1>
  scf.for %i = %core to %c8 step %c8 {
    %h = arith.remsi %i, %c8 : index
    %first = arith.cmpi ult, %i, %core : index
    %j = arith.select %first, %h, %i : index
    cube.wait_flag src = v, dst = mte2, event = %h
    cube.copy_gm_to_ub dst = %a[%h], src = %x[%i], bursts = %j, length = 16
    cube.vmaxs dst = %a[0], src = %a[512], scalar = -inf, dtype = f16, count = 256, src_rep = 0
    cube.load2d dst = %l0a[0], src = %l1[0], repeat = 1, transpose = %first
    %s = cube.scalar_load src = %a[4], dtype = f32
    %n = arith.negf %s : f32
    %m = arith.mulf %n, %f : f32
    cube.vmuls dst = %a[0], src = %a[512], scalar = %m, dtype = f16, count = 256
    scf.if %first {
      cube.vector_dup_masked dst = %a[0], scalar = 1.5, dtype = f16, mask_low = 18446744073709551615, mask_high = 3
    } else {
      scf.for %q = %c0 to %i step %c8 {
        cube.pipe_barrier pipe = all
      }
    }
    scf.if %yes {
    }
  }
}
"""


def parse(text: str) -> CubeKernelOp:
    module = Parser(context(), text).parse_module()
    assert isinstance(module, ModuleOp)
    kernel = module.body.block.first_op
    assert isinstance(kernel, CubeKernelOp)
    return kernel


def test_round_trip() -> None:
    kernel = parse(KERNEL)
    binary = encode(kernel)
    again = decode(binary, "k")
    assert again.is_structurally_equivalent(kernel)
    assert encode(again) == binary


def test_every_instruction_round_trips() -> None:
    text = Path(__file__).with_name("ops.mlir").read_text()
    kernel = Parser(context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, CubeKernelOp)
    for op in kernel.walk():
        if isinstance(op, AllocOp):
            op.set_place(0)
    assert decode(encode(kernel), "instructions").is_structurally_equivalent(kernel)


@pytest.mark.parametrize("row", SCALAR_OPS, ids=lambda row: row.op.name)
def test_every_scalar_operation_round_trips(row: ScalarOp) -> None:
    name = row.op.name
    on = "f32" if name.endswith("f") else "index"
    arguments = {"arith.select": "%yes, %a, %a", "arith.negf": "%a"}.get(name, "%a, %a")
    constant = "1.0" if on == "f32" else "1"
    kernel = parse(f"""
      cube.kernel @k() soc("s") blocks(1) outputs(0) {{
        %yes = arith.constant true
        %a = arith.constant {constant} : {on}
        %r = {name} {arguments} : {on}
      }}""")
    assert decode(encode(kernel), "k").is_structurally_equivalent(kernel)


@settings(max_examples=50, deadline=None)
@given(value=st.floats(width=32), mask=st.integers(0, 2**64 - 1))
def test_numbers_keep_their_bits(value: float, mask: int) -> None:
    text = (
        "nan" if math.isnan(value) else repr(value) if "." in repr(value) or "inf" in repr(value) else f"{value:.17e}"
    )
    kernel = parse(f"""
      cube.kernel @k() soc("s") blocks(1) outputs(0) {{
        %a = cube.alloc size = 4096, address = 0 : !cube.buffer<ub>
        cube.vector_dup_masked dst = %a[0], scalar = {text}, dtype = f16, mask_low = {mask}
      }}""")
    again = parse(str(decode(encode(kernel), "k")))
    assert str(again.body.block.last_op).split("scalar")[1] == str(kernel.body.block.last_op).split("scalar")[1]


def test_unplaced_buffers_are_refused() -> None:
    kernel = parse(KERNEL.replace(", address = 64", ""))
    with pytest.raises(GeError, match="a buffer of 8192 bytes in ub has no address") as error:
        encode(kernel)
    assert error.value.code == "GE5022"


def test_loops_may_not_be_too_deep() -> None:
    def nested(depth: int) -> CubeKernelOp:
        loops = "".join(f"scf.for %i{level} = %a to %a step %a {{ " for level in range(depth))
        constant = "%a = arith.constant 1 : index"
        return parse(f'cube.kernel @k() soc("s") blocks(1) outputs(0) {{ {constant} {loops} {"}" * depth} }}')

    assert decode(encode(nested(16)), "k")
    with pytest.raises(GeError, match="more than 16 deep"):
        encode(nested(17))


def test_damage_is_an_error_never_a_traceback() -> None:
    binary = encode(parse(KERNEL))
    rng = random.Random(0)
    for _ in range(2000):
        damaged = bytearray(binary)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.2:
            del damaged[rng.randrange(len(damaged)) :]
        try:
            decode(bytes(damaged), "k")
        except GeError as error:
            assert error.code in ("GE5020", "GE5021")


@pytest.mark.parametrize(
    ("at", "put", "code", "what"),
    [
        (0, b"GE6K", "GE5020", "do not begin with a GECK header"),
        (4, b"\x09\x00", "GE5020", "version 9 is not 1"),
        (6, b"\x05\x00", "GE5021", "at byte"),
        (16, b"\xff\x00\x00\x00", "GE5021", "registers, the header says 255"),
    ],
)
def test_what_is_said_of_damage(at: int, put: bytes, code: str, what: str) -> None:
    binary = encode(parse(KERNEL))
    with pytest.raises(GeError, match=what) as error:
        decode(binary[:at] + put + binary[at + len(put) :], "k")
    assert error.value.code == code
    assert error.value.where == "kernel @k"


def test_what_is_said_of_missing_bytes() -> None:
    binary = encode(parse(KERNEL))
    with pytest.raises(GeError, match="bytes of code, the header says"):
        decode(binary[:-1], "k")
    with pytest.raises(GeError, match="do not begin with a GECK header"):
        decode(binary[:3], "k")


def test_registers_end_with_their_loop() -> None:
    """A value of a loop body used after the loop: possible in bytes, not in text."""
    kernel = parse("""
      cube.kernel @k() soc("s") blocks(1) outputs(0) {
        %a = arith.constant 1 : index
        scf.for %i = %a to %a step %a {
          %b = arith.addi %i, %a : index
        }
        %c = arith.addi %a, %a : index
      }""")
    binary = bytearray(encode(kernel))
    assert binary[-8:] == bytes(8)  # the operands of the last operation: register 0, twice
    binary[-8] = 2
    with pytest.raises(GeError, match="register 2 is not defined here"):
        decode(bytes(binary), "k")
