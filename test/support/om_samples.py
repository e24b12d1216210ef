"""OM files as other compilers write them, good and bad: a small Conv2D + Relu model, made with this project's messages.

``SAMPLES`` has for each name the file and what becomes of it: the code of the error that refuses it, or the problems
that are found in it (parts of their texts), none when it is whole.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from ge.targets.ascend.om.container import Container, PartitionType, pack_container, read_container
from ge.targets.ascend.om.kernel_store import pack_store
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task

WEIGHTS = bytearray(1536)
WEIGHTS[512:544] = struct.pack("<8f", *(0.5 * i for i in range(8)))
WEIGHTS[1024:1032] = struct.pack("<2f", 1.5, -2.0)

Part = tuple[int, bytes]


def desc(shape: Sequence[int], dtype: int = ir.DT_FLOAT, layout: str = "NCHW", **fields: Any) -> ir.TensorDescriptor:
    message = ir.TensorDescriptor(dtype=dtype, layout=layout, **fields)  # type: ignore[arg-type]
    message.shape.SetInParent()
    message.shape.dim.extend(shape)
    return message


def op(
    name: str,
    kind: str,
    inputs: Sequence[str] = (),
    ins: Sequence[ir.TensorDescriptor] = (),
    outs: Sequence[ir.TensorDescriptor] = (),
) -> ir.OpDef:
    return ir.OpDef(name=name, type=kind, input=inputs, input_desc=ins, output_desc=outs)


def const(name: str, of: ir.TensorDescriptor, offset: int, size: int) -> ir.OpDef:
    message = op(name, "Const", outs=[of])
    stored = message.attr["value"].t.desc
    stored.CopyFrom(of)
    stored.data_offset, stored.weight_size = offset, size
    return message


def model() -> ir.ModelDef:
    """y = relu(conv(x, w) + b), with attributes of every kind."""
    x, y, w, b = desc([1, 1, 4, 4]), desc([1, 2, 3, 3]), desc([2, 1, 2, 2]), desc([2], layout="ND")
    message = ir.ModelDef(name="demo", version=2, custom_version="1.0")
    for name, value in {"memory_size": 1024, "weight_size": 1536, "stream_num": 1, "event_num": 2}.items():
        message.attr[name].i = value
    message.attr["soc_version"].s = b"Ascend310P3"
    message.attr["atc_cmdline"].s = b"atc --model=demo.onnx"
    graph = message.graph.add(name="g")
    graph.op.extend([op("x", "Data", ins=[x], outs=[x]), const("w", w, 512, 32), const("b", b, 1024, 8)])
    conv = op("conv", "Conv2D", ["x:0", "w:0", "b:0"], [x, w, b], [y])
    conv.attr["strides"].list.i.extend([1, 1, 1, 1])
    conv.attr["groups"].i = 1
    conv.attr["data_format"].s = b"NCHW"
    conv.attr["eps"].f = 0.5
    conv.attr["flag"].b = True
    conv.attr["raw"].bt = b"\xff\x00"
    conv.attr["lists"].list_list_int.list_list_i.add(list_i=[1, 2])
    conv.attr["kind"].dt = 33
    conv.attr["of"].func.name = "f"
    conv.attr["empty"].SetInParent()
    graph.op.extend([conv, op("relu", "Relu", ["conv:0"], [y], [y]), op("out", "NetOutput", ["relu:0"], [y])])
    return message


def parts_of(definition: ir.ModelDef, weights: bytes = bytes(WEIGHTS)) -> list[Part]:
    tasks = task.ModelTaskDef(stream_num=1).SerializeToString()
    return [
        (PartitionType.MODEL_DEF, definition.SerializeToString(deterministic=True)),
        (PartitionType.WEIGHTS_DATA, weights),
        (PartitionType.TASK_INFO, tasks),
    ]


def packed(parts: Sequence[Part], wide: bool = True) -> bytes:
    pieces = pack_container("demo", parts, wide=wide)  # type: ignore[arg-type]
    return b"".join(bytes(memoryview(piece)) for piece in pieces)


def changed(change: Callable[[ir.ModelDef], object], weights: bytes = bytes(WEIGHTS)) -> bytes:
    """The file with another model definition."""
    definition = model()
    change(definition)
    return packed(parts_of(definition, weights))


def patched(data: bytes, offset: int, value: bytes) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


def shifted(first: int) -> bytes:
    """Partitions that begin some bytes behind the table."""
    data = packed(parts_of(model()))
    container: Container = read_container(data, "")
    start = 256 + container.table_bytes
    table = bytearray(data[256:start])
    for number in range(len(container.partitions)):
        (offset,) = struct.unpack_from("<Q", table, 8 + 24 * number + 8)
        struct.pack_into("<Q", table, 8 + 24 * number + 8, offset + first)
    body = bytes(table) + bytes(first) + data[start:]
    return patched(data[:256], 184, struct.pack("<Q", len(body))) + body


def aligned(to: int = 32) -> bytes:
    """Table and partitions each filled with zero bytes, as in files for small chips; with kernels of odd sizes."""
    parts = [*parts_of(model()), (PartitionType.TBE_KERNELS, pack_store({"conv": b"\x7fELF", "": b"x"}))]
    table = struct.pack("<I4x", len(parts))
    gap = -(len(table) + 24 * len(parts)) % to
    body = bytes(gap)
    for kind, data in parts:
        table += struct.pack("<I4xQQ", kind, len(body), len(data))
        body += data + bytes(-len(data) % to)
    return patched(packed(parts)[:256], 184, struct.pack("<Q", len(table + body))) + table + body


def with_tail(size: int) -> bytes:
    """Zero bytes behind the last partition."""
    data = packed(parts_of(model()))
    return patched(data[:256], 184, struct.pack("<Q", len(data) - 256 + size)) + data[256:] + bytes(size)


def flow(*more: Part) -> bytes:
    """A flow of two models, each an OM file in a partition of its own; without a model, a partition of the graph."""
    models: list[Part] = [(PartitionType.FLOW_SUBMODEL, packed(parts_of(model()), wide=wide)) for wide in (True, False)]
    return patched(packed([*parts_of(model()), (PartitionType.FLOW_MODEL, b"flow"), *models, *more]), 82, b"\3")


def joined(count: int) -> bytes:
    """A file for dynamic shapes: the model, and parts of it that are models, each with a table and partitions."""
    single = packed(parts_of(model()))
    body = single[256:] * count
    header = patched(single[:256], 156, struct.pack("<I", count))
    return patched(header, 184, struct.pack("<Q", len(body))) + body


def _ops(definition: ir.ModelDef) -> Any:
    return definition.graph[0].op


def with_constant(kind: str, of: ir.TensorDescriptor, data: bytes) -> bytes:
    """The file with one more constant, whose bytes are in it, and an operator that reads it."""
    constant = op("k", kind, outs=[of])
    constant.attr["value"].t.desc.CopyFrom(of)
    constant.attr["value"].t.data = data
    return changed(lambda m: _ops(m).extend([constant, op("reader", "Identity", ["k:0"], [of], [of])]))


def reordered(change: Callable[[Any], object]) -> bytes:
    """The file with the operator Relu in front of all others."""

    def first(definition: ir.ModelDef) -> None:
        ops = [*_ops(definition)]
        change(ops[4])
        del definition.graph[0].op[:]
        definition.graph[0].op.extend([ops[4], *ops[:4], ops[5]])

    return changed(first)


def shared_libraries(*names: str) -> bytes:
    """The partition SO_BINS."""
    head = struct.Struct("<IHHII")
    binaries = (head.pack(0x5D776EFD, len(name), 0, 0, 4) + name.encode() + b"\x7fELF" for name in names)
    return struct.pack("<I", len(names)) + b"".join(binaries)


_GOOD = packed(parts_of(model()))
_Y = desc([1, 2, 3, 3])

SAMPLES: dict[str, tuple[bytes, str | list[str]]] = {
    "wide": (_GOOD, []),
    "narrow": (packed(parts_of(model()), wide=False), []),
    "narrow, one partition": (packed(parts_of(model())[:1], wide=False), ["constant 'w' has 0 of its 32 bytes"] * 1),
    "old version": (patched(packed(parts_of(model()), wide=False), 8, struct.pack("<I", 0x10000000)), []),
    "64-bit table of the old version": (patched(_GOOD, 8, struct.pack("<I", 0x10000000)), []),
    "wide, one partition": (packed(parts_of(model())[:1]), ["constant 'w' has 0 of its 32 bytes"]),
    "platform version": (patched(_GOOD, 160, b"3.0.0.0"), []),
    "bytes behind the name in the header": (patched(_GOOD, 84, b"demo\0\xff\xfe"), []),
    "bytes in the rest of the header": (patched(_GOOD, 200, b"\x01"), []),
    "bytes in the padding of the table": (patched(_GOOD, 256 + 8 + 4, b"\xcc\xcc\xcc\xcc"), []),
    "order edge": (changed(lambda m: _ops(m)[3].input.append("x:-1")), []),
    "no optional input": (changed(lambda m: (_ops(m)[3].input.__setitem__(2, ""), _ops(m)[3].input_desc.pop())), []),
    "consumer first": (reordered(lambda relu: relu), []),
    "consumer first, without a shape": (
        reordered(lambda relu: relu.input_desc[0].ClearField("shape")),
        ["shape: one end has none"],
    ),
    "constant read as two types": (
        changed(lambda m: _ops(m).append(op("add", "Add", ["relu:0", "b:0"], [_Y, desc([2], ir.DT_FLOAT16)], [_Y]))),
        ["element type"],
    ),
    "Constant, not Const": (with_constant("Constant", desc([2]), bytes(8)), []),
    "constant of text": (with_constant("Const", desc([1], ir.DT_STRING), b"abc"), []),
    "constant of float16": (with_constant("Const", desc([2], ir.DT_FLOAT16), struct.pack("<2e", 1.5, -2)), []),
    "scalar constant": (with_constant("Const", desc([], ir.DT_INT32), struct.pack("<i", 7)), []),
    "empty list": (changed(lambda m: setattr(_ops(m)[3].attr["e"].list, "val_type", 2)), []),
    "expression": (changed(lambda m: setattr(_ops(m)[3].attr["e"], "expression", b"s0")), []),
    "new element type as attribute": (changed(lambda m: setattr(_ops(m)[3].attr["e"], "dt", 33)), []),
    "attributes that viewers know": (
        changed(
            lambda m: (setattr(_ops(m)[3].attr["device"], "s", b"npu"), setattr(_ops(m)[3].attr["relu_flag"], "b", 1))
        ),
        [],
    ),
    "kernels": (packed([*parts_of(model()), (3, pack_store({"conv": b"\x7fELF", "": b""}))]), []),
    "shared libraries": (packed([*parts_of(model()), (5, shared_libraries("a.so", "b.so"))]), []),
    "no shared libraries": (packed([*parts_of(model()), (5, shared_libraries())]), []),
    "two graphs": (changed(lambda m: m.graph.add(name="sub")), []),
    "graph as attribute": (changed(lambda m: _ops(m)[3].attr["sub"].g.CopyFrom(model().graph[0])), []),
    "data in the constant": (changed(lambda m: setattr(_ops(m)[1].attr["value"].t, "data", bytes(32))), []),
    "type as attribute": (changed(lambda m: _ops(m)[3].attr["td"].td.CopyFrom(_Y)), []),
    "floats in lists": (changed(lambda m: _ops(m)[3].attr["f"].list_list_float.list_list_f.add(list_f=[1.0])), []),
    "new element type": (
        changed(lambda m: [setattr(d, "dtype", 33) for d in _ops(m)[0].output_desc]),
        ["element type"],
    ),
    "other element type": (changed(lambda m: setattr(_ops(m)[3].input_desc[0], "dtype", 2)), ["element type"]),
    "other size": (changed(lambda m: _ops(m)[3].input_desc[0].shape.dim.__setitem__(2, 5)), ["number of elements"]),
    "other shape of equal size": (
        changed(
            lambda m: (_ops(m)[3].input_desc[0].ClearField("shape"), _ops(m)[3].input_desc[0].shape.dim.append(16))
        ),
        [],
    ),
    "no shape": (changed(lambda m: _ops(m)[3].input_desc[0].ClearField("shape")), ["shape: one end has none"]),
    "two of one name": (changed(lambda m: _ops(m).append(op("conv", "Relu", ["relu:0"], [_Y], [_Y]))), ["2 operators"]),
    "edge from nowhere": (changed(lambda m: _ops(m)[4].input.__setitem__(0, "nobody:0")), ["which no operator makes"]),
    "edge from a result too many": (changed(lambda m: _ops(m)[4].input.__setitem__(0, "conv:7")), ["does not have"]),
    "input without a type": (changed(lambda m: _ops(m)[4].ClearField("input_desc")), ["has 1 inputs and types of 0"]),
    "constant without a type": (changed(lambda m: _ops(m)[1].attr["value"].t.Clear()), ["constant 'w' has no shape"]),
    "weights too short": (changed(lambda m: m, bytes(WEIGHTS[:520])), ["constant 'w' has 8 of its 32 bytes"]),
    "no weights": (
        packed([part for part in parts_of(model()) if part[0] != PartitionType.WEIGHTS_DATA]),
        ["constant 'w' has 0 of its 32 bytes", "constant 'b' has 0 of its 8 bytes"],
    ),
    "name with a colon": (changed(lambda m: _ops(m).append(op("a:b", "Relu", ["relu:0"], [_Y], [_Y]))), []),
    "dynamic size": (
        changed(
            lambda m: [d.shape.dim.__setitem__(0, -1) for d in (*_ops(m)[0].output_desc, _ops(m)[3].input_desc[0])]
        ),
        [],
    ),
    **{
        f"partition {kind}": (packed([*parts_of(model()), (kind, bytes(8))]), [])
        for kind in (5, 13, 25, 26, 4000000000)
    },
    "inputs and outputs cut off": (packed([(8, bytes(40)), *parts_of(model())]), []),
    "partition twice": (packed([*parts_of(model()), (2, b"")]), "GE5003"),
    "no model": (packed(parts_of(model())[1:]), "GE5003"),
    "model is no message": (packed([(0, b"\xff\xff\xff"), (2, b"")]), "GE5006"),
    "tasks are no message": (packed([*parts_of(model())[:2], (2, b"\xff\xff\xff")]), "GE5006"),
    "kernels cut off": (packed([*parts_of(model()), (3, b"\xfd\x6e\x77\x5d\x05")]), "GE5005"),
    "partition at 24 bytes": (shifted(24), []),
    "partition at 4096 bytes": (shifted(4096), []),
    "partition beyond a page": (shifted(4097), "GE5003"),
    "gap with bytes in it": (patched(shifted(24), 256 + 8 + 3 * 24 + 23, b"\1"), "GE5003"),
    "aligned to 32 bytes": (aligned(), []),
    "zero bytes at the end": (with_tail(24), []),
    "too many zero bytes at the end": (with_tail(4097), "GE5003"),
    "other magic": (patched(_GOOD, 0, b"DOMI"), "GE5001"),
    "cut off": (_GOOD[:-1], "GE5002"),
    "flow of models": (flow(), []),
    "two partitions of a type in a flow of models": (flow((2, b"")), "GE5003"),
    "models of a flow in a single model": (patched(flow(), 82, b"\0"), "GE5003"),
    "model type bundle": (patched(_GOOD, 82, b"\x05"), "GE5004"),
    "encrypted": (patched(_GOOD, 80, b"\x01"), "GE5004"),
    "three models, two missing": (patched(_GOOD, 156, struct.pack("<I", 3)), "GE5002"),
    "too many models": (patched(_GOOD, 156, struct.pack("<I", 5000)), "GE5004"),
    "three models": (joined(3), []),
    "three models, two announced": (patched(joined(3), 156, struct.pack("<I", 2)), "GE5003"),
}
