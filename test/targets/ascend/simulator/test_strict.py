"""The strict mode: each check fires on a kernel that is wrong in one way, and not on the same kernel put right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from xdsl.parser import Parser

from ge.dialects.cube.encoding import encode
from ge.dialects.cube.kernel import CubeKernelOp
from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.targets.ascend.simulator import KernelResult, run_kernel
from ge.targets.ascend.soc import Soc, load_soc

SOC = load_soc("Ascend310P3")

KERNEL = """
cube.kernel @k(%x: !cube.buffer<gm>, %z: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %core = cube.block_idx
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c2048 = arith.constant 2048 : index
  %a = cube.alloc size = 2048, address = 0 : !cube.buffer<ub>
  %b = cube.alloc size = 2048, address = 2048 : !cube.buffer<ub>
  %l1 = cube.alloc size = 4096, address = 0 : !cube.buffer<l1>
  %l0a = cube.alloc size = 4096, address = 0 : !cube.buffer<l0a>
  %l0b = cube.alloc size = 4096, address = 0 : !cube.buffer<l0b>
  %l0c = cube.alloc size = 16384, address = 0 : !cube.buffer<l0c>
  BODY
}
"""

LOAD = "cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 32\n"
LOADED = "cube.set_flag src = mte2, dst = v, event = 0\ncube.wait_flag src = mte2, dst = v, event = 0\n"
RELU = "cube.vrelu dst = %b[0], src = %a[0], dtype = f16, count = 512\n"
AGAIN = "cube.vadds dst = %b[0], src = %b[0], scalar = 1.0, dtype = f16, count = 512\n"
DONE = "cube.set_flag src = v, dst = mte3, event = 0\ncube.wait_flag src = v, dst = mte3, event = 0\n"
STORE = "cube.copy_ub_to_gm dst = %z[0], src = %b[0], length = 32\n"
BARRIER = "cube.pipe_barrier pipe = v\n"
ALL = "cube.pipe_barrier pipe = all\n"
RIGHT = LOAD + LOADED + RELU + DONE + STORE

TO_L1 = "cube.copy_gm_to_l1 dst = %l1[0], src = %x[0], length = 32\n" + ALL
L0 = "cube.load2d dst = %l0a[0], src = %l1[0], repeat = 2\ncube.load2d dst = %l0b[0], src = %l1[0], repeat = 2\n" + ALL


def mmad(m: int, n: int, init: str = "false") -> str:
    return f"cube.mmad dst = %l0c[0], a = %l0a[0], b = %l0b[0], m = {m}, k = 16, n = {n}, init = {init}\n"


WIDE = TO_L1.replace("length = 32", "length = 32, dst_gap = 0") + (
    "cube.load2d dst = %l0a[0], src = %l1[0], repeat = 5, src_stride = 0\n"
    "cube.load2d dst = %l0b[0], src = %l1[0], repeat = 2\n" + ALL
)
FINISH = ALL + RIGHT


def run(body: str, soc: Soc = SOC, blocks: int = 1, size: int = 512) -> KernelResult:
    text = KERNEL.replace("BODY", body).replace("blocks(1)", f"blocks({blocks})")
    kernel = Parser(context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, CubeKernelOp)
    x = np.linspace(-2, 2, size).astype(np.float16)
    return run_kernel(encode(kernel), [x, np.zeros_like(x)], soc, strict=True, name="k")


@dataclass(frozen=True)
class Case:
    """A kernel that is right, and how to make it wrong."""

    name: str
    right: str
    wrong: str
    code: str
    says: str


CASES = [
    Case(
        "argument: 32 bytes after it may be touched, no more",
        LOAD.replace("32", "33") + LOADED + RELU + DONE + STORE,
        LOAD.replace("32", "34") + LOADED + RELU + DONE + STORE,
        "GE6021",
        "'src' reads bytes [0, 1088) of argument 0, which has 1024 bytes",
    ),
    Case(
        "buffer, by an offset that is computed",
        LOAD.replace("%a[0]", "%a[%c0]") + LOADED + RELU + DONE + STORE,
        LOAD.replace("%a[0]", "%a[%c2048]") + LOADED + RELU + DONE + STORE,
        "GE6021",
        "'dst' writes bytes [2048, 3072) of a buffer in ub, which has 2048 bytes",
    ),
    Case(
        "alignment",
        LOAD.replace("%a[0]", "%a[%c0]") + LOADED + RELU + DONE + STORE,
        LOAD.replace("%a[0]", "%a[%c16]") + LOADED + RELU + DONE + STORE,
        "GE6022",
        "address 16 of 'dst', not a multiple of 32",
    ),
    Case(
        "uninitialised: one block too few is loaded",
        RIGHT,
        LOAD.replace("32", "31") + LOADED + RELU + DONE + STORE,
        "GE6024",
        "'src' reads byte 992 of ub, which nothing has written",
    ),
    Case(
        "uninitialised: accumulation onto an accumulator that was never set",
        TO_L1 + L0 + mmad(16, 16, "true") + FINISH,
        TO_L1 + L0 + mmad(16, 16) + FINISH,
        "GE6024",
        "'dst' reads byte 0 of l0c",
    ),
    Case(
        "uninitialised: a row of the left operand was loaded from L1 that nobody wrote",
        TO_L1 + L0 + mmad(32, 16, "true") + FINISH,
        TO_L1.replace("length = 32", "length = 31") + L0 + mmad(32, 16, "true") + FINISH,
        "GE6024",
        "'a' reads byte 992 of l0a",
    ),
    Case(
        "race between pipes: computing before the load has landed",
        RIGHT,
        LOAD + RELU + DONE + STORE,
        "GE6025",
        "without waiting for instruction 0: cube.copy_gm_to_ub",
    ),
    Case(
        "race between pipes: overwriting what is still being read",
        RIGHT + ALL + LOAD,
        RIGHT + LOAD,
        "GE6025",
        "'dst' writes ub bytes [0, 1024) without waiting for instruction 3: cube.vrelu",
    ),
    Case(
        "race in a pipe: the second instruction does not wait for the first",
        LOAD + LOADED + RELU + BARRIER + AGAIN + DONE + STORE,
        LOAD + LOADED + RELU + AGAIN + DONE + STORE,
        "GE6025",
        "'src' reads ub bytes [2048, 3072) without waiting for instruction 3: cube.vrelu",
    ),
    Case(
        "race in the cube unit: 10 fractals are pipelined by the hardware, 9 are not",
        WIDE + mmad(80, 32, "true") + mmad(80, 32) + FINISH,
        WIDE + mmad(48, 32, "true") + mmad(48, 32) + FINISH,
        "GE6025",
        "without waiting for instruction 5: cube.mmad",
    ),
    Case(
        "race with the scalar unit",
        RIGHT + ALL + "%s = cube.scalar_load src = %b[0], dtype = f16\n",
        RIGHT + "%s = cube.scalar_load src = %b[0], dtype = f16\n",
        "GE6025",
        "without waiting for instruction 3: cube.vrelu",
    ),
    Case(
        "order through a third pipe",
        # V waits for MTE2, MTE3 for V, MTE2 for MTE3: so the second load waits for the instruction of V that read.
        RIGHT
        + "cube.set_flag src = mte3, dst = mte2, event = 0\ncube.wait_flag src = mte3, dst = mte2, event = 0\n"
        + LOAD,
        RIGHT
        + "cube.set_flag src = mte3, dst = mte1, event = 0\ncube.wait_flag src = mte3, dst = mte1, event = 0\n"
        + LOAD,
        "GE6025",
        "without waiting for instruction 3: cube.vrelu",
    ),
    Case(
        "a flag is raised twice",
        RIGHT,
        "cube.set_flag src = mte2, dst = v, event = 0\n" + RIGHT,
        "GE6026",
        "raised already by instruction 0: cube.set_flag",
    ),
    Case(
        "a wait without a flag",
        RIGHT,
        "cube.wait_flag src = mte3, dst = v, event = 0\n" + RIGHT,
        "GE6027",
        "waits for a flag that no instruction before it raises",
    ),
    Case(
        "a flag stays raised",
        RIGHT,
        RIGHT + "cube.set_flag src = mte3, dst = v, event = 5\n",
        "GE6027",
        "the flag from mte3 to v, event 5, stays raised",
    ),
    Case(
        "a field out of range at run time",
        LOAD.replace("length = 32", "bursts = %c1, length = 32") + LOADED + RELU + DONE + STORE,
        LOAD.replace("length = 32", "bursts = %c0, length = 32") + LOADED + RELU + DONE + STORE,
        "GE6029",
        "field 'bursts' is 0, expected 1 to 4095",
    ),
    Case(
        "an event that does not exist",
        RIGHT.replace("event = 0", "event = %c1"),
        RIGHT.replace("event = 0", "event = %c16"),
        "GE6029",
        "event 16: Ascend310P3 has 8",
    ),
    Case(
        "an output that is not complete",
        RIGHT,
        LOAD + LOADED + RELU + DONE + STORE.replace("32", "31"),
        "GE6030",
        "32 of 1024 bytes of argument 1, the first of them byte 992",
    ),
    Case(
        "an output that holds bytes nobody computed",
        RIGHT,
        LOAD + LOADED + RELU.replace("512", "500") + DONE + STORE,
        "GE6030",
        "24 of 1024 bytes of argument 1, the first of them byte 1000",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_check(case: Case) -> None:
    run(case.right)
    with pytest.raises(GeError) as error:
        run(case.wrong)
    assert error.value.code == case.code
    assert case.says in error.value.what
    assert error.value.where is not None
    assert "kernel @k" in error.value.where


def test_right_kernel_computes() -> None:
    x = np.linspace(-2, 2, 512).astype(np.float16)
    assert np.array_equal(run(RIGHT).outputs[0], np.maximum(x, 0))


def test_place_of_an_error() -> None:
    with pytest.raises(GeError) as error:
        run(LOAD + RELU + DONE + STORE)
    where = error.value.where
    assert where is not None
    assert where.startswith("kernel @k, core 0, instruction 1: cube.vrelu dst = ")


def test_cores_may_not_write_the_same_bytes() -> None:
    half = "%to = arith.muli %core, %c512 : index\n"
    body = "%c512 = arith.constant 512 : index\n" + half + RIGHT
    apart = body.replace("%z[0], src = %b[0], length = 32", "%z[%to], src = %b[0], length = 16")
    run(apart, blocks=2)
    with pytest.raises(GeError, match="which core 0 touches, too") as error:
        run(apart.replace("length = 16", "length = 17"), blocks=2)
    assert error.value.code == "GE6028"
    assert error.value.where is not None
    assert "core 1" in error.value.where


def test_cores_may_not_read_what_another_writes() -> None:
    both = RIGHT + ALL + "cube.copy_gm_to_ub dst = %a[0], src = %z[0], length = 32\n"
    run(both)
    with pytest.raises(GeError) as error:
        run(both, blocks=2)
    assert error.value.code == "GE6028"


def test_instructions_and_paths_of_the_soc() -> None:
    for soc in (replace(SOC, lacks=frozenset({"vrelu"})), replace(SOC, paths=SOC.paths - {"ub->gm"})):
        with pytest.raises(GeError, match=r"Ascend310P3 has no (vrelu|path ub->gm)") as error:
            run(RIGHT, soc)
        assert error.value.code == "GE6023"


def test_each_core_starts_with_nothing_written() -> None:
    """What core 0 left in its buffers is not there on core 1."""
    body = "%first = arith.cmpi eq, %core, %c0 : index\nscf.if %first {\n" + LOAD + ALL + "}\n" + RELU + DONE + STORE
    with pytest.raises(GeError) as error:
        run(body, blocks=2)
    assert error.value.code == "GE6024"
