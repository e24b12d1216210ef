"""Gathering and scattering by indices."""

from __future__ import annotations

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node


@up("Scatter", 9, 11)
def name_scatter_elements(node: Node, new: Builder) -> None:
    """Scatter was given another name."""
    new.replace(op_type="ScatterElements")


@down("GatherND", 12, 11)
def batches_by_index(node: Node, new: Builder) -> None:
    """Batch dimensions are made one, and its index is put in front of each index."""
    batch = node.attribute("batch_dims")
    if not batch:
        return
    data, indices = node.input("data"), node.input("indices")
    rank, index_rank = node.rank("data"), node.rank("indices")
    (width,) = node.sizes("indices", [index_rank - 1])
    data_shape, index_shape = new.add("Shape", [data]), new.add("Shape", [indices])
    flat_data = _merge_front(new, data, data_shape, batch, rank)
    flat_indices = _merge_front(new, indices, index_shape, batch, index_rank)
    count = new.add("Gather", [new.add("Shape", [flat_indices]), new.constant(0)])
    numbers = new.add("Range", [new.constant(0), count, new.constant(1)])
    column = new.unsqueeze(numbers, list(range(1, index_rank - batch + 1)))
    like = new.add("Slice", [flat_indices, new.constant([0]), new.constant([1]), new.constant([-1])])
    numbers = new.add("Expand", [column, new.add("Shape", [like])])
    full = new.add("Concat", [numbers, flat_indices], axis=-1)
    result = new.name(node.op_type)
    new.replace([flat_data, full], [result], without=["batch_dims"])
    outer = new.add("Slice", [index_shape, new.constant([0]), new.constant([index_rank - 1])])
    inner = new.add("Slice", [data_shape, new.constant([batch + width]), new.constant([rank])])
    known = [*(node.shape("indices") or ())[:-1], *(node.shape("data") or ())[batch + width :]]
    new.reshape(result, new.add("Concat", [outer, inner], axis=0), known, node.outputs)


def _merge_front(new: Builder, value: str, shape: str, count: int, rank: int) -> str:
    """The value with its first ``count`` dimensions made one."""
    front = new.add("Slice", [shape, new.constant([0]), new.constant([count])])
    rest = new.add("Slice", [shape, new.constant([count]), new.constant([rank])])
    sizes = new.add("Concat", [new.reduce("Prod", front, [0]), rest], axis=0)
    return new.reshape(value, sizes, [None, *(new.scope.shape(value) or ())[count:]])
