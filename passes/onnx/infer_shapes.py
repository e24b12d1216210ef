"""The pass `infer-shapes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from ge.dialects.onnx import ABSENT, Constant, OnnxOp, make_constant, ranked, static_shape
from ge.dialects.onnx.shapes.inference import Inference, infer_function, main_function, recall, write_types
from ge.dialects.onnx.shapes.input_shapes import fix_arguments, parse_input_shapes
from ge.dialects.onnx.shapes.values import Tensor
from ge.ir.constants import Array, numpy_dtype
from ge.ir.rewriting import replace
from ge.passes.onnx.constant_fold import fold_constants

_SHAPE_BYTES = 2**12
"""Constants up to this size may be shapes: arithmetic on them is folded between rounds of inference."""


@dataclass(frozen=True)
class InferShapesPass(ModulePass):
    """Give every value the type that follows from the inputs and constants.

    `input-shape="x:1,3,224,224;y:batch,1~8"` first gives inputs these shapes. Sizes that the model computes itself
    (`Shape`, `Gather`, `Concat`, `Reshape`, ...) are followed, names of dimensions included; integers that are known
    then become constants, and what only computed them goes. With fixed inputs all shapes become numbers, unless they
    depend on data.

    Left alone: what a type says already where inference finds nothing; floats; results of unknown operators.
    """

    name = "infer-shapes"

    input_shape: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        if function is None:
            return
        if self.input_shape:
            fix_arguments(function, parse_input_shapes(self.input_shape, "input-shape of infer-shapes"))
        inference = None if self.input_shape else recall(function)
        changes = True
        while changes:
            inference = infer_function(function, use_notes=not self.input_shape, before=inference)
            write_types(function, inference)
            write_contents(function, inference)
            changes = fold_constants(function, _SHAPE_BYTES, _SHAPE_BYTES)  # what this finds, inference did not know
            changes = changes and not has_static_shapes(function)


def has_static_shapes(function: FuncOp) -> bool:
    """Whether all dimensions of all values are numbers, so that there is nothing more to find out."""
    results = (result for op in function.walk() for result in op.results)
    return all(result.type == ABSENT or static_shape(result) is not None for result in results)


def write_contents(function: FuncOp, inference: Inference) -> bool:
    """Make constants of the integers that are known, from last to first: what only computes them goes. Whether any."""
    changed = False
    for op in reversed(list(function.walk())):
        if not isinstance(op, OnnxOp) or isinstance(op, Constant) or op.parent is None or len(op.results) != 1:
            continue
        array = _known_integers(op.results[0], inference)
        if array is None or not op.has_trait(Pure):
            continue
        operands = list(op.operands)
        constant = make_constant(array, location=op.location)
        replace(op, [constant], constant.results)
        for operand in operands:
            _erase_unused(operand)
        changed = True
    return changed


def _known_integers(value: SSAValue, inference: Inference) -> Array | None:
    """The contents of a value when all of them are integers."""
    known, type = inference.value(value), ranked(value)
    if not isinstance(known, Tensor) or known.contents is None or type is None:
        return None
    element: Attribute = type.element_type
    if not isinstance(element, IntegerType) or not all(isinstance(item, int) for item in known.contents):
        return None
    return np.array(known.contents, numpy_dtype(cast(Attribute, element))).reshape(type.get_shape())


def _erase_unused(value: SSAValue) -> None:
    """Erase the operations that only computed a value which nobody uses."""
    op = value.owner
    if not isinstance(op, OnnxOp) or op.parent is None or not op.has_trait(Pure):
        return
    if any(result.uses for result in op.results):
        return
    operands = list(op.operands)
    op.detach()
    op.erase()
    for operand in operands:
        _erase_unused(operand)
