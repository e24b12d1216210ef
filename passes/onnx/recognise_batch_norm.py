"""The pass `recognise-batch-norm`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class RecogniseBatchNormPass(RuleFilePass):
    """Make one BatchNormalization of a factor and a shift for each channel that found no convolution to go into.

    `x · s + t` of images (four dimensions or more), with mean 0, variance 1 and no epsilon, which is exact.

    Left alone: other element types than float32, which runtimes may lack; factors that are computed, or that differ
    along another axis than that of the channels; a product that something else uses.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "recognise-batch-norm"
    RULES = ("scale-shift",)
