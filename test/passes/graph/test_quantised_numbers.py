"""Numbers that are quantised afterwards: on the device, fusions bring them nearer to the model, not further away.

A fusion of the device computes in float32 what would be rounded to float16 in between. So the guard of the onnx level
(:mod:`ge.passes.onnx.quantised`), which keeps the roundings of float32, is not asked by passes of the graph level.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx_models import Array, ModelBuilder, run_reference

from ge.ir.rewrite_log import Switches, observe
from ge.tools.compilation import ASSIGN, FUSE, NO_FUSION, STAGES, import_static, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.execute import executable


def network(seed: int, path: Path) -> dict[str, Array]:
    """Two layers with normalisations, quantised to 8 bits; what they give for the inputs that are returned."""
    m = ModelBuilder(seed=seed)
    y = m.node("Relu", m.conv_bn(m.input("x", 1, 16, 32, 32), 16, 32))
    y = m.node("Relu", m.conv_bn(y, 32, 32))
    m.output(m.node("QuantizeLinear", y, m.constant(0.05), m.constant(0, np.uint8)))
    onnx.save(m.build(), path)
    return m.random_inputs()


def steps_apart(path: Path, switches: Switches, inputs: dict[str, Array]) -> dict[str, int]:
    """How many quantised numbers are one step from those of onnxruntime, before and after precision is assigned."""
    options = CompileOptions(path, switches=switches)
    (want,) = run_reference(onnx.load(path), inputs).values()
    found: dict[str, int] = {}
    with observe(switches=switches):
        module = import_static(options)
        for stage in STAGES[: STAGES.index(ASSIGN) + 1]:
            run_stage(stage, module, options)
            if stage in (FUSE, ASSIGN):
                (got,) = executable(module).run(inputs).values()
                distance: Any = np.abs(np.asarray(got).astype(int) - want.astype(int))
                assert distance.max() <= 1
                found[stage.name] = int(np.count_nonzero(distance))
    return found


def test_fusions_ahead_of_a_quantisation(tmp_path: Path) -> None:
    for seed in range(2):
        inputs = network(seed, tmp_path / "model.onnx")
        fused, plain = (steps_apart(tmp_path / "model.onnx", each, inputs) for each in (Switches(), NO_FUSION))
        assert max(fused[FUSE.name], plain[FUSE.name]) <= 3  # of 32768: the bits of float32 hardly matter
        assert fused[ASSIGN.name] <= 0.9 * plain[ASSIGN.name]
