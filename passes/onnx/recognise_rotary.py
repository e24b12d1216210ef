"""The pass `recognise-rotary`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseRotaryPass(RuleFilePass):
    """Recognise RotaryEmbedding in the rotation of the halves of [batch, heads, length, size].

    `x · cos + concat(-second half of x, first half of x) · sin` with constant cosines and sines.

    Left alone: cosines and sines that are computed, that are another number in each half, or that differ by head; the
    form that rotates neighbours; an odd size, or an unknown one.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-rotary"
    RULES = ("rotary",)
