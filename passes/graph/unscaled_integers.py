"""Integers on their way into float16: what computes with them in float32, on the host, until they are scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph import HostOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.host import has_equivalent
from ge.dialects.onnx import OnnxOp
from ge.dialects.onnx.ops import yielded
from ge.passes.graph.place import WORTH_A_CONVERSION, is_device
from ge.passes.graph.whole_numbers import (
    MOVEMENTS,
    SCALED,
    Fact,
    fact_of_device,
    fact_of_onnx,
    is_float,
    is_float16,
    is_large,
    is_scaling,
)


def with_unscaled_integers(block: Block) -> set[Operation]:
    """The device operations of a block that compute with integers which float16 may not hold.

    Sums of products of 8 bits, lengths and positions are such integers. Often only their product with a scale, which
    may itself be below all of float16, is a number like others. So these are found:

    1. what takes or gives numbers that were integers, and may be beyond 2048; its results are such numbers, but for
    2. products with them (of two tensors, with weights, divisions), and the products that follow: x · a · b, also with
       movements of elements in between, which are found, too;
    3. what makes the other factor, when that is smaller than what is scaled.

    Not found: what takes booleans, 8 bits, and sums of few of them; integers that the model itself makes float16; large
    constants, which are rounded beforehand; any operation without an equivalent on the host.
    """
    analysis = _Analysis()
    for op in block.ops:
        analysis.visit(op)
    return analysis.found


class _Analysis:
    """What is known of each value of a block, and the operations found so far."""

    def __init__(self) -> None:
        self.facts: dict[SSAValue, Fact] = {}
        self.found: set[Operation] = set()

    def visit(self, op: Operation) -> None:
        """Find out about one operation, after those that give its operands."""
        if isinstance(op, HostOp):
            self._visit_host(op)
            return
        known = [self.facts.get(operand) for operand in op.operands]
        if not is_device(op) or not any(known):
            return
        given = self.facts[op.results[0]] = fact_of_device(op, known)
        takes_or_gives = any(map(is_large, (*known, given)))
        if has_equivalent(op) and (takes_or_gives or (SCALED in known and is_scaling(op))):
            self.found.add(op)
            if is_scaling(op):
                self._find_around(op, known)

    def _find_around(self, product: Operation, known: Sequence[Fact]) -> None:
        """Find the movements between a product and an earlier one, and what makes the other factor."""
        size = _size(product)
        for operand, fact in zip(product.operands, known, strict=True):
            if fact is SCALED:
                self._find_producers(operand, lambda op: isinstance(op, MOVEMENTS))
            elif fact is None:
                self._find_producers(operand, lambda op: _size(op) < size)

    def _find_producers(self, value: SSAValue, is_wanted: Callable[[Operation], bool]) -> None:
        """Find the cheap operations that lead to a value, as long as they are wanted."""
        op = value.owner
        if not isinstance(op, Operation) or not is_device(op) or not has_equivalent(op) or op in self.found:
            return
        if is_wanted(op) and not isinstance(op, WORTH_A_CONVERSION):
            self.found.add(op)
            for operand in op.operands:
                self._find_producers(operand, is_wanted)

    def _visit_host(self, op: HostOp) -> None:
        """Find out about the operators in a host region, from its operands to its results."""
        inside = zip(op.body.block.args, op.inputs, strict=True)
        self.facts.update({argument: self.facts.get(operand) for argument, operand in inside})
        for inner in op.body.block.ops:
            self._visit_onnx(inner)
        results = zip(op.outputs, op.results_inside, strict=True)
        self.facts.update({result: self.facts.get(value) for result, value in results})

    def _visit_onnx(self, op: Operation) -> None:
        """Find out about an operator on the host, and first about those in its subgraphs."""
        if not isinstance(op, OnnxOp):
            return
        blocks = [block for region in op.regions for block in region.blocks]
        for inner in (inner for block in blocks for inner in block.ops):
            self._visit_onnx(inner)
        taken = [*op.operands, *(value for block in blocks for value in yielded(block))]
        fact = fact_of_onnx(op, [self.facts.get(value) for value in taken if is_float(value)])
        self.facts.update({result: fact for result in op.results if is_float(result) and not is_float16(result)})


def _size(op: Operation) -> int:
    return math.prod(shape_of(op.results[0]))
