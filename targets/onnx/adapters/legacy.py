"""Operators from before opset 8: broadcasting by attributes, in-place hints, flags of training."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import up
from ge.targets.onnx.adapters.values import Node, RefusalError


@up(
    "Abs Add BatchNormalization Ceil Clip Div Dropout Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log "
    "Max Mean Min Mul Neg PRelu Reciprocal Relu Sigmoid Sqrt Sub Sum Tanh",
    1,
    6,
)
def drop_in_place_hint(node: Node, new: Builder) -> None:
    """``consumed_inputs`` said which inputs may be overwritten."""
    if node.has("consumed_inputs"):
        new.replace(without=["consumed_inputs"])


@up("Selu", 1, 6)
def state_rounded_defaults(node: Node, new: Builder) -> None:
    """The defaults got more digits."""
    new.replace(without=["consumed_inputs"], alpha=node.attribute("alpha"), gamma=node.attribute("gamma"))


@up("Add Sub Mul Div", 6, 7)
@up("And Or Xor Equal Greater Less Pow", 1, 7)
def align_second_operand(node: Node, new: Builder) -> None:
    """``axis`` said where the shape of the second operand begins in that of the first; now they end together."""
    axis, (first, second) = node.attribute("axis"), node.proto.input
    without = ["axis", "broadcast"]
    if not node.attribute("broadcast") or axis is None:
        new.replace(without=without)
        return
    ranks = [node.rank(parameter.name) for parameter in node.schema.inputs]
    trailing = ranks[0] - axis % ranks[0] - ranks[1]
    if trailing > 0:
        second = new.unsqueeze(second, list(range(ranks[1], ranks[1] + trailing)))
    new.replace([first, second], without=without)


@up("Gemm", 6, 7)
def drop_broadcast(node: Node, new: Builder) -> None:
    """Since opset 7 the third operand is always broadcast."""
    new.replace(without=["broadcast"])


@up("PRelu", 6, 7)
def align_slope(node: Node, new: Builder) -> None:
    """One slope per channel, the second axis; since opset 7 it is broadcast from the last axis."""
    rank = node.rank("X")
    if node.rank("slope") != 1 or node.shape("slope") == [1] or rank <= 2:
        return
    new.replace([node.input("X"), new.unsqueeze(node.input("slope"), list(range(1, rank - 1)))])


@up("BatchNormalization Dropout", 6, 7)
def drop_test_flag(node: Node, new: Builder) -> None:
    """``is_test`` gave way to whether there are outputs of training; a Dropout outside of training is the identity."""
    new.replace(outputs=node.outputs[:1] if node.attribute("is_test") else None, without=["is_test"])


@up("RNN LSTM", 1, 7)
@up("GRU", 3, 7)
def drop_output_flag(node: Node, new: Builder) -> None:
    """``output_sequence`` gave way to whether the output is there."""
    new.replace(without=["output_sequence"])


@up("GRU", 1, 3)
def correct_direction(node: Node, new: Builder) -> None:
    """The default of ``direction`` was misspelt."""
    if node.has("direction"):
        new.replace(direction=node.attribute("direction").replace("foward", "forward"))


@up("Cast", 1, 6)
def type_by_number(node: Node, new: Builder) -> None:
    """The type was named by a text."""
    new.replace(to=TensorProto.DataType.Value(node.attribute("to").upper()))


@up("Concat", 1, 4)
def state_axis(node: Node, new: Builder) -> None:
    """The axis was 1 unless it was given."""
    if not node.has("axis"):
        new.replace(axis=1)


@up("Reshape", 1, 5)
def shape_to_input(node: Node, new: Builder) -> None:
    """The shape was an attribute."""
    shape = new.constant(node.attribute("shape") or [])
    new.replace([node.input("data"), shape], without=["shape", "consumed_inputs"])


@up("Pad", 1, 2)
def rename_pads(node: Node, new: Builder) -> None:
    """``paddings`` was given another name."""
    new.replace(without=["paddings"], pads=node.attribute("paddings"))


@up("Split", 1, 2)
def lengths_to_attribute(node: Node, new: Builder) -> None:
    """Opset 2 had the lengths as an attribute only, and an axis by default."""
    lengths = [int(length) for length in node.known("split")] if node.input("split") else node.attribute("split")
    new.replace([node.input("input")], axis=node.attribute("axis") or 0, split=lengths)


@up("Tile", 1, 6)
def repeat_all_axes(node: Node, new: Builder) -> None:
    """Count and axis of the repetition were two numbers, in the type of the data."""
    repeats = np.ones(node.rank("input"), np.int64)
    repeats[int(node.known("axis").item())] = int(node.known("tiles").item())
    new.replace([node.input("input"), new.constant(repeats)])


@up("GlobalLpPool LpPool", 1, 2)
def whole_order(node: Node, new: Builder) -> None:
    """The order of the norm became an integer."""
    order = node.attribute("p")
    if order != int(order):
        raise RefusalError(f"since opset 2 its attribute 'p' is an integer, not {order}")
    if node.op_type == "LpPool" and not node.has("kernel_shape"):
        raise RefusalError("its attribute 'kernel_shape' is missing")
    new.replace(p=int(order))


@up("Upsample", 1, 7)
def scale_each_axis(node: Node, new: Builder) -> None:
    """Two attributes scaled images only; now there is a scale for each axis."""
    scales = [1.0, 1.0, node.attribute("height_scale"), node.attribute("width_scale")]
    mode = node.attribute("mode").replace("bilinear", "linear")
    new.replace(without=["height_scale", "width_scale"], mode=mode, scales=scales)
