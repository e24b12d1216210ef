"""What an OM file says, as plain data: what the run time works from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute

from ge.dialects.om.values import Area
from ge.maths.streams import Step


@dataclass(frozen=True)
class Value:
    """A value of the graph: its type, and where it lies."""

    name: str
    """Operator and result number: `conv1:0`."""
    type: Attribute
    area: Area
    offset: int
    """In bytes; -1 for a value of the host."""
    nbytes: int
    """Bytes in storage layout; 0 for a value of the host whose size is not known."""


@dataclass(frozen=True)
class Task:
    """One run of a kernel; its step says in which stream."""

    operator: str
    kind: str
    """The type of the operator, such as Conv2D."""
    kernel: str
    on_host: bool
    blocks: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[str, ...]
    """The nodes of the ONNX model that the operator stands for."""


@dataclass(frozen=True)
class OmModel:
    """An OM file. The bytes are views of the file."""

    name: str
    soc: str
    memory_size: int
    """Bytes of the feature-map memory, inputs and outputs of the model included."""
    weights: memoryview
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    tasks: tuple[Task, ...]
    steps: tuple[Step, ...]
    """What the streams do: the tasks in the same order, and the events between them."""
    core_kernels: Mapping[str, memoryview]
    host_kernels: Mapping[str, memoryview]
