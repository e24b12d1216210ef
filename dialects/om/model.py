"""The model, its weights and its kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ge.dialects.om.program import Int, OperatorOp, RecordOp, TaskOp, WaitOp, is_operator_attribute
from ge.ir.attributes import WeightsAttr
from ge.maths.streams import EventError, check_events


@irdl_op_definition
class WeightsOp(IRDLOperation):
    """The constants of the model as one block of bytes: ``om.weights #ge.weights<...>``.

    ``om.weights external "resnet50" #ge.weights<...>`` are in a file of their own beside the OM file; its name begins
    with that.
    """

    name = "om.weights"

    value = prop_def(WeightsAttr)
    external = opt_prop_def(StringAttr)

    def __init__(self, value: WeightsAttr, external: str | None = None) -> None:
        super().__init__(properties={"value": value, "external": None if external is None else StringAttr(external)})

    @classmethod
    def parse(cls, parser: Parser) -> WeightsOp:
        external = parser.parse_str_literal() if parser.parse_optional_keyword("external") is not None else None
        value = parser.parse_attribute()
        if not isinstance(value, WeightsAttr):
            parser.raise_error("expected #ge.weights<...>")
        return WeightsOp(value, external)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.external is not None:
            printer.print_string("external ")
            printer.print_string_literal(self.external.data)
            printer.print_string(" ")
        printer.print_attribute(self.value)


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel that tasks run: ``om.kernel @conv1 { ... }``.

    The region holds one operation of the same name: a ``cube.kernel``, which runs on the AI Cores, or a ``func.func``
    of ``onnx`` operations, which runs on the host.
    """

    name = "om.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    assembly_format = "$sym_name $body attr-dict"

    def __init__(self, name: str, kernel: Operation) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[Region(Block([kernel]))])

    @property
    def definition(self) -> Operation:
        """The ``cube.kernel`` or ``func.func``."""
        (operation,) = self.body.block.ops
        return operation

    @property
    def runs_on_host(self) -> bool:
        """Whether the kernel runs on the host, not on the AI Cores."""
        return isinstance(self.definition, FuncOp)

    def verify_(self) -> None:
        names = [operation.name for operation in self.body.block.ops]
        if names not in (["cube.kernel"], ["func.func"]):
            raise VerifyException(f"a kernel holds one cube.kernel or one func.func, got {names}")


@irdl_op_definition
class GraphOp(IRDLOperation):
    """The optimised graph that the kernels were made of, for tools: ``om.graph { func.func @main ... }``.

    It is at the graph level, in storage formats. Its constants are left out: their digests say which of the weights
    they are.
    """

    name = "om.graph"

    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    assembly_format = "$body attr-dict"

    def __init__(self, main: Operation) -> None:
        super().__init__(regions=[Region(Block([main]))])

    @property
    def main(self) -> FuncOp:
        """The function."""
        (main,) = self.body.block.ops
        assert isinstance(main, FuncOp), "verified"
        return main

    def verify_(self) -> None:
        names = [operation.name for operation in self.body.block.ops]
        if names != ["func.func"]:
            raise VerifyException(f"a graph is one func.func, got {names}")


@irdl_op_definition
class ModelOp(IRDLOperation):
    """A whole OM file: ``om.model @resnet50 soc "Ascend310P3" memory 802816 io 604160 outputs ["y"] { ... }``.

    ``memory_size`` is the size of the feature-map memory in bytes. Its last ``io_size`` bytes are the inputs and
    outputs of the model, which the caller may place elsewhere (*zero copy*).
    """

    name = "om.model"

    sym_name = prop_def(SymbolNameConstraint())
    soc = prop_def(StringAttr)
    memory_size = prop_def(Int)
    io_size = prop_def(Int)
    output_names = prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")

    traits = traits_def(SymbolTable(), SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    assembly_format = (
        "$sym_name `soc` $soc `memory` $memory_size `io` $io_size `outputs` $output_names attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        name: str,
        soc: str,
        memory_size: int,
        io_size: int,
        output_names: Sequence[str],
        body: Sequence[Operation] = (),
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "soc": StringAttr(soc),
                "memory_size": IntegerAttr(memory_size, i64),
                "io_size": IntegerAttr(io_size, i64),
                "output_names": ArrayAttr(StringAttr(name) for name in output_names),
            },
            regions=[Region(Block(list(body)))],
        )

    @property
    def graph(self) -> GraphOp | None:
        """The graph that the kernels were made of; None when the file does not tell."""
        return next((op for op in self.body.block.ops if isinstance(op, GraphOp)), None)

    @property
    def weights_op(self) -> WeightsOp | None:
        """The operation that holds the block of constants; None when the model has none."""
        return next((op for op in self.body.block.ops if isinstance(op, WeightsOp)), None)

    @property
    def weights(self) -> WeightsAttr | None:
        """The block of constants; None when the model has none."""
        return None if self.weights_op is None else self.weights_op.value

    @property
    def kernels(self) -> Iterator[KernelOp]:
        """The kernels, in order."""
        return (op for op in self.body.block.ops if isinstance(op, KernelOp))

    @property
    def operators(self) -> Iterator[OperatorOp]:
        """The operators, producers first."""
        return (op for op in self.body.block.ops if isinstance(op, OperatorOp))

    @property
    def tasks(self) -> Iterator[TaskOp]:
        """The tasks, in the order in which the streams have them."""
        return (op for op in self.body.block.ops if isinstance(op, TaskOp))

    @property
    def stream_work(self) -> Iterator[TaskOp | RecordOp | WaitOp]:
        """What the streams do: tasks and events, each stream in order."""
        return (op for op in self.body.block.ops if isinstance(op, TaskOp | RecordOp | WaitOp))

    def verify_(self) -> None:
        memory, io = self.memory_size.value.data, self.io_size.value.data
        if not 0 <= io <= memory:
            raise VerifyException(f"inputs and outputs of {io} bytes are no part of a memory of {memory} bytes")
        for name, attr in self.attributes.items():
            if not is_operator_attribute(attr):
                raise VerifyException(f"an OM file cannot hold attribute '{name}' = {attr}")
        self._verify_operators()
        labels = {op.label.data for op in self.operators}
        kernels = {kernel.sym_name.data for kernel in self.kernels}
        for task in self.tasks:
            if task.operator.data not in labels:
                raise VerifyException(f"a task is for operator '{task.operator.data}', which is not in the model")
            if task.kernel.root_reference.data not in kernels:
                raise VerifyException(f"a task runs kernel {task.kernel}, which is not in the model")
        try:
            check_events([op.step for op in self.stream_work])
        except EventError as error:
            raise VerifyException(str(error)) from error

    def _verify_operators(self) -> None:
        """Names are unique, the inputs are numbered from 0, and the outputs are those of one NetOutput."""
        for label, count in Counter(op.label.data for op in self.operators).items():
            if count > 1:
                raise VerifyException(f"two operators have the name '{label}'")
        indices = [op.attributes.get("index") for op in self.operators if op.kind.data == "Data"]
        if indices != [IntegerAttr(number, i64) for number in range(len(indices))]:
            raise VerifyException("the attribute 'index' of the Data operators must count from 0")
        outputs = [len(op.inputs) for op in self.operators if op.kind.data == "NetOutput"]
        if outputs != [len(self.output_names)]:
            raise VerifyException(f"one NetOutput must have {len(self.output_names)} operands, got {outputs}")
