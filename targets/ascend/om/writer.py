"""Writing an `om.model` as an OM file. Equal modules give equal bytes: no time, no path, no hash order is in them.

An `om.file` is written, too, by `any_file.py`.

Where the bytes come from:

| partition | content |
|---|---|
| MODEL_INOUT_INFO | the types of inputs and outputs |
| MODEL_DEF | the operators; the names of the model's nodes come from their locations |
| WEIGHTS_DATA | `om.weights`, unless they are external |
| TBE_KERNELS | the kernels of the AI Cores, encoded |
| CUST_AICPU_KERNELS | the kernels of the host, each an ONNX model |
| TASK_INFO | the tasks, with the addresses of their arguments |
"""

from __future__ import annotations

import struct
from pathlib import Path

from typing_extensions import Buffer
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, OpResult, SSAValue

import ge
from ge.dialects.om import FileOp, KernelOp, ModelOp, OperatorOp, RecordOp, TaskOp
from ge.dialects.om.values import Area, value_bytes
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.weights import atomic_write
from ge.targets.ascend.om.any_file import file_pieces
from ge.targets.ascend.om.container import MODEL_DEF_VERSION, PartitionType, pack_container
from ge.targets.ascend.om.conventions import (
    AI_CORE_KERNEL,
    BASE_ADDRESS,
    GRAPH,
    HOST_KERNEL,
    KERNEL_NAME,
    KERNEL_TASK,
    NODE_NAMES,
    OUTPUT_NAMES,
    PRODUCER,
    RECORD_TASK,
    WAIT_TASK,
    WEIGHTS_FILE,
    WEIGHTS_SHA256,
    address,
)
from ge.targets.ascend.om.external_weights import WeightsFile
from ge.targets.ascend.om.graph_text import graph_text
from ge.targets.ascend.om.inout_info import InOutInfo, pack_inout_info, tensor_info
from ge.targets.ascend.om.kernel_store import pack_store
from ge.targets.ascend.om.kernels import encode_kernel
from ge.targets.ascend.om.messages import write_attribute, write_descriptor
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task


def write_module(module: ModuleOp, path: str | Path) -> None:
    """Write the `om.model` or `om.file` of a module to the file `path`, which is replaced only by a complete file.

    External weights are written beside it before it appears, in a file that no other weights have the name of: the OM
    file that is there, old or new, always finds its own. Raises GE1003 when a file cannot be written and GE5009 when
    the module has no form in an OM file.
    """
    model = _only_model(module)
    external = _external_weights(model)
    path = Path(path)
    if external is not None and path.exists() and not path.is_file():
        raise GeError("GE1003", f"external weights need a folder, and '{path}' is no regular file", str(path))
    try:
        with atomic_write(path) as stream:
            for piece in _pieces(model, external):
                stream.write(piece)
            stream.flush()  # a full disk is found before the weights file appears
            if isinstance(model, ModelOp) and external is not None:
                external.write(path.parent, _weights(model))
    except OSError as error:
        raise GeError("GE1003", f"cannot write '{path}': {error.strerror or error}") from error


def model_bytes(module: ModuleOp) -> bytes:
    """The OM file of a module, with its weights in it also when they are external. Raises GE5009."""
    return b"".join(_pieces(_only_model(module), None))


def is_written_as(module: ModuleOp, data: Buffer) -> bool:
    """Whether a module is written as these bytes (and a weights file beside them when its weights are external)."""
    model = _only_model(module)
    view = memoryview(data).cast("B")
    position = 0
    try:
        for piece in _pieces(model, _external_weights(model)):
            end = position + memoryview(piece).nbytes
            if view[position:end] != memoryview(piece).cast("B"):
                return False
            position = end
    except GeError:
        return False
    return position == view.nbytes


def _only_model(module: ModuleOp) -> ModelOp | FileOp:
    models = [op for op in module.ops if isinstance(op, ModelOp | FileOp)]
    if len(models) != 1:
        raise GeError("GE5009", f"the module holds {len(models)} om.model")
    return models[0]


def _pieces(model: ModelOp | FileOp, external: WeightsFile | None) -> list[Buffer]:
    return _model_pieces(model, external) if isinstance(model, ModelOp) else file_pieces(model)


