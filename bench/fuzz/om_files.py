"""Target `om`: OM files through the reader, the text form, the writer, and the run time."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf.message import DecodeError, Message
from onnx import ModelProto
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64

from bench.fuzz import byte_mutations, message_mutations
from bench.fuzz.byte_mutations import INTEGERS, word
from bench.fuzz.memory import MEMORY_FACTOR, MEMORY_FLOOR, within
from bench.fuzz.round_trip import check_round_trip
from bench.fuzz.sandbox import RUN_SECONDS, Progress
from bench.fuzz.small_models import small_models
from bench.fuzz.target import SeedFile, Target
from bench.fuzz.verdict import PASSED
from bench.safe_writing import large
from ge import Runtime
from ge.dialects.om import GraphOp, WeightsOp
from ge.dialects.om.container import ContainerOp, KernelStoreOp, PartitionOp
from ge.ir.errors import GeError
from ge.ir.printer import print_module
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsMode
from ge.lowering.program_to_om.source_graph import attach_graph, source_graph
from ge.targets.ascend.om.any_file import file_op
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.kernel_store import pack_store, read_store
from ge.targets.ascend.om.proto import ge_ir_pb2, task_pb2
from ge.targets.ascend.om.reader import read_model, read_module, read_own_module
from ge.targets.ascend.om.writer import model_bytes, write_module
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.model_writer import ModelWriter
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.compilation import GROUP, STAGES, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.om_difference import differences
from ge.tools.om_extract import device_model
from ge.tools.om_inspection import om_facts
from ge.tools.om_json import message_json
from ge.tools.om_kernels import kernel_names, kernel_text
from ge.tools.om_onnx import onnx_module

Partitions = dict[int, bytes]

_LARGE = 6_000_000
"""Bytes of weights of a seed file for which the factor allows more than the floor."""


class OmTarget(Target):
    """See the module docstring."""

    name = "om"
    max_bytes = 2 * _LARGE

    def __init__(self, small: bool = False) -> None:
        modules = {name: compiled(model, name) for name, model in small_models().items() if not small or name != "cnn"}
        self._files = [SeedFile(name, model_bytes(module), name) for name, module in modules.items()]
        if not small:
            self._files.append(SeedFile("large", model_bytes(large(1, _LARGE)), "large"))
        self.companions = {}
        for name, keep in (("mlp", 1.0), ("grouped", 0.5)):  # a whole weights file, and one that is cut short
            om, weights, content = external_form(modules[name])
            self._files.append(SeedFile(f"{name}, external", om, "external"))
            self.companions[weights] = content[: int(keep * len(content))]
        self._warm_up()

    def seed_files(self) -> list[SeedFile]:
        return self._files

    def _warm_up(self) -> None:
        """Load what is loaded when it is first used, so that it does not count as memory of a case."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "seed.om"
            for name, content in self.companions.items():
                (path.parent / name).write_bytes(content)
            for file in self._files:
                path.write_bytes(file.data)
                with suppress(GeError):  # of weights that are cut short
                    read_and_write(path, Progress())

    def mutate(self, data: bytes, random: Random) -> bytes:
        other = self.choose(random).data
        try:
            container = read_container(data, "")
            if random.random() < 0.1:
                return byte_mutations.mutate(data[:400], random, other[:400]) + data[400:]
        except GeError:
            return byte_mutations.mutate(data, random, other)
        partitions = {kind: bytes(part) for kind, part in container.partitions.items()}
        others = {kind: bytes(part) for kind, part in read_container(other, "").partitions.items()}
        random.choice(_MUTATIONS)(partitions, random, others)
        parts: Any = list(partitions.items())  # numbers that are no PartitionType, too
        packed = b"".join(bytes(memoryview(piece)) for piece in pack_container(container.name, parts))
        return _aligned(packed, random) if random.random() < 0.1 else packed

    def run(self, path: Path, progress: Progress) -> str:
        size = path.stat().st_size + sum(map(len, self.companions.values()))
        module = within(max(MEMORY_FLOOR, MEMORY_FACTOR * size), lambda: read_and_write(path, progress))
        if size < _LARGE:  # the text has two characters for each byte of the weights
            progress.at("text")
            check_round_trip(module)
        model = read_model(path)
        progress.at("load")
        loaded = Runtime().load(path)
        progress.at("inputs")
        inputs = random_inputs([InputInfo(name, value.type) for name, value in model.inputs.items()], 0)
        progress.at("run", seconds=RUN_SECONDS)
        loaded.run(inputs)
        progress.at("end")
        return PASSED


