"""The pass `onnx-fold-conv-bn`, and what `fuse-conv-bn-relu` and `fold-conv-bn` do at the onnx level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from ge.dialects.onnx import ABSENT, Constant, OnnxOp, constant_value, make_constant, op_class
from ge.dialects.onnx.graph_builder import result_name
from ge.dialects.onnx.ops import set_inputs
from ge.ir.locations import fused_loc
from ge.ir.rewriting import RewriteRule, erase_if_unused, replace_value, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.maths.floats import round_to_type
from ge.passes.graph import report
from ge.passes.onnx.fusion_rules import rules_named
from ge.passes.onnx.quantised import unless_quantised

Array: TypeAlias = NDArray[Any]
Vector: TypeAlias = NDArray[np.float64]

CONVOLUTIONS = (op_class("Conv"), op_class("ConvTranspose"))
"""The operations to fold batch normalisation into."""

_FLOATS = tuple(map(np.dtype, ("float16", "float32", "float64")))
"""Element types of weights that are computed in float64 and rounded once."""


@dataclass(frozen=True)
class OnnxFoldConvBnPass(RulePass):
    """Fold batch normalisation into the weights next to it; factors and bias are computed in float64, rounded once.

    1. Conv and ConvTranspose + BatchNormalization, in any number of groups, with or without a bias.
    2. MatMul and Gemm + BatchNormalization, of matrices: one Gemm.
    3. BatchNormalization + Conv that does not pad.

    Left alone: a product that has a second user or is an output; weights, bias or statistics that are computed;
    training mode; BatchNormalization before a convolution that pads, since zeros are padded and not the shift; a
    variance that makes the factor infinite; filters that would be too small for their type; what is quantised
    afterwards (`ge.passes.onnx.quantised`). Weights that others use are copied, never changed. (Weights behind an
    Identity are constants after `eliminate-identity`.)
    """

    name = "onnx-fold-conv-bn"

    def rules(self) -> list[RewriteRule[Any]]:
        others = rules_named("batch-norm-before-conv", "matmul-batch-norm", "gemm-batch-norm")
        return unless_quantised([conv_batch_norm, *others])


@rewrite_rule(*CONVOLUTIONS)
def conv_batch_norm(op: OnnxOp) -> bool:
    """Case 1."""
    return fold_batch_norm(op, OnnxFoldConvBnPass.name)


def fold_batch_norm(op: OnnxOp, rule: str) -> bool:
    """Fold the BatchNormalization after a convolution into its weights and bias, for the pass `rule`.

    Rewritten:

    1. Conv + BatchNormalization → Conv, its filters and bias scaled (in float64, rounded once);
    2. ConvTranspose + BatchNormalization → ConvTranspose, likewise along its other axis of weights.

    Left alone:

    3. the convolution has a second user, gives an output of the model, or lies in another graph;
    4. weights, bias or statistics that are not constant, or of a type that is not float16, float32 or float64;
    5. normalisation in training mode, which takes the statistics of the batch;
    6. a scale that is not finite, and weights that would not be in their type, or too small for its digits.

    A Relu after it stays a Relu, since ONNX has no other form. Weights that are shared are copied, never changed.
    """
    norm = op.results[0].get_user_of_unique_use()
    if not isinstance(norm, OnnxOp) or norm.op_type != "BatchNormalization" or norm.domain:
        return False
    arrays = [constant_value(op.operand(name)) for name in ("W", "B")]
    reason = _obstacle(op, norm, arrays)
    if reason is not None:
        report.missed(rule, norm, reason)
        return False
    weights, bias = arrays
    factor, shift = _affine_of(norm)
    with np.errstate(all="ignore"):  # what is not finite is looked for below
        new_weights = _scaled_filters(op, weights, factor)
        new_bias = round_to_type(shift if bias is None else shift + factor * bias.astype(np.float64), weights.dtype)
    if not (np.isfinite(new_weights).all() and np.isfinite(new_bias).all()):
        report.missed(rule, norm, "the folded weights are not finite")
        return False
    if _loses_digits(op, weights, factor):
        report.missed(rule, norm, "the folded weights are too small for their type")
        return False
    _replace(op, norm, new_weights, new_bias)
    report.fused(rule, f"Fuse {op.op_type}({len(factor)}) + BatchNorm -> {op.op_type}", norm)
    _erase_with_constants(norm)
    _erase_with_constants(op)
    return True


def _obstacle(op: OnnxOp, norm: OnnxOp, arrays: list[Array | None]) -> str | None:
    """Why a normalisation stays; None when it can be folded."""
    weights, bias = arrays
    if norm.parent is not op.parent or norm.operand("X") is not op.results[0]:
        return "the convolution is in another graph"
    if norm.attribute("training_mode") or any(result.type != ABSENT for result in norm.results[1:]):
        return "it is in training mode"
    statistics = [constant_value(norm.operand(name)) for name in _STATISTICS]
    if any(array is None for array in statistics):
        return "the statistics are not constant"
    if weights is None or (bias is None and op.operand("B") is not None):
        return "weights or bias are not constant"
    if weights.dtype not in _FLOATS or any(array is not None and array.dtype not in _FLOATS for array in statistics):
        return f"the weights are of type {weights.dtype}"
    filters = _filters(op, weights)
    if any(array is not None and array.shape != (filters,) for array in (*statistics, bias)):
        return f"the statistics are not of {filters} channels"
    return None


_STATISTICS = ("scale", "B", "input_mean", "input_var")


def _affine_of(norm: OnnxOp) -> tuple[Vector, Vector]:
    """Scale and shift of each channel."""
    scale, bias, mean, var = (np.asarray(constant_value(norm.operand(name)), np.float64) for name in _STATISTICS)
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(var + norm.attribute("epsilon"))
        return factor, bias - mean * factor


def _filters(op: OnnxOp, weights: Array) -> int:
    """The number of output channels: [O, I/G, ...] are the weights of Conv, [I, O/G, ...] those of ConvTranspose."""
    return weights.shape[0] if op.op_type == "Conv" else weights.shape[1] * op.attribute("group")


def _scaled_filters(op: OnnxOp, weights: Array, factor: Vector) -> Array:
    """The weights with each filter multiplied by its factor, in float64 and then rounded once."""
    spatial = (1,) * (weights.ndim - 2)
    if op.op_type == "Conv":
        scale = factor.reshape(-1, 1, *spatial)
    else:
        groups = op.attribute("group")
        scale = np.repeat(factor.reshape(groups, -1), weights.shape[0] // groups, axis=0).reshape(
            *weights.shape[:2], *spatial
        )
    if weights.dtype == np.float16:
        return round_to_type(weights.astype(np.float64) * scale, weights.dtype)
    scaled = np.empty(weights.shape, weights.dtype)
    return np.multiply(weights, scale, out=scaled, dtype=np.float64, casting="same_kind")  # a few elements at a time


def _loses_digits(op: OnnxOp, weights: Array, factor: Vector) -> bool:
    """Whether a filter, multiplied by its factor, lies below the normal numbers of its type, where digits get lost."""
    groups = 1 if op.op_type == "Conv" else op.attribute("group")
    grouped = weights.reshape(groups, weights.shape[0] // groups, *weights.shape[1:])
    filters = 1 if op.op_type == "Conv" else 2
    others = tuple(axis for axis in range(1, grouped.ndim) if axis != filters)
    largest = np.abs(grouped).max(axis=others, initial=0).reshape(-1) * np.abs(factor)
    return bool(((largest > 0) & (largest < np.finfo(weights.dtype).tiny)).any())


def _replace(op: OnnxOp, norm: OnnxOp, weights: Array, bias: Array) -> None:
    """Put a convolution with other weights in the place of the normalisation, under the name of its output."""
    names = [_location(op.operand("W")), _location(op.operand("B") or norm.operand("B"))]
    constants = [make_constant(array, location=name) for array, name in zip((weights, bias), names, strict=True)]
    new = type(op).create(
        operands=op.operands[:1],
        result_types=[norm.results[0].type],
        attributes={**op.attributes, "onnx.outputs": ArrayAttr([StringAttr(result_name(norm, 0))])},
        location=fused_loc([op, norm]),
    )
    set_inputs(new, [op.operand("X"), *(constant.results[0] for constant in constants)])
    block = norm.parent
    assert block is not None, "operations of a graph are in a block"
    block.insert_ops_before([*constants, new], norm)
    replace_value(norm.results[0], new.results[0])


def _location(value: SSAValue | None) -> Any:
    """The location, which is the name, of a constant."""
    owner = None if value is None else value.owner
    assert isinstance(owner, Operation), "weights and statistics are constants here"
    return owner.location


def _erase_with_constants(op: OnnxOp) -> None:
    """Erase an operation that nothing uses, and the constants that only it used."""
    owners = [operand.owner for operand in dict.fromkeys(op.operands)]
    if erase_if_unused(op):
        for owner in owners:
            if isinstance(owner, Constant):
                erase_if_unused(owner)
