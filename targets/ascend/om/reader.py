"""Reading an OM file: as plain data for the run time, or as a module of the `om` dialect.

Nothing in the file is believed: every reference, offset and size is checked before it is used, and what does not hold
is one error of the group GE5xxx. The bytes of weights and kernels are views of the file, which is mapped into memory.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from typing_extensions import Buffer
from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, IntegerAttr, LocationAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ge.dialects.om import ModelOp, OperatorOp, RecordOp, TaskOp, WaitOp, WeightsOp
from ge.dialects.om.program import NO_TASK
from ge.dialects.om.values import NO_OFFSET, Area, result_area, value_bytes
from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.locations import fused_loc, name_loc
from ge.ir.weights import Origin, Weights, map_file
from ge.maths.streams import DeadlockError, Step
from ge.targets.ascend.om.any_file import file_op
from ge.targets.ascend.om.container import PartitionType, read_container, read_containers
from ge.targets.ascend.om.conventions import (
    GRAPH,
    HOST_KERNEL,
    KERNEL_NAME,
    KERNEL_TASK,
    NODE_NAMES,
    OUTPUT_NAMES,
    PRODUCER,
    RECORD_TASK,
    WAIT_TASK,
    WRITTEN_ATTRIBUTES,
    address,
)
from ge.targets.ascend.om.external_weights import WeightsFile, weights_of
from ge.targets.ascend.om.graph_text import read_graph
from ge.targets.ascend.om.inout_info import InOutInfo, read_inout_info, tensor_info
from ge.targets.ascend.om.kernel_store import read_store
from ge.targets.ascend.om.kernels import decode_core_kernel, decode_host_kernel
from ge.targets.ascend.om.messages import decode_partition, read_attribute, read_type
from ge.targets.ascend.om.model import OmModel, Task, Value
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task
from ge.targets.ascend.om.task_info import race, read_steps, task_clocks, unready
from ge.targets.ascend.om.writer import is_written_as


def read_model(source: str | Path | Buffer) -> OmModel:
    """The OM file `source` (a path, or its bytes) as plain data. Raises GE1001, GE5001 to GE5008, GE5010 and GE5011."""
    return _Reader(_open(source)).model()


def read_own_module(source: str | Path | Buffer) -> ModuleOp:
    """The OM file `source` (a path, or its bytes) as a module of one `om.model`. Raises what `read_model` does."""
    return _Reader(_open(source)).module()


def read_module(source: str | Path | Buffer) -> ModuleOp:
    """The OM file `source` (a path, or its bytes) as a module that is written as the same bytes.

    It is one `om.model`, or one `om.file` when another compiler wrote the file, or another program changed it. Raises
    what `read_model` does for a file of this compiler that contradicts itself, and GE5001 to GE5006 for any.
    """
    opened = _open(source)
    if _is_own(opened):
        module = _Reader(opened).module()
        if is_written_as(module, opened.data):
            return module
    return ModuleOp([file_op(opened.data, opened.file, opened.where)])


@dataclass(frozen=True)
class _Opened:
    """An OM file: its bytes, the file that they are in, and how errors name it."""

    data: Buffer
    file: Path | None
    where: str


def _open(source: str | Path | Buffer) -> _Opened:
    """Open a file, which is mapped into memory, or bytes. Raises GE1001."""
    if not isinstance(source, str | Path):
        return _Opened(source, None, "<bytes>")
    try:
        return _Opened(map_file(source), Path(source).resolve(), str(source))
    except OSError as error:
        raise GeError("GE1001", f"cannot read '{source}': {error.strerror or error}") from error


def _is_own(opened: _Opened) -> bool:
    """Whether this compiler wrote a file. Raises GE5001 to GE5004 and GE5006."""
    first, *parts = read_containers(opened.data, opened.where)
    definition = decode_partition(first, PartitionType.MODEL_DEF, ir.ModelDef(), opened.where)
    return not parts and definition.custom_version.startswith(PRODUCER)


@dataclass(frozen=True)
class _Operator:
    """An operator as the graph says it, checked."""

    label: str
    kind: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    attributes: Mapping[str, Attribute]

    def strings(self, name: str) -> tuple[str, ...]:
        """The strings of a list attribute; none when it is not there."""
        return _strings(self.attributes.get(name))


class _Reader:
    """One OM file being read."""

    def __init__(self, opened: _Opened) -> None:
        self.where = where = opened.where
        self.file = file = opened.file
        self.container = container = read_container(opened.data, where)
        definition = decode_partition(container, PartitionType.MODEL_DEF, ir.ModelDef(), where)
        self.task_info = decode_partition(container, PartitionType.TASK_INFO, task.ModelTaskDef(), where)
        if not definition.custom_version.startswith(PRODUCER):
            raise GeError(
                "GE5008", f"the file was written by '{definition.custom_version or 'an unknown compiler'}'", where
            )
        self.external = WeightsFile.named_in(definition, where)
        self.weights = weights_of(container, definition, None if file is None else file.parent, where)
        if len(definition.graph) != 1:
            raise self.contradiction(f"the model definition holds {len(definition.graph)} graphs")
        with self.checked("the model"):
            self.attributes = {name: read_attribute(attr) for name, attr in sorted(definition.attr.items())}
        self.name = definition.name
        self.memory_size = self.integer("memory_size")
        self.core_kernels = self.store(PartitionType.TBE_KERNELS)
        self.host_kernels = self.store(PartitionType.CUST_AICPU_KERNELS)
        self.values: dict[str, Value] = {}
        self.operators = [self.operator(op) for op in definition.graph[0].op]

    # ------------------------------------------------------------ checks

    def contradiction(self, what: str) -> GeError:
        """The error of a file whose parts do not fit together."""
        return GeError("GE5007", what, self.where)

    @contextmanager
    def checked(self, what: str) -> Generator[None]:
        """Turn a message without a meaning into one error that names its place."""
        try:
            yield
        except ValueError as error:
            raise self.contradiction(f"{what}: {error}") from error

    def store(self, kind: PartitionType) -> Mapping[str, memoryview]:
        """The kernels of a partition by name."""
        return read_store(self.container.partition(kind), self.where)

    def integer(self, name: str) -> int:
        """An attribute of the model that is a size."""
        attr = self.attributes.get(name)
        if not isinstance(attr, IntegerAttr) or attr.value.data < 0:
            raise self.contradiction(f"the model has no size '{name}'")
        return attr.value.data

    def string(self, name: str) -> str:
        """An attribute of the model that is text."""
        attr = self.attributes.get(name)
        if not isinstance(attr, StringAttr):
            raise self.contradiction(f"the model has no text '{name}'")
        return attr.data

    # ------------------------------------------------------------ the graph

    def operator(self, message: ir.OpDef) -> _Operator:
        """An operator, whose operands have been read before."""
        label, what = message.name, f"operator '{message.name}'"
        if f"{label}:0" in self.values:
            raise self.contradiction(f"{what} occurs twice")
        missing = next((edge for edge in message.input if edge not in self.values), None)
        if missing is not None:
            raise self.contradiction(f"{what} reads '{missing}', which no operator before it makes")
        inputs = tuple(self.values[edge] for edge in message.input)
        derived = (KERNEL_NAME, "value") if message.type == "Const" else (KERNEL_NAME,)
        names = sorted(name for name in message.attr if name not in derived)
        with self.checked(what):
            attributes = {name: read_attribute(message.attr[name]) for name in names}
        offsets, descriptors = message.output_i, message.output_desc
        if len(offsets) != len(descriptors):
            raise self.contradiction(f"{what} has {len(descriptors)} results and {len(offsets)} offsets")
        if NO_TASK in attributes and not inputs:
            raise self.contradiction(f"{what} is a view of nothing")
        view_of = inputs[0].area if NO_TASK in attributes else None
        if view_of is not None and (view_of is Area.HOST or NO_OFFSET in offsets):
            raise self.contradiction(f"{what} is a view of a value of the host")
        if message.type == "Const" and NO_OFFSET in offsets:
            raise self.contradiction(f"{what} has no place in the weights")
        outputs = [
            self.value(f"{label}:{index}", offset, descriptor, result_area(message.type, offset, view_of))
            for index, (offset, descriptor) in enumerate(zip(offsets, descriptors, strict=True))
        ]
        self.values.update({value.name: value for value in outputs})
        return _Operator(label, message.type, inputs, tuple(outputs), attributes)

    def value(self, name: str, offset: int, descriptor: ir.TensorDescriptor, area: Area) -> Value:
        """A result, which must lie inside its memory."""
        with self.checked(f"value '{name}'"):
            type = read_type(descriptor)
        if offset == NO_OFFSET:
            return Value(name, type, Area.HOST, offset, 0)
        size = value_bytes(type)
        end = self.weights.nbytes if area is Area.WEIGHTS else self.memory_size
        if size is None or offset < 0 or offset + size > end:
            raise self.contradiction(f"value '{name}' at offset {offset} does not fit the {end} bytes of its memory")
        return Value(name, type, area, offset, size)

    def launch(self, message: task.TaskDef) -> Task:
        """A task, which must run a kernel of the file for an operator of the file, on its values."""
        kernel = message.kernel
        what = f"task {message.id}"
        if message.type != KERNEL_TASK or kernel.context.op_index >= len(self.operators):
            raise self.contradiction(f"{what} is of type {message.type}, for operator {kernel.context.op_index}")
        operator = self.operators[kernel.context.op_index]
        on_host = kernel.context.kernel_type == HOST_KERNEL
        if kernel.kernel_name not in (self.host_kernels if on_host else self.core_kernels):
            raise self.contradiction(f"{what} runs kernel '{kernel.kernel_name}', which is not in the file")
        addresses = [address(value.area, value.offset) for value in (*operator.inputs, *operator.outputs)]
        if kernel.args != struct.pack(f"<{len(addresses)}Q", *addresses) or kernel.block_dim < 1:
            raise self.contradiction(f"{what} has other arguments than operator '{operator.label}'")
        return Task(
            *(operator.label, operator.kind, kernel.kernel_name, on_host, kernel.block_dim),
            *(operator.inputs, operator.outputs, operator.strings(NODE_NAMES)),
        )

    def check_order(self, tasks: Sequence[Task], steps: Sequence[Step], end: _Operator) -> None:
        """Check that whatever a task reads, and every output, is certain to be there by then.

        Views are what they are views of. Raises GE5012 for streams that wait for each other, GE5013 for tasks that use
        memory at the same time.
        """
        source = {value.name: value.name for value in self.values.values()}
        for operator in self.operators:
            if NO_TASK in operator.attributes:
                source.update((value.name, source[operator.inputs[0].name]) for value in operator.outputs)
        given = [operator for operator in self.operators if operator.kind in ("Data", "Const")]
        made = {value.name for operator in given for value in operator.outputs}
        try:
            known = task_clocks(steps)
        except DeadlockError as error:
            blocked = ", ".join(f"{index} (stream {steps[index].stream})" for index in error.blocked)
            raise GeError("GE5012", f"tasks {blocked} wait for events of each other", self.where) from error
        missing = unready(tasks, known, made, source)
        if missing is not None:
            raise self.contradiction(f"'{missing[0]}' reads '{missing[1]}', which no task before it makes")
        made.update(value.name for each in tasks for value in each.outputs)
        for value in end.inputs:
            if source[value.name] not in made:
                raise self.contradiction(f"'{end.label}' reads '{value.name}', which no task makes")
        both = race(tasks, known)
        if both is not None:
            raise GeError("GE5013", f"tasks of '{both[0]}' and '{both[1]}' use the same memory", self.where)

    def check_inout_info(self, inputs: Mapping[str, Value], outputs: Mapping[str, Value]) -> None:
        """Check that MODEL_INOUT_INFO, which older files do not have, says what the graph says."""
        kind = PartitionType.MODEL_INOUT_INFO
        if kind not in self.container.partitions:
            return
        found = read_inout_info(self.container.partition(kind), self.where)
        infos = [tuple(tensor_info(name, value.type) for name, value in each.items()) for each in (inputs, outputs)]
        if found != InOutInfo(*infos):
            raise self.contradiction("MODEL_INOUT_INFO says other inputs or outputs than the graph")

    # ------------------------------------------------------------ results

    def outputs(self) -> tuple[tuple[str, ...], _Operator]:
        """The names of the model's outputs, and the operator whose operands they are."""
        names = _strings(self.attributes.get(OUTPUT_NAMES))
        ends = [operator for operator in self.operators if operator.kind == "NetOutput"]
        if len(ends) != 1 or len(ends[0].inputs) != len(names):
            raise self.contradiction("the names of the outputs do not fit the NetOutput")
        return names, ends[0]

    def model(self) -> OmModel:
        """The file as plain data."""
        names, end = self.outputs()
        data = [operator for operator in self.operators if operator.kind == "Data"]
        if any(len(operator.outputs) != 1 for operator in data):
            raise self.contradiction("an operator Data has other than one result")
        self.check_inout_info({each.label: each.outputs[0] for each in data}, dict(zip(names, end.inputs, strict=True)))
        with self.checked("the streams"):
            steps = read_steps(self.task_info)
        events = (RECORD_TASK, WAIT_TASK)
        tasks = tuple(self.launch(message) for message in self.task_info.task if message.type not in events)
        if twice := [name for name, count in Counter(each.operator for each in tasks).items() if count > 1]:
            raise self.contradiction(f"operator '{twice[0]}' has more than one task")
        self.check_order(tasks, steps, end)
        return OmModel(
            name=self.name,
            soc=self.string("soc_version"),
            memory_size=self.memory_size,
            weights=self.weights,
            inputs={operator.label: operator.outputs[0] for operator in data},
            outputs=dict(zip(names, end.inputs, strict=True)),
            tasks=tasks,
            steps=tuple(steps),
            core_kernels=self.core_kernels,
            host_kernels=self.host_kernels,
        )

    def module(self) -> ModuleOp:
        """The file as a module."""
        model = self.model()
        body: list[Operation] = []
        if GRAPH in self.attributes:
            body.append(read_graph(self.string(GRAPH), self.where))
        if self.weights.nbytes:
            body.append(
                WeightsOp(WeightsAttr(self.weights_block()), None if self.external is None else self.external.stem)
            )
        body += [decode_core_kernel(name, bytes(binary)) for name, binary in self.core_kernels.items()]
        results = {entry.kernel: [value.type for value in entry.outputs] for entry in model.tasks if entry.on_host}
        body += [decode_host_kernel(name, bytes(self.host_kernels[name]), types) for name, types in results.items()]
        values: dict[str, SSAValue] = {}
        body += [_operator_op(operator, values) for operator in self.operators]
        tasks = iter(model.tasks)
        body += [_stream_op(step, tasks) for step in model.steps]
        io_size = self.integer("zero_copy_memory_size")
        op = ModelOp(self.name, model.soc, self.memory_size, io_size, tuple(model.outputs), body)
        op.attributes.update({name: each for name, each in self.attributes.items() if name not in WRITTEN_ATTRIBUTES})
        return ModuleOp([op])

    def weights_block(self) -> Weights:
        """The weights as a constant that text can refer to in the OM file itself, or in its weights file."""
        if self.file is None:
            return Weights(self.weights, self.weights.nbytes)
        if self.external is not None:
            origin = Origin(self.file.with_name(self.external.name), 0)
            return Weights(self.weights, self.weights.nbytes, origin, self.external.digest)
        offset = self.container.offsets[PartitionType.WEIGHTS_DATA]
        return Weights(self.weights, self.weights.nbytes, Origin(self.file, offset))


