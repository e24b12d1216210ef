"""From a planned device program to the contents of an OM file: ``convert-program-to-om``.

The function becomes the graph that viewers show, and the list of tasks:

| device program | operator | task |
|---|---|---|
| argument | ``Data`` | |
| ``graph.constant`` | ``Const``; its bytes go into ``om.weights`` at the planned offset | |
| ``graph.launch`` | of the launch's ``op_type`` | runs the ``cube.kernel``, which moves into an ``om.kernel`` |
| ``graph.host`` | of the operation inside, ``HostCall`` for several | runs the region, which becomes an ``om.kernel`` |
| ``graph.view`` | ``Reshape`` without a task | |
| ``graph.record``, ``graph.wait`` | | the event, in its stream |
| ``func.return`` | ``NetOutput`` | |

Operators are named after the model nodes in their location. Nothing else of the module is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects import om
from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.graph import ConstantOp, HostOp, LaunchOp, RecordOp, ViewOp, WaitOp
from ge.dialects.graph.streams import program_steps, stream_of
from ge.dialects.om import KernelOp, ModelOp, OperatorOp, TaskOp, WeightsOp
from ge.dialects.om.program import NO_TASK
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import bytes_of
from ge.ir.errors import GeError
from ge.ir.locations import node_names, where
from ge.lowering.program_to_om.attributes import operator_attributes

HOST_CALL = "HostCall"
"""The kind of an operator that stands for several operations of the host."""

_HELPERS = ("Const", "Reshape", "TransData", "Cast")
"""Kinds that often stand beside an operator of the same model node."""


@dataclass(frozen=True)
class ConvertProgramToOmPass(ModulePass):
    """Turn a planned device program into an ``om.model``; see the module.

    ``model_name`` is the name of the model in the file, ``soc`` the chip of a program without kernels.
    """

    name = "convert-program-to-om"

    model_name: str = "model"
    soc: str = "Ascend310P3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, FuncOp)]
        if len(functions) != 1:
            raise GeError("GE5009", f"a device program is one function, the module holds {len(functions)}")
        kernels = {each.sym_name.data: each for each in op.ops if isinstance(each, CubeKernelOp)}
        model = _Builder(functions[0], kernels).model(self.model_name, self.soc)
        for each in list(op.ops):
            each.detach()
            each.erase()
        op.attributes.clear()
        op.body.block.add_op(model)


@dataclass
class _Builder:
    """Builds the model of one device program."""

    program: FuncOp
    cube_kernels: Mapping[str, CubeKernelOp]
    weights: bytearray = field(default_factory=bytearray)
    kernels: dict[str, KernelOp] = field(default_factory=dict[str, KernelOp])
    operators: list[OperatorOp] = field(default_factory=list[OperatorOp])
    tasks: list[TaskOp | om.RecordOp | om.WaitOp] = field(default_factory=list[TaskOp | om.RecordOp | om.WaitOp])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    labels: dict[Operation, str] = field(default_factory=dict[Operation, str])
    taken: set[str] = field(default_factory=set[str])

    def model(self, name: str, soc: str) -> ModelOp:
        """The model of the whole program. Raises GE3024 and what the methods below do."""
        self.weights = bytearray(self.size("graph.weight_size"))
        self.add_inputs()
        self.name_operators()
        program_steps(self.program)
        for op in self.program.body.block.ops:
            match op:
                case ConstantOp():
                    self.add_constant(op)
                case LaunchOp():
                    self.add_launch(op)
                case HostOp():
                    self.add_host(op)
                case ViewOp():
                    self.add(op, op.offset, {NO_TASK: BoolAttr.from_bool(True)})
                case RecordOp():
                    self.tasks.append(om.RecordOp(op.event.value.data, op.stream.value.data))
                case WaitOp():
                    self.tasks.append(om.WaitOp(op.event.value.data, op.stream.value.data))
                case ReturnOp():
                    self.add(op, None)
                case _:
                    raise GeError("GE3004", f"a device program cannot contain {op.name}", where(op))
        soc = next((kernel.soc.data for kernel in self.cube_kernels.values()), soc)
        weights = [WeightsOp(WeightsAttr.from_buffer(self.weights))] if self.weights else []
        names = cast("ArrayAttr[StringAttr]", self.attribute("graph.output_names"))
        return ModelOp(
            *(name, soc, self.size("graph.memory_size"), self.size("graph.io_size"), [each.data for each in names]),
            [*weights, *self.kernels.values(), *self.operators, *self.tasks],
        )

    def attribute(self, name: str) -> Attribute:
        """An attribute of the function. Raises GE5009 when it is not there."""
        if name not in self.program.attributes:
            raise GeError("GE5009", f"the device program has no attribute '{name}'", where(self.program))
        return self.program.attributes[name]

    def size(self, name: str) -> int:
        """An attribute of the function that is a number of bytes."""
        return cast("IntegerAttr[I64]", self.attribute(name)).value.data

    # ------------------------------------------------------------ operators

    def name_operators(self) -> None:
        """Give every operation a label that no other has, after the first model node that it stands for.

        What computes is named first, so that a conversion or a constant made for it gets the longer name.
        """
        unnamed = (ReturnOp, RecordOp, WaitOp)
        operations = [op for op in self.program.body.block.ops if not isinstance(op, unnamed)]
        for op in sorted(operations, key=lambda op: _kind(op) in _HELPERS):
            names = node_names(op)
            name = names[0] if names else _kind(op)
            self.labels[op] = self.unique(f"{name}/{_kind(op)}" if names and name in self.taken else name)

    def unique(self, name: str) -> str:
        """``name``, or the first of ``name_1``, ``name_2``, ... that is free."""
        label, number = name, 0
        while label in self.taken:
            number += 1
            label = f"{name}_{number}"
        self.taken.add(label)
        return label

    def add(
        self, op: Operation, offsets: Attribute | None, attributes: Mapping[str, Attribute] | None = None
    ) -> OperatorOp:
        """Add the operator of an operation. ``offsets`` is the integer or the list of them that planning wrote."""
        places = _integers(offsets)
        if len(places) != len(op.results):
            raise GeError("GE5009", "memory is not planned: a value has no offset", where(op))
        kind = _kind(op)
        operator = OperatorOp(
            kind,
            self.labels[op] if op in self.labels else self.unique(kind),
            [self.values[operand] for operand in op.operands],
            [result.type for result in op.results],
            places,
            attributes,
        )
        operator.location = op.location
        self.operators.append(operator)
        self.values.update(zip(op.results, operator.results, strict=True))
        return operator

    def add_inputs(self) -> None:
        """Add a ``Data`` for every argument; it has the name of the input."""
        arguments = self.program.body.block.args
        names = cast("ArrayAttr[StringAttr]", self.attribute("graph.input_names"))
        offsets = _integers(self.attribute("graph.input_offsets"))
        for index, (argument, name, offset) in enumerate(zip(arguments, names, offsets, strict=True)):
            attributes = {"index": IntegerAttr(index, 64)}
            operator = OperatorOp("Data", self.unique(name.data), [], [argument.type], [offset], attributes)
            self.operators.append(operator)
            self.values[argument] = operator.results[0]

    def add_constant(self, op: ConstantOp) -> None:
        """Add a constant, and put its bytes where memory planning wants them."""
        self.add(op, op.offset)
        data = bytes_of(op.value, op.y.type)
        (offset,) = _integers(op.offset)
        self.weights[offset : offset + data.nbytes] = data.data

    def add_launch(self, op: LaunchOp) -> None:
        """Add a launch with its task, and its kernel when it is the first to run it."""
        name = op.kernel.root_reference.data
        if name not in self.kernels:
            if name not in self.cube_kernels:
                raise GeError("GE5009", f"kernel '@{name}' is not a cube.kernel of this module", where(op))
            kernel = self.cube_kernels[name]
            kernel.detach()
            self.kernels[name] = KernelOp(name, kernel)
        attributes = {} if op.op_attrs is None else operator_attributes(op.op_attrs.data)
        operator = self.add(op, op.offsets, attributes)
        self.tasks.append(TaskOp(name, operator.label.data, op.blocks.value.data, stream_of(op)))

    def add_host(self, op: HostOp) -> None:
        """Add work of the host with its task and its kernel."""
        inside = _computations(op)
        operator = self.add(op, op.offsets, operator_attributes(inside[0].properties) if len(inside) == 1 else {})
        name = f"host.{operator.label.data}"
        self.kernels[name] = KernelOp(name, _host_function(name, op))
        self.tasks.append(TaskOp(name, operator.label.data, 1, stream_of(op)))


def _kind(op: Operation) -> str:
    """The kind of the operator that an operation of the device program becomes."""
    match op:
        case LaunchOp():
            return op.op_type.data
        case HostOp():
            inside = _computations(op)
            return inside[0].name.removeprefix("onnx.") if len(inside) == 1 else HOST_CALL
        case ConstantOp():
            return "Const"
        case ViewOp():
            return "Reshape"
        case _:
            return "NetOutput"


def _computations(op: HostOp) -> list[Operation]:
    """What work of the host computes, constants left out."""
    return [each for each in op.body.block.ops if each.name not in ("onnx.Constant", "graph.yield")]


def _integers(attr: Attribute | None) -> Sequence[int]:
    """The numbers of an integer or of a list of integers; none for None."""
    match attr:
        case IntegerAttr():
            return [attr.value.data]
        case DenseArrayBase():
            return cast("DenseArrayBase[I64]", attr).get_values()
        case _:
            return []


def _host_function(name: str, op: HostOp) -> FuncOp:
    """The region of host work as a function."""
    body = op.body.clone()
    last = body.block.last_op
    assert last is not None
    results = list(last.operands)
    last.detach()
    last.erase()
    body.block.add_op(ReturnOp(*results))
    type = FunctionType.from_lists([value.type for value in op.inputs], [value.type for value in op.outputs])
    function = FuncOp(name, type, body)
    function.attributes["onnx.input_names"] = ArrayAttr(StringAttr(f"x{n}") for n in range(len(op.inputs)))
    function.attributes["onnx.output_names"] = ArrayAttr(StringAttr(f"y{n}") for n in range(len(op.outputs)))
    return function
