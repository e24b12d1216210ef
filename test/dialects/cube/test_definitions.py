"""What every instruction owes to those who read its definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import Address, Enum, Flag, Float, Integer
from ge.dialects.cube.fractals import FractalMemory
from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.instructions.matrix import Mmad
from ge.dialects.cube.kernel import AllocOp
from ge.dialects.cube.memory import Memory
from ge.dialects.cube.spaces import Space, buffer
from ge.targets.ascend.soc import load_soc

SIZES = {"l1": 65536, "l0a": 32768, "l0b": 32768, "l0c": 65536, "ub": 65536}

CASES: dict[str, list[dict[str, Any]]] = {
    "copy_gm_to_l1": [{"bursts": 3, "length": 2, "src_gap": 1, "dst_gap": 2}],
    "copy_gm_to_ub": [{"bursts": 3, "length": 2, "src_gap": 1, "dst_gap": 2}],
    "copy_ub_to_gm": [{"bursts": 3, "length": 2, "src_gap": 1, "dst_gap": 2}],
    "copy_ub_to_l1": [{"bursts": 3, "length": 2}],
    "copy_l1_to_ub": [{"length": 7}],
    "copy_ub_to_ub": [{"bursts": 2, "length": 3, "dst_gap": 1}],
    "load2d": [{"repeat": 3, "dst_gap": 1}, {"repeat": 2, "src_stride": 0, "transpose": 1}],
    "load3d": [
        {"height": 6, "width": 5, "channels": 32, "k_start": 144, "k_extent": 144, "m_start": 7, "m_extent": 9}
        | {"kernel_h": 3, "kernel_w": 3, "pad_top": 1, "pad_left": 1, "pad_right": 1},
        {"height": 1, "width": 40, "channels": 32, "k_extent": 32, "m_extent": 40},
        {
            "height": 8,
            "width": 8,
            "channels": 16,
            "k_extent": 16,
            "m_start": 2,
            "m_extent": 6,
            "stride_h": 3,
            "stride_w": 2,
        },
        {"height": 2, "width": 4, "channels": 16, "k_extent": 16, "m_start": 0, "m_extent": 4, "pad_top": 2},
    ],
    "load2d_b8": [{"repeat": 3, "dst_gap": 1}, {"repeat": 2, "src_stride": 0}],
    "load3d_b8": [
        {"height": 6, "width": 5, "channels": 64, "k_start": 288, "k_extent": 288, "m_start": 7, "m_extent": 9}
        | {"kernel_h": 3, "kernel_w": 3, "pad_top": 1, "pad_left": 1, "pad_right": 1, "pad_value": 7},
        {"height": 1, "width": 40, "channels": 64, "k_extent": 64, "m_extent": 40},
    ],
    "mmad": [
        {"m": 32, "k": 32, "n": 48, "init": 1},
        {"m": 20, "k": 32, "n": 40, "init": 0},
        {"m": 9, "k": 16, "n": 5, "init": 0},
    ],
    "mmad_b8": [
        {"m": 32, "k": 64, "n": 48, "init": 1, "left": "s8"},
        {"m": 20, "k": 64, "n": 40, "init": 0, "left": "u8"},
        {"m": 9, "k": 32, "n": 5, "init": 0, "left": "s8"},
    ],
    "broadcast_ub_to_l0c": [{"n1": 2, "m1": 3}],
    "copy_l0c_to_ub": [{"bursts": 2, "length": 2, "src_gap": 1, "dst_gap": 1}, {"length": 1, "mode": "f16_relu"}],
    "vconv": [
        {"kind": "f32_f16", "count": 200, "dst_rep": 4, "src_rep": 8},
        {"kind": "f16_f32", "count": 77, "dst_blk": 2, "dst_rep": 20, "src_rep": 0},
        {"kind": "s32_f32", "count": 77, "dst_blk": 2, "dst_rep": 20, "src_rep": 8},
        {"kind": "f32_s32", "count": 130, "dst_rep": 8, "src_rep": 8},
        {"kind": "s32_f16", "count": 200, "dst_rep": 4, "src_rep": 8},
        {"kind": "f16_s8", "count": 300, "dst_rep": 4, "src_rep": 8},
        {"kind": "f16_u8", "count": 77, "dst_blk": 2, "dst_rep": 9, "src_rep": 16},
        {"kind": "s8_f16", "count": 300, "dst_rep": 8, "src_rep": 4},
        {"kind": "u8_f16", "count": 77, "dst_blk": 2, "dst_rep": 20, "src_rep": 4},
    ],
    "vector_dup": [{"scalar": 1.5, "dtype": "f16", "count": 100}],
    "vector_dup_masked": [{"scalar": 1.5, "dtype": "f16", "mask_low": 0xF0F1, "mask_high": 1 << 63}],
    "vnchwconv": [{"repeat": 2, "src_row": 64, "dst_row": 96, "dst_rep": 60}],
    "scalar_load": [{"dtype": "f16"}, {"dtype": "f32"}],
}


def cases() -> Iterator[Any]:
    for name, cls in INSTRUCTIONS.items():
        if not any(isinstance(field, Address) for field in cls.FIELDS):
            continue
        elementwise: list[dict[str, Any]] = [
            {"dtype": "f16", "count": 300, "scalar": 0.5},
            {"dtype": "f32", "count": 77, "scalar": 0.5, "dst_blk": 2, "dst_rep": 19, "src_rep": 16, "src0_blk": 0},
        ]
        for position, given in enumerate(CASES.get(name, elementwise)):
            yield pytest.param(cls, given, id=f"{name}-{position}")


def values_of(cls: type[Instruction], given: dict[str, Any]) -> list[Any]:
    """Values for `execute`: each address in a part of its own, ambiguous memories are L0A."""
    values: list[Any] = []
    addresses = {"dst": 32768, "src": 4096, "src0": 4096, "src1": 12288, "a": 2048, "b": 1024}
    for field in cls.FIELDS:
        values.append(addresses[field.name] if isinstance(field, Address) else given.get(field.name, field.default))
        if isinstance(field, Address):
            if field.spaces[0] in (Space.L0A, Space.L0C):
                values[-1] = 2048
            if len(field.spaces) > 1:
                values.append(str(field.spaces[0]))
    return values


def random_memory(seed: int) -> Memory:
    rng = np.random.default_rng(seed)

    def halves(size: int) -> NDArray[np.uint8]:
        return rng.uniform(0.5, 4, size // 2).astype(np.float16).view(np.uint8)

    memory = Memory(SIZES, halves(65536))
    memory.copy(("l1", 0, 0), ("gm", 0, 0), 1, 65536)
    memory.bytes["gm"] = halves(65536)
    memory.bytes["ub"][:] = halves(65536)
    memory.bytes["l0c"][:] = rng.uniform(1, 2, 16384).astype(np.float32).view(np.uint8)
    for space in ("l0a", "l0b"):
        halves_in_l0 = rng.uniform(1, 2, (64, 16, 16)).astype(np.float16)
        memory.l0(space).write_fractals(0, 1, halves_in_l0)
        memory.l0(space, "b8").write_fractals(0, 1, halves_in_l0.view(np.uint8))
    return memory


def execute(cls: type[Instruction], memory: Memory, values: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return cls.execute(memory, *values)


def space_of(cls: type[Instruction], name: str) -> str:
    return next(str(field.spaces[0]) for field in cls.address_fields() if field.name == name)


def contents(memory: Memory, space: str, width: str = "f16") -> NDArray[np.uint8]:
    """The bytes of a memory."""
    if space in ("l0a", "l0b") and width == "b8":
        return memory.l0(space, width).fractals(0, 64).reshape(-1).copy()
    if space in ("l0a", "l0b"):
        return memory.l0(space).fractals(0, 64).astype(np.float16).reshape(-1).view(np.uint8)
    return memory.bytes[space]


def width_of(cls: type[Instruction]) -> str:
    """The width of the operands of the cube unit that an instruction handles."""
    return "b8" if cls.name.endswith("_b8") else "f16"


def touched(cls: type[Instruction], values: list[Any], space: str, write: bool) -> NDArray[np.bool_]:
    """The bytes of a memory that the footprint names."""
    mask = np.zeros(65536, np.bool_)
    for access in cls.footprint(*values):
        if access.write == write and space_of(cls, access.field) == space:
            for burst in range(access.bursts):
                start = access.start + burst * access.stride
                mask[start : start + access.length] = True
    return mask


@pytest.mark.parametrize(("cls", "given"), list(cases()))
def test_footprint_holds_what_is_written(cls: type[Instruction], given: dict[str, Any]) -> None:
    values = values_of(cls, given)
    memory, before = random_memory(1), random_memory(1)
    execute(cls, memory, values)
    for space in Space:
        width = width_of(cls)
        changed = contents(memory, space, width) != contents(before, space, width)
        named = touched(cls, values, space, write=True)[: len(changed)]
        assert not (changed & ~named).any(), f"{space} changes outside the footprint"
        if named.any():
            assert changed.any(), f"nothing changes in {space}, the test shows nothing"


@pytest.mark.parametrize(("cls", "given"), list(cases()))
def test_footprint_holds_what_is_read(cls: type[Instruction], given: dict[str, Any]) -> None:
    """Whatever is not in the footprint may change without changing the result."""
    values = values_of(cls, given)
    first, second = random_memory(1), random_memory(2)
    for space in ("gm", "l1", "ub", "l0c"):
        named = touched(cls, values, space, write=False)
        data = np.where(named[: len(first.bytes[space])], first.bytes[space], second.bytes[space])
        if space == "l1":
            second.bytes["gm"], kept = data, second.bytes["gm"]
            second.copy(("l1", 0, 0), ("gm", 0, 0), 1, len(data))
            second.bytes["gm"] = kept
        else:
            second.bytes[space][:] = data
    for space in ("l0a", "l0b"):
        named = touched(cls, values, space, write=False)[:32768]
        data = np.where(named, contents(first, space), contents(second, space))
        second.l0(space).write_fractals(0, 1, data.view(np.float16).reshape(64, 16, 16))
        data = np.where(named, contents(first, space, "b8"), contents(second, space, "b8"))
        second.l0(space, "b8").write_fractals(0, 1, data.reshape(64, 16, 32))
    result = execute(cls, first, values), execute(cls, second, values)
    assert result[0] == result[1]
    for space in Space:
        found, other = (contents(memory, space, width_of(cls)) for memory in (first, second))
        named = touched(cls, values, space, write=True)[: len(found)]
        assert np.array_equal(found[named], other[named])


@pytest.mark.parametrize(("cls", "given"), list(cases()))
def test_cycles_are_positive_and_grow_with_the_data(cls: type[Instruction], given: dict[str, Any]) -> None:
    costs = load_soc("Ascend310P3").costs()
    base = cls.cycles(costs, *values_of(cls, given))
    assert base > 0
    for name in ("bursts", "length", "repeat", "count", "m_extent", "k_extent", "m", "k", "n", "n1", "m1"):
        if name in given and cls.name != "cube.scalar_load":
            more = cls.cycles(costs, *values_of(cls, given | {name: given[name] * 4 + 64}))
            assert more > base, name


@pytest.mark.parametrize("cls", INSTRUCTIONS.values(), ids=lambda cls: cls.name)
def test_every_instruction_says_what_it_means(cls: type[Instruction]) -> None:
    assert cls.__doc__
    assert cls.PIPE
    assert all(isinstance(field, Address | Integer | Float | Flag | Enum) for field in cls.FIELDS)


def values(*types: Any) -> list[SSAValue]:
    return list(TestOp(result_types=types).results)


def test_construct_and_read() -> None:
    c, a, b = values(buffer("l0c"), buffer("l0a"), buffer("l0b"))
    (half,) = values(IndexType())
    op = Mmad(dst=(c, 0), a=(a, half), b=b, m=112, k=144, n=64)
    op.verify()
    assert op.field("m") == 112
    assert op.field("init") == 0
    assert op.address("a") == (a, half)
    assert op.address("b") == (b, 0)
    assert op.written_buffers() == (c,)
    assert op.read_buffers() == (c, a, b)
    numbers = {c: 1024, a: 2048, b: 512, half: 4096}
    assert op.values(numbers.__getitem__) == (1024, 6144, 512, 112, 144, 64, 0)
    assert {access.space for access in op.accesses(numbers.__getitem__)} == {Space.L0A, Space.L0B, Space.L0C}


def test_operations_stand_for_their_results() -> None:
    alloc = AllocOp("l0c", 65536)
    a, b = values(buffer("l0a"), buffer("l0b"))
    offset = arith.ConstantOp(IntegerAttr(1024, IndexType()))
    op = Mmad(dst=(alloc, offset), a=a, b=b, m=16, k=16, n=16, init=True)
    assert op.address("dst") == (alloc.result, offset.result)


def test_wrong_fields_are_refused() -> None:
    c, a, b = values(buffer("l0c"), buffer("l0a"), buffer("l0b"))
    with pytest.raises(ValueError, match="field 'n' is missing"):
        Mmad(dst=c, a=a, b=b, m=16, k=16)
    with pytest.raises(ValueError, match="no field is named rows"):
        Mmad(dst=c, a=a, b=b, m=16, k=16, n=16, rows=1)
    with pytest.raises(VerifyException, match="field 'm' is 1, expected 2 to 4095"):
        Mmad(dst=c, a=a, b=b, m=1, k=16, n=16)


def test_large_accumulations_are_pipelined_small_ones_are_not() -> None:
    c, a, b = values(buffer("l0c"), buffer("l0a"), buffer("l0b"))

    def mmad(m: int, n: int, offset: int = 0, init: bool = False) -> Mmad:
        return Mmad(dst=(c, offset), a=a, b=b, m=m, k=16, n=n, init=init)

    assert mmad(80, 32).pipelined_after(mmad(80, 32, init=True))
    assert not mmad(48, 48).pipelined_after(mmad(48, 48))  # 9 fractals
    assert not mmad(80, 32).pipelined_after(mmad(80, 48))
    assert not mmad(80, 32).pipelined_after(mmad(80, 32, offset=1024))


def test_fractals_and_matrices_are_the_same_bytes() -> None:
    """Any sequence of writes in either form reads back as if all had been fractals."""
    rng = np.random.default_rng(0)
    for space, lanes in ((Space.L0A, 16), (Space.L0B, 16), (Space.L0A, 32), (Space.L0B, 32)):
        memory = FractalMemory(space, 32 * 512, lanes)
        memory.fill(0.0)
        model = np.zeros((32, 16, lanes), np.float32)
        height, width = (lanes, 16) if space is Space.L0B else (16, lanes)
        join = (0, 3, 1, 2) if space is Space.L0B else (0, 2, 1, 3)
        for _ in range(300):
            rows, columns = (int(x) for x in rng.integers(1, 5, 2))
            start = int(rng.integers(0, 32 - rows * columns + 1))
            numbers = rng.standard_normal((rows * columns, 16, lanes)).astype(np.float32)
            if rng.random() < 0.5:
                memory.write_fractals(start * 512, 1, numbers)
            else:
                tiles = numbers.reshape(rows, columns, 16, lanes)
                matrix = memory.write_matrix(start * 512, rows, columns)
                matrix[...] = tiles.transpose(join).reshape(-1, width)
            model[start : start + rows * columns] = numbers
            rows, columns = (int(x) for x in rng.integers(1, 5, 2))
            start = int(rng.integers(0, 32 - rows * columns + 1))
            got = memory.matrix(start * 512, rows * height - 3, columns * width - 5)
            tiles = model[start : start + rows * columns].reshape(rows, columns, 16, lanes)
            expected = tiles.transpose(join).reshape(rows * height, columns * width)[:-3, :-5]
            assert np.array_equal(got, expected)
        assert np.array_equal(memory.fractals(0, 32), model)
