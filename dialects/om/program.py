"""Operators and tasks: what the model computes, the runs of kernels that compute it, and the events between them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.kernel import MAX_BLOCKS
from ge.dialects.om.values import NO_OFFSET, Area, result_area
from ge.maths.streams import MAX_EVENTS, MAX_STREAMS, Step

NO_TASK = "_no_task"
"""The attribute (true) of an operator that needs no task, because its result is its first operand."""

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")

Int = IntegerAttr.constr(i64)


def is_operator_attribute(attr: Attribute) -> bool:
    """Whether an OM file can hold ``attr`` as an attribute of an operator.

    It holds strings, 64-bit integers, 32-bit floats, booleans, lists of each (a list of strings is ``["a"]``, the
    others are ``array<...>``) and lists of lists of integers.
    """
    match attr:
        case StringAttr():
            return True
        case IntegerAttr():
            return attr.type in (i1, i64)
        case FloatAttr():
            return attr.type == f32
        case DenseArrayBase():
            return attr.elt_type in (i1, i64, f32)
        case ArrayAttr():
            return all(isinstance(item, StringAttr) for item in attr) or all(_is_integer_list(item) for item in attr)
        case _:
            return False


def _is_integer_list(attr: Attribute) -> bool:
    match attr:
        case DenseArrayBase():
            return attr.elt_type == i64
        case _:
            return False


@irdl_op_definition
class OperatorOp(IRDLOperation):
    """An operator of the graph: ``%y = om.op "Conv2D" "conv1"(%x, %w) at [512] {strides = ...} : (...) -> ...``.

    ``kind`` is the operator's type in Ascend's terms, ``label`` its name, unique in the model. The types carry origin
    shape and storage format. ``offsets`` says where each result lies: in bytes, in the feature-map memory (``Const``:
    in the weights), :data:`~ge.dialects.om.values.NO_OFFSET` for one of the host.

    The kinds with a meaning of their own: ``Data`` (attribute ``index``: which input of the model), ``Const``, and
    ``NetOutput``, whose operands are the outputs of the model. An operator with the attribute ``_no_task`` only shows
    the bytes of its first operand under another type.
    """

    name = "om.op"

    inputs = var_operand_def()
    outputs = var_result_def()
    kind = prop_def(StringAttr)
    label = prop_def(StringAttr)
    offsets = opt_prop_def(DenseArrayBase.constr(i64))

    assembly_format = "$kind $label `(` $inputs `)` (`at` $offsets^)? attr-dict `:` functional-type($inputs, $outputs)"

    def __init__(
        self,
        kind: str,
        label: str,
        inputs: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        offsets: Sequence[int] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[list(inputs)],
            result_types=[list(result_types)],
            properties={
                "kind": StringAttr(kind),
                "label": StringAttr(label),
                "offsets": DenseArrayBase.from_list(i64, list(offsets)) if offsets else None,
            },
            attributes=dict(attributes or {}),
        )
        for result in self.results:
            result.name_hint = _NO_IDENTIFIER.sub("_", f"_{label}" if label[:1].isdigit() else label) or None

    @property
    def result_offsets(self) -> tuple[int, ...]:
        """Where each result lies; see the class."""
        return () if self.offsets is None else tuple(cast("Sequence[int]", self.offsets.get_values()))

    def area(self, result: int) -> Area:
        """The memory that the offset of a result counts in."""
        view_of = None
        if NO_TASK in self.attributes and self.inputs:
            source = self.inputs[0]
            if isinstance(source, OpResult) and isinstance(source.op, OperatorOp):
                view_of = source.op.area(source.index)
        return result_area(self.kind.data, self.result_offsets[result], view_of)

    def verify_(self) -> None:
        if any(offset < NO_OFFSET for offset in self.result_offsets):
            raise VerifyException(f"an offset is negative: {list(self.result_offsets)}")
        if len(self.result_offsets) != len(self.outputs):
            raise VerifyException(f"{len(self.outputs)} results need as many offsets, got {len(self.result_offsets)}")
        for name, attr in self.attributes.items():
            if not is_operator_attribute(attr):
                raise VerifyException(f"an OM file cannot hold attribute '{name}' = {attr}")


@irdl_op_definition
class TaskOp(IRDLOperation):
    """One run of a kernel: ``om.task @conv1 for "conv1" blocks 8 stream 1``.

    The kernel's arguments are the operands of the operator named after ``for``, followed by its results. Tasks of one
    stream run in order, those of different streams side by side; without ``stream`` it is stream 0. ``blocks`` is the
    number of AI Cores; a kernel of the host has 1.
    """

    name = "om.task"

    kernel = prop_def(FlatSymbolRefAttrConstr)
    operator = prop_def(StringAttr)
    blocks = prop_def(Int)
    stream = opt_prop_def(Int)

    assembly_format = "$kernel `for` $operator `blocks` $blocks (`stream` $stream^)? attr-dict"

    def __init__(self, kernel: str, operator: str, blocks: int, stream: int = 0) -> None:
        super().__init__(
            properties={
                "kernel": SymbolRefAttr(kernel),
                "operator": StringAttr(operator),
                "blocks": IntegerAttr(blocks, i64),
                "stream": IntegerAttr(stream, i64) if stream else None,
            }
        )

    @property
    def step(self) -> Step:
        """What the stream does."""
        return Step(0 if self.stream is None else self.stream.value.data)

    def verify_(self) -> None:
        if not 1 <= self.blocks.value.data <= MAX_BLOCKS:
            raise VerifyException(f"a kernel runs on 1 to {MAX_BLOCKS} AI Cores, not on {self.blocks.value.data}")
        if not 0 <= self.step.stream < MAX_STREAMS:
            raise VerifyException(f"streams have numbers from 0 to {MAX_STREAMS - 1}, not {self.step.stream}")


class EventOp(IRDLOperation):
    """What a stream does with an event."""

    event = prop_def(Int)
    stream = prop_def(Int)

    def __init__(self, event: int, stream: int) -> None:
        super().__init__(properties={"event": IntegerAttr(event, i64), "stream": IntegerAttr(stream, i64)})

    @property
    @abstractmethod
    def step(self) -> Step:
        """What the stream does."""

    def verify_(self) -> None:
        if not 0 <= self.event.value.data < MAX_EVENTS:
            raise VerifyException(f"events have numbers from 0 to {MAX_EVENTS - 1}, not {self.event.value.data}")
        if not 0 <= self.step.stream < MAX_STREAMS:
            raise VerifyException(f"streams have numbers from 0 to {MAX_STREAMS - 1}, not {self.step.stream}")


@irdl_op_definition
class RecordOp(EventOp):
    """All tasks before it in its stream are done: ``om.record event 0 stream 0``."""

    name = "om.record"

    assembly_format = "`event` $event `stream` $stream attr-dict"

    @property
    def step(self) -> Step:
        return Step(self.stream.value.data, records=self.event.value.data)


@irdl_op_definition
class WaitOp(EventOp):
    """Hold a stream until an event is recorded: ``om.wait event 0 stream 1``."""

    name = "om.wait"

    assembly_format = "`event` $event `stream` $stream attr-dict"

    @property
    def step(self) -> Step:
        return Step(self.stream.value.data, waits=self.event.value.data)
