"""Which operands of a kernel its result may be written over: by its form, and by what it is seen to read and write."""

from __future__ import annotations

import pytest

from ge.dialects.tile.in_place import replaceable_inputs
from ge.dialects.tile.structure import KernelOp
from ge.ir.parser import parse_module
from ge.passes.graph.kernel_accesses import overwritten

T = "!tile.gm<64x16xf16>"
LOAD = "tile.load %x[%i, 0] sizes [8, 16] : !tile.gm<64x16xf16> -> !tile.tile<8x16xf16>"
STORE = "tile.store %t, %y[%i, 0] sizes [8, 16] : !tile.tile<8x16xf16> -> !tile.gm<64x16xf16>"
LOOP = "tile.for %i = {} to 64 step {} {{\n{}\n}}"


def kernel(body: str, cores: int = 1, arguments: str = f"%x: {T}, %y: {T}") -> KernelOp:
    text = f"tile.kernel @k({arguments}) grid(%core : {cores}) outputs(1) {{\n{body}\n}}"
    found = parse_module(text).body.block.first_op
    assert isinstance(found, KernelOp)
    return found


def loop(body: str, start: str = "0", step: int = 8) -> str:
    return LOOP.format(start, step, body)


DEALT = "%eight = arith.constant 8 : index\n%first = arith.muli %core, %eight : index\n"

IN_PLACE = {
    "tile by tile": kernel(loop(f"%t = {LOAD}\n{STORE}")),
    "dealt to cores": kernel(DEALT + loop(f"%t = {LOAD}\n{STORE}", "%first", 32), 4),
    "an operand beside it": kernel(
        loop(
            f"""%t0 = {LOAD}
            %z = tile.load %w[0, 0] sizes [1, 16] : !tile.gm<1x16xf16> -> !tile.tile<1x16xf16>
            %t = tile.binary add %t0, %z : !tile.tile<8x16xf16>, !tile.tile<1x16xf16> -> !tile.tile<8x16xf16>
            {STORE}"""
        ),
        arguments=f"%x: {T}, %w: !tile.gm<1x16xf16>, %y: {T}",
    ),
}

NOT_IN_PLACE = {
    "the row before is read": kernel(
        "%one = arith.constant 1 : index\n"
        + loop(
            f"""%j = arith.subi %i, %one : index
            %t = {LOAD.replace("%i", "%j").replace("16] :", "16] fill 0 :")}
            {STORE}"""
        )
    ),
    "all is read in each turn": kernel(
        loop(
            f"""%t0 = {LOAD}
            %all = tile.load %x[0, 0] sizes [64, 16] : {T} -> !tile.tile<64x16xf16>
            %top = tile.slice %all[0, 0] sizes [8, 16] strides [1, 1] : !tile.tile<64x16xf16> -> !tile.tile<8x16xf16>
            %t = tile.binary add %t0, %top : !tile.tile<8x16xf16>, !tile.tile<8x16xf16> -> !tile.tile<8x16xf16>
            {STORE}"""
        )
    ),
    "every core does all": kernel(loop(f"%t = {LOAD}\n{STORE}"), 2),
    "the last tile is moved back": kernel(
        "%last = arith.constant 60 : index\n"
        + loop(
            f"""%j = arith.minsi %i, %last : index
            %t = {LOAD.replace("%i", "%j").replace("sizes [8", "sizes [4")}
            {STORE.replace("%i", "%j").replace("sizes [8", "sizes [4")}""".replace("tile<8x", "tile<4x"),
            step=3,
        )
    ),
    "a row ends inside a block": kernel(
        loop(
            """%t = tile.load %x[%i, 0] sizes [8, 15] : !tile.gm<64x15xf16> -> !tile.tile<8x15xf16>
            tile.store %t, %y[%i, 0] sizes [8, 15] : !tile.tile<8x15xf16> -> !tile.gm<64x15xf16>"""
        ),
        arguments="%x: !tile.gm<64x15xf16>, %y: !tile.gm<64x15xf16>",
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_tiles_that_stay_where_they_are_may_be_replaced(name: str) -> None:
    assert replaceable_inputs(IN_PLACE[name]) == (0,)
    assert overwritten(IN_PLACE[name], 0, len(IN_PLACE[name].arguments) - 1, 2048) is None


@pytest.mark.parametrize("name", NOT_IN_PLACE)
def test_what_is_read_again_is_not_replaced(name: str) -> None:
    assert replaceable_inputs(NOT_IN_PLACE[name]) == ()


@pytest.mark.parametrize("name", NOT_IN_PLACE)
def test_the_replay_finds_what_is_read_again(name: str) -> None:
    assert overwritten(NOT_IN_PLACE[name], 0, 1, 2048) is not None


def test_the_replay_finds_tiles_that_overlap() -> None:
    assert overwritten(kernel(loop(f"%t = {LOAD}\n{STORE}", step=4)), 0, 1, 2048) is not None
