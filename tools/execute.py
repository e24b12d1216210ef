"""Running a module of any level, or an OM file, on named arrays.

| module | runs as |
|---|---|
| ``onnx`` operations | :mod:`ge.dialects.onnx.meaning` |
| ``graph`` operations | :mod:`ge.dialects.graph.meaning` |
| a device program with ``tile`` kernels | the same; kernels as :mod:`ge.dialects.tile.meaning` defines them |
| a device program with ``cube`` kernels | the same; kernels are planned where they are not, encoded and simulated |
| ``om``, an OM file | :class:`ge.Runtime` |
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, Float16Type, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.cube.kernel import AllocOp, CubeKernelOp
from ge.dialects.graph import LaunchOp
from ge.dialects.om import FileOp, ModelOp
from ge.ir.attributes import layout_of
from ge.ir.constants import numpy_dtype, static_shape, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import node_names
from ge.ir.registry import context
from ge.maths.layouts import storage_shape
from ge.passes.cube.insert_sync import InsertSync
from ge.passes.cube.plan_buffers import PlanBuffers
from ge.targets.ascend.runtime import NPU, Runtime
from ge.targets.ascend.runtime.statistics import TaskRun
from ge.tools.arrays import InputInfo, main_inputs
from ge.tools.signature import Signature


class Executable(ABC):
    """Something that turns named arrays into named arrays."""

    level: str
    inputs: tuple[InputInfo, ...]
    half: bool
    """Whether it computes in float16 (decides how closely it can agree with a reference)."""
    tasks: Sequence[TaskRun] = ()
    """What the simulated kernels of the last run took."""

    def signature(self) -> Signature:
        """What the inputs and outputs are. Raises GE2006 for what does not tell it."""
        raise GeError("GE2006", f"there is no signature of what runs at level '{self.level}'")

    @abstractmethod
    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run once."""

    def run_tapped(self, inputs: Mapping[str, Any], tap: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run once; the outputs, and the values inside that the patterns ``tap`` name, by the name of their node.

        Raises GE6012 for a pattern that names nothing, GE2006 at a level that gives no values inside.
        """
        what = f"values inside a model are given by .om files and onnx operations, not at level '{self.level}'"
        raise GeError("GE2006", what)


class OmExecutable(Executable):
    """An OM file."""

    level = "om"
    half = True

    def __init__(
        self, source: str | Path | bytes, strict: bool, profile: bool = True, device: str = NPU, threads: int = 1
    ) -> None:
        """``device`` is that of :class:`ge.Runtime`; with ``threads``, each run is done so often at the same time."""
        self.threads = threads
        self.model = Runtime(device, threads=threads, profile=profile, strict=strict).load(source)
        self.inputs = tuple(
            InputInfo(info.name, value.type)
            for info, value in zip(self.model.inputs, self.model.input_values, strict=True)
        )

    def signature(self) -> Signature:
        return Signature.of_infos(self.model.inputs, self.model.outputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return self.run_tapped(inputs, ())[0]

    def run_tapped(self, inputs: Mapping[str, Any], tap: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run once in each thread. Raises GE6008 when the results differ in a bit, and what running raises."""
        with ThreadPoolExecutor(self.threads) as pool:
            others = [pool.submit(self.model.run, inputs, tap) for _ in range(self.threads - 1)]
            outputs = self.model.run(inputs, tap)
        for number, other in enumerate((each.result() for each in others), 2):
            differing = [name for name in outputs if _bits(outputs[name]) != _bits(other[name])]
            if differing:
                what = f"run {number} of {self.threads} at the same time gives other bits in '{differing[0]}'"
                raise GeError("GE6008", what)
        self.tasks = outputs.statistics.tasks
        return outputs, dict(outputs.taps)


def _bits(value: Any) -> object:
    """What is equal for two results of a model when they are the same bit by bit."""
    if isinstance(value, list):
        return [_bits(each) for each in cast("list[Any]", value)]
    array: NDArray[Any] = np.asarray(value)
    return array.shape, array.dtype.str, array.tolist() if array.dtype == object else array.tobytes()


class OnnxExecutable(Executable):
    """A module of onnx operations."""

    level = "onnx"
    half = False

    def __init__(self, module: ModuleOp) -> None:
        from ge.dialects.onnx.meaning import input_names

        self._module = module
        function = next(op for op in module.ops if isinstance(op, FuncOp))
        args = function.body.block.args
        self.inputs = tuple(InputInfo(name, arg.type) for name, arg in zip(input_names(function), args, strict=True))

    def signature(self) -> Signature:
        return Signature.of_module(self._module)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        from ge.dialects.onnx.meaning import run_module

        return run_module(self._module, inputs)

    def run_tapped(self, inputs: Mapping[str, Any], tap: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        from ge.dialects.onnx.meaning import run_module

        values = run_module(with_results_of(self._module, tap), inputs)
        inside = {name: value for name, value in values.items() if name.startswith(INSIDE)}
        outputs = {name: value for name, value in values.items() if name not in inside}
        return outputs, {name.removeprefix(INSIDE): value for name, value in inside.items()}


INSIDE = "inside/ "
"""How the names of outputs begin that are values inside a model."""


def with_results_of(module: ModuleOp, tap: Sequence[str]) -> ModuleOp:
    """A copy of a module of onnx operations that also returns what patterns name. Raises GE6012 when one names none."""
    from ge.dialects.onnx import Constant
    from ge.dialects.onnx.ops import yielded
    from ge.dialects.onnx.protos import text_notes

    module = module.clone()
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    block = main.body.block
    names = text_notes(main, "output_names") or [f"y{number}" for number in range(len(yielded(block)))]
    nodes = [(op, name) for op in block.ops if not isinstance(op, Constant) for name in node_names(op)[-1:]]
    for pattern in tap:
        if not any(fnmatchcase(name, pattern) for _, name in nodes):
            raise GeError("GE6012", f"no operator is called '{pattern}'")
    wanted: dict[str, SSAValue] = {}
    for op, name in nodes:
        if any(fnmatchcase(name, pattern) for pattern in tap):
            wanted |= {f"{INSIDE}{name}{f':{i}' if i else ''}": result for i, result in enumerate(op.results)}
    assert block.last_op is not None
    block.last_op.operands = [*block.last_op.operands, *wanted.values()]
    main.attributes["onnx.output_names"] = ArrayAttr([StringAttr(name) for name in (*names, *wanted)])
    return module


class GraphExecutable(Executable):
    """A module of graph operations, perhaps with kernels."""

    def __init__(self, module: ModuleOp, main: FuncOp, strict: bool) -> None:
        self.module = _planned(module)
        """What runs: the module given, or a copy in which kernels have addresses."""
        self._strict = strict
        self._binaries: dict[str, bytes] = {}
        self._runs: list[TaskRun] = []
        self._launches = {op.kernel.root_reference.data: op for op in main.body.block.ops if isinstance(op, LaunchOp)}
        kernels = [op for op in module.ops if op.name in ("tile.kernel", "cube.kernel")]
        self.level = kernels[0].name.partition(".")[0] if kernels else "graph"
        self.half = bool(kernels) or any(_is_half(result.type) for op in main.body.block.ops for result in op.results)
        self.inputs = main_inputs(module)

    def signature(self) -> Signature:
        return Signature.of_module(self.module)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        from ge.dialects.graph.meaning import run_module

        self._runs.clear()
        outputs = run_module(self.module, inputs, self.launch)
        self.tasks = tuple(self._runs)
        return outputs

    def launch(self, kernel: Operation, arrays: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        """Run a kernel of the module on arrays in storage format: its results."""
        if not isinstance(kernel, CubeKernelOp):
            from ge.dialects.tile.meaning import run_kernel

            return run_kernel(kernel, arrays)
        return self._simulate(kernel, arrays)

    def _simulate(self, kernel: CubeKernelOp, arrays: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        """Run a kernel on the simulator; the types of its results are those of the launch."""
        from ge.dialects.cube.encoding import encode
        from ge.targets.ascend.runtime.launch import completed
        from ge.targets.ascend.simulator import run_kernel

        start = time.perf_counter()
        name = kernel.sym_name.data
        if name not in self._binaries:
            self._binaries[name] = encode(kernel)
        op = self._launches[name]
        results = [_storage(result.type) for result in op.outputs]
        soc = kernel.soc.data
        result = run_kernel(self._binaries[name], [*arrays, *results], soc, strict=self._strict, name=name)
        run = TaskRun(name, op.op_type.data, name, False, kernel.block_count)
        self._runs.append(completed(run, result, time.perf_counter() - start))
        return result.outputs


def executable(module: ModuleOp, *, strict: bool = False) -> Executable:
    """What runs a module. Raises GE3004 for a module of no level that runs."""
    if any(isinstance(op, ModelOp | FileOp) for op in module.ops):
        from ge.targets.ascend.om.writer import model_bytes

        return OmExecutable(model_bytes(module), strict)
    main = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    if main is None:
        raise GeError("GE3004", "the module has no function to run")
    levels = {op.name.partition(".")[0] for op in body_of(main).ops} - {"func"}
    if levels <= {"onnx"} and "graph.input_names" not in main.attributes:
        return OnnxExecutable(module)
    return GraphExecutable(module, main, strict)


def _planned(module: ModuleOp) -> ModuleOp:
    """The module; a copy in which kernels have addresses and synchronisation, when those of it have none yet."""
    if all(op.address is not None for op in module.walk() if isinstance(op, AllocOp)):
        return module
    planned = module.clone()
    for apply in (PlanBuffers(), InsertSync()):
        apply.apply(context(), planned)
    return planned


def _is_half(type: Attribute) -> bool:
    return isinstance(getattr(type, "element_type", None), Float16Type)


def _storage(type: Attribute) -> NDArray[Any]:
    """An array for a value of a type, in storage shape."""
    shape = storage_shape(layout_of(type), static_shape(type))
    return np.empty(shape, numpy_dtype(tensor_type_of(type).element_type))
