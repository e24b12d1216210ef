"""What AIPP makes of an image, written with NumPy, pixel format by pixel format, from ATC's documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Config = Mapping[str, Any]
"""The values of one ``aipp_op``."""


def text(**config: Any) -> str:
    """The text of a file with one ``aipp_op``."""
    lines = [f"  {key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in config.items()]
    return "\n".join(["aipp_op {", "  aipp_mode: static", *lines, "}", ""])


def prepared(image: Array, config: Config, channels: int, height: int, width: int) -> Array:
    """The float32 input of a model, as NCHW: exchanged, cut, converted, normalised and with a border, in this order."""
    format, source_height = config["input_format"], config.get("src_image_size_h") or height
    pixels = nv12(image, source_height) if format == "YUV420SP_U8" else image.astype(np.int64)
    if config.get("rbuv_swap_switch"):
        first, last = {"YUV420SP_U8": (1, 2), "RGB888_U8": (0, 2), "XRGB8888_U8": (1, 3)}[format]
        pixels[..., [first, last]] = pixels[..., [last, first]]
    if config.get("ax_swap_switch"):
        pixels = np.roll(pixels, -1, axis=-1)
    if config.get("crop"):
        top, left = config.get("load_start_pos_h", 0), config.get("load_start_pos_w", 0)
        pixels = pixels[:, top : top + config["crop_size_h"], left : left + config["crop_size_w"]]
    if config.get("csc_switch"):
        pixels = converted(pixels[..., :3], config)
    pixels = pixels[..., :channels].astype(np.float32)
    mean, low, factor = (
        np.array([config.get(f"{key}_chn_{channel}", default) for channel in range(channels)], np.float32)
        for key, default in (("mean", 0), ("min", 0), ("var_reci", 1))
    )
    value = ((pixels - mean - low) * factor).transpose(0, 3, 1, 2)
    if config.get("padding"):
        border = {side: config.get(f"{side}_padding_size", 0) for side in ("top", "bottom", "left", "right")}
        rows, columns = (border["top"], border["bottom"]), (border["left"], border["right"])
        value = np.pad(value, ((0, 0), (0, 0), rows, columns), constant_values=config.get("padding_value", 0))
    assert value.shape[2:] == (height, width)
    return value


def nv12(image: Array, height: int) -> Array:
    """Pixels of Y, U and V of an image of two planes: one pair of U and V for each square of four pixels."""
    luma, chroma = image[:, :height].astype(np.int64), image[:, height:].astype(np.int64)
    pixels = np.empty((*luma.shape, 3), np.int64)
    pixels[..., 0] = luma
    for row in range(height):
        for column in range(luma.shape[2]):
            pixels[:, row, column, 1] = chroma[:, row // 2, column // 2 * 2]
            pixels[:, row, column, 2] = chroma[:, row // 2, column // 2 * 2 + 1]
    return pixels


def converted(pixels: Array, config: Config) -> Array:
    """Other colours, in whole numbers."""
    is_yuv = config["input_format"].startswith("YUV")
    standard = (
        [[298, 516, 0], [298, -100, -208], [298, 0, 409]]
        if is_yuv
        else [[66, 129, 25], [-38, -74, 112], [112, -94, -18]]
    )
    matrix = np.array([[config.get(f"matrix_r{r}c{c}", standard[r][c]) for c in range(3)] for r in range(3)], np.int64)
    kind = "input" if is_yuv else "output"
    bias = np.array([config.get(f"{kind}_bias_{c}", (16, 128, 128)[c]) for c in range(3)], np.int64)
    result = ((pixels - bias) @ matrix.T) >> 8 if is_yuv else ((pixels @ matrix.T) >> 8) + bias
    return np.clip(result, 0, 255)
