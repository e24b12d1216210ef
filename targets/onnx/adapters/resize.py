"""Upsample and Resize: scales became an input, coordinates and sizes were added."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Array, Node, RefusalError


@up("Upsample", 7, 9)
def scales_to_input(node: Node, new: Builder) -> None:
    """Scales were an attribute."""
    scales = new.constant(node.attribute("scales"), TensorProto.FLOAT)
    new.replace([node.input("X"), scales], without=["scales"])


@up("Upsample", 9, 10)
def name_resize(node: Node, new: Builder) -> None:
    """Upsample was given another name."""
    new.replace(op_type="Resize")


@up("Resize", 10, 11)
def state_where_pixels_are(node: Node, new: Builder) -> None:
    """Before opset 11 pixel ``i`` of the result lies at ``i / scale``.

    The nearest pixel is the one before that place, or after it when the image shrinks, as runtimes have always done.
    """
    scales = node.value("scales")
    shrinks = scales is not None and bool(scales.max() <= 1 and scales.min() < 1)
    mode = {"nearest_mode": "ceil" if shrinks else "floor"} if node.attribute("mode") == "nearest" else {}
    roi = new.constant([], TensorProto.FLOAT)
    new.replace([node.input("X"), roi, node.input("scales")], coordinate_transformation_mode="asymmetric", **mode)


@up("Resize", 11, 13)
def half_pixel_of_tensorflow(node: Node, new: Builder) -> None:
    """Opset 13 took out ``tf_half_pixel_for_nn``, which is half_pixel moved by a half.

    Rounding down there is rounding to the nearest here. Empty tensors for what is not given became absent inputs.
    """
    changes: dict[str, str] = {}
    if node.attribute("coordinate_transformation_mode") == "tf_half_pixel_for_nn":
        if node.attribute("mode") != "nearest" or node.attribute("nearest_mode") != "floor":
            raise RefusalError("its coordinates 'tf_half_pixel_for_nn' were taken out in opset 13")
        changes = {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
    inputs = [node.input(name) for name in ("X", "roi", "scales", "sizes")]
    if inputs[3]:
        inputs[2] = ""
    if node.attribute("coordinate_transformation_mode") != "tf_crop_and_resize":
        inputs[1] = ""
    new.replace(inputs, **changes)


@down("Resize", 19, 18)
def symmetric_is_half_pixel(node: Node, new: Builder) -> None:
    """Pixels lie symmetrically without a correction when the size of the result is a whole number before rounding."""
    if node.attribute("coordinate_transformation_mode") != "half_pixel_symmetric":
        return
    if not node.input("sizes"):
        scales = node.known("scales").astype(np.float64)
        axes = node.attribute("axes") or range(len(scales))
        results = scales * node.sizes("X", list(axes))
        if np.any(results != np.floor(results)):
            raise RefusalError("before opset 19 'coordinate_transformation_mode' cannot be 'half_pixel_symmetric'")
    new.replace(coordinate_transformation_mode="half_pixel")


@down("Resize", 18, 13)
def resize_all_axes(node: Node, new: Builder) -> None:
    """Opset 18 brought ``axes``, ``antialias`` (idle where nothing shrinks) and ``keep_aspect_ratio_policy``."""
    dropped = ["axes", "antialias", "keep_aspect_ratio_policy"]
    if node.attribute("antialias") and not _grows(node):
        raise RefusalError("before opset 18 there is no attribute 'antialias'")
    x, roi, scales, sizes = (node.input(name) for name in ("X", "roi", "scales", "sizes"))
    axes: Sequence[int] | None = node.attribute("axes")
    if sizes and node.attribute("keep_aspect_ratio_policy") != "stretch":
        scale = _common_scale(node, axes)
        count = len(node.known("sizes"))
        scales, sizes = new.constant([scale] * count, TensorProto.FLOAT), ""
    if axes is not None:
        rank = node.rank("X")
        axes = [axis % rank for axis in axes]
        if sizes:
            sizes = _spread(new, sizes, axes, new.add("Shape", [x]))
        if scales:
            scales = _spread(new, scales, axes, new.constant([1] * rank, TensorProto.FLOAT))
        if roi and node.shape("roi") != [0]:
            whole = new.constant([0] * rank + [1] * rank, node.known_element("roi"))
            roi = _spread(new, roi, [*axes, *(axis + rank for axis in axes)], whole)
    elif [x, roi, scales, sizes] == [*node.proto.input, "", "", ""][:4] and not any(map(node.has, dropped)):
        return
    new.replace([x, roi, scales, sizes], without=dropped)


def _spread(new: Builder, values: str, axes: Sequence[int], others: str) -> str:
    """The values of some axes among those of all."""
    return new.add("ScatterElements", [others, new.constant(axes), values])


def _grows(node: Node) -> bool:
    """Whether no axis gets smaller, as far as is known."""
    scales = node.value("scales")
    if scales is not None and scales.size:
        return bool(np.all(scales >= 1))
    sizes, axes = node.value("sizes"), node.attribute("axes")
    if sizes is None or node.attribute("keep_aspect_ratio_policy") != "stretch":
        return False
    return bool(np.all(sizes >= np.array(node.sizes("X", axes))))


def _common_scale(node: Node, axes: Sequence[int] | None) -> float:
    """The one scale of all axes that keeps the aspect ratio; as a scale it must give the same rounded sizes."""
    sizes: Array = node.known("sizes")
    old = np.array(node.sizes("X", list(axes) if axes is not None else None))
    policy = node.attribute("keep_aspect_ratio_policy")
    scale = float((min if policy == "not_larger" else max)(sizes / old))
    rounded = [math.floor(scale * size + 0.5) for size in old]
    if rounded != [math.floor(np.float32(scale) * np.float32(size)) for size in old]:
        raise RefusalError(f"before opset 18 there is no attribute 'keep_aspect_ratio_policy' ({policy})")
    return scale


@down("Resize", 13, 11)
def absent_is_empty(node: Node, new: Builder) -> None:
    """Before opset 13 the inputs that are not given are empty tensors."""
    x, roi, scales, sizes = (node.input(name) for name in ("X", "roi", "scales", "sizes"))
    if not roi or (sizes and not scales):
        empty = new.constant([], TensorProto.FLOAT)
        new.replace([x, roi or empty, scales or empty, sizes])
