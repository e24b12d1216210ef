"""The pass `onnx-cse`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Mapping, MutableMapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.onnx import Custom, OnnxOp
from ge.ir.rewriting import permit, replace
from ge.passes.onnx.building import all_can_stand_for


@dataclass(frozen=True)
class OnnxCsePass(ModulePass):
    """Compute once what the model computes twice: equal operators on equal operands with equal attributes.

    1. In one block: the second gives way to the first.
    2. In the body of a loop or branch: the one outside is used.
    3. Control flow whose graphs do the same.
    4. Constants: equal bytes of equal type become one.

    The notes on names are not compared; the first one stays.

    Left alone: operators whose results differ from run to run (also `RandomNormal` with a seed), and control flow with
    one of them in it; operators of other domains, also in control flow; equal operations in different branches; an
    output of the model that would become an input, a constant or another output.
    """

    name = "onnx-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                merge_equal(function.body.block, {})


class Computation:
    """What an operation computes: equal to that of another with equal operands, attributes, result types and graphs.

    Nearly all operations differ in what is hashed: operators and operands, outlines of graphs, or the elements of
    constants.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        value = op.attributes.get("value")
        graphs = tuple(map(_outline, op.regions))
        self._hash = hash((op.name, *op.operands, getattr(value, "data", value), graphs))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Computation) and _key(self.op, {}) == _key(other.op, {}))


def merge_equal(block: Block, first: MutableMapping[Hashable, OnnxOp]) -> None:
    """Merge equal operations of a block, in program order, so that users of merged values can merge in turn.

    `first` has the operations that can be seen from the block.
    """
    for op in list(block.ops):
        for region in op.regions:
            merge_equal(region.block, ChainMap({}, first))
        if not isinstance(op, OnnxOp) or isinstance(op, Custom) or op.is_random:
            continue
        if op.regions and any(isinstance(inner, Custom) for inner in op.walk()):
            continue
        known = first.setdefault(Computation(op), op)
        if known is op or not all_can_stand_for(known.results, op.results):
            continue
        if permit("onnx-cse", op):
            replace(op, [], known.results)


def _key(op: Operation, inner: Mapping[SSAValue, int]) -> Hashable:
    """What makes two operations equal; `inner` has the numbers of values of the graph that is compared."""
    attributes = frozenset((name, value) for name, value in op.attributes.items() if "." not in name)
    properties = frozenset(op.properties.items())
    operands = tuple(inner.get(operand, operand) for operand in op.operands)
    regions = tuple(region_key(region, inner) for region in op.regions)
    return op.name, operands, attributes, properties, tuple(op.result_types), regions


def _outline(region: Region) -> Hashable:
    """What equal graphs have in common, without the graphs inside: operators, and the values that come from outside."""
    block = region.block
    own = {*block.args, *(result for op in block.ops for result in op.results)}
    return tuple((op.name, *(operand for operand in op.operands if operand not in own)) for op in block.ops)


def region_key(region: Region, outer: Mapping[SSAValue, int] | None = None) -> Hashable:
    """What makes two graphs equal: equal operations in equal order, whose values are counted."""
    inner = dict(outer or {})
    block = region.block
    for argument in block.args:
        inner[argument] = len(inner)
    keys: list[Hashable] = [tuple(block.arg_types)]
    for op in block.ops:
        keys.append(_key(op, inner))
        for result in op.results:
            inner[result] = len(inner)
    return tuple(keys)
