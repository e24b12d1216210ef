"""The pass `recognise-activations`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import ActivationAttr, BinaryKind, BinaryOp, ConstantOp, UnaryKind, UnaryOp
from ge.dialects.graph.base import shape_of
from ge.dialects.graph.constants import constant_array
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import describe, only_user

NAME = "recognise-activations"


@dataclass(frozen=True)
class RecogniseActivationsPass(ModulePass):
    """Put one function in the place of the operations that exporters write it as.

    | written | function |
    |---|---|
    | x · sigmoid(x) | swish |
    | x · tanh(softplus(x)) | mish |
    | clip(x + c, 0, h) / h, or · 1/h | hard_sigmoid(1/h, c/h) |
    | x · hard_sigmoid(1/6, 1/2)(x), or x · clip(x + 3, 0, 6) / 6 | hard_swish |
    | x · (1 + erf(x / √2)) · ½, in any order of the factors | gelu |

    Left alone: a part that has a second user, since it would be computed twice; constants that are not one number, or
    have more dimensions than x; bounds h that are not above 0.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_rules(op, [gated, hard_sigmoid, hard_swish, gelu])


@rewrite_rule(BinaryOp)
def gated(op: BinaryOp) -> bool:
    """A product x · g(x) with a gate g of one or two functions."""
    for x, gate in ((op.a, op.b), (op.b, op.a)):
        if _is(op, BinaryKind.MUL) and (function := _gate(x, gate)) is not None:
            return _become(op, x, function)
    return False


def _gate(x: SSAValue, gate: SSAValue) -> ActivationAttr | None:
    """What x · gate is, if the gate is a known function of x."""
    unary = _inner(gate)
    if unary is None:
        return None
    if unary.kind is UnaryKind.SIGMOID and unary.x is x:
        return ActivationAttr(UnaryKind.SWISH)
    if unary.kind is UnaryKind.HARD_SIGMOID and unary.x is x and _close(unary.alpha, 1 / 6) and _close(unary.beta, 0.5):
        return ActivationAttr(UnaryKind.HARD_SWISH)
    if unary.kind is UnaryKind.TANH and (plus := _inner(unary.x)) and plus.kind is UnaryKind.SOFTPLUS and plus.x is x:
        return ActivationAttr(UnaryKind.MISH)
    return None


@rewrite_rule(BinaryOp)
def hard_sigmoid(op: BinaryOp) -> bool:
    """clip(x + c, 0, h) / h."""
    scaled = _scaled(op)
    if scaled is None:
        return False
    value, scale = scaled
    shifted = _clipped_sum(value)
    if shifted is None:
        return False
    x, shift, high = shifted
    if not _close(scale * high, 1.0):
        return False
    return _become(op, x, ActivationAttr(UnaryKind.HARD_SIGMOID, scale, shift * scale))


@rewrite_rule(BinaryOp)
def hard_swish(op: BinaryOp) -> bool:
    """A product x · clip(x + 3, 0, 6) / 6, the division last."""
    scaled = _scaled(op)
    if scaled is None or not _close(scaled[1], 1 / 6):
        return False
    product = scaled[0].owner
    if not isinstance(product, BinaryOp) or not _is(product, BinaryKind.MUL) or not _single(product):
        return False
    for x, clipped in ((product.a, product.b), (product.b, product.a)):
        shifted = _clipped_sum(clipped)
        if shifted is not None and shifted[0] is x and (shifted[1], shifted[2]) == (3.0, 6.0):
            return _become(op, x, ActivationAttr(UnaryKind.HARD_SWISH))
    return False


@rewrite_rule(BinaryOp)
def gelu(op: BinaryOp) -> bool:
    """½ · x · (1 + erf(x / √2))."""
    if not _is(op, BinaryKind.MUL):
        return False
    factors = _factors(op)
    numbers = [number for value in factors if (number := _number(value)) is not None]
    others = [value for value in factors if _number(value) is None]
    if len(others) != 2 or not _close(math.prod(numbers), 0.5):
        return False
    for x, gate in (others, others[::-1]):
        if (argument := _one_plus_erf(gate)) is not None and argument[0] is x and _close(argument[1], math.sqrt(0.5)):
            return _become(op, x, ActivationAttr(UnaryKind.GELU))
    return False


