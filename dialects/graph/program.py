"""Operations that make a module a program: constants, work on the host processor, fusions and kernel launches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ge.dialects.graph.base import Int, Ints, TensorOp, int_attr, ints
from ge.ir.attributes import WeightsAttr
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.notes import NATURAL, STRING, arguments, integers, returned, strings
from ge.maths.streams import MAX_STREAMS


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A constant, `graph.constant dense<...> : t` or `graph.constant #ge.weights<...> : t`, in the storage layout of t.

    `offset` is the byte offset in the weights block, once memory is planned.
    """

    name = "graph.constant"

    y = result_def(TensorType)
    value = prop_def(Attribute)
    offset = opt_prop_def(Int)

    traits = traits_def(Pure())

    def __init__(self, value: Attribute, type: TensorType[Attribute]) -> None:
        super().__init__(properties={"value": value}, result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Parse `(offset N)? value : type`; a dense value brings its own type."""
        offset = parser.parse_integer() if parser.parse_optional_keyword("offset") is not None else None
        value = parser.parse_attribute()
        type = _type_of_dense(value)
        if type is None:
            parser.parse_punctuation(":")
            type = cast(TensorType[Attribute], parser.parse_type())
        op = ConstantOp(value, type)
        op.attributes = dict(parser.parse_optional_attr_dict())
        if offset is not None:
            op.offset = int_attr(offset)
        return op

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        printer.print_string(" ")
        if self.offset is not None:
            printer.print_string(f"offset {self.offset.value.data} ")
        printer.print_attribute(self.value)
        if _type_of_dense(self.value) is None:
            printer.print_string(" : ")
            printer.print_attribute(self.y.type)
        if self.attributes:
            printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """The value is a constant, and a dense one has the type of the result."""
        type = _type_of_dense(self.value)
        if type is None and not isinstance(self.value, WeightsAttr):
            raise VerifyException(f"attribute {self.value.name} is not a constant")
        if type is not None and type != self.y.type:
            raise VerifyException(f"the value has type {type}, the result {self.y.type}")


def _type_of_dense(value: Attribute) -> TensorType[Attribute] | None:
    """The type that `dense` carries; weights carry none."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    return cast(TensorType[Attribute], cast(Any, value).type)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of the region of a `graph.host` or `graph.fusion`: the values that become its results."""

    name = "graph.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator())

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class HostOp(IRDLOperation):
    """Work that runs on the host processor (the engine "AICPU"): `onnx` operations on the arguments of the region.

    Operands and results are in plain row-major layout. Results may have any type of ONNX, also one whose shape is not
    static. `stream` is the stream of its task (0 when left out). `offsets` are the byte offsets of the results, once
    memory is planned; -1 for a value whose size is not known.
    """

    name = "graph.host"

    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")
    stream = opt_prop_def(Int)
    offsets = opt_prop_def(Ints)

    traits = traits_def(Pure(), IsolatedFromAbove())

    assembly_format = (
        "`(` $inputs `)` (`stream` $stream^)? (`offsets` $offsets^)? "
        "attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body"
    )

    def __init__(
        self, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Region | None = None
    ) -> None:
        if body is None:
            body = Region(Block(arg_types=[value.type for value in inputs]))
        super().__init__(operands=[list(inputs)], result_types=[list(result_types)], regions=[body])

    @property
    def results_inside(self) -> Sequence[SSAValue]:
        """The values inside the region that become the results."""
        last = self.body.block.last_op
        return last.values if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        """Arguments agree with operands, and yielded values with results."""
        check_number("stream", self.stream, MAX_STREAMS)
        arguments = [argument.type for argument in self.body.block.args]
        if arguments != [value.type for value in self.inputs]:
            raise VerifyException("the types of the region's arguments differ from those of the operands")
        if not isinstance(self.body.block.last_op, YieldOp):
            raise VerifyException("the region does not end with graph.yield")
        if [value.type for value in self.results_inside] != [result.type for result in self.outputs]:
            raise VerifyException("the types of the yielded values differ from those of the results")


@irdl_op_definition
class FusionOp(IRDLOperation):
    """Operations that become one kernel: the region computes the result from its arguments, ended by `graph.yield`.

    It computes what the operations do one after another, each result rounded to its own type. Values between them are
    in no memory of the device. `ge.dialects.graph.fusion_limits` says which operations one kernel can hold.
    """

    name = "graph.fusion"

    inputs = var_operand_def(TensorType)
    y = result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(Pure(), IsolatedFromAbove())

    assembly_format = "`(` $inputs `)` attr-dict-with-keyword `:` functional-type(operands, results) $body"

    def __init__(self, inputs: Sequence[SSAValue], result_type: Attribute, body: Region) -> None:
        super().__init__(operands=[list(inputs)], result_types=[result_type], regions=[body])

    @property
    def steps(self) -> Sequence[Operation]:
        """The operations of the region without its `graph.yield`, in order."""
        return list(self.body.block.ops)[:-1]

    @property
    def yielded(self) -> SSAValue:
        """The value inside the region that becomes the result."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp), "verified"
        return last.values[0]

    def verify_(self) -> None:
        """Arguments agree with operands, the one yielded value with the result, and every step gives one tensor."""
        if [argument.type for argument in self.body.block.args] != [value.type for value in self.inputs]:
            raise VerifyException("the types of the region's arguments differ from those of the operands")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or len(last.values) != 1:
            raise VerifyException("the region does not end with graph.yield of one value")
        if last.values[0].type != self.y.type:
            raise VerifyException("the type of the yielded value differs from that of the result")
        for step in self.steps:
            if not isinstance(step, TensorOp):
                raise VerifyException(f"{step.name} computes no tensor from tensors")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """One run of a kernel on `blocks` AI Cores: `graph.launch @conv1(%x, %w, %b) blocks 8 type "Conv2D" : ...`.

    The kernel's arguments are the operands followed by the results, in storage layout; an argument's shape may regroup
    the storage shape. `op_type` and `op_attrs` are what the OM shows of it. `cycles` is how long the slowest core
    takes, where it was estimated; `stream` the stream of its task (0 when left out). `offsets` are the byte offsets of
    the results in the feature-map arena, once memory is planned. `in_place` are the numbers of the operands that the
    one result may be written over, because the kernel has read every piece of them before it writes there.
    """

    name = "graph.launch"

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    kernel = prop_def(FlatSymbolRefAttrConstr)
    blocks = prop_def(Int)
    op_type = prop_def(StringAttr)
    op_attrs = opt_prop_def(DictionaryAttr)
    in_place = opt_prop_def(Ints)
    cycles = opt_prop_def(Int)
    stream = opt_prop_def(Int)
    offsets = opt_prop_def(Ints)

    traits = traits_def(Pure())

    assembly_format = (
        "$kernel `(` $inputs `)` `blocks` $blocks `type` $op_type (`attrs` $op_attrs^)? (`in_place` $in_place^)? "
        "(`cycles` $cycles^)? (`stream` $stream^)? (`offsets` $offsets^)? "
        "attr-dict `:` functional-type($inputs, $outputs)"
    )

    def __init__(
        self,
        kernel: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        blocks: int,
        op_type: str,
        op_attrs: Mapping[str, Attribute] | None = None,
        in_place: Sequence[int] = (),
        offsets: Sequence[int] | None = None,
    ) -> None:
        super().__init__(
            operands=[list(inputs)],
            properties={
                "kernel": SymbolRefAttr(kernel),
                "blocks": int_attr(blocks),
                "op_type": StringAttr(op_type),
                "op_attrs": None if op_attrs is None else DictionaryAttr(op_attrs),
                "in_place": ints(in_place) if in_place else None,
                "offsets": None if offsets is None else ints(offsets),
            },
            result_types=[list(result_types)],
        )

    @property
    def replaceable(self) -> tuple[int, ...]:
        """The numbers of the operands that the result may be written over."""
        return () if self.in_place is None else tuple(self.in_place.iter_values())

    def verify_(self) -> None:
        """Numbers are not negative, and those of operands are numbers of operands."""
        check_number("cycles", self.cycles)
        check_number("stream", self.stream, MAX_STREAMS)
        if self.replaceable and len(self.outputs) != 1:
            raise VerifyException(f"{len(self.outputs)} results cannot be written over one operand")
        for number in self.replaceable:
            if not 0 <= number < len(self.inputs):
                raise VerifyException(f"in_place {number}: there are {len(self.inputs)} operands")


def check_number(name: str, number: IntegerAttr | None, limit: float = math.inf) -> None:
    """Raise VerifyException for a number that is negative, or not below the limit."""
    if number is not None and number.value.data < 0:
        raise VerifyException(f"{name} {number.value.data} is negative")
    if number is not None and number.value.data >= limit:
        raise VerifyException(f"{name} {number.value.data} is not below {limit}")


PROGRAM_OPS: list[type[Operation]] = [ConstantOp, YieldOp, HostOp, FusionOp, LaunchOp]


INPUT_NAMES = "graph.input_names"
OUTPUT_NAMES = "graph.output_names"
"""Notes of `@main`: the names that the model gives its inputs and outputs, in order."""

CORES = "graph.cores"
"""Note of an operation: the most cores that its kernel takes."""

ONE_STREAM_CYCLES = "graph.one_stream_cycles"
"""Note of `@main`: the cycles that it would take in one stream, each kernel on all cores that it can use."""

DATAFLOW = "graph.dataflow"
"""Note of `@main`: a digest of what it computes, whatever the order and the streams of its tasks."""

NOTES = {
    INPUT_NAMES: strings(arguments, "argument"),
    OUTPUT_NAMES: strings(returned, "result"),
    "graph.name": STRING,
    DATAFLOW: STRING,
    "graph.input_offsets": integers(arguments, "argument"),
    "graph.output_offsets": integers(returned, "result"),
    **dict.fromkeys(("graph.memory_size", "graph.io_size", "graph.weight_size"), NATURAL),
    **dict.fromkeys((CORES, ONE_STREAM_CYCLES), NATURAL),
}
"""The notes of this dialect; the offsets and sizes, in bytes, are what memory planning decided."""


def main_function(module: ModuleOp) -> FuncOp:
    """The function `@main` of a module. Raises GE3002 when there is none, GE3004 when it is not one block."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            body_of(op)
            return op
    raise GeError("GE3002", "the module has no function @main")


def input_names(main: FuncOp) -> tuple[str, ...]:
    """The names of the inputs; `arg0`, `arg1`, ... when the function does not say."""
    return _names(main, INPUT_NAMES, "arg", len(main.function_type.inputs))


def output_names(main: FuncOp) -> tuple[str, ...]:
    """The names of the outputs; `result0`, `result1`, ... when the function does not say."""
    return _names(main, OUTPUT_NAMES, "result", len(main.function_type.outputs))


def _names(main: FuncOp, key: str, prefix: str, count: int) -> tuple[str, ...]:
    names = main.attributes.get(key)
    if not isinstance(names, ArrayAttr):
        return tuple(f"{prefix}{i}" for i in range(count))
    return tuple(name.data for name in cast(ArrayAttr[StringAttr], names))
