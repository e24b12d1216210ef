"""The pass `fc-to-conv`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge.ir.rewriting import RewriteRule
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import optional_rules


@dataclass(frozen=True)
class FcToConvPass(RulePass):
    """Make a convolution over the whole input of a Gemm of a flattened image, for targets that have no other product.

    Left alone: a factor of the product or of its bias; a bias that is not one number for each column; weights that are
    computed; images of unknown size, or of more than three spatial axes; float64, for which runtimes lack the
    operator.
    """

    name = "fc-to-conv"

    def rules(self) -> list[RewriteRule[Any]]:
        return optional_rules("fully_connected", "fc-to-conv")
