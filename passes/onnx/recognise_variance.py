"""The pass `recognise-variance`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseVariancePass(RuleFilePass):
    """Compute a variance from differences to the mean.

    `mean(x²) - mean(x)²`, as some frameworks write it, is the small difference of two large numbers where the mean is
    far from zero: in float32 it loses digits, in float16 it may lose all. `mean((x - mean(x))²)` is the same number,
    and does not. So this runs for the device, which computes in float16; a model that stays one keeps its roundings.

    Left alone: means over other axes than each other, or over axes that are computed; float64; means of which one keeps
    the axes and one does not.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-variance"
    RULES = ("variance",)