def _stream_op(step: Step, tasks: Iterator[Task]) -> Operation:
    """The operation of a step; a task takes the next of the tasks."""
    if step.records is not None:
        return RecordOp(step.records, step.stream)
    if step.waits is not None:
        return WaitOp(step.waits, step.stream)
    entry = next(tasks)
    return TaskOp(entry.kernel, entry.operator, entry.blocks, step.stream)


def _operator_op(operator: _Operator, values: dict[str, SSAValue]) -> OperatorOp:
    """The operation of an operator; adds its results to `values`."""
    attributes = {name: attr for name, attr in operator.attributes.items() if name != NODE_NAMES}
    op = OperatorOp(
        operator.kind,
        operator.label,
        [values[value.name] for value in operator.inputs],
        [value.type for value in operator.outputs],
        [value.offset for value in operator.outputs],
        attributes,
    )
    op.location = _location(operator.strings(NODE_NAMES))
    values.update(zip((value.name for value in operator.outputs), op.outputs, strict=True))
    return op


def _strings(attr: Attribute | None) -> tuple[str, ...]:
    items = cast("ArrayAttr[Attribute]", attr) if isinstance(attr, ArrayAttr) else ()
    return tuple(item.data for item in items if isinstance(item, StringAttr))


def _location(names: Sequence[str]) -> LocationAttr:
    return fused_loc([name_loc(name) for name in names]) if names else UNKNOWN_LOC
