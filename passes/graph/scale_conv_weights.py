"""The pass `scale-conv-weights`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import (
    BinaryKind,
    BinaryOp,
    CastOp,
    ConstantOp,
    Conv2DOp,
    MatmulOp,
    ReshapeOp,
    TransDataOp,
    UnaryKind,
    UnaryOp,
    ViewOp,
    main_function,
)
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant, constant_array, stored_type
from ge.dialects.om.values import value_bytes
from ge.ir.attributes import layout_of
from ge.ir.constants import array_of
from ge.ir.rewriting import apply_rules, rewrite_rule
from ge.maths.floats import FLOAT16_MAX
from ge.maths.layouts import C0, unpack
from ge.passes.graph import report
from ge.passes.graph.chains import replace_chain
from ge.passes.graph.epilogue import describe, only_user
from ge.passes.graph.place import laid_out

NAME = "scale-conv-weights"

SMALLEST_WEIGHT = 2.0**-6
"""The largest weight must not be smaller: times a gate of 2^-8 it is still a normal number of float16."""

UP_TO_ONE = frozenset({UnaryKind.SIGMOID, UnaryKind.HARD_SIGMOID, UnaryKind.TANH, UnaryKind.SOFTSIGN, UnaryKind.ERF})
"""Functions whose results are between -1 and 1."""


@dataclass(frozen=True)
class ScaleConvWeightsPass(ModulePass):
    """Scale the weights of a convolution instead of all of its input, as after the gate of a squeeze-and-excite block.

    conv(x · s, w) with one number of s for each channel is conv(x, w · s). Where the feature map x is larger than the
    weights, the product with the weights moves fewer bytes: the map is not read and written once more.

    Rewritten, with s [1, C, 1, 1] on either side of the product, computed or constant: multiply → conv2d, when

    1. nothing else uses the product;
    2. the batch is 1: other images have other gates;
    3. the convolution has one group and constant weights, of any window, stride and padding (zeros stay zeros);
    4. the weights in storage format are smaller than the map;
    5. s is between -1 and 1: a sigmoid or another function that is, alone or of a convolution; or a constant with which
       the weights are neither too small nor too large.

    Left alone: all other products, gates that spread over positions or images, a product with an activation, weights
    so small that a scaled one might lose bits (largest weight below 2^-6), gates of any size, whose products with the
    weights may be too large for float16 where those with the map are not, and modules without storage formats: this
    runs after `propagate-layout`, and before `autofuse`.

    The weights are a feature map for the kernel that scales them: FRACTAL_Z [C1·kh·kw, O1, 16, 16] has the bytes of a
    map of C channels, kh·kw·O1 rows and 16 columns in NC1HWC0. Scaled weights are rounded to float16, where before the
    scaled map was.
    """

    name = NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if laid_out(main_function(op).body.block):
            apply_rules(op, [scale_weights])


@rewrite_rule(Conv2DOp)
def scale_weights(op: Conv2DOp) -> bool:
    """Move the product in front of one convolution to its weights."""
    product, weights = op.x.owner, op.w.owner
    if not isinstance(product, BinaryOp) or not isinstance(weights, ConstantOp) or only_user(product.y) is not op:
        return False
    gated = _map_and_gate(product)
    if gated is None or op.groups.value.data != 1:
        return False
    x, gate = gated
    if (value_bytes(op.w.type) or 0) >= (value_bytes(x.type) or 0):
        report.missed(NAME, op, "the weights are not smaller than the feature map")
        return False
    largest = _largest(gate)
    if largest is None:
        report.missed(NAME, op, "the factors may be of any size")
        return False
    as_map = _as_map(weights, largest)
    if as_map is None:
        report.missed(NAME, op, f"no weight is as large as {SMALLEST_WEIGHT}, or one may be too large")
        return False
    scaled = BinaryOp("mul", as_map, gate)
    view = ViewOp(scaled, tensor(op.w))
    operands = [x, view.y, *([op.bias] if op.bias is not None else [])]
    new = Conv2DOp.create(operands=operands, properties=dict(op.properties), result_types=[op.y.type])
    text = f"Scale weights of {describe(op)} instead of its input"
    replace_chain([product, op], [as_map, scaled, view, new])
    report.fused(NAME, text, new)
    return True


def _map_and_gate(product: BinaryOp) -> tuple[SSAValue, SSAValue] | None:
    """The feature map and the number for each of its channels that are multiplied; None for other products."""
    if product.kind.data is not BinaryKind.MUL or product.activation is not None:
        return None
    n, c, *plane = shape_of(product.y)
    for x, gate in ((product.a, product.b), (product.b, product.a)):
        if n == 1 and plane != [1, 1] and shape_of(x) == shape_of(product.y) and shape_of(gate) == (1, c, 1, 1):
            return (x, gate) if layout_of(gate.type) == layout_of(x.type) == "NC1HWC0" else None
    return None


def _largest(gate: SSAValue) -> float | None:
    """The largest size that a factor can have, as far as what makes it says; None where it does not."""
    array, op = constant_array(gate), gate.owner
    if array is not None:
        return float(abs(array).max(initial=0))
    match op:
        case CastOp() | ReshapeOp() | TransDataOp() | ViewOp():
            return _largest(op.x)
        case UnaryOp():
            function = op.function
        case Conv2DOp() | MatmulOp():
            function = op.activation
        case _:
            function = None
    return 1.0 if function is not None and function.kind in UP_TO_ONE else None


def _as_map(weights: ConstantOp, factor: float) -> ConstantOp | None:
    """The bytes of weights in FRACTAL_Z as a feature map with their input channels.

    None for weights that are too small, or too large, times factors of this size and less.
    """
    type = tensor(weights.y)
    stored = array_of(weights.value, stored_type(type))
    largest = float(abs(stored).max(initial=0))
    if largest * min(factor, 1.0) < SMALLEST_WEIGHT or largest * factor > FLOAT16_MAX:
        return None
    _, channels, height, width = type.get_shape()
    shape = (1, channels, height * width * stored.shape[1], C0)
    return constant(unpack(stored, "NC1HWC0", shape), "NC1HWC0")
