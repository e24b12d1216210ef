"""Running a module operation by operation: every value under the name of the model node that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.graph.meaning import evaluate
from ge.dialects.onnx import OnnxOp
from ge.dialects.onnx.meaning import run_op
from ge.ir.locations import node_names


@dataclass(frozen=True)
class NamedValue:
    """A result of an operation, under the last of its node names: the value that this node gave in the model."""

    name: str
    op: Operation
    value: Any


def run_stepwise(
    block: Block, args: Sequence[Any], launch: Callable[[Operation, Sequence[Any]], Sequence[Any]] | None = None
) -> Iterator[tuple[Operation, Sequence[Any]]]:
    """Run the operations of a function at the onnx or graph level one by one, each with its results."""
    values: dict[SSAValue, Any] = dict(zip(block.args, args, strict=True))
    for op in block.ops:
        if op is block.last_op:
            return
        if isinstance(op, OnnxOp):
            inputs = [None if value is None else values[value] for value in op.input_list()]
            results: Sequence[Any] = run_op(op, inputs, values)
        else:
            results = evaluate(op, [values[operand] for operand in op.operands], launch)
        values.update(zip(op.results, results, strict=True))
        yield op, results


def named_values(module: ModuleOp, args: Sequence[Any]) -> dict[str, NamedValue]:
    """The values of a module by the name of their node and the number of the result, in the order of the program.

    An operation that stands for several nodes gives the value of the last. Of several operations of one name, as after
    a node was taken apart, the last one counts. A module that is a file has none.
    """
    main, launch = _main(module), None
    if main is not None and any(op.name == "cube.kernel" for op in module.ops):
        from ge.tools.execute import GraphExecutable  # and with it the simulator

        program = GraphExecutable(module, main, strict=False)
        main, launch = _main(program.module), program.launch
    if main is None:
        return {}
    found: dict[str, NamedValue] = {}
    for op, results in run_stepwise(main.body.block, args, launch):
        if not (names := node_names(op)):
            continue
        for number, value in enumerate(results):
            found.pop(f"{names[-1]}:{number}", None)
            found[f"{names[-1]}:{number}"] = NamedValue(names[-1], op, value)
    return found


def _main(module: ModuleOp) -> FuncOp | None:
    return next((op for op in module.ops if isinstance(op, FuncOp)), None)
