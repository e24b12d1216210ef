"""Running a module of onnx operations by onnxruntime, where it is installed: many times faster than the definition."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.ir.errors import GeError
from ge.targets.onnx.exporter import save_model
from ge.tools.execute import Executable, OnnxExecutable, executable


class OnnxRuntimeExecutable(Executable):
    """A module of onnx operations as onnxruntime runs it, without optimisations of its own. Raises GE6006."""

    level = "onnx"
    half = False

    def __init__(self, module: ModuleOp) -> None:
        runtime: Any = import_module("onnxruntime")
        self.inputs = OnnxExecutable(module).inputs
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # what is fatal
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            save_model(module, path)
            try:
                self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            except Exception as error:
                raise GeError("GE6006", f"onnxruntime: {error}") from error
        self._taken = {each.name for each in self._session.get_inputs()}

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        names = [each.name for each in self._session.get_outputs()]
        feeds = {name: value for name, value in inputs.items() if name in self._taken}
        try:
            return dict(zip(names, self._session.run(names, feeds), strict=True))
        except Exception as error:
            raise GeError("GE6006", f"onnxruntime: {error}") from error


def fastest(module: ModuleOp) -> Executable:
    """What runs a module soonest: onnxruntime if the module is at the onnx level and onnxruntime takes it."""
    slow = executable(module)
    if not isinstance(slow, OnnxExecutable) or sum(isinstance(op, FuncOp) for op in module.ops) > 1:
        return slow
    try:
        return OnnxRuntimeExecutable(module)
    except (GeError, ImportError):
        return slow
