"""Gears and ranges of shapes: checked as in ATC, one gear compiled, several and ranges refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder
from refusals import check_refused

from ge import Runtime
from ge.tools import ge_compiler
from ge.tools.gears import parse_gears


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution of images of any size in batches of any size, and a second input of any size."""
    builder = ModelBuilder()
    x = builder.input("x", "n", 3, "h", "w")
    builder.output(builder.node("Conv", x, builder.weights(4, 3, 3, 3), name="y"))
    builder.output(builder.node("Relu", builder.input("z", "k"), name="r"))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        (["--input_shape=x:-1,3,8,10;z:4", "--dynamic_batch_size=2"], (2, 4, 6, 8)),
        (["--input_shape=x:1,3,?,?;z:4", "--dynamic_image_size=9,12"], (1, 4, 7, 10)),
        (["--input_shape=x:-1,3,8,-1;z:-1", "--dynamic_dims= 3, 7, 4;", "--input_format=ND"], (3, 4, 6, 5)),
    ],
)
def test_one_gear_is_a_shape(model: Path, tmp_path: Path, options: Sequence[str], shape: tuple[int, ...]) -> None:
    ge_compiler.run([f"--model={model}", f"--output={tmp_path}/m", "--quiet", *options])
    n, _, h, w = shape
    inputs = {"x": np.ones((n, 3, h + 2, w + 2), np.float32), "z": np.ones(4, np.float32)}
    assert Runtime().run(f"{tmp_path}/m.om", inputs)["y"].shape == shape


def test_gears_are_read() -> None:
    assert parse_gears("dynamic_batch_size", "1,2, 8,") == [(1,), (2,), (8,)]
    assert parse_gears("dynamic_image_size", "416,832; 8,16") == [(416, 832), (8, 16)]
    assert parse_gears("dynamic_dims", "1,2,3;4,5,6;") == [(1, 2, 3), (4, 5, 6)]


BATCH, IMAGE, DIMS = "--dynamic_batch_size", "--dynamic_image_size", "--dynamic_dims"
X = "--input_shape=x:-1,3,8,8;z:4"
HW = "--input_shape=x:1,3,-1,-1;z:4"
ND = "--input_format=ND"
MANY = ",".join(map(str, range(1, 102)))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([X, f"{BATCH}=1,2,4"], "GE2046", "3 gears are asked for"),
        ([HW, f"{IMAGE}=8,8;16,16"], "GE2046", "2 gears"),
        ([X, f"{DIMS}=1;2", ND], "GE2046", "2 gears"),
        ([X, f"{BATCH}=1", f"{IMAGE}=8,8"], "GE2003", BATCH),
        ([f"{BATCH}=1,2"], "GE2008", "--input_shape is missing"),
        ([X, f"{BATCH}=1,0"], "GE2045", "gear 2: '0' is no positive"),
        ([X, f"{BATCH}=1,,2"], "GE2045", "gear 2: '' is no positive"),
        ([X, f"{BATCH}=1,1.5"], "GE2045", "'1.5'"),
        ([X, f"{BATCH}=1,2,1"], "GE2045", "gear 3: 1 is there twice"),
        ([X, f"{BATCH}={MANY}"], "GE2045", "101 gears, more than 100"),
        ([HW, f"{BATCH}=1,2"], "GE2045", "input 'x' has -1 as its size 4; only the first may be"),
        (["--input_shape=x:1,3,8,8;z:4", f"{BATCH}=1,2"], "GE2045", "no size of an input is -1"),
        (["--input_shape=x:1~2,3,8,8;z:-1", f"{BATCH}=1,2"], "GE2045", "the range 1~2"),
        ([X, f"{IMAGE}=8,8"], "GE2045", "height and width must be -1"),
        (["--input_shape=x:1,3,-1,8;z:4", f"{IMAGE}=8,8"], "GE2045", "height and width must be -1"),
        ([HW, f"{IMAGE}=8,8", "--input_format=NHWC"], "GE2045", "(NHWC)"),
        ([HW, f"{IMAGE}=8,8", ND], "GE2003", "--input_format=ND"),
        ([HW, f"{IMAGE}=8;16"], "GE2045", "gear 1: '8' is not a height and a width"),
        ([HW, f"{DIMS}=8,8"], "GE2008", "--input_format=ND is missing"),
        ([HW, f"{DIMS}=8", ND], "GE2045", "a gear has 1 numbers, and --input_shape has -1 2 times"),
        ([HW, f"{DIMS}=8,8;8", ND], "GE2045", "gear 2: it has 1 numbers, the first gear has 2"),
        (["--input_shape=x:1~8,3,8,8;z:4"], "GE2046", "input 'x' has a size in the range 1~8"),
        (["--input_shape=x:1,3,8~-1,8;z:4"], "GE2046", "8~-1"),
        (["--input_shape=x:-1,3,8,8;z:4"], "GE3011", "input 'x'"),
    ],
)
def test_what_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], code: str, words: str
) -> None:
    check_refused(model, tmp_path, capsys, options, code, words)


def test_a_range_around_a_size_of_the_model(tmp_path: Path) -> None:
    builder = ModelBuilder()
    builder.output(builder.node("Relu", builder.input("x", 4), name="y"))
    onnx.save(builder.build(), tmp_path / "model.onnx")
    ge_compiler.run([f"--model={tmp_path}/model.onnx", f"--output={tmp_path}/m", "--quiet", "--input_shape=x:1~8"])
    assert Runtime().run(f"{tmp_path}/m.om", {"x": np.ones(4, np.float32)})["y"].shape == (4,)
