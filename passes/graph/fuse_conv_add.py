"""The pass `fuse-conv-add`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import BinaryKind, BinaryOp, Conv2DOp, MatmulOp, UnaryOp, main_function
from ge.dialects.graph.base import shape_of
from ge.passes.graph import report
from ge.passes.graph.epilogue import only_user
from ge.passes.graph.fusion_groups import FusionGroups
from ge.passes.graph.place import laid_out
from ge.targets.ascend.soc import load_soc

NAME = "fuse-conv-add"


@dataclass(frozen=True)
class FuseConvAddPass(ModulePass):
    """Fuse a convolution (or matrix product) with the addition of another tensor after it, as in a residual block.

    Rewritten, with C a convolution or matrix product:

    1. add(C, x) or add(x, C) of two tensors of one shape and format → one fusion: x is added on the chip, before the
       result of C would have been stored and loaded again;
    2. the same with an activation, in the addition or after it;
    3. add(C, D) of two convolutions → one of them takes the sum, the other stays: the one that computes more, which
       hides the addition better.

    Left alone:

    4. a result of C that has another user, or is returned: it has to be stored anyway;
    5. operands that broadcast: constants per channel are `fuse-conv-bn-relu`'s, others `autofuse`'s;
    6. an addition of C to itself; other functions than addition (`autofuse` takes them);
    7. modules without storage formats: this runs after `propagate-layout`.

    No bit of the result changes: the sum of two float16 numbers is rounded to float16, as before. Pad lanes of the
    blocks are the sum of two finite numbers.
    """

    name = NAME

    soc: str = "Ascend310P3"
    """The SoC whose buffers are to hold what is joined."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        if not laid_out(block):
            return
        groups = FusionGroups(block, load_soc(self.soc))
        for add in groups.candidates():
            if isinstance(add, BinaryOp) and add.kind.data is BinaryKind.ADD and shape_of(add.a) == shape_of(add.b):
                _fuse(groups, add)
        groups.close(NAME)


def _fuse(groups: FusionGroups, add: BinaryOp) -> None:
    """Let a producer of one addition take it, and the activation after it."""
    producers = [operand.owner for operand in add.operands if isinstance(operand.owner, Conv2DOp | MatmulOp)]
    for producer in sorted(producers, key=_work, reverse=True):
        if (reason := groups.obstacle(producer, add)) is not None:
            report.missed(NAME, producer, reason)
            continue
        groups.join(producer, add)
        activation = only_user(add.y)
        if isinstance(activation, UnaryOp) and groups.obstacle(add, activation) is None:
            groups.join(add, activation)
        return


def _work(op: Operation) -> int:
    """Multiplications for each element of the result."""
    shape = shape_of(op.operands[1])
    return math.prod(shape[1:]) if len(shape) == 4 else shape[-2]
