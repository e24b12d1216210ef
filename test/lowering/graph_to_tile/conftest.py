"""Checks shared by the tests of the kernels: a kernel gives what the graph operation means, from hostile memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation, SSAValue

from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import constant, stored_type
from ge.dialects.graph.meaning import evaluate
from ge.dialects.graph.program import ConstantOp
from ge.dialects.tile.meaning import run_kernel
from ge.ir.attributes import layout_of, with_layout
from ge.ir.constants import Array, array_of, element_type
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.verifier import verify_module
from ge.lowering.graph_to_tile.outline import Outlined, Target
from ge.maths.layouts import ND_FORMATS, pack, unpack
from ge.targets.ascend.soc import load_soc

LARGE = load_soc("Ascend310P3")

SMALL = replace(LARGE, cores=3, buffers={"l1": 1 << 15, "l0a": 1 << 12, "l0b": 1 << 12, "l0c": 1 << 13, "ub": 1 << 14})
"""A chip so small that little tensors take many tiles."""


def value(shape: Sequence[int], format: str = "ND", dtype: Any = np.float16) -> SSAValue:
    """A tensor that is not a constant."""
    type = with_layout(TensorType(element_type(np.dtype(dtype)), shape), format)
    return TestOp(result_types=[type]).results[0]


def filters(array: Array) -> SSAValue:
    """Constant weights in FRACTAL_Z."""
    return constant(array.astype(np.float16), "FRACTAL_Z").y


def vector(array: Array) -> SSAValue:
    """A constant float32 vector."""
    return constant(array.astype(np.float32)).y


@dataclass
class KernelCheck:
    """Lowers operations for a target, runs the kernels and compares with the meaning of the operation."""

    target: Target
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def __call__(self, op: Operation, lower: Callable[[Any, Target], Outlined], *arrays: Array) -> Outlined:
        """Check one operation on arrays for its operands that are not constants; random ones by default."""
        op.verify()
        outlined = lower(op, self.target)
        self.check_text(outlined)
        values = self._operands(op, arrays)
        stored = [self._stored(source, values) for source in outlined.inputs]
        expected = evaluate(op, [values[operand] for operand in op.operands])
        cores = range(outlined.kernel.block_count)
        for order in {tuple(cores), tuple(reversed(cores))}:
            results = run_kernel(outlined.kernel, stored, order=order, spoil=True)
            for result, output, want in zip(results, op.results, expected, strict=True):
                assert not np.isnan(result).any(), "something was not written, or overwritten"
                got = unpack(result, layout_of(output.type), tensor(output).get_shape())
                assert_close(got, cast(Array, want))
        return outlined

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
            dtype = np.float16 if str(type.element_type) == "f16" else np.float32
            array = next(given, None)
            if array is None:
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
        is_pad = pack(np.ones(array.shape, bool), format) == 0
        return np.where(is_pad, self.random.uniform(-9, 9, stored.shape), stored).astype(array.dtype)


def assert_close(got: Array, want: Array) -> None:
    """Compare with the tolerance of float16, or of float32."""
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
