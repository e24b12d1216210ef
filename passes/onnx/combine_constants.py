"""The pass `combine-constants`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class CombineConstantsPass(RuleFilePass):
    """Make one constant of two that are added or multiplied one after the other.

    1. Sums and differences: `(x + a) - b`, `b - (x - a)`, ...
    2. Products and quotients of floats: `(x · a) / b`, `(a / x) · b`, ...
    3. `(x · a + b) · c` is `x · (a · c) + b · c`.

    Left alone: float constants that cancel, since `x + 1e8 - 1e8` is not x in float32, and those of which one is lost
    beside the other, since `x + 1 + 1e-8` is 1e-8 where x is -1; quotients of integers; constants whose combination
    would be larger than either, overflow, or vanish.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`).
    """

    name = "combine-constants"
    RULES = (
        "add-constants",
        "subtract-constant",
        "subtracted-add-constant",
        "subtract-constants",
        "subtract-from-constants",
        "subtract-from-difference",
        "multiply-constants",
        "divide-divided",
        "multiply-divided",
        "divide-constants",
        "multiply-quotient",
        "scale-shift-scale",
    )
