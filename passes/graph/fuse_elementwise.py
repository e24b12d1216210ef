"""The pass `fuse-elementwise`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import main_function
from ge.dialects.graph.fusing import ELEMENTWISE
from ge.passes.graph import report
from ge.passes.graph.fusion_groups import FusionGroups
from ge.passes.graph.place import laid_out
from ge.targets.ascend.soc import load_soc

NAME = "fuse-elementwise"


@dataclass(frozen=True)
class FuseElementwisePass(ModulePass):
    """Fuse chains and trees of elementwise operations, so that values between them stay on the chip.

    Rewritten: an elementwise operation (unary, binary, cast) and the elementwise operations that make its operands, and
    theirs, as long as `ge.dialects.graph.fusion_limits` has no objection → one fusion. Operands may be tensors,
    constants, and what spreads as a scalar, in any other way.

    Left alone:

    1. a value with a user outside of the tree, or that is returned;
    2. operations on other shapes or storage formats: a small tensor that spreads over a large one is computed first;
    3. trees that are too large for one kernel (steps, operands);
    4. what has an operation of another kind between, as a softmax or a reshape;
    5. modules without storage formats: this runs after `propagate-layout`.

    No bit of the result changes: every step is rounded to its own type.
    """

    name = NAME

    soc: str = "Ascend310P3"
    """The SoC whose buffers are to hold what is joined."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        if not laid_out(block):
            return
        groups = FusionGroups(block, load_soc(self.soc))
        for user in reversed(groups.candidates()):  # so that all users of a value are in a tree before it is asked for
            for operand in dict.fromkeys(user.operands):
                producer = operand.owner
                if not isinstance(user, ELEMENTWISE) or not isinstance(producer, ELEMENTWISE):
                    continue
                if (reason := groups.obstacle(producer, user)) is not None:
                    report.missed(NAME, producer, reason)
                else:
                    groups.join(producer, user)
        groups.close(NAME)
