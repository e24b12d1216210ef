"""The block of weights: order of use, alignment, equal constants once, and no copies."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f16, f32, i32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph import ConstantOp, LaunchOp, ViewOp
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import Array, constant_attr
from ge.passes.graph import weight_block
from ge.passes.graph.weight_block import plan_weights


def constant(array: Array) -> ConstantOp:
    element = {"float16": f16, "float32": f32, "int32": i32}[array.dtype.name]
    return ConstantOp(constant_attr(array), TensorType(element, array.shape))


def launch(*operands: SSAValue) -> LaunchOp:
    return LaunchOp("k", list(operands), [TensorType(f16, [4])], blocks=1, op_type="K")


def offsets(operations: Sequence[Operation]) -> tuple[list[int], int]:
    """The offset of each constant in the order of the program, and the size of the block."""
    roots: dict[SSAValue, SSAValue] = {
        result: op.x if isinstance(op, ViewOp) else result for op in operations for result in op.results
    }
    block = plan_weights(operations, roots)
    return [block.offsets[op.y] for op in operations if isinstance(op, ConstantOp)], block.size


def test_constants_lie_in_the_order_of_their_first_use() -> None:
    """Cases: read late, read early, read through a view, only returned, read by nothing."""
    late, early, viewed, returned, unused = (constant(np.full(4, number, np.float16)) for number in range(5))
    view = ViewOp(viewed.y, TensorType(f16, [2, 2]))
    first = launch(early.y, late.y)
    second = launch(first.results[0], view.y, early.y)
    end = ReturnOp(second.results[0], returned.y)
    order = [viewed, view, returned, unused, late, early, first, second, end]
    assert offsets(order) == ([2 * 512, 3 * 512, 4 * 512, 512, 0], 5 * 512)


def test_equal_bytes_lie_there_once_whatever_their_type() -> None:
    """Small ones are in the text, large ones are weights; zeros of two types and shapes are the same bytes."""
    small, same, shaped, wider = (
        constant(np.zeros(shape, dtype))
        for shape, dtype in ((8, np.float16), (8, np.float16), ((2, 4), np.float16), (4, np.float32))
    )
    large, copy, other = (constant(np.full(400, number, np.int32)) for number in (1, 1, 2))
    constants = [small, same, shaped, wider, large, copy, other]
    task = launch(*(op.y for op in constants))
    assert offsets([*constants, task]) == ([0, 0, 0, 0, 512, 512, 512 + 2048], 512 + 2 * 2048)


def test_a_prefix_is_no_equal_constant() -> None:
    long, short = constant(np.zeros(200, np.float32)), constant(np.zeros(8, np.float32))
    assert offsets([long, short, launch(long.y, short.y)]) == ([0, 1024], 1536)


def test_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_block, "_digest", lambda _op, _data: "the same")  # pyright: ignore[reportUnknownLambdaType]
    one, two, again = (constant(np.full(4, number, np.float16)) for number in (1, 2, 1))
    assert offsets([one, two, again, launch(one.y, two.y, again.y)]) == ([0, 512, 0], 1024)


def test_planning_copies_no_weights() -> None:
    size = 1 << 22
    constants = [
        ConstantOp(WeightsAttr.from_buffer(bytearray([number]) * size), TensorType(f16, [size // 2]))
        for number in (1, 2)
    ]
    operations = [*constants, launch(*(op.y for op in constants))]
    tracemalloc.start()
    offsets(operations)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 4