def read_and_write(path: Path, progress: Progress) -> ModuleOp:
    """What tools do with a file without running it; the module that it is."""
    progress.at("look inside")
    with suppress(GeError):  # the same file may be refused for another reason below
        _look_inside(path)
    progress.at("any file")
    any_module = read_module(path)
    print_module(any_module, weights=WeightsMode.ELIDED)
    del any_module
    progress.at("read model")
    read_model(path)
    progress.at("read module")
    module = read_own_module(path)
    verify_module(module)
    progress.at("write")
    model_bytes(module)
    return module


def external_form(module: ModuleOp) -> tuple[bytes, str, bytes]:
    """The OM file of a module with its weights beside it, the name of their file, and its content."""
    model = module.clone()
    for op in model.walk():
        if isinstance(op, WeightsOp):
            op.external = StringAttr("model")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.om"
        write_module(model, path)
        (weights,) = path.parent.glob("*.weights")
        return path.read_bytes(), weights.name, weights.read_bytes()


def compiled(model: ModelProto, name: str) -> ModuleOp:
    """The module of the OM file of a model."""
    module = import_model(model)
    graph: GraphOp | None = None
    for stage in STAGES:
        run_stage(stage, module, CompileOptions(Path(f"{name}.onnx")))
        if stage is GROUP:
            graph = source_graph(module)
    assert graph is not None
    attach_graph(module, graph)
    return module


def _look_inside(path: Path) -> None:
    """What ge-om does with a file, which need not be one that runs."""
    file = OmFile.open(path)
    json.dumps([om_facts(file), message_json(file.definition)])
    differences(file, file)
    device_model(file, ModelWriter().tensor).SerializeToString()
    onnx_module(file)
    for name in kernel_names(file):
        kernel_text(file, name)


# ---------------------------------------------------------------- mutations of partitions


def _mutate_message(
    kind: PartitionType, empty: Callable[[], Message]
) -> Callable[[Partitions, Random, Partitions], None]:
    def mutate(partitions: Partitions, random: Random, others: Partitions) -> None:
        message = empty()
        try:
            message.ParseFromString(partitions.get(kind, b""))
        except DecodeError:
            partitions[kind] = byte_mutations.mutate(partitions[kind], random, others.get(kind, b""))
            return
        message_mutations.mutate(message, random)
        partitions[kind] = message.SerializeToString()

    return mutate


def _mutate_kernels(partitions: Partitions, random: Random, others: Partitions) -> None:
    """Change the binary of one kernel of the AI Cores, or the store around it."""
    kind = PartitionType.TBE_KERNELS
    _mutate_store(kind, partitions, random, others, _mutate_stream)


def _mutate_host_kernels(partitions: Partitions, random: Random, others: Partitions) -> None:
    """Change the ONNX model of one kernel of the host, or the store around it."""
    kind = PartitionType.CUST_AICPU_KERNELS
    _mutate_store(kind, partitions, random, others, _mutate_model)


