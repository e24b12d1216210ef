"""GridSample and RoiAlign: names of modes, and where pixels lie."""

from __future__ import annotations

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.registry import down, up
from ge.targets.onnx.adapters.values import Node, RefusalError

_NEW_MODES = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}


@up("GridSample", 16, 20)
def modes_without_bi(node: Node, new: Builder) -> None:
    """Opset 20 named the modes for any number of dimensions."""
    if node.has("mode"):
        new.replace(mode=_NEW_MODES[node.attribute("mode")])


@down("GridSample", 20, 16)
def modes_with_bi(node: Node, new: Builder) -> None:
    """Before opset 20 there were images only."""
    rank = node.rank("X")
    if rank != 4:
        raise RefusalError(f"before opset 20 its input has 4 dimensions, not {rank}")
    old = {name: mode for mode, name in _NEW_MODES.items()}
    new.replace(mode=old[node.attribute("mode")])


@up("RoiAlign", 10, 16)
def keep_pixels_where_they_were(node: Node, new: Builder) -> None:
    """Opset 16 moved pixels by a half, unless told not to."""
    new.replace(coordinate_transformation_mode="output_half_pixel")


@down("RoiAlign", 16, 10)
def only_output_half_pixel(node: Node, new: Builder) -> None:
    """Before opset 16 only what is called ``output_half_pixel`` now was there."""
    mode = node.attribute("coordinate_transformation_mode")
    if mode != "output_half_pixel":
        raise RefusalError(f"before opset 16 'coordinate_transformation_mode' cannot be '{mode}'")
    new.replace(without=["coordinate_transformation_mode"])
