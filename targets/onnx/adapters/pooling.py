"""AveragePool and LpPool with dilations, and LpPool that rounds its size up: before, as a convolution with ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down
from ge.targets.onnx.adapters.values import Array, Node, RefusalError


@dataclass(frozen=True)
class _Windows:
    """The windows of a pooling along each spatial axis."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]
    surplus: list[int]
    """Elements after the padding that windows reach into when the size is rounded up."""

    def counts(self, sizes: list[int], include_pad: bool) -> Array:
        """How many elements each window averages, of shape [1, 1, *sizes of the result]."""
        count = np.ones((1, 1))
        for axis, size in enumerate(sizes):
            padded = self.before[axis] + size + self.after[axis]
            counted = np.zeros(padded + self.surplus[axis])
            first, last = (0, padded) if include_pad else (self.before[axis], self.before[axis] + size)
            counted[first:last] = 1
            reach = self.dilations[axis] * (self.kernel[axis] - 1) + 1
            starts = range(0, len(counted) - reach + 1, self.strides[axis])
            along = [counted[start : start + reach : self.dilations[axis]].sum() for start in starts]
            count = count[..., None] * np.array(along)
        return count


def _windows(node: Node, spatial: int) -> _Windows:
    """The windows of a pooling over ``spatial`` axes. Raises RefusalError for unknown sizes that they depend on."""
    kernel: list[int] = node.attribute("kernel_shape")
    strides: list[int] = node.attribute("strides") or [1] * spatial
    dilations: list[int] = node.attribute("dilations") or [1] * spatial
    pads: list[int] = node.attribute("pads") or [0] * (2 * spatial)
    before, after, surplus = pads[:spatial], pads[spatial:], [0] * spatial
    auto_pad, rounds_up = node.attribute("auto_pad"), bool(node.attribute("ceil_mode"))
    if auto_pad.startswith("SAME") or rounds_up:
        sizes = node.sizes("X", list(range(2, 2 + spatial)))
        for axis, size in enumerate(sizes):
            reach = dilations[axis] * (kernel[axis] - 1) + 1
            if auto_pad.startswith("SAME"):
                total = max(0, (math.ceil(size / strides[axis]) - 1) * strides[axis] + reach - size)
                small, large = total // 2, total - total // 2
                before[axis], after[axis] = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
            elif rounds_up:
                padded = size + before[axis] + after[axis]
                steps = math.ceil((padded - reach) / strides[axis])
                if steps * strides[axis] >= size + before[axis]:
                    steps -= 1
                surplus[axis] = max(0, steps * strides[axis] + reach - padded)
    return _Windows(kernel, strides, dilations, before, after, surplus)


def _sum_windows(new: Builder, x: str, windows: _Windows, element: int) -> str:
    """The sums over windows of each channel: a convolution with ones over channels laid out as batches."""
    shape = new.add("Shape", [x])
    spatial = new.add("Slice", [shape, new.constant([2]), new.constant([np.iinfo(np.int64).max])])
    single = new.add("Reshape", [x, new.add("Concat", [new.constant([-1, 1]), spatial], axis=0)])
    ones = new.constant(np.ones([1, 1, *windows.kernel]), element)
    ends = [after + surplus for after, surplus in zip(windows.after, windows.surplus, strict=True)]
    pads = [*windows.before, *ends]
    sums = new.add(
        "Conv",
        [single, ones],
        kernel_shape=windows.kernel,
        strides=windows.strides,
        dilations=windows.dilations,
        pads=pads,
    )
    front = new.add("Slice", [shape, new.constant([0]), new.constant([2])])
    sizes = new.add("Slice", [new.add("Shape", [sums]), new.constant([2]), new.constant([np.iinfo(np.int64).max])])
    known = new.scope.shape(x)
    return new.reshape(sums, new.add("Concat", [front, sizes], axis=0), known and known[:2])


def _is_plain(node: Node) -> bool:
    return all(dilation == 1 for dilation in node.attribute("dilations") or ())


@down("AveragePool", 19, 11)
def average_with_dilations(node: Node, new: Builder) -> None:
    """Opset 19 brought dilations."""
    if _is_plain(node):
        if node.has("dilations"):
            new.replace(without=["dilations"])
        return
    spatial, element = node.rank("X") - 2, node.known_element("X")
    windows = _windows(node, spatial)
    sums = _sum_windows(new, node.input("X"), windows, element)
    if any(windows.before + windows.after + windows.surplus):
        sizes = node.sizes("X", list(range(2, 2 + spatial)))
        counts = windows.counts(sizes, bool(node.attribute("count_include_pad")))
    else:
        counts = np.array(math.prod(windows.kernel))
    new.add("Div", [sums, new.constant(counts, element)], node.outputs)


@down("LpPool", 18, 11)
def norm_with_dilations(node: Node, new: Builder) -> None:
    """Neither dilations nor ``ceil_mode`` are there before opset 18."""
    if _is_plain(node) and not node.attribute("ceil_mode"):
        if node.has("dilations") or node.has("ceil_mode"):
            new.replace(without=["dilations", "ceil_mode"])
        return
    element, order = node.known_element("X"), node.attribute("p")
    wide = element if element != TensorProto.BFLOAT16 else TensorProto.FLOAT
    powers = new.add("Pow", [new.add("Abs", [node.input("X")]), new.constant(order, wide)])
    sums = _sum_windows(new, powers, _windows(node, node.rank("X") - 2), wide)
    new.add("Pow", [sums, new.constant(1 / order, wide)], node.outputs)


@down("AveragePool", 22, 19)
@down("MaxPool", 22, 12)
def no_window_after_padding(node: Node, new: Builder) -> None:
    """A size that is rounded up counted windows that begin after the input, which runtimes have always left out.

    Rounding down with padding as far as the last window reaches says the same at every opset.
    """
    if not node.attribute("ceil_mode"):
        return
    spatial = node.rank("X") - 2
    kernel: list[int] = node.attribute("kernel_shape")
    strides: list[int] = node.attribute("strides") or [1] * spatial
    pads: list[int] = node.attribute("pads") or [0] * (2 * spatial)
    dilations: list[int] = node.attribute("dilations") or [1] * spatial
    reaches = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, kernel, strict=True)]
    if all(stride + pad <= reach for stride, pad, reach in zip(strides, pads[spatial:], reaches, strict=True)):
        return
    windows = _windows(node, spatial)
    if any(windows.surplus) and node.op_type == "AveragePool" and node.attribute("count_include_pad"):
        raise RefusalError("before opset 22 its size, which is rounded up, counts windows after the padding")
    ends = [after + surplus for after, surplus in zip(windows.after, windows.surplus, strict=True)]
    new.replace(without=["ceil_mode"], pads=[*windows.before, *ends])
