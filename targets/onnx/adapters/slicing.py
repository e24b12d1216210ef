"""Slice, Split, Pad, TopK: what to take was an attribute and became an input."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node


@up("Slice", 1, 10)
def bounds_to_inputs(node: Node, new: Builder) -> None:
    """Bounds and axes were attributes."""
    inputs = [node.input("data"), new.constant(node.attribute("starts")), new.constant(node.attribute("ends"))]
    if node.has("axes"):
        inputs.append(new.constant(node.attribute("axes")))
    new.replace(inputs, without=["starts", "ends", "axes"])


@up("TopK", 1, 10)
def count_to_input(node: Node, new: Builder) -> None:
    """The count was an attribute."""
    new.replace([node.input("X"), new.constant([node.attribute("k")])], without=["k"])


@up("Split", 11, 13)
def lengths_to_input(node: Node, new: Builder) -> None:
    """Lengths were an attribute."""
    lengths = node.attribute("split")
    if lengths is not None:
        new.replace([node.input("input"), new.constant(lengths)], without=["split"])


@up("Split", 13, 18)
def count_parts(node: Node, new: Builder) -> None:
    """Parts of equal length have to be counted since opset 18."""
    if not node.input("split"):
        new.replace(num_outputs=len(node.outputs))


@down("Split", 18, 13)
def measure_parts(node: Node, new: Builder) -> None:
    """Since opset 18 the last part may be shorter; before, only lengths can say so."""
    count: int | None = node.attribute("num_outputs")
    if count is None:
        return
    shape: list[int | None] | None = node.shape("input")
    axis: int = node.attribute("axis")
    size = None if shape is None else shape[axis]
    if size is None:
        whole = new.add("Gather", [new.add("Shape", [node.input("input")]), new.constant([axis])])
        length = new.add("Div", [new.add("Add", [whole, new.constant([count - 1])]), new.constant([count])])
        bounds = [new.add("Mul", [length, new.constant([part])]) for part in range(count + 1)]
        _slice_parts(node, new, bounds)
    elif size % count == 0:
        new.replace(without=["num_outputs"])
    else:
        length = -(-size // count)
        lengths = [max(0, min(length, size - length * part)) for part in range(count)]
        new.replace([node.input("input"), new.constant(lengths)], without=["num_outputs"])


@down("Split", 13, 11)
def lengths_to_attribute(node: Node, new: Builder) -> None:
    """Lengths were an attribute before opset 13; parts of computed lengths are slices."""
    if not node.input("split"):
        return
    lengths = node.value("split")
    if lengths is not None:
        new.replace([node.input("input")], split=lengths.reshape(-1).tolist())
        return
    ends = new.add("CumSum", [node.input("split"), new.constant(0)])
    bounds = [new.add("Gather", [ends, new.constant([part])]) for part in range(len(node.outputs))]
    _slice_parts(node, new, [new.constant([0]), *bounds])


def _slice_parts(node: Node, new: Builder, bounds: list[str]) -> None:
    """Add a Slice for each output of a Split, from one of ``bounds`` to the next; each is a list of one number."""
    axis = new.constant([node.attribute("axis")])
    for output, bound in zip(node.outputs, pairwise(bounds), strict=True):
        if output:
            new.add("Slice", [node.input("input"), *bound, axis], [output])


@up("Pad", 2, 11)
def pads_to_input(node: Node, new: Builder) -> None:
    """Pads and the value to pad with were attributes."""
    inputs = [node.input("data"), new.constant(node.attribute("pads"))]
    if node.attribute("value"):
        inputs.append(new.constant(node.attribute("value"), node.known_element("data")))
    new.replace(inputs, without=["pads", "value"])


@down("Pad", 19, 18)
def wrap_by_indices(node: Node, new: Builder) -> None:
    """Wrapping around is taking elements by their index modulo the size."""
    if node.attribute("mode") != "wrap":
        return
    rank = node.rank("data")
    axes = [int(axis) % rank for axis in node.known("axes")] if node.input("axes") else list(range(rank))
    value, shape = node.input("data"), new.add("Shape", [node.input("data")])
    for position, axis in enumerate(axes):
        before, after, size = (
            new.add("Gather", [source, new.constant(place)])
            for source, place in (
                (node.input("pads"), position),
                (node.input("pads"), position + len(axes)),
                (shape, axis),
            )
        )
        places = new.add("Range", [new.add("Neg", [before]), new.add("Add", [size, after]), new.constant(1)])
        value = new.add("Gather", [value, new.add("Mod", [places, size])], axis=axis)
    new.add("Identity", [value], node.outputs)


@down("Pad", 18, 13)
def pad_all_axes(node: Node, new: Builder) -> None:
    """Before opset 18 there is a pad for each axis."""
    if not node.input("axes"):
        return
    rank = node.rank("data")
    axes = [int(axis) % rank for axis in node.known("axes")]
    places = [*axes, *(axis + rank for axis in axes)]
    given = node.value("pads")
    if given is not None:
        pads = np.zeros(2 * rank, np.int64)
        pads[places] = given
        value = new.constant(pads)
    else:
        zeros = new.constant([0] * (2 * rank))
        value = new.add("ScatterElements", [zeros, new.constant(places), node.input("pads")])
    new.replace([node.input("data"), value, node.input("constant_value")])


@down("ArgMax ArgMin", 12, 11)
def last_index_from_behind(node: Node, new: Builder) -> None:
    """The last of equal elements is the first of the reversed ones."""
    if not node.attribute("select_last_index"):
        return
    x, axis = node.input("data"), node.attribute("axis")
    ends = np.iinfo(np.int64).min
    bounds = [new.constant([value]) for value in (-1, ends, axis, -1)]
    reverse = new.add("Slice", [x, *bounds])
    index = new.name(node.op_type)
    new.replace([reverse], [index], without=["select_last_index"])
    size = new.add("Gather", [new.add("Shape", [x]), new.constant(axis)])
    last = new.add("Sub", [size, new.constant(1)])
    new.add("Sub", [last, index], node.outputs)


@down("Trilu", 14, 0)
def mask_of_indices(node: Node, new: Builder) -> None:
    """Keeps what lies on one side of a diagonal of the last two axes: column - row is at least (at most) ``k``."""
    x, upper = node.input("input"), node.attribute("upper")
    diagonal = node.input("k") or new.constant(0)
    shape = new.add("Shape", [x])
    zero, one = new.constant(0), new.constant(1)
    rows, columns = (new.add("Range", [zero, new.add("Gather", [shape, new.constant(axis)]), one]) for axis in (-2, -1))
    distance = new.add("Sub", [columns, new.unsqueeze(rows, [1])])
    outside = new.add("Less" if upper else "Greater", [distance, diagonal])
    element = node.known_element("input")
    new.add("Where", [outside, new.constant(0, element), x], node.outputs)
