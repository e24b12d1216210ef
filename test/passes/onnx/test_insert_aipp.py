"""insert-aipp: numbers against NumPy, in onnxruntime and by definition; models of two inputs; what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from aipp_reference import Array, prepared, text
from onnx import TensorProto, helper

from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.ir.verifier import verify_module
from ge.passes.onnx.aipp_config import KEYS, read_aipp
from ge.passes.onnx.insert_aipp import InsertAippPass
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

BATCH, HEIGHT, WIDTH = 2, 6, 8


def model(channels: int, dtype: int = TensorProto.FLOAT, shape: Sequence[Any] | None = None) -> Any:
    """A model that gives back its first input, and the sum of both."""
    shape = shape or (BATCH, channels, HEIGHT, WIDTH)
    inputs = [helper.make_tensor_value_info(name, dtype, shape) for name in ("image", "other")]
    outputs = [helper.make_tensor_value_info(name, dtype, shape) for name in ("same", "sum")]
    nodes = [helper.make_node("Identity", ["image"], ["same"]), helper.make_node("Add", ["image", "other"], ["sum"])]
    return helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)]
    )


def inserted(tmp_path: Path, file: str, proto: Any, layout: Any = "NCHW") -> Any:
    (tmp_path / "aipp.cfg").write_text(file)
    module = import_model(proto)
    InsertAippPass(str(tmp_path / "aipp.cfg"), layout).apply(context(), module)
    verify_module(module)
    return module


def image_of(config: dict[str, Any], height: int, width: int) -> Array:
    """Bytes, among them the ends of their range."""
    format = config["input_format"]
    shape = {"YUV420SP_U8": (BATCH, height * 3 // 2, width), "XRGB8888_U8": (BATCH, height, width, 4)}
    channels = 1 if format == "YUV400_U8" else 3
    image = np.random.default_rng(3).integers(0, 256, shape.get(format, (BATCH, height, width, channels)), np.uint8)
    image.flat[:4] = [0, 255, 255, 0]
    return image


CROP = {
    "src_image_size_w": 20,
    "src_image_size_h": 10,
    "crop": True,
    "load_start_pos_w": 2,
    "load_start_pos_h": 4,
    "crop_size_w": WIDTH,
    "crop_size_h": HEIGHT,
}
NORMAL = {
    "mean_chn_0": 124,
    "mean_chn_1": 117,
    "mean_chn_2": 1,
    "mean_chn_3": 7,
    "min_chn_1": 0.25,
    "var_reci_chn_0": 0.0171248,
    "var_reci_chn_2": -2.5,
    "var_reci_chn_3": 3,
}
EXTREME = {f"matrix_r{row}c{column}": (-1) ** row * 32767 for row in range(3) for column in range(3)}
BORDER = {
    "padding": True,
    "left_padding_size": 1,
    "top_padding_size": 2,
    "bottom_padding_size": 1,
    "padding_value": -1.5,
}

CASES: list[tuple[int, dict[str, Any]]] = [
    (3, {"input_format": "RGB888_U8"}),
    (3, {"input_format": "RGB888_U8", "rbuv_swap_switch": True, **NORMAL}),
    (3, {"input_format": "RGB888_U8", **CROP, **NORMAL}),
    (3, {"input_format": "RGB888_U8", "csc_switch": True}),
    (1, {"input_format": "RGB888_U8", "csc_switch": True, "rbuv_swap_switch": True, "output_bias_0": 0, **NORMAL}),
    (3, {"input_format": "RGB888_U8", "csc_switch": True, **EXTREME}),
    (
        3,
        {
            "input_format": "RGB888_U8",
            "src_image_size_w": WIDTH - 1,
            "src_image_size_h": HEIGHT - 3,
            **BORDER,
            **NORMAL,
        },
    ),
    (3, {"input_format": "YUV420SP_U8"}),
    (3, {"input_format": "YUV420SP_U8", "csc_switch": True, **CROP, **NORMAL}),
    (3, {"input_format": "YUV420SP_U8", "csc_switch": True, "rbuv_swap_switch": True, "matrix_r0c2": -409}),
    (1, {"input_format": "YUV420SP_U8", "csc_switch": True, "matrix_r0c0": 256, "matrix_r0c1": 0, "input_bias_0": 0}),
    (3, {"input_format": "YUV420SP_U8", "csc_switch": True, **EXTREME, "input_bias_1": 255}),
    (1, {"input_format": "YUV400_U8", **NORMAL}),
    (4, {"input_format": "XRGB8888_U8", "rbuv_swap_switch": True, **NORMAL}),
    (4, {"input_format": "XRGB8888_U8", "ax_swap_switch": True, **NORMAL}),
    (3, {"input_format": "XRGB8888_U8", "ax_swap_switch": True, "rbuv_swap_switch": True, **CROP, **NORMAL}),
    (3, {"input_format": "XRGB8888_U8", "ax_swap_switch": True, "csc_switch": True, **NORMAL}),
]


@pytest.mark.parametrize(("channels", "config"), CASES)
def test_numbers_are_those_of_the_definition(tmp_path: Path, channels: int, config: dict[str, Any]) -> None:
    module = inserted(tmp_path, text(**config), model(channels))
    size = (config.get("src_image_size_h", HEIGHT), config.get("src_image_size_w", WIDTH))
    image, other = image_of(config, *size), np.ones((BATCH, channels, HEIGHT, WIDTH), np.float32)
    want = prepared(image, config, channels, HEIGHT, WIDTH)
    inputs = {"image": image, "other": other}
    session = onnxruntime.InferenceSession(export_model(module).SerializeToString(), providers=["CPUExecutionProvider"])
    results = [*run_module(module, inputs).values(), *session.run(["same", "sum"], inputs)]
    for got, wanted in zip(results, [want, want + 1, want, want + 1], strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_halves_and_other_layouts(tmp_path: Path) -> None:
    config = {"input_format": "RGB888_U8", **NORMAL, **BORDER, "bottom_padding_size": 0, "left_padding_size": 0}
    config |= {"src_image_size_h": HEIGHT - 2, "src_image_size_w": WIDTH}
    proto = model(3, TensorProto.FLOAT16, (BATCH, HEIGHT, WIDTH, 3))
    module = inserted(tmp_path, text(**config), proto, "NHWC")
    image = image_of(config, HEIGHT - 2, WIDTH)
    got = run_module(module, {"image": image, "other": np.zeros((BATCH, HEIGHT, WIDTH, 3), np.float16)})["same"]
    want = prepared(image, config, 3, HEIGHT, WIDTH).transpose(0, 2, 3, 1)
    assert got.dtype == np.float16
    np.testing.assert_array_equal(got, want.astype(np.float16))


def test_two_inputs(tmp_path: Path) -> None:
    configs = [{"input_format": "RGB888_U8", "mean_chn_0": 9, "related_input_rank": 1}, {"input_format": "YUV420SP_U8"}]
    module = inserted(tmp_path, "".join(text(**config) for config in configs), model(3))
    image, other = image_of(configs[1], HEIGHT, WIDTH), image_of(configs[0], HEIGHT, WIDTH)
    want = [prepared(*each, 3, HEIGHT, WIDTH) for each in ((image, configs[1]), (other, configs[0]))]
    np.testing.assert_array_equal(run_module(module, {"image": image, "other": other})["sum"], want[0] + want[1])


GOOD = {"input_format": "RGB888_U8"}
YUV = {"input_format": "YUV420SP_U8"}


@pytest.mark.parametrize(
    ("file", "code", "where", "words"),
    [
        ("", "GE2042", "", "no aipp_op"),
        ("aipp_op {", "GE2042", "", "expected a name or '}', got the end"),
        ("aipp_op { aipp_mode }", "GE2042", ":1:21", "expected ':', got '}'"),
        ("aipp_op { crop: 1.2.3 }", "GE2042", ":1:17", "expected a name or a number, got '1.2.3'"),
        ("aipp { }", "GE2042", ":1:1", "'aipp' means nothing"),
        ("aipp_op { crop: \x1c!\u2028 }", "GE2042", ":1:18", "expected a name or a number, got '!'"),
        (text(input_format="RGB888_U8", crop_sise_w=3), "GE2042", ":4:3", "near it are 'crop_size_w'"),
        (text(input_format="RGB888_U8", crop=True) + "\n", "GE2043", ":4:3", "'src_image_size_h' is missing"),
        (text(input_format="RGB888"), "GE2042", ":3:17", "one of YUV420SP_U8, XRGB8888_U8, RGB888_U8, YUV400_U8"),
        (text(crop="yes"), "GE2042", ":3:9", "true or false"),
        (text(mean_chn_0=256), "GE2042", ":3:15", "a whole number from 0 to 255"),
        (text(mean_chn_0=1.5), "GE2042", ":3:15", "a whole number"),
        (text(min_chn_0="nan"), "GE2042", ":3:14", "a number from 0"),
        (text(aipp_mode="static"), "GE2042", ":3:3", "there twice"),
        (text(), "GE2042", ":1:1", "'input_format' is missing"),
        (text(**GOOD) * 2, "GE2042", ":1:1", "2 entries are about input 0"),
        (text(**GOOD).replace("static", "dynamic"), "GE2044", ":2:3", "dynamic"),
        (text(**GOOD, resize=True), "GE2044", ":4:3", "resize"),
        (text(**GOOD, ax_swap_switch=True), "GE2042", ":4:3", "four channels"),
        (text(input_format="XRGB8888_U8", csc_switch=True), "GE2042", ":4:3", "ax_swap_switch"),
        (text(input_format="YUV400_U8", csc_switch=True), "GE2042", ":4:3", "colours"),
        (text(input_format="YUV400_U8", rbuv_swap_switch=True), "GE2042", ":4:3", "colours"),
        (text(**YUV, src_image_size_w=9), "GE2042", ":4:3", "'src_image_size_w' is 9: YUV420SP_U8 has pairs"),
        (text(**GOOD, related_input_rank=2), "GE2043", ":4:3", "no input 2: the inputs are 0 (image), 1 (other)"),
        (text(input_format="YUV400_U8"), "GE2043", ":3:3", "gives 1 channels, and the model takes 3, as NCHW"),
        (text(input_format="XRGB8888_U8"), "GE2043", ":3:3", "gives 4 channels"),
        (text(**GOOD, src_image_size_w=9), "GE2043", ":4:3", "the image is 9 x 6, and the model needs 8 x 6"),
        (text(**GOOD, **{**CROP, "crop_size_w": 7}), "GE2043", ":9:3", "the part is 7 x 6"),
        (
            text(**GOOD, **{**CROP, "load_start_pos_w": 13}),
            "GE2043",
            ":7:3",
            "from (13, 4) on is not inside the image of 20 x 10",
        ),
        (text(**GOOD, **{**CROP, "load_start_pos_h": 5}), "GE2043", ":7:3", "from (2, 5) on"),
        (text(**YUV, padding=True, top_padding_size=1), "GE2043", ":3:3", "8 x 5 cannot be YUV420SP_U8"),
        (text(**GOOD, padding=True, top_padding_size=6), "GE2043", ":4:3", "leaves nothing of 8 x 6"),
    ],
)
def test_what_is_refused(tmp_path: Path, file: str, code: str, where: str, words: str) -> None:
    with pytest.raises(GeError) as raised:
        inserted(tmp_path, file, model(3))
    error = raised.value
    assert error.code == code and words in error.what, error
    assert (error.where or "").endswith(f"aipp.cfg{where}")


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        (TensorProto.UINT8, (1, 3, 4, 4), "not of f32 or f16"),
        (TensorProto.FLOAT, (3, 4, 4), "four dimensions"),
        (TensorProto.FLOAT, ("n", 3, 4, 4), "four dimensions that are fixed"),
    ],
)
def test_inputs_that_are_no_images(tmp_path: Path, dtype: int, shape: Sequence[Any], words: str) -> None:
    with pytest.raises(GeError) as raised:
        inserted(tmp_path, text(**GOOD), model(3, dtype, shape))
    assert raised.value.code == "GE2043" and words in raised.value.what


def test_files_as_people_write_them(tmp_path: Path) -> None:
    file = tmp_path / "aipp.cfg"
    file.write_text(
        "# of ATC\naipp_op: {\n aipp_mode : static, input_format:RGB888_U8; # colours\n resize: false\n crop: 0 }"
    )
    (aipp,) = read_aipp(str(file))
    assert str(aipp) == "aipp_mode: static, input_format: RGB888_U8"
    assert all(aipp[key] is not None for key in KEYS)
