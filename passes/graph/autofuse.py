"""The pass `autofuse`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import Conv2DOp, MatmulOp, main_function
from ge.dialects.graph.fusing import ANCHORS, Around
from ge.dialects.graph.fusion_limits import lane_bytes
from ge.maths.layouts import C0
from ge.passes.graph import report
from ge.passes.graph.fusion_groups import FusionGroups
from ge.passes.graph.place import laid_out
from ge.targets.ascend.soc import Soc, load_soc

NAME = "autofuse"

SMALLEST_TILE = 16 * C0
"""Lanes of the smallest tile of a kernel: 16 positions of one block. Two of them are on the chip at once."""


@dataclass(frozen=True)
class AutofusePass(ModulePass):
    """Group operations into kernels by what it costs to keep them apart.

    Every operation starts as a group of its own (a fusion that is there already, as one group). An *edge* leads from
    the group that makes a value to the one that uses it. Edges are taken by gain, largest first, until none is left:

        gain = (traffic(A) + traffic(B) - traffic(A and B joined)) / bandwidth + launch

    in seconds: `traffic` is the bytes of the operands and the result of a kernel in storage format, `bandwidth` that of
    the SoC from device memory (all cores), `launch` the time that one kernel launch takes. A value that only B reads is
    thus saved twice, and an operand that both read, once. Joining adds no work to the vector unit; where it would leave
    less room for tiles, or cores without work, the limits of a kernel say no. Of edges with the same gain, those of a
    convolution or matrix product come first: the matrix unit works while the vector unit does the steps.

    An edge is taken if the joined group is one kernel (`ge.dialects.graph.fusion_limits`):

    1. elementwise operations on the same shape and format, with operands that spread in a way that has a kernel;
    2. around at most one anchor: after a convolution or matrix product; before and after a softmax, a normalisation of
       rows, a reduction, a transposition, a slice or a conversion of the storage format; after a concatenation;
    3. with one result: a value between has no user outside, so no cycle can lead through other kernels;
    4. with at most 8 operands and 32 steps, and tiles that fit into the unified buffer of the SoC twice; 16 rows of
       them, where the anchor alone would have 16 there.

    Left alone, as no kernel holds them together with others: pooling, movements of channels, and what runs on the host;
    a value with users in two groups; two anchors; steps before rows that do not fill blocks, if they could make
    infinite numbers of what is beyond the end.
    Modules without storage formats are left alone: this runs after `propagate-layout`. No bit of the result changes.
    """

    name = NAME

    soc: str = "Ascend310P3"
    """The SoC whose bandwidth, launch time and buffers count."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        if not laid_out(block):
            return
        soc = load_soc(self.soc)
        groups = FusionGroups(block, soc)
        apart = sorted(_edges(groups), key=lambda edge: (gain(groups, *edge, soc), _hides(groups, *edge)), reverse=True)
        while edge := next((edge for edge in apart if _obstacle(groups, *edge, soc) is None), None):
            groups.join(*edge)
            apart = [(producer, user) for producer, user in apart if groups.of(producer) is not groups.of(user)]
        for producer, user in apart:
            report.missed(NAME, producer, _obstacle(groups, producer, user, soc) or "")
        groups.close(NAME)


def gain(groups: FusionGroups, producer: Operation, user: Operation, soc: Soc) -> float:
    """The seconds that joining the groups of two operations saves."""
    bandwidth = soc.ddr_rate * soc.cores * soc.clock_mhz * 1e6
    return groups.saved_bytes(producer, user) / bandwidth + soc.launch_us * 1e-6


def _hides(groups: FusionGroups, producer: Operation, user: Operation) -> bool:
    """Whether one of the groups is around an anchor that leaves the vector unit time for others."""
    anchors = [Around.of(groups.of(each)).anchor for each in (producer, user)]
    return any(isinstance(anchor, Conv2DOp | MatmulOp) for anchor in anchors)


def _edges(groups: FusionGroups) -> Iterator[tuple[Operation, Operation]]:
    """Each pair of operations, of which one makes an operand of the other, that may be steps; the last pairs first.

    Pairs of anchors are none: they never share a kernel.
    """
    candidates = groups.candidates()
    known = set(candidates)
    for user in reversed(candidates):
        for operand in dict.fromkeys(user.operands):
            producer = operand.owner
            if isinstance(producer, Operation) and producer in known and not {type(producer), type(user)} <= {*ANCHORS}:
                yield producer, user


def _obstacle(groups: FusionGroups, producer: Operation, user: Operation, soc: Soc) -> str | None:
    """Why two groups stay apart; None if they are to be joined."""
    if (reason := groups.obstacle(producer, user)) is not None:
        return reason
    steps = groups.joined(producer, user)
    needed = 2 * SMALLEST_TILE * lane_bytes(steps) if Around.of(steps).rule.rows is None else 0
    return None if needed <= soc.buffers["ub"] else f"two tiles of {needed // 2} bytes do not fit on the chip"
