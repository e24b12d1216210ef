"""The pass `insert-aipp`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TensorType, f32, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ge.dialects.onnx import UNKNOWN, make_constant, make_op
from ge.dialects.onnx.protos import data_type_of
from ge.dialects.onnx.shapes.inference import infer_function, main_function, write_types
from ge.dialects.onnx.shapes.input_shapes import input_names
from ge.dialects.onnx.shapes.signature import DIMS
from ge.dialects.onnx.shapes.types import ELEMENT_TYPES
from ge.ir.constants import Array
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import name_loc
from ge.passes.onnx.aipp_config import FORMATS, Aipp, read_aipp
from ge.passes.onnx.aipp_plan import Layout, Plan, make_plan

_SHIFT = 8
_POSITIVE = 1 << 17
"""Added before a shift to the right, and taken off after it: a shift rounds down, the division of ONNX towards zero. No
product of a matrix and a pixel is less than -(2**17 << 8)."""

_OF_TYPE = (DIMS, "onnx.type", "onnx.proto")
"""Notes on the type of an input."""


@dataclass(frozen=True)
class InsertAippPass(ModulePass):
    """Let the model take images of bytes, and prepare them as a file in ATC's format says (`config=FILE`).

    An input f32[N, C, H, W] becomes ui8[N, h, w, channels], for YUV420SP ui8[N, h * 3 / 2, w]. What prepares it are
    operators like any others, in this order, each only where the file asks for it:

    1. chroma of YUV420SP repeated to the size of the image;
    2. a part cut out (`Slice`);
    3. channels exchanged (`Gather`);
    4. colours converted in whole numbers, rounded down and clipped to a byte;
    5. `Transpose` to the layout of the model, `layout=NCHW` or NHWC, and `Cast`;
    6. minus mean, minus min, times the reciprocal of the variance, by channel;
    7. a border (`Pad`), which 6 does not change.

    Left alone: inputs that the file does not name. Refused (GE2043): an input that does not exist, has no fixed four
    dimensions, or is not f32 or f16; a part that is not inside the image; an image that does not give the size or
    the channels of the model. What a file can say is checked before that (GE2042, GE2044).
    """

    name = "insert-aipp"

    config: str
    layout: Layout = "NCHW"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        if function is None:
            return
        plans = [_planned(function, aipp, self.layout) for aipp in read_aipp(self.config)]
        for argument, name, plan in plans:
            uses = list(argument.uses)
            image = _take_image(function, argument.index, plan)
            steps = Steps(body_of(function).first_op, name, image)
            prepare(steps, plan)
            for use in uses:
                use.operation.operands[use.index] = steps.value
            write_types(function, infer_function(function))


def _planned(function: FuncOp, aipp: Aipp, layout: Layout) -> tuple[BlockArgument[Attribute], str, Plan]:
    """An input, its name, and how to prepare it. Raises GE2043."""
    rank: int = aipp["related_input_rank"]
    names, arguments = input_names(function), body_of(function).args
    if rank >= len(names):
        known = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
        raise GeError("GE2043", f"there is no input {rank}: the inputs are {known}", aipp.where("related_input_rank"))
    return arguments[rank], names[rank], make_plan(aipp, names[rank], arguments[rank], layout)


def _take_image(function: FuncOp, index: int, plan: Plan) -> SSAValue:
    """Give an argument the type of the image; notes on its old type go."""
    argument = body_of(function).args[index]
    hint = argument.name_hint
    image = Rewriter.replace_value_with_new_type(argument, TensorType(ELEMENT_TYPES["ui8"], plan.image_shape))
    image.name_hint = hint
    types = [each.type for each in body_of(function).args]
    function.function_type = FunctionType.from_lists(types, list(function.function_type.outputs.data))
    if function.arg_attrs is not None:
        notes = list(function.arg_attrs.data)
        notes[index] = DictionaryAttr({name: note for name, note in notes[index].data.items() if name not in _OF_TYPE})
        function.arg_attrs = ArrayAttr(notes) if any(note.data for note in notes) else None
    return image


@dataclass
class Steps:
    """Adds operators in front of another one; each works on what the ones before have made of a value."""

    first: Operation | None
    """What they come in front of."""
    name: str
    """Of the input: the operators are called after it."""
    value: SSAValue = field()

    def add(self, step: str, op_type: str, *others: Array | SSAValue, **attributes: Any) -> None:
        """Add an operator on the value and others, and let its result be the value."""
        assert self.first is not None and self.first.parent is not None, "a function ends with its return"
        location = name_loc(f"{self.name}/aipp/{step}")
        inputs: list[SSAValue | None] = [self.value]
        for other in others:
            if isinstance(other, SSAValue):
                inputs.append(other)
                continue
            constant = make_constant(other, location=location)
            self.first.parent.insert_op_before(constant, self.first)
            inputs.append(constant.results[0])
        op = make_op(op_type, inputs, [UNKNOWN], attributes, location=location)
        self.first.parent.insert_op_before(op, self.first)
        self.value = op.results[0]

    def cast(self, step: str, element: Attribute) -> None:
        """Convert the value."""
        self.add(step, "Cast", to=data_type_of(element))


def prepare(steps: Steps, plan: Plan) -> None:
    """Add the operators that make the input of the model of an image."""
    aipp = plan.aipp
    if aipp["input_format"] == "YUV420SP_U8":
        _join_planes(steps, plan)
    if plan.size != plan.part:
        ends = [start + length for start, length in zip(plan.start, plan.part, strict=True)]
        steps.add("crop", "Slice", integers(*plan.start), integers(*ends), integers(1, 2))
    if plan.order != list(range(FORMATS[aipp["input_format"]])):
        steps.add("swap", "Gather", integers(*plan.order), axis=3)
    if aipp["csc_switch"]:
        _convert_colours(steps, plan)
    if plan.layout == "NCHW":
        steps.add("layout", "Transpose", perm=[0, 3, 1, 2])
    steps.cast("cast", f32)
    shape = (plan.channels, 1, 1) if plan.layout == "NCHW" else (plan.channels,)
    for key, op_type, nothing in (("mean_chn", "Sub", 0), ("min_chn", "Sub", 0), ("var_reci_chn", "Mul", 1)):
        values = np.array(aipp.channel_values(key, plan.channels), np.float32)
        if (values != nothing).any():
            steps.add(key.removesuffix("_chn"), op_type, values.reshape(shape))
    if any(plan.border):
        axes = integers(2, 3) if plan.layout == "NCHW" else integers(1, 2)
        top, bottom, left, right = plan.border
        value = np.array(aipp["padding_value"], np.float32)
        steps.add("padding", "Pad", integers(top, left, bottom, right), value, axes)
    if plan.element != f32:
        steps.cast("half", plan.element)


def integers(*values: int) -> Array:
    """A vector as shapes and positions are given."""
    return np.array(values, np.int64)


def _join_planes(steps: Steps, plan: Plan) -> None:
    """Make pixels of Y, U and V of a plane of Y and, below it, one of pairs of U and V for four pixels each."""
    (height, width), batch, planes = plan.size, plan.batch, steps.value
    steps.add("chroma", "Slice", integers(height), integers(height * 3 // 2), integers(1))
    steps.add("chroma", "Reshape", integers(batch, height // 2, 1, width // 2, 1, 2))
    steps.add("chroma", "Expand", integers(batch, height // 2, 2, width // 2, 2, 2))
    steps.add("chroma", "Reshape", integers(batch, height, width, 2))
    chroma, steps.value = steps.value, planes
    steps.add("luma", "Slice", integers(0), integers(height), integers(1))
    steps.add("luma", "Reshape", integers(batch, height, width, 1))
    steps.add("pixels", "Concat", chroma, axis=3)


def _convert_colours(steps: Steps, plan: Plan) -> None:
    """``(matrix * (pixel - input_bias) >> 8) + output_bias``, from 0 to 255, for the channels that the model takes."""
    bias, is_yuv = np.array(plan.aipp.bias, np.int32), plan.aipp.is_yuv
    after = np.zeros(plan.channels, np.int32) if is_yuv else bias[: plan.channels]
    steps.cast("colours", i32)
    if is_yuv:
        steps.add("colours", "Sub", bias)
    steps.add("colours", "MatMul", np.array(plan.aipp.matrix[: plan.channels], np.int32).T.copy())
    steps.add("colours", "Add", np.array(_POSITIVE << _SHIFT, np.int32))
    steps.add("colours", "Div", np.array(1 << _SHIFT, np.int32))
    steps.add("colours", "Add", after - np.int32(_POSITIVE))
    steps.add("colours", "Clip", np.array(0, np.int32), np.array(255, np.int32))
