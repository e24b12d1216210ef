"""Pad operators in front of convolutions, merged into the padding of the convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from ge.dialects.graph.base import shape_of
from ge.dialects.onnx import OnnxOp
from ge.ir.locations import fused_loc
from ge.ir.rewriting import erase_if_unused
from ge.lowering.onnx_to_graph.rules import feature, known_ints, known_scalar


def merge_pads(block: Block) -> None:
    """Merge every Pad that adds zeros around feature maps into the Conv operators that use it.

    Left alone: a Pad whose mode is not constant, whose value is not a constant zero, that takes elements away or pads
    batch or channels, and a Conv with automatic padding. A Pad that has other users, too, remains for those.
    """
    for op in list(block.ops):
        if not isinstance(op, OnnxOp) or op.op_type != "Pad" or (pads := _plane_pads(op)) is None:
            continue
        x, padded = op.operands[0], op.results[0]
        for use in list(padded.uses):
            user = use.operation
            if isinstance(user, OnnxOp) and user.op_type == "Conv" and use.index == 0:
                _merge(op, user, x, pads)
        erase_if_unused(op)


def _merge(pad: OnnxOp, conv: OnnxOp, x: SSAValue, pads: Sequence[int]) -> None:
    """Let `conv` read `x` instead of the padded value, and pad by itself."""
    if conv.attribute("auto_pad") != "NOTSET":
        return
    own: Sequence[int] = conv.attribute("pads") or [0] * len(pads)
    if len(own) != len(pads):
        return
    conv.set_attribute("pads", [a + b for a, b in zip(own, pads, strict=True)])
    conv.operands[0] = x
    conv.location = fused_loc([pad, conv])


def _plane_pads(op: OnnxOp) -> list[int] | None:
    """The padding behind the channels, all begins and then all ends; None if the operator does anything else."""
    x, pads, axes = feature(op, "data"), known_ints(op.operand("pads")), op.operand("axes")
    value = op.operand("constant_value")
    if x is None or pads is None or op.attribute("mode") != "constant":
        return None
    if value is not None and known_scalar(value) != 0.0:
        return None
    rank = len(shape_of(x))
    named = list(range(rank)) if axes is None else known_ints(axes)
    if named is None or rank < 3 or min(pads, default=0) < 0:
        return None
    count = len(named)
    if len(pads) != 2 * count or not all(-rank <= axis < rank for axis in named):
        return None
    begins, ends = [0] * rank, [0] * rank
    for axis, begin, end in zip(named, pads[:count], pads[count:], strict=True):
        begins[axis % rank], ends[axis % rank] = begin, end
    if any(begins[:2]) or any(ends[:2]):
        return None
    return begins[2:] + ends[2:]