def _mutate_store(
    kind: PartitionType,
    partitions: Partitions,
    random: Random,
    others: Partitions,
    change: Callable[[bytes, Random, bytes], bytes],
) -> None:
    try:
        store = {name: bytes(binary) for name, binary in read_store(memoryview(partitions.get(kind, b"")), "").items()}
    except GeError:
        store = {}
    if not store or random.random() < 0.1:
        partitions[kind] = byte_mutations.mutate(partitions.get(kind, b""), random, others.get(kind, b""))
        return
    names = sorted(store)
    name = random.choice(names)
    if random.random() < 0.1:
        other = random.choice((*names, "another", "x" * 70000, ""))
        store[name], store[other] = store.get(other, b""), store[name]
    else:
        store[name] = change(store[name], random, store[random.choice(names)])
    partitions[kind] = pack_store(store)


_CODE_BYTES_AT = 20
"""Where the header of a kernel binary has the length of its code."""


def _mutate_stream(binary: bytes, random: Random, other: bytes) -> bytes:
    """Change an encoded kernel; mostly the length of its code stays right."""
    if len(binary) < _CODE_BYTES_AT + 4:
        return byte_mutations.mutate(binary, random, other)
    (code,) = struct.unpack_from("<I", binary, _CODE_BYTES_AT)
    start = max(len(binary) - code, 0)
    choice = random.random()
    if choice < 0.1:
        return byte_mutations.mutate(binary[:start], random, other) + binary[start:]
    if choice < 0.6:
        size = random.choice((1, 2, 4, 8))
        place = random.randrange(start, max(len(binary) - size, start) + 1)
        return binary[:place] + word(random.choice((*INTEGERS, *range(20))), size) + binary[place + size :]
    changed = byte_mutations.mutate(binary[start:], random, other)
    return binary[:_CODE_BYTES_AT] + word(len(changed), 4) + binary[_CODE_BYTES_AT + 4 : start] + changed


def _mutate_model(binary: bytes, random: Random, other: bytes) -> bytes:
    """Change an ONNX model."""
    try:
        model = ModelProto.FromString(binary)
    except DecodeError:
        return byte_mutations.mutate(binary, random, other)
    message_mutations.mutate(model, random)
    return model.SerializeToString()


def _aligned(data: bytes, random: Random) -> bytes:
    """A file with zero bytes in front of some partitions, of which there may be too many, and at its end."""
    try:
        module = ModuleOp([file_op(data, None, "")])
    except GeError:
        return data
    for op in module.walk():
        gap = IntegerAttr(random.choice([1, 8, 24, 32, 512, 4096, 4097]), i64)
        if isinstance(op, PartitionOp | KernelStoreOp) and random.random() < 0.5:
            op.gap = gap
        elif isinstance(op, ContainerOp) and random.random() < 0.5:
            op.tail = gap
    return model_bytes(module)


def _mutate_partition(partitions: Partitions, random: Random, others: Partitions) -> None:
    """Change any partition as bytes."""
    kind = random.choice(sorted(partitions))
    partitions[kind] = byte_mutations.mutate(partitions[kind], random, others.get(kind, b""))


def _rearrange(partitions: Partitions, random: Random, others: Partitions) -> None:
    """Drop, rename or exchange partitions, or take one of another file."""
    kind = random.choice(sorted(partitions))
    match random.randrange(4):
        case 0:
            del partitions[kind]
        case 1:
            partitions[random.choice((0, 1, 2, 3, 4, 5, 8, 255, 1 << 31))] = partitions.pop(kind)
        case 2:
            swapped = random.choice(sorted(partitions))
            partitions[kind], partitions[swapped] = partitions[swapped], partitions[kind]
        case _:
            partitions[kind] = others.get(kind, b"")


_definition: Any = _mutate_message(PartitionType.MODEL_DEF, ge_ir_pb2.ModelDef)
_tasks: Any = _mutate_message(PartitionType.TASK_INFO, task_pb2.ModelTaskDef)
_MUTATIONS: tuple[Callable[[Partitions, Random, Partitions], None], ...] = (
    _definition,
    _definition,
    _definition,
    _tasks,
    _mutate_kernels,
    _mutate_kernels,
    _mutate_kernels,
    _mutate_host_kernels,
    _mutate_host_kernels,
    _mutate_partition,
    _rearrange,
)
