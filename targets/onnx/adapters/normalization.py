"""BatchNormalization (training) and GroupNormalization (scales per group or per channel)."""

from __future__ import annotations

from onnx import TensorProto

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node, RefusalError


@up("BatchNormalization", 7, 9)
def flatten_features(node: Node, new: Builder) -> None:
    """``spatial = 0`` normalises each feature of its own: as many channels as features of a flat input do the same."""
    if node.attribute("spatial"):
        new.replace(without=["spatial"])
        return
    if any(node.outputs[1:]):
        raise RefusalError("training of features of their own has no newer form")
    x, *statistics = node.proto.input
    flat = [new.add("Reshape", [name, new.constant([-1])]) for name in statistics]
    result = new.name("BatchNormalization")
    new.replace([new.add("Flatten", [x], axis=1), *flat], [result], without=["spatial"])
    new.reshape(result, new.add("Shape", [x]), node.shape("X"), node.outputs)


@up("BatchNormalization", 9, 14)
def name_training(node: Node, new: Builder) -> None:
    """Training was meant when there are outputs for the statistics. Opset 14 has no saved ones among them."""
    if not any(node.outputs[1:]):
        new.replace(outputs=node.outputs[:1])
        return
    if node.scope.read.intersection(node.outputs[3:]):
        raise RefusalError("its outputs 'saved_mean' and 'saved_var' were taken out in opset 14")
    new.replace(outputs=node.outputs[:3], training_mode=1)


@down("BatchNormalization", 14, 9)
def train_step_by_step(node: Node, new: Builder) -> None:
    """Training is written with mean and variance of the batch; statistics are computed in float for half precision."""
    if not node.attribute("training_mode"):
        return
    x, scale, bias = (node.input(name) for name in ("X", "scale", "B"))
    rank, element = node.rank("X"), node.known_element("X")
    wide = TensorProto.DOUBLE if element == TensorProto.DOUBLE else TensorProto.FLOAT
    axes = [axis for axis in range(rank) if axis != 1]

    def per_channel(value: str) -> str:
        value = new.cast(value, wide)
        return new.unsqueeze(value, list(range(1, rank - 1))) if rank > 2 else value

    x = new.cast(x, wide)
    mean = new.reduce("Mean", x, axes)
    centred = new.add("Sub", [x, mean])
    variance = new.reduce("Mean", new.add("Mul", [centred, centred]), axes)
    deviation = new.add("Sqrt", [new.add("Add", [variance, new.constant(node.attribute("epsilon"), wide)])])
    scaled = new.add("Mul", [new.add("Div", [centred, deviation]), per_channel(scale)])
    new.cast(new.add("Add", [scaled, per_channel(bias)]), element, node.outputs[:1])
    momentum = node.attribute("momentum")
    old = ("input_mean", "input_var")
    for name, batch, output in zip(old, (mean, variance), node.outputs[1:], strict=False):
        if output:
            kept = new.add("Mul", [new.cast(node.input(name), wide), new.constant(momentum, wide)])
            added = new.add("Mul", [new.squeeze(batch, axes), new.constant(1 - momentum, wide)])
            new.cast(new.add("Add", [kept, added]), node.known_element(name), [output])


@up("GroupNormalization", 18, 21)
def spread_group_scales(node: Node, new: Builder) -> None:
    """Since opset 21 there is one scale and bias for each channel, before for each group of channels."""
    x, groups = node.input("X"), node.attribute("num_groups")
    shape = node.shape("X")
    channels = None if shape is None else shape[1]
    inputs = [x]
    if channels is not None:
        size = new.constant([groups, channels // groups])
    else:
        count = new.add("Shape", [x], start=1, end=2)
        group = new.constant([groups])
        size = new.add("Concat", [group, new.add("Div", [count, group])], axis=0)
    for name in ("scale", "bias"):
        column = new.unsqueeze(node.input(name), [1])
        inputs.append(new.add("Reshape", [new.add("Expand", [column, size]), new.constant([-1])]))
    new.replace(inputs)