def _external_weights(model: ModelOp | FileOp) -> WeightsFile | None:
    """The weights file that a model wants; None when its weights belong into the OM file."""
    op = model.weights_op if isinstance(model, ModelOp) else None
    if not isinstance(model, ModelOp) or op is None or op.external is None:
        return None
    return WeightsFile.of(op.external.data, op.value.data)


def _weights(model: ModelOp) -> memoryview:
    return memoryview(b"") if model.weights is None else model.weights.buffer


def _model_pieces(model: ModelOp, external: WeightsFile | None) -> list[Buffer]:
    weights = _weights(model)
    host_kernels = [kernel for kernel in model.kernels if kernel.runs_on_host]
    core_kernels = [kernel for kernel in model.kernels if not kernel.runs_on_host]
    definition = _model_def(model, weights.nbytes)
    if external is not None:
        definition.attr[WEIGHTS_FILE].s = external.name.encode()
        definition.attr[WEIGHTS_SHA256].s = external.digest.encode()
    if model.graph is not None:
        definition.attr[GRAPH].s = graph_text(model.graph).encode()
    partitions: list[tuple[PartitionType, Buffer]] = [
        (PartitionType.MODEL_INOUT_INFO, pack_inout_info(_inout_info(model))),
        (PartitionType.MODEL_DEF, definition.SerializeToString(deterministic=True)),
        (PartitionType.WEIGHTS_DATA, weights if external is None else b""),
        (PartitionType.TBE_KERNELS, _store(core_kernels)),
        (PartitionType.CUST_AICPU_KERNELS, _store(host_kernels)),
        (PartitionType.TASK_INFO, _task_info(model, weights.nbytes).SerializeToString(deterministic=True)),
    ]
    return pack_container(model.sym_name.data, [(kind, data) for kind, data in partitions if memoryview(data).nbytes])


def _inout_info(model: ModelOp) -> InOutInfo:
    data = [op for op in model.operators if op.kind.data == "Data"]
    outputs = [value for op in model.operators if op.kind.data == "NetOutput" for value in op.inputs]
    names = [name.data for name in model.output_names]
    return InOutInfo(
        tuple(tensor_info(op.label.data, op.outputs[0].type) for op in data),
        tuple(tensor_info(name, value.type) for name, value in zip(names, outputs, strict=True)),
    )


def _store(kernels: list[KernelOp]) -> bytes:
    return pack_store({kernel.sym_name.data: encode_kernel(kernel) for kernel in kernels})


# ---------------------------------------------------------------- the graph


def _model_def(model: ModelOp, weight_size: int) -> ir.ModelDef:
    message = ir.ModelDef(
        name=model.sym_name.data, version=MODEL_DEF_VERSION, custom_version=f"{PRODUCER} {ge.__version__}"
    )
    streams, events = _stream_counts(model)
    attributes: dict[str, Attribute] = {
        "memory_size": model.memory_size,
        "weight_size": IntegerAttr(weight_size, i64),
        "zero_copy_memory_size": model.io_size,
        "stream_num": IntegerAttr(streams, i64),
        "event_num": IntegerAttr(events, i64),
        "label_num": IntegerAttr(0, i64),
        "soc_version": model.soc,
        "task_gen_base_addr": IntegerAttr(BASE_ADDRESS[Area.MEMORY], i64),
        "task_gen_weight_addr": IntegerAttr(BASE_ADDRESS[Area.WEIGHTS], i64),
        OUTPUT_NAMES: model.output_names,
        **model.attributes,
    }
    for name, attr in attributes.items():
        write_attribute(attr, message.attr[name])
    graph = message.graph.add(name=model.sym_name.data)
    task_of = {op.operator.data: op for op in model.tasks}
    for number, op in enumerate(model.operators):
        _write_operator(op, number, task_of.get(op.label.data), graph.op.add())
        if op.kind.data == "Data":
            graph.input.append(f"{op.label.data}:0")
        if op.kind.data == "NetOutput":
            graph.output.extend(_edge(value) for value in op.inputs)
    return message


def _edge(value: SSAValue) -> str:
    """The name of a value: its operator and which result of it."""
    op, index = _producer(value)
    return f"{op.label.data}:{index}"


