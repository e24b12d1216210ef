"""The pass `freeze-initializers` in the levels: a replaced default never meets what was computed with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, numpy_helper, parser

from ge.tools.ge_opt import main


def model(ir_version: int) -> ModelProto:
    """One default is read by an operation on constants and by one on the input."""
    proto = parser.parse_model(f"""
        <ir_version: {ir_version}, opset_import: ["": 8]>
        defaults (float[2] x, float[2] w, float[2] c) => (float[2] z) {{
            b = Add (w, c)
            y = Mul (x, b)
            z = Sub (y, w)
        }}""")
    proto.graph.initializer.extend(numpy_helper.from_array(np.ones(2, np.float32), name) for name in ("w", "c"))
    return proto


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize(("ir_version", "inputs"), [(3, {"x", "w"}), (4, {"x"}), (8, {"x"})])
def test_a_level_leaves_no_default_that_a_run_could_replace(
    tmp_path: Path, level: int, ir_version: int, inputs: set[str]
) -> None:
    source, target = tmp_path / "model.onnx", tmp_path / "optimised.onnx"
    onnx.save(model(ir_version), source)
    main([str(source), f"-O{level}", "-o", str(target)])
    optimised = onnx.load(target)
    onnx.checker.check_model(optimised, full_check=True)
    assert {value.name for value in optimised.graph.input} & {"x", "w"} == inputs
    x = np.array([3.0, 4.0], np.float32)
    before, after = (
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        for path in (source, target)
    )
    np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
