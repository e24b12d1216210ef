"""The pass `strength-reduction`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class StrengthReductionPass(RuleFilePass):
    """Compute the same with a cheaper operator.

    1. Powers: `x²` is a product, `x` to ½ a root, `x⁻¹` a reciprocal.
    2. `1 / x` is a reciprocal, `0 - x` and `x · (-1)` a negation.
    3. A division by a power of two is a product, exactly; by another constant, a product with its rounded reciprocal.
    4. The sum or mean of `x · c` is that of x, times c.

    Left alone: quotients of integers; constants whose reciprocal their type cannot hold; sums of `x · c` where c is
    small, because the sum of x alone could overflow; exponents of more than one element. (Of minus infinity, the power
    ½ is infinite and the root NaN: this difference is accepted.)

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`), but for what keeps every bit.
    """

    name = "strength-reduction"
    RULES = (
        "square",
        "power-half",
        "power-minus-one",
        "sum-of-scaled",
        "mean-of-scaled",
        "divide-by-constant",
    )
    EXACT = (
        "divide-one",
        "subtract-from-nothing",
        "multiply-by-minus-one",
        "divide-by-power-of-two",
    )
