"""--insert_op_conf: an OM file on bytes gives what the model gives on prepared floats, and says what it does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from aipp_reference import Array, prepared, text
from onnx_models import ModelBuilder

from ge import Runtime
from ge.targets.ascend.om.file import OmFile
from ge.tools import ge_compiler
from ge.tools.om_inspection import om_facts, print_om_facts

SIDE = 16
MEANS = {"mean_chn_0": 124, "mean_chn_1": 117, "mean_chn_2": 104, "min_chn_2": 0.5}
FACTORS = {f"var_reci_chn_{channel}": 0.017 + channel / 1000 for channel in range(3)}
CROP = {
    "crop": True,
    "src_image_size_w": 24,
    "src_image_size_h": 20,
    "load_start_pos_w": 6,
    "load_start_pos_h": 4,
    "crop_size_w": SIDE,
    "crop_size_h": SIDE,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small classifier of images."""
    builder = ModelBuilder()
    x = builder.input("image", 1, 3, SIDE, SIDE)
    conv = builder.node("Conv", x, builder.weights(8, 3, 3, 3, scale=0.2), pads=[1, 1, 1, 1], name="conv")
    pool = builder.node("GlobalAveragePool", builder.node("Relu", conv))
    builder.output(builder.node("Flatten", pool, name="y"), conv)
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def reference(model: Path, value: Array) -> list[Array]:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return [np.asarray(each) for each in session.run(["y", "conv"], {"image": value})]


@pytest.mark.parametrize(
    "config",
    [
        {"input_format": "RGB888_U8", **MEANS, **FACTORS},
        {"input_format": "RGB888_U8", "rbuv_swap_switch": True, **CROP, **MEANS, **FACTORS},
        {"input_format": "YUV420SP_U8", "csc_switch": True, **CROP, **MEANS, **FACTORS},
        {"input_format": "XRGB8888_U8", "ax_swap_switch": True, **FACTORS},
    ],
    ids=lambda config: config["input_format"],
)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_bytes_in_give_what_floats_give(model: Path, tmp_path: Path, config: dict[str, Any], level: str) -> None:
    (tmp_path / "aipp.cfg").write_text(text(**config))
    file = tmp_path / "model.om"
    arguments = [f"--model={model}", f"--output={file}", f"--insert_op_conf={tmp_path}/aipp.cfg", "--report=none"]
    ge_compiler.run([*arguments, level])
    loaded = Runtime().load(file)
    (info,) = loaded.inputs
    image = np.random.default_rng(0).integers(0, 256, [size or 0 for size in info.shape or ()], np.uint8)
    outputs = loaded.run({"image": image})
    want = reference(model, prepared(image, config, 3, SIDE, SIDE))
    for got, wanted in zip((outputs["y"], outputs["conv"]), want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


def test_report_and_file_say_it(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "aipp.cfg").write_text(text(input_format="RGB888_U8", mean_chn_0=3, crop=False))
    arguments = [f"--model={model}", f"--output={tmp_path}/m.om", f"--insert_op_conf={tmp_path}/aipp.cfg"]
    ge_compiler.run([*arguments, "--compare"])
    said = "aipp_op { aipp_mode: static, input_format: RGB888_U8, mean_chn_0: 3 }"
    assert said in capsys.readouterr().out
    facts = om_facts(OmFile.open(f"{tmp_path}/m.om"))
    assert facts["aipp"] == said and "--insert_op_conf=aipp.cfg" in facts["command"]
    assert facts["inputs"][0]["shape"] == [1, SIDE, SIDE, 3] and facts["inputs"][0]["type"] == "uint8"
    print_om_facts(facts)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "options", "code", "words"),
    [
        (text(input_format="RGB888_U8").replace("static", "dynamic"), [], "GE2044", "dynamic"),
        (text(input_format="YUV400_U8"), [], "GE2043", "the model takes 3"),
        (text(input_format="RGB888_U8", meen_chn_0=1), [], "GE2042", "near it are 'mean_chn_0'"),
        (text(input_format="RGB888_U8"), ["--input_format=NHWC"], "GE2043", "as NHWC"),
        (text(input_format="RGB888_U8"), ["--input_format=ND"], "GE2003", "--input_format=ND"),
        (None, ["--input_format=NHWC"], "GE2003", "--input_format=NHWC"),
        (None, ["--insert_op_conf=missing.cfg"], "GE1001", "missing.cfg"),
    ],
)
def test_what_is_refused(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    config: str | None,
    options: Sequence[str],
    code: str,
    words: str,
) -> None:
    if config is not None:
        (tmp_path / "aipp.cfg").write_text(config)
        options = [f"--insert_op_conf={tmp_path}/aipp.cfg", *options]
    with pytest.raises(SystemExit) as exit:
        ge_compiler.main([f"--model={model}", f"--output={tmp_path}/out", *options])
    lines = capsys.readouterr().err.splitlines()
    assert exit.value.code == 1 and len(lines) == 3 and f"[{code}]" in lines[0] and words in lines[0]
    assert not list(tmp_path.glob("*.om"))
