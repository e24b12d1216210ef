"""Kinds of elementwise functions, of pooling and of reductions, and the activation of a fused operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import auto

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class UnaryKind(StrEnum):
    """A function of one element; `FUNCTIONS` says what each computes."""

    IDENTITY = auto()
    NEG = auto()
    ABS = auto()
    SQUARE = auto()
    POWER = auto()
    SQRT = auto()
    RSQRT = auto()
    RECIPROCAL = auto()
    EXP = auto()
    LOG = auto()
    RELU = auto()
    LEAKY_RELU = auto()
    ELU = auto()
    SELU = auto()
    CELU = auto()
    CLIP = auto()
    SIGMOID = auto()
    HARD_SIGMOID = auto()
    TANH = auto()
    SOFTPLUS = auto()
    SOFTSIGN = auto()
    ERF = auto()
    GELU = auto()
    GELU_TANH = auto()
    SWISH = auto()
    HARD_SWISH = auto()
    MISH = auto()


@dataclass(frozen=True)
class Function:
    """What a unary kind computes (`formula`: x the element, a alpha, b beta) and the defaults of its parameters."""

    formula: str
    defaults: tuple[float, ...] = ()
    """Default alpha, or alpha and beta; as many as the function has parameters."""


FUNCTIONS: dict[UnaryKind, Function] = {
    UnaryKind.IDENTITY: Function("x"),
    UnaryKind.NEG: Function("-x"),
    UnaryKind.ABS: Function("|x|"),
    UnaryKind.SQUARE: Function("(a·x)²", (1.0,)),
    UnaryKind.POWER: Function("xᵃ, for x > 0", (1.0,)),
    UnaryKind.SQRT: Function("√x"),
    UnaryKind.RSQRT: Function("1 / √x"),
    UnaryKind.RECIPROCAL: Function("1 / x"),
    UnaryKind.EXP: Function("eˣ"),
    UnaryKind.LOG: Function("ln x"),
    UnaryKind.RELU: Function("max(x, 0)"),
    UnaryKind.LEAKY_RELU: Function("x if x > 0 else a·x", (0.01,)),
    UnaryKind.ELU: Function("x if x > 0 else a·(eˣ - 1)", (1.0,)),
    UnaryKind.SELU: Function("b·(x if x > 0 else a·(eˣ - 1))", (1.6732631921768188, 1.0507010221481323)),
    UnaryKind.CELU: Function("max(x, 0) + min(a·(e^(x/a) - 1), 0)", (1.0,)),
    UnaryKind.CLIP: Function("min(max(x, a), b)", (float("-inf"), float("inf"))),
    UnaryKind.SIGMOID: Function("1 / (1 + e⁻ˣ)"),
    UnaryKind.HARD_SIGMOID: Function("min(max(a·x + b, 0), 1)", (0.2, 0.5)),
    UnaryKind.TANH: Function("tanh x"),
    UnaryKind.SOFTPLUS: Function("ln(1 + eˣ)"),
    UnaryKind.SOFTSIGN: Function("x / (1 + |x|)"),
    UnaryKind.ERF: Function("erf x"),
    UnaryKind.GELU: Function("x/2·(1 + erf(x/√2))"),
    UnaryKind.GELU_TANH: Function("x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))"),
    UnaryKind.SWISH: Function("x / (1 + e^(-a·x))", (1.0,)),
    UnaryKind.HARD_SWISH: Function("x·min(max(x/6 + 1/2, 0), 1)"),
    UnaryKind.MISH: Function("x·tanh(ln(1 + eˣ))"),
}
"""Every unary kind. ONNX operators of the same name agree with it."""


class BinaryKind(StrEnum):
    """A function of two elements."""

    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()
    MAX = auto()
    MIN = auto()
    POW = auto()


class PoolKind(StrEnum):
    """What a pooling window computes."""

    MAX = auto()
    AVERAGE = auto()


class ReduceKind(StrEnum):
    """What combines elements into one; `sum_square` is the sum of their squares."""

    SUM = auto()
    MEAN = auto()
    MAX = auto()
    MIN = auto()
    SUM_SQUARE = auto()


@irdl_attr_definition
class UnaryKindAttr(EnumAttribute[UnaryKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `graph.unary`."""

    name = "graph.unary_kind"


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `graph.binary`."""

    name = "graph.binary_kind"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `graph.pool2d`."""

    name = "graph.pool_kind"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `graph.reduce`."""

    name = "graph.reduce_kind"


@irdl_attr_definition
class ActivationAttr(ParametrizedAttribute):
    """`#graph.activation<clip, 0.0, 6.0>`: a unary function that a fused operation applies to its float32 accumulator.

    Parameters that the kind does not have (see `FUNCTIONS`) are 0 and are not printed.
    """

    name = "graph.activation"

    unary_kind: UnaryKindAttr
    alpha_attr: FloatAttr
    beta_attr: FloatAttr

    def __init__(self, kind: UnaryKind | str, alpha: float | None = None, beta: float | None = None) -> None:
        kind = UnaryKind(kind)
        given = (alpha, beta)
        defaults = (*FUNCTIONS[kind].defaults, 0.0, 0.0)
        values = [default if value is None else value for value, default in zip(given, defaults, strict=False)]
        super().__init__(UnaryKindAttr(kind), FloatAttr(values[0], f32), FloatAttr(values[1], f32))

    @property
    def kind(self) -> UnaryKind:
        """Which function it is."""
        return self.unary_kind.data

    @property
    def alpha(self) -> float:
        """The first parameter (clip: the lower bound)."""
        return self.alpha_attr.value.data

    @property
    def beta(self) -> float:
        """The second parameter (clip: the upper bound)."""
        return self.beta_attr.value.data

    @property
    def arguments(self) -> tuple[float, ...]:
        """Alpha and beta, as far as the kind has them."""
        return (self.alpha, self.beta)[: len(FUNCTIONS[self.kind].defaults)]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = UnaryKindAttr.parse_parameter(parser)
            values: list[float] = []
            while parser.parse_optional_punctuation(",") is not None:
                values.append(_parse_f32(parser))
        return cls(kind, *values).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.kind))
            for value in self.arguments:
                printer.print_string(", ")
                printer.print_float(value, f32)


def _parse_f32(parser: AttrParser) -> float:
    """A float literal, or the bits of a non-finite one in hexadecimal."""
    number = parser.parse_number()
    if isinstance(number, int):
        return float(f32.unpack(number.to_bytes(4, "little"), 1)[0])
    return number
