"""The pass `conv-to-fc`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import optional_rules


@dataclass(frozen=True)
class ConvToFcPass(RulePass):
    """Make a Gemm of a convolution whose window is the whole input, where its result is flattened anyway.

    Left alone: a convolution that pads, dilates or has groups; one whose result has more than one position, or that
    keeps its axes, which would need a Reshape more; weights that are computed.
    """

    name = "conv-to-fc"

    def rules(self) -> list[RewriteRule[Any]]:
        return optional_rules("fully_connected", "conv-to-fc", "conv-to-fc-reshaped")
