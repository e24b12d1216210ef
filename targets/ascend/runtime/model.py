"""A loaded model: its memory, and the tasks that turn inputs into outputs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import BoundedSemaphore, Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.om.values import Area
from ge.ir.attributes import layout_of
from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.maths.layouts import pack, unpack
from ge.maths.streams import interleaving, schedule_of
from ge.targets.ascend.om.kernels import host_module
from ge.targets.ascend.om.model import OmModel, Task, Value
from ge.targets.ascend.runtime.inputs import Inputs, TensorInfo, named_inputs
from ge.targets.ascend.runtime.launch import Device, Window
from ge.targets.ascend.runtime.memory import DeviceMemory
from ge.targets.ascend.runtime.order import TaskOrder
from ge.targets.ascend.runtime.statistics import RunStatistics, TaskRun
from ge.targets.ascend.runtime.taps import TapPoint, chosen, tap_points
from ge.targets.ascend.simulator.blas import one_thread
from ge.targets.ascend.soc import load_soc

Array: TypeAlias = NDArray[Any]

STRICT_FILL = 0xFF
"""Every byte of fresh memory in strict runs: NaN in all float types."""


class Outputs(dict[str, Any]):
    """What a run gives: the outputs of the model by name, in its order, and what else was asked for."""

    def __init__(self, outputs: Mapping[str, Any], taps: Mapping[str, Any], statistics: RunStatistics) -> None:
        super().__init__(outputs)
        self.taps = taps
        """The values that ``tap`` named, by the name of their node, in the order of the run."""
        self.statistics = statistics
        """What this run took."""


class Model:
    """A model that is ready to run, as often as wanted, and by several threads at once.

    Each run in progress has a session: device memory of its own, but for the weights, which all share. Sessions are
    kept for later runs; ``threads`` is the most of them, further runs wait. With ``profile`` the cycles of kernels are
    counted. ``interleaving`` is the seed of how streams take turns (:class:`TaskOrder`).
    """

    def __init__(
        self,
        model: OmModel,
        *,
        strict: bool = False,
        threads: int | None = None,
        profile: bool = True,
        interleaving: int | None = None,
    ) -> None:
        self._model = model
        self._order = TaskOrder(model.steps, interleaving)
        memory = DeviceMemory(model.weights, model.memory_size, load_soc(model.soc))
        self._new_session = partial(Session, model, memory, Kernels(model), strict=strict, profile=profile)
        self._idle: list[Session] = [self._new_session()]
        self._free = BoundedSemaphore(threads or os.cpu_count() or 1)
        self.name = model.name
        self.soc = model.soc
        self.inputs = tuple(TensorInfo.of(name, value.type) for name, value in model.inputs.items())
        """The inputs of the model, in order."""
        self.outputs = tuple(TensorInfo.of(name, value.type) for name, value in model.outputs.items())
        """The outputs of the model, in order; a size that depends on the values of the inputs is None."""
        self.output_names = tuple(model.outputs)
        """The names of the outputs of the model, in order."""
        self.input_values = tuple(model.inputs.values())
        self.output_values = tuple(model.outputs.values())
        """Where the inputs and the outputs lie."""
        self.statistics: RunStatistics | None = None
        """What the run took that ended last; None before the first. :attr:`Outputs.statistics` is that of one run."""

    @cached_property
    def tap_points(self) -> tuple[TapPoint, ...]:
        """The values inside the model that ``tap`` can name, in the order of the run."""
        return tap_points(self._model)

    def run(self, inputs: Inputs, tap: Sequence[str] = ()) -> Outputs:
        """Run the model once and return its outputs by name; see :meth:`ge.Runtime.run`."""
        arrays = named_inputs(inputs, self.inputs)
        taps: Mapping[str, TapPoint] = chosen(self.tap_points, tap) if tap else {}
        with self._free:
            try:
                session = self._idle.pop()
            except IndexError:
                session = self._new_session()
            try:
                outputs = session.run(arrays, taps, self._order.next())
            finally:
                self._idle.append(session)
        self.statistics = outputs.statistics
        return outputs


class Kernels:
    """The kernels of a model: encoded ones of the cores, and `onnx` modules of the host, read when they run first."""

    def __init__(self, model: OmModel) -> None:
        self.of_cores = {name: bytes(binary) for name, binary in model.core_kernels.items()}
        self._binaries = model.host_kernels
        self._modules: dict[str, ModuleOp] = {}
        self._lock = Lock()

    def of_host(self, name: str) -> ModuleOp:
        """The operations of a kernel of the host. Raises what reading them raises."""
        with self._lock:
            if name not in self._modules:
                self._modules[name] = host_module(bytes(self._binaries[name]))
            return self._modules[name]


class Session:
    """Device memory with a model in it, and the run that is in progress there. For one thread at a time."""

    def __init__(self, model: OmModel, memory: DeviceMemory, kernels: Kernels, *, strict: bool, profile: bool) -> None:
        self._model = model
        self._fill = STRICT_FILL if strict else 0
        self._base = {Area.WEIGHTS: 0, Area.MEMORY: memory.weight_size}
        self._device = Device(load_soc(model.soc), memory.view(), strict=strict, profile=profile)
        self._host_values: dict[str, Any] = {}
        self._kernels = kernels
        self._handed_over = only_on_host(model)
        self._schedule = schedule_of(model.steps, interleaving(model.steps))

    def run(self, arrays: Mapping[str, Any], taps: Mapping[str, TapPoint], order: Sequence[int]) -> Outputs:
        """Run the model once, its tasks in the ``order`` given.

        ``taps`` are the values to return besides the outputs, by their names in the OM file.
        """
        start = time.perf_counter()
        self._host_values.clear()
        self._device.memory[self._base[Area.MEMORY] :] = self._fill
        for name, array in arrays.items():
            value = self._model.inputs[name]
            if value.name in self._handed_over:
                self._host_values[value.name] = read_only(array)
            else:
                self._write(value, array)
        runs: dict[int, TaskRun] = {}
        tapped: dict[str, Any] = {}
        with one_thread():
            for number in order:
                task = self._model.tasks[number]
                run = self._run_on_host(task) if task.on_host else self._launch(task)
                runs[number] = replace(run, stream=self._schedule.streams[number])
                if taps:
                    tapped |= {taps[each.name].name: self._read(each) for each in task.outputs if each.name in taps}
        outputs = {name: self._read(value) for name, value in self._model.outputs.items()}
        in_order = tuple(runs[number] for number in range(len(runs)))
        seconds = time.perf_counter() - start
        return Outputs(outputs, tapped, RunStatistics(in_order, seconds, self._device.soc, self._schedule))

    # ------------------------------------------------------------ tasks

    def _launch(self, task: Task) -> TaskRun:
        """Run a kernel on the simulated cores."""
        windows = [self._window(value) for value in (*task.inputs, *task.outputs)]
        run = TaskRun(task.operator, task.kind, task.kernel, False, task.blocks)
        return self._device.launch(self._kernels.of_cores[task.kernel], windows, run)

    def _run_on_host(self, task: Task) -> TaskRun:
        """Run work of the host as the meaning of its ONNX operations."""
        from ge.dialects.onnx.meaning import run_module

        start = time.perf_counter()
        inputs = {f"x{number}": self._read(value) for number, value in enumerate(task.inputs)}
        outputs: Mapping[str, Any] = run_module(self._kernels.of_host(task.kernel), inputs)
        for value, result in zip(task.outputs, outputs.values(), strict=True):
            self._write(value, result)
        seconds = time.perf_counter() - start
        return TaskRun(task.operator, task.kind, task.kernel, True, task.blocks, seconds=seconds)

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
        if value.name in self._host_values:
            return self._host_values[value.name]
        shape, layout = static_shape(value.type), layout_of(value.type)
        return np.array(unpack(self._bytes(value).view(_dtype(value)), layout, shape))

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


def only_on_host(model: OmModel) -> frozenset[str]:
    """The inputs that device memory need not hold: all that reads them are tasks of the host.

    Such an array is handed over as it is, without a copy. A value in the same bytes under another name (a view) keeps
    an input in device memory, and so does an output of the model.
    """
    names = {value.name for value in model.inputs.values() if value.area is Area.MEMORY}
    read = [value for task in model.tasks for value in task.inputs if not task.on_host or value.name not in names]
    others = [*read, *model.outputs.values(), *(value for task in model.tasks for value in task.outputs)]
    used = [(each.offset, each.offset + each.nbytes) for each in others if each.area is Area.MEMORY]
    inputs = [value for value in model.inputs.values() if value.name in names]
    return frozenset(
        value.name
        for value in inputs
        if not any(start < value.offset + value.nbytes and value.offset < end for start, end in used)
    )


def read_only(array: Array) -> Array:
    """The same array, through which it cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view


def _dtype(value: Value) -> np.dtype[Any]:
    return numpy_dtype(tensor_type_of(value.type).element_type)
