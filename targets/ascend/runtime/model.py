"""A loaded model: its memory, and the tasks that turn inputs into outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.om.values import ALIGNMENT, Area
from ge.ir.attributes import layout_of
from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.maths.layouts import pack, round_up, storage_shape, unpack
from ge.targets.ascend.om.kernels import host_module
from ge.targets.ascend.om.model import OmModel, Task, Value
from ge.targets.ascend.runtime.inputs import Inputs, TensorInfo, named_inputs
from ge.targets.ascend.runtime.launch import Device, Window
from ge.targets.ascend.runtime.statistics import RunStatistics, TaskRun
from ge.targets.ascend.soc import Soc, load_soc

Array: TypeAlias = NDArray[Any]

STRICT_FILL = 0xFF
"""Every byte of fresh memory in strict runs: NaN in all float types."""


class Model:
    """A model that is ready to run, as often as wanted. Not for several threads at once."""

    def __init__(self, model: OmModel, *, strict: bool = False) -> None:
        self._model = model
        self._fill = STRICT_FILL if strict else 0
        weight_size = round_up(model.weights.nbytes, ALIGNMENT)
        soc = load_soc(model.soc)
        memory = _allocate(weight_size + model.memory_size, soc)
        memory[: model.weights.nbytes] = np.frombuffer(model.weights, np.uint8)
        self._base = {Area.WEIGHTS: 0, Area.MEMORY: weight_size}
        self._device = Device(soc, memory, strict=strict)
        self._host_values: dict[str, Any] = {}
        self._host_modules: dict[str, ModuleOp] = {}
        self._binaries = {name: bytes(binary) for name, binary in model.core_kernels.items()}
        self.name = model.name
        self.soc = model.soc
        self.inputs = tuple(TensorInfo.of(name, value) for name, value in model.inputs.items())
        """The inputs of the model, in order."""
        self.output_names = tuple(model.outputs)
        """The names of the outputs of the model, in order."""
        self.statistics: RunStatistics | None = None
        """What the last run took; None before the first."""

    def run(self, inputs: Inputs) -> dict[str, Array]:
        """Run the model once and return its outputs by name; see :meth:`ge.Runtime.run`."""
        start = time.perf_counter()
        arrays = named_inputs(inputs, self.inputs)
        self._host_values.clear()
        self._device.memory[self._base[Area.MEMORY] :] = self._fill
        for name, array in arrays.items():
            self._write(self._model.inputs[name], array)
        runs = tuple(self._run_on_host(task) if task.on_host else self._launch(task) for task in self._model.tasks)
        outputs = {name: self._read(value) for name, value in self._model.outputs.items()}
        self.statistics = RunStatistics(runs, time.perf_counter() - start, self._device.soc)
        return outputs

    # ------------------------------------------------------------ tasks

    def _launch(self, task: Task) -> TaskRun:
        """Run a kernel on the simulated cores."""
        windows = [self._window(value) for value in (*task.inputs, *task.outputs)]
        run = TaskRun(task.operator, task.kind, task.kernel, False, task.blocks)
        return self._device.launch(self._binaries[task.kernel], windows, run)

    def _run_on_host(self, task: Task) -> TaskRun:
        """Run work of the host as the meaning of its ONNX operations."""
        from ge.dialects.onnx.meaning import run_module

        start = time.perf_counter()
        if task.kernel not in self._host_modules:
            self._host_modules[task.kernel] = host_module(bytes(self._model.host_kernels[task.kernel]))
        inputs = {f"x{number}": self._read(value) for number, value in enumerate(task.inputs)}
        outputs: Mapping[str, Any] = run_module(self._host_modules[task.kernel], inputs)
        for value, result in zip(task.outputs, outputs.values(), strict=True):
            self._write(value, result)
        seconds = time.perf_counter() - start
        return TaskRun(task.operator, task.kind, task.kernel, True, task.blocks, seconds)

    # ------------------------------------------------------------ memory

    def _window(self, value: Value) -> Window:
        """Where a value lies in device memory."""
        return self._base[value.area] + value.offset, value.nbytes

    def _bytes(self, value: Value) -> Array:
        """The bytes of a value in device memory."""
        start, size = self._window(value)
        return self._device.memory[start : start + size]

    def _read(self, value: Value) -> Any:
        """A value as an array in origin shape (a copy); values of the host as they are."""
        if value.area is Area.HOST:
            return self._host_values[value.name]
        shape, layout = static_shape(value.type), layout_of(value.type)
        stored = self._bytes(value).view(_dtype(value)).reshape(storage_shape(layout, shape))
        return np.array(unpack(stored, layout, shape))

    def _write(self, value: Value, data: Any) -> None:
        """Store an array in origin shape; values of the host are kept as they are."""
        if value.area is Area.HOST:
            self._host_values[value.name] = data
            return
        array = np.asarray(data)
        if array.shape != static_shape(value.type) or array.dtype != _dtype(value):
            found = f"{array.dtype.name}{list(array.shape)}"
            raise GeError("GE6006", f"a result is {found}, but must be {value.type}", f"node '{value.name}'")
        stored = np.ascontiguousarray(pack(array, layout_of(value.type)))
        self._bytes(value)[:] = stored.reshape(-1).view(np.uint8)


def _dtype(value: Value) -> np.dtype[Any]:
    return numpy_dtype(tensor_type_of(value.type).element_type)


def _allocate(size: int, soc: Soc) -> NDArray[np.uint8]:
    """Device memory. Raises GE6009 when the device, or this machine, has not enough."""
    if size > soc.memory_bytes:
        raise GeError("GE6009", f"the model needs {size} bytes of device memory, {soc.name} has {soc.memory_bytes}")
    try:
        return np.zeros(size, np.uint8)
    except (MemoryError, ValueError) as error:
        raise GeError("GE6009", f"the model needs {size} bytes of device memory") from error
