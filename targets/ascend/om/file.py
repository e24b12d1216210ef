"""An OM file taken apart to be looked at: of this compiler, or of any other that writes the same container.

Nothing here needs to understand the graph: messages stay messages, kernels stay bytes. What makes the file unreadable
is an error; what does not fit together is listed by :meth:`OmFile.problems`. Files that shall run are read by
:mod:`ge.targets.ascend.om.reader`, which believes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ge.ir.errors import GeError
from ge.ir.weights import map_file
from ge.targets.ascend.om.container import Container, PartitionType, partition_name, read_containers
from ge.targets.ascend.om.conventions import KERNEL_NAME, NODE_NAMES, PRODUCER
from ge.targets.ascend.om.external_weights import weights_of
from ge.targets.ascend.om.inout_info import InOutInfo, read_inout_info
from ge.targets.ascend.om.kernel_store import read_store
from ge.targets.ascend.om.messages import decode_partition
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.proto import task_pb2 as task

_STORES = (PartitionType.TBE_KERNELS, PartitionType.CUST_AICPU_KERNELS)


@dataclass(frozen=True)
class OmFile:
    """An OM file. Bytes are views of the file."""

    path: Path
    size: int
    container: Container
    """Of the model."""
    parts: Sequence[Container]
    """Of what is a model of its own in it; in files for dynamic shapes only."""
    definition: ir.ModelDef
    tasks: task.ModelTaskDef

    @classmethod
    def open(cls, path: str | Path) -> OmFile:
        """Take a file apart. Raises GE1001, and GE5001 to GE5006."""
        try:
            data = map_file(path)
        except OSError as error:
            raise GeError("GE1001", f"cannot read '{path}': {error.strerror or error}", str(path)) from error
        where = str(path)
        container, *parts = read_containers(data, where)
        definition = decode_partition(container, PartitionType.MODEL_DEF, ir.ModelDef(), where)
        tasks = decode_partition(container, PartitionType.TASK_INFO, task.ModelTaskDef(), where)
        return cls(Path(path), memoryview(data).nbytes, container, parts, definition, tasks)

    @property
    def is_ours(self) -> bool:
        """Whether this compiler wrote the file, so that it can run it and show its kernels."""
        return self.definition.custom_version.startswith(PRODUCER)

    @property
    def partitions(self) -> Mapping[str, memoryview]:
        """All partitions by name, in file order; each with a name that was there before has a number: `MODEL_DEF 2`."""
        found: dict[str, memoryview] = {}
        counts: Counter[str] = Counter()
        for each in (each for container in (self.container, *self.parts) for each in container.entries):
            name = partition_name(each.kind)
            counts[name] += 1
            found[f"{name} {counts[name]}" if counts[name] > 1 else name] = each.data
        return found

    @property
    def operators(self) -> Sequence[ir.OpDef]:
        """The operators of the main graph."""
        return self.definition.graph[0].op if self.definition.graph else ()

    @cached_property
    def weights(self) -> memoryview:
        """The weights, in this file or in its weights file. Raises GE5007, GE5010 and GE5011."""
        if not self.is_ours:
            return self.container.partition(PartitionType.WEIGHTS_DATA)
        return weights_of(self.container, self.definition, self.path.parent, str(self.path))

    @cached_property
    def kernels(self) -> Mapping[PartitionType, Mapping[str, memoryview]]:
        """The kernels of each store by name."""
        return {kind: read_store(self.container.partition(kind), str(self.path)) for kind in _STORES}

    @cached_property
    def inout_info(self) -> InOutInfo | None:
        """What MODEL_INOUT_INFO says; None when the file does not have it."""
        data = self.container.partitions.get(PartitionType.MODEL_INOUT_INFO)
        return None if data is None else read_inout_info(data, str(self.path))

    def integer(self, name: str) -> int | None:
        """An attribute of the model that is an integer; None when it is not there."""
        return self.definition.attr[name].i if name in self.definition.attr else None

    def text(self, name: str) -> str | None:
        """An attribute of the model that is text; None when it is not there."""
        return self.definition.attr[name].s.decode(errors="replace") if name in self.definition.attr else None

    def constant_operators(self) -> Iterator[ir.OpDef]:
        """The operators Const that say where their bytes are."""
        return (op for op in self.operators if op.type in ("Const", "Constant") and "value" in op.attr)

    def constants(self) -> Iterator[tuple[ir.OpDef, memoryview]]:
        """The operators Const with their bytes: in the operator itself, or in the weights. Raises what they raise."""
        for op in self.constant_operators():
            tensor = op.attr["value"].t
            start = tensor.desc.data_offset
            yield op, memoryview(tensor.data) if tensor.data else self.weights[start : start + tensor.desc.weight_size]

    def problems(self) -> list[str]:
        """What does not fit together in the graph, as far as it can be told without knowing the operators."""
        return [*_name_problems(self.operators), *_edge_problems(self.operators), *self._weight_problems()]

    def _weight_problems(self) -> Iterator[str]:
        try:
            constants = [*self.constants()]
        except GeError as error:  # of the weights file
            yield f"{error.what} ({error.code})"
            return
        for op, data in constants:
            desc = op.attr["value"].t.desc
            if not desc.HasField("shape"):
                yield f"constant '{op.name}' has no shape"
            if not op.attr["value"].t.data and data.nbytes < desc.weight_size:
                yield f"constant '{op.name}' has {data.nbytes} of its {desc.weight_size} bytes in the file"


def node_names(op: ir.OpDef) -> list[str]:
    """The nodes of the source model that an operator stands for."""
    return [name.decode(errors="replace") for name in op.attr[NODE_NAMES].list.s] if NODE_NAMES in op.attr else []


def kernel_name(op: ir.OpDef) -> str | None:
    """The kernel that an operator runs."""
    return op.attr[KERNEL_NAME].s.decode(errors="replace") if KERNEL_NAME in op.attr else None


def split_edge(edge: str) -> tuple[str, int]:
    """Producer and result of an edge ``producer:index``; -1 is an edge that only orders."""
    producer, _, index = edge.rpartition(":")
    return producer, int(index) if index.removeprefix("-").isdigit() else 0


def _name_problems(ops: Sequence[ir.OpDef]) -> Iterator[str]:
    for name, count in Counter(op.name for op in ops).items():
        if count > 1:
            yield f"{count} operators are called '{name}'"


def _edge_problems(ops: Sequence[ir.OpDef]) -> Iterator[str]:
    """Edges from nowhere, without a type, and such whose ends disagree in element type or number of elements."""
    producers = {op.name: op for op in ops}
    for op in ops:
        edges = [edge for edge in op.input if edge and split_edge(edge)[1] >= 0]
        if len(op.input_desc) < len(edges):
            yield f"operator '{op.name}' has {len(edges)} inputs and types of {len(op.input_desc)}"
        for edge, desc in zip(edges, [*op.input_desc, *[None] * len(edges)], strict=False):
            if problem := _edge_problem(edge, desc, producers):
                yield f"operator '{op.name}' reads '{edge}'{problem}"


def _edge_problem(edge: str, desc: ir.TensorDescriptor | None, producers: Mapping[str, ir.OpDef]) -> str | None:
    producer, index = split_edge(edge)
    if producer not in producers:
        return ", which no operator makes"
    if index >= len(producers[producer].output_desc):
        return ", a result which that does not have"
    why = None if desc is None else _disagreement(producers[producer].output_desc[index], desc)
    return None if why is None else f", and the ends of the edge differ in {why}"


def _disagreement(made: ir.TensorDescriptor, read: ir.TensorDescriptor) -> str | None:
    if made.dtype != read.dtype:
        return "element type"
    if made.HasField("shape") and not read.HasField("shape"):
        return "shape: one end has none"
    return "number of elements" if _elements(made) != _elements(read) else None


def _elements(desc: ir.TensorDescriptor) -> int:
    count = 1
    for size in desc.shape.dim:
        count *= size
    return count
