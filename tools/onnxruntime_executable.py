"""Running a module of onnx operations by onnxruntime, where it is installed: many times faster than the definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.targets.onnx.exporter import save_model
from ge.tools.execute import INSIDE, Executable, OnnxExecutable, executable, with_results_of
from ge.tools.stepwise import NamedValue


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


def values_inside(module: ModuleOp, args: Sequence[Any]) -> dict[str, NamedValue]:
    """:func:`~ge.tools.stepwise.named_values` of a module of onnx operations, by onnxruntime. Raises GE6006, GE6012."""
    program = OnnxRuntimeExecutable(with_results_of(module, ["*"]))
    given = program.run({info.name: value for info, value in zip(program.inputs, args, strict=True)})
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    found: dict[str, NamedValue] = {}
    for op in main.body.block.ops:
        for name in node_names(op)[-1:]:
            for number in range(len(op.results)):
                value = given.get(f"{INSIDE}{name}{f':{number}' if number else ''}")
                if value is not None:
                    found.pop(f"{name}:{number}", None)
                    found[f"{name}:{number}"] = NamedValue(name, op, value)
    return found


def fastest(module: ModuleOp) -> Executable:
    """What runs a module soonest: onnxruntime if the module is at the onnx level and onnxruntime takes it."""
    slow = executable(module)
    if not isinstance(slow, OnnxExecutable) or sum(isinstance(op, FuncOp) for op in module.ops) > 1:
        return slow
    try:
        return OnnxRuntimeExecutable(module)
    except (GeError, ImportError):
        return slow
