"""Networks that come with the onnx package: through the OM file on the simulator, to the outputs that the package has.

The input is the one that onnx's own test runner makes for these models (a ramp from 0 to 1); the package's
``light_*_output_0.pb`` hold what the reference implementation computed from it. Activations of most of these models
leave the range of float16, which the chip answers by saturation; the comparison shows that it does no harm here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from ge import Runtime
from ge.targets.ascend.om.writer import model_bytes
from ge.tools.agreement import compare
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions
from ge.tools.example import model_folder

NAMES = sorted(path.stem for path in model_folder().glob("light_*.onnx"))


def expected_output(name: str) -> np.ndarray:
    """The output that the package has for a model."""
    tensor = onnx.TensorProto()
    tensor.ParseFromString((model_folder() / f"{name}_output_0.pb").read_bytes())
    return onnx.numpy_helper.to_array(tensor)


def ramp(shape: tuple[int, ...]) -> np.ndarray:
    """The input that onnx's test runner makes."""
    size = int(np.prod(shape))
    return (np.arange(size) / size).astype(np.float32).reshape(shape)


def test_all_nine_are_here() -> None:
    assert len(NAMES) == 9


@pytest.mark.parametrize("name", NAMES)
def test_output_is_the_one_of_the_package(name: str) -> None:
    compiled = compile_model(CompileOptions(Path(model_folder() / f"{name}.onnx")))
    assert compiled.program.host_operators == 0
    model = Runtime().load(model_bytes(compiled.module))
    (entry,) = model.inputs
    outputs = model.run({entry.name: ramp(tuple(size or 0 for size in entry.shape or ()))})
    (output,) = outputs
    (agreement,) = compare(outputs, {output: expected_output(name)}, half=True)
    assert agreement.passed, agreement