# Parts of patterns


def _is(op: BinaryOp, kind: BinaryKind) -> bool:
    """Whether an operation is of a kind, and nothing else."""
    return op.kind.data is kind and op.activation is None


def _factors(op: BinaryOp) -> list[SSAValue]:
    """The factors of a product of products; a product with another user is one factor."""
    found: list[SSAValue] = []
    for value in (op.a, op.b):
        inner = value.owner
        if isinstance(inner, BinaryOp) and _is(inner, BinaryKind.MUL) and _single(inner):
            found += _factors(inner)
        else:
            found.append(value)
    return found


def _one_plus_erf(value: SSAValue) -> tuple[SSAValue, float] | None:
    """The x and c of 1 + erf(c · x)."""
    term = _plus_number(value)
    if term is None or term[1] != 1.0:
        return None
    erf = _inner(term[0])
    if erf is None or erf.kind is not UnaryKind.ERF or not isinstance(argument := erf.x.owner, BinaryOp):
        return None
    return _scaled(argument) if _single(argument) else None


def _clipped_sum(value: SSAValue) -> tuple[SSAValue, float, float] | None:
    """The x, c and h of clip(x + c, 0, h), with h above 0: clipped to less, everything is h."""
    clip = _inner(value)
    if clip is None or clip.kind is not UnaryKind.CLIP or clip.alpha != 0.0 or not 0.0 < clip.beta < math.inf:
        return None
    term = _plus_number(clip.x)
    return None if term is None else (*term, clip.beta)


def _plus_number(value: SSAValue) -> tuple[SSAValue, float] | None:
    """The x and c of x + c that has no other user."""
    op = value.owner
    if not isinstance(op, BinaryOp) or not _is(op, BinaryKind.ADD) or not _single(op):
        return None
    return _with_number(op, commutes=True)


def _scaled(op: BinaryOp) -> tuple[SSAValue, float] | None:
    """The x and c of x · c; x / d is x · 1/d."""
    if _is(op, BinaryKind.MUL):
        return _with_number(op, commutes=True)
    if not _is(op, BinaryKind.DIV) or (found := _with_number(op, commutes=False)) is None or found[1] == 0.0:
        return None
    return found[0], 1 / found[1]


def _with_number(op: BinaryOp, *, commutes: bool) -> tuple[SSAValue, float] | None:
    """The operand that is not a number, and the number, where the result has the shape of the operand."""
    for x, other in ((op.a, op.b), (op.b, op.a))[: 2 if commutes else 1]:
        number = _number(other)
        if number is not None and shape_of(x) == shape_of(op.y):
            return x, number
    return None


def _number(value: SSAValue) -> float | None:
    array = constant_array(value)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _inner(value: SSAValue) -> UnaryOp | None:
    """The function that gives `value`, if nothing else uses it."""
    op = value.owner
    return op if isinstance(op, UnaryOp) and _single(op) else None


def _single(op: Operation) -> bool:
    return only_user(op.results[0]) is not None


def _close(a: float, b: float) -> bool:
    """Equal as far as float32 constants can tell."""
    return math.isclose(a, b, rel_tol=1e-5)


def _become(op: BinaryOp, x: SSAValue, function: ActivationAttr) -> bool:
    """Put `function` of `x` in the place of `op`, and take out the operations between them.

    Not where a number of more dimensions than `x` has given those to the result.
    """
    if shape_of(x) != shape_of(op.y):
        return False
    new = UnaryOp(x, function)
    chain = [*_before(op, x), op]
    text = " + ".join(map(describe, chain))
    replace_chain(chain, [new])
    report.fused(NAME, f"Fuse {text} -> {describe(new)}", new)
    return True


def _before(op: Operation, x: SSAValue) -> list[Operation]:
    """The operations that make the operands of `op` from `x` and constants, producers first."""
    found: list[Operation] = []
    for operand in op.operands:
        producer = operand.owner
        if operand is not x and isinstance(producer, Operation) and not isinstance(producer, ConstantOp):
            found += [*_before(producer, x), producer]
    return found
