"""A model, and a plug-in with a pass that breaks it: for the tests of the tools that find such passes."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx_models import ModelBuilder

PLUGIN = Path(__file__).parent.parent / "tools" / "inputs" / "planted.py"


def planted(folder: Path) -> tuple[Path, Path]:
    """The files of the model and of the plug-in. The model subtracts a tenth of its size from a value, ten times."""
    builder = ModelBuilder()
    x = builder.input("x", 2, 8)
    for number in range(10):
        tenth = builder.node("Mul", builder.node("Abs", x, name=f"abs_{number}"), builder.constant(0.1))
        x = builder.node("Sub", x, tenth, name=f"sub_{number}")
    builder.output(x)
    model = folder / "model.onnx"
    onnx.save_model(builder.build(), str(model))
    return model, PLUGIN