def _producer(value: SSAValue) -> tuple[OperatorOp, int]:
    assert isinstance(value, OpResult) and isinstance(value.op, OperatorOp)
    return value.op, value.index


def _write_operator(op: OperatorOp, number: int, run: TaskOp | None, message: ir.OpDef) -> None:
    message.name, message.type, message.id = op.label.data, op.kind.data, number
    for value in op.inputs:
        producer, index = _producer(value)
        message.input.append(_edge(value))
        message.src_name.append(producer.label.data)
        message.src_index.append(index)
        message.input_i.append(producer.result_offsets[index])
        message.is_input_const.append(producer.kind.data == "Const")
        _write_value(value, message.input_desc.add())
    for result in op.outputs:
        uses = [(user, use.index) for use in result.uses if isinstance(user := use.operation, OperatorOp)]
        message.dst_name.extend(user.label.data for user, _ in uses)
        message.dst_index.extend(index for _, index in uses)
        message.output_i.append(_producer(result)[0].result_offsets[result.index])
        _write_value(result, message.output_desc.add())
    if op.kind.data == "Data":
        message.input_desc.add().CopyFrom(message.output_desc[0])
    if op.kind.data == "Const":
        message.attr["value"].t.desc.CopyFrom(message.output_desc[0])
    attributes = dict(op.attributes)
    if names := node_names(op):
        attributes[NODE_NAMES] = ArrayAttr(StringAttr(name) for name in names)
    if run is not None:
        attributes[KERNEL_NAME] = run.kernel.root_reference
        message.stream_id = run.step.stream
    for name, attr in attributes.items():
        write_attribute(attr, message.attr[name])


def _write_value(value: SSAValue, message: ir.TensorDescriptor) -> None:
    """The descriptor of a value; that of a constant says where its bytes are."""
    write_descriptor(value.type, message)
    producer, index = _producer(value)
    if producer.kind.data == "Const":
        message.data_offset = producer.result_offsets[index]
        message.weight_size = value_bytes(value.type) or 0


# ---------------------------------------------------------------- the tasks


def _stream_counts(model: ModelOp) -> tuple[int, int]:
    """The number of streams, at least 1, and that of events."""
    steps = [op.step for op in model.stream_work]
    streams = max((step.stream for step in steps), default=0) + 1
    return streams, max((step.records for step in steps if step.records is not None), default=-1) + 1


def _task_info(model: ModelOp, weight_size: int) -> task.ModelTaskDef:
    streams, events = _stream_counts(model)
    message = task.ModelTaskDef(
        memory_size=model.memory_size.value.data,
        weight_size=weight_size,
        stream_num=streams,
        event_num=events,
        base_addr=BASE_ADDRESS[Area.MEMORY],
        weight_addr=BASE_ADDRESS[Area.WEIGHTS],
    )
    operators = {op.label.data: (number, op) for number, op in enumerate(model.operators)}
    on_host = {kernel.sym_name.data: kernel.runs_on_host for kernel in model.kernels}
    for number, op in enumerate(model.stream_work):
        entry = message.task.add(id=number, stream_id=op.step.stream)
        if not isinstance(op, TaskOp):
            entry.type = RECORD_TASK if isinstance(op, RecordOp) else WAIT_TASK
            entry.event_id = op.event.value.data
            continue
        operator_number, operator = operators[op.operator.data]
        values = [*operator.inputs, *operator.outputs]
        entry.type = KERNEL_TASK
        kernel = entry.kernel
        kernel.kernel_name = kernel.stub_func = op.kernel.root_reference.data
        kernel.block_dim = op.blocks.value.data
        kernel.args = struct.pack(f"<{len(values)}Q", *map(_address, values))
        kernel.args_size = len(kernel.args)
        kernel.context.kernel_type = HOST_KERNEL if on_host[kernel.kernel_name] else AI_CORE_KERNEL
        kernel.context.op_index = operator_number
        kernel.context.args_count = len(values)
        kernel.context.args_offset = struct.pack("<H", 0)
    return message


def _address(value: SSAValue) -> int:
    """The address of a value in kernel arguments."""
    op, index = _producer(value)
    return address(op.area(index), op.result_offsets[index])
