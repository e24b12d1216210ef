"""The pass `algebraic-simplify`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class AlgebraicSimplifyPass(RuleFilePass):
    """Replace operations that have no effect, undo each other, or say in several steps what one says.

    1. `x + 0`, `x · 1`, `x¹`; for integers also `x - x` and `x · 0`.
    2. Signs: `-(-x)`, `x + (-y)`, `-(x - y)`, `-x · -y`, `abs(-x)`.
    3. Reciprocals, roots and powers: `1 / (1 / x)`, `x · (1 / y)`, `√(x²)`, `(x²)³`.
    4. Bounds: a Relu, Abs or Clip of what lies within them, Max of Max, Min of Min, Min of Max, Clip of Relu, Relu of
       Clip and Clip of Clip, where any bound may be absent.
    5. Conditions: `not not a`, `a and true`, `not a < b` of integers, `a < b or a == b`; Where with equal choices, with
       a negated condition, or with one that is known.

    Left alone: `x - x` and `x · 0` of floats, which are NaN for some x, and `not a < b` of floats, true for NaN; bounds
    that are not constant, of more than one element, or in the wrong order; what would give the result another shape
    because an operand widens it; an operation in between that something else uses, or that is an output.

    What is quantised afterwards is left alone, too (`ge.passes.onnx.quantised`), but for what keeps every bit.
    """

    name = "algebraic-simplify"
    RULES = (
        "reciprocal-twice",
        "multiply-by-reciprocal",
        "divide-by-reciprocal",
        "root-of-square",
        "power-of-power",
    )
    EXACT = (
        "add-nothing",
        "multiply-by-one",
        "power-one",
        "subtract-itself",
        "multiply-by-nothing",
        "negate-twice",
        "add-negated",
        "subtract-negated",
        "negate-difference",
        "negate-product",
        "negate-both",
        "absolute-of-negated",
        "square-of-absolute",
        "relu-of-positive",
        "absolute-of-positive",
        "leaky-of-relu",
        "greatest-of-same",
        "max-of-max",
        "min-of-min",
        "max-with-zero",
        "clip-from-zero",
        "clip-without-bounds",
        "clip-between",
        "relu-below",
        "relu-of-clip",
        "clip-of-relu",
        "clip-of-gate",
        "clip-twice",
        "not-twice",
        "and-true",
        "or-false",
        "equal-false",
        "xor-true",
        "both-same",
        "not-less",
        "not-greater",
        "not-less-or-equal",
        "not-greater-or-equal",
        "less-or-equal",
        "greater-or-equal",
        "choose-same",
        "choose-by-negation",
        "choose-known",
        "choose-known-false",
        "choose-relu",
    )
