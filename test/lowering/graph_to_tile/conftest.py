"""Checks shared by the tests of the kernels: a kernel gives what the graph operation means, from hostile memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import constant, stored_type
from ge.dialects.graph.meaning import evaluate
from ge.dialects.graph.program import ConstantOp
from ge.dialects.tile.matrix import Im2colOp, MatmulOp
from ge.dialects.tile.meaning import run_kernel
from ge.dialects.tile.movement import ReshapeOp, SliceOp
from ge.dialects.tile.structure import ForOp, KernelOp
from ge.dialects.tile.transfer import LoadOp
from ge.dialects.tile.types import TileType, tile_type
from ge.ir.attributes import layout_of, with_layout
from ge.ir.constants import Array, array_of, element_type, numpy_dtype
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.verifier import verify_module
from ge.lowering.graph_to_tile.outline import Outlined, Target
from ge.maths.layouts import ND_FORMATS, pack, unpack
from ge.targets.ascend.soc import Soc, load_soc

LARGE = load_soc("Ascend310P3")

SMALL = replace(LARGE, cores=3, buffers={"l1": 1 << 15, "l0a": 1 << 12, "l0b": 1 << 12, "l0c": 1 << 13, "ub": 1 << 14})
"""A chip so small that little tensors take many tiles."""


@pytest.fixture
def value() -> Callable[..., SSAValue]:
    """Makes a tensor that is not a constant, from its shape, storage format and NumPy type."""

    def make(shape: Sequence[int], format: str = "ND", dtype: Any = np.float16) -> SSAValue:
        type = with_layout(TensorType(element_type(np.dtype(dtype)), shape), format)
        return TestOp(result_types=[type]).results[0]

    return make


@pytest.fixture
def filters() -> Callable[[Array], SSAValue]:
    """Makes constant float16 weights in FRACTAL_Z."""
    return lambda array: constant(array.astype(np.float16), "FRACTAL_Z").y


@pytest.fixture
def vector() -> Callable[[Array], SSAValue]:
    """Makes a constant float32 vector."""
    return lambda array: constant(array.astype(np.float32)).y


@dataclass
class KernelCheck:
    """Lowers operations for a target, runs the kernels and compares with the meaning of the operation."""

    target: Target
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    last_results: list[Array] = field(default_factory=list[Array])
    """The outputs of the last kernel, in storage order."""

    def __call__(self, op: Operation, lower: Callable[[Any, Target], Outlined], *arrays: Array) -> Outlined:
        """Check one operation on arrays for its operands that are not constants; random ones by default."""
        op.verify()
        outlined = lower(op, self.target)
        self.check_text(outlined)
        self.check_capacity(outlined)
        values = self._operands(op, arrays)
        stored = [self._stored(source, values) for source in outlined.inputs]
        expected = evaluate(op, [values[operand] for operand in op.operands])
        cores = range(outlined.kernel.block_count)
        for order in {tuple(cores), tuple(reversed(cores))}:
            self.last_results = run_kernel(outlined.kernel, stored, order=order, spoil=True)
            for result, output, want in zip(self.last_results, op.results, expected, strict=True):
                assert not np.isnan(result).any(), "something was not written, or overwritten"
                got = unpack(result, layout_of(output.type), tensor(output).get_shape())
                assert_close(got, cast(Array, want))
        return outlined

    def without_double_buffering(self) -> KernelCheck:
        """The same checks with loops that do not ask for double buffering."""
        return KernelCheck(replace(self.target, double_buffer=False))

    def check_capacity(self, outlined: Outlined) -> None:
        """The chip holds what the kernel keeps there."""
        check_capacity(outlined.kernel, self.target.soc)

    def check_text(self, outlined: Outlined) -> None:
        """The kernel verifies, and its text reads back as the same kernel."""
        module = ModuleOp([outlined.kernel.clone()])
        verify_module(module)
        text = print_module(module)
        again = parse_module(text)
        assert again.is_structurally_equivalent(module)
        assert print_module(again) == text

    def _operands(self, op: Operation, arrays: Sequence[Array]) -> dict[SSAValue, Array]:
        given = iter(arrays)
        values: dict[SSAValue, Array] = {}
        for operand in dict.fromkeys(op.operands):
            if isinstance(operand.owner, ConstantOp):
                values[operand] = cast(Array, evaluate(operand.owner, [])[0])
                continue
            type = tensor(operand)
            dtype = numpy_dtype(type.element_type)
            array = next(given, None)
            if array is None and dtype.kind in "iu":
                limits = np.iinfo(dtype)
                array = self.random.integers(limits.min, limits.max + 1, type.get_shape())
            elif array is None:
                array = self.random.standard_normal(type.get_shape())
            values[operand] = np.asarray(array).astype(dtype)
        return values

    def _stored(self, source: SSAValue, values: dict[SSAValue, Array]) -> Array:
        """An operand in storage order; pad lanes of activations hold finite rubbish."""
        if isinstance(source.owner, ConstantOp):
            return array_of(source.owner.value, stored_type(tensor(source)))
        array, format = values[source], layout_of(source.type)
        stored = pack(array, format)
        if format in ND_FORMATS:
            return stored
        is_pad = pack(np.ones(array.shape, array.dtype), format) == 0
        return np.where(is_pad, self.random.uniform(-9, 9, stored.shape), stored).astype(array.dtype)


# What a kernel keeps on the chip


def check_capacity(kernel: KernelOp, soc: Soc) -> None:
    """Each memory of the chip holds what a kernel has in it at once.

    Where a tile lives follows from its uses (docs/levels.md). What a loop with two stages brings in is there twice.
    """
    sums, tallest = Counter[str](), Counter[str]()
    places = {result: _place(result) for op in kernel.walk() for result in op.results if is_tile(result)}
    for tile, place in places.items():
        size = tile_type(tile).nbytes * _stages(tile)
        sums[place] += size
        tallest[place] = max(tallest[place], size)
    assert sums["l1"] <= soc.buffers["l1"]
    for place in ("l0a", "l0b", "l0c"):
        assert tallest[place] <= soc.buffers[place]
    in_ub: set[SSAValue] = {tile for tile, place in places.items() if place == "ub"}
    assert _live_bytes(kernel.body.block, in_ub) <= soc.buffers["ub"]


def is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TileType)


def _place(tile: SSAValue) -> str:
    """Where a tile is; parts and other shapes of a tile take no room of their own."""
    op = tile.owner
    users = [(use.operation, use.index) for use in tile.uses]
    if isinstance(op, SliceOp | ReshapeOp):
        is_b = any(isinstance(user, MatmulOp) and index == 1 for user, index in users)
        return "l0b" if is_b else "nowhere"
    if isinstance(op, Im2colOp):
        return "l0a"
    if any(isinstance(user, Im2colOp) or (isinstance(user, MatmulOp) and index == 1) for user, index in users):
        return "l1"
    if isinstance(op, LoadOp) and any(isinstance(user, SliceOp) and _place(user.result) == "l0b" for user, _ in users):
        return "l1"
    if isinstance(op, ForOp) and tile_type(tile).element_type in (f32, i32):
        return _place(op.yielded[0]) if isinstance(tile, OpResult) else "nowhere"
    if isinstance(op, MatmulOp):
        return "l0c"
    if any(isinstance(user, MatmulOp | ForOp) for user, _ in users) and tile_type(tile).rank == 3:
        return "l0c"
    return "ub"


def _stages(tile: SSAValue) -> int:
    """The stages of the loop that makes a tile, if it is brought in from another memory."""
    op = tile.owner
    loop = op.parent_op() if isinstance(op, Operation) else None
    brought = isinstance(op, LoadOp | Im2colOp | SliceOp)
    return loop.stage_count if brought and isinstance(loop, ForOp) else 1


def _live_bytes(block: Block, counted: set[SSAValue]) -> int:
    """The most bytes of ``counted`` tiles that a block, and the loops in it, need at the same time."""
    ops = list(block.ops)
    number = {op: i for i, op in enumerate(ops)}
    peak = 0
    spans = [
        (number[op], _last_use(result, number), tile_type(result).nbytes * _stages(result))
        for op in ops
        for result in op.results
        if result in counted
    ]
    for i, op in enumerate(ops):
        inner = max((_live_bytes(child, counted) for region in op.regions for child in region.blocks), default=0)
        peak = max(peak, inner + sum(size for start, end, size in spans if start <= i <= end))
    return peak


def _last_use(value: SSAValue, number: dict[Operation, int]) -> int:
    """The last operation of a block that uses a value, itself, through a part of it or in a loop."""
    last = 0
    for use in value.uses:
        user = use.operation
        if isinstance(user, SliceOp | ReshapeOp):
            last = max(last, _last_use(user.result, number))
        while user not in number:
            parent = user.parent_op()
            assert parent is not None
            user = parent
        last = max(last, number[user])
    return last


def assert_close(got: Array, want: Array) -> None:
    """Compare with the tolerance of float16, or of float32; integers are equal."""
    if want.dtype.kind in "iu":
        assert np.array_equal(got, want), f"{np.count_nonzero(got != want)} of {want.size} integers are different"
        return
    relative = 1e-3 if got.dtype == np.float16 else 1e-5
    got64, want64 = got.astype(np.float64), want.astype(np.float64)
    error = np.abs(got64 - want64) - relative * np.abs(want64)
    limit = relative * np.max(np.abs(want64), initial=0)
    assert got.shape == want.shape and error.max(initial=0) <= limit, f"error {error.max(initial=0)} above {limit}"


@pytest.fixture
def check() -> KernelCheck:
    """Checks on a chip of real size."""
    return KernelCheck(Target(LARGE))


@pytest.fixture
def check_small() -> KernelCheck:
    """Checks on a chip that needs many tiles."""
    return KernelCheck(Target(SMALL))
