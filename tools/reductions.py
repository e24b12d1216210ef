"""The changes that make a module smaller, for ge-reduce.

A reduction changes a module in place at a *position*, a number from 0 on: it returns whether there was anything to
change, and None when there are no more positions. Coarse ones come first: cutting off the end and the beginning of a
function, in eighths while it is long; then single operations, outputs, attributes and constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import ConstantLike

from ge.dialects.graph import ConstantOp
from ge.dialects.onnx import Constant, OnnxOp
from ge.ir.constants import Array, array_of, constant_attr, tensor_type_of
from ge.ir.rewriting import erase_if_unused

Reduction: TypeAlias = Callable[[ModuleOp, int], bool | None]

PARTS = 8
"""Into how many parts a long function is cut."""


def main_of(module: ModuleOp) -> FuncOp:
    """The function of a module."""
    return next(op for op in module.ops if isinstance(op, FuncOp))


def size(module: ModuleOp) -> tuple[int, int, int, int]:
    """What is to become smaller: operations, then inputs and outputs, then attributes, then elements of constants."""
    block = main_of(module).body.block
    ops = [op for op in block.ops if not isinstance(op, ReturnOp)]
    plain = [op for op in ops if not op.has_trait(ConstantLike)]
    last = block.last_op
    ends = len(block.args) + (0 if last is None else len(last.operands))
    attributes = sum(len(op.attributes) + len(op.properties) for op in plain)
    return len(plain), ends + len(ops) - len(plain), attributes, sum(map(_varied_elements, ops))


def _varied_elements(op: Operation) -> int:
    """The number of elements of a constant whose elements are not all the same."""
    array = _array(op)
    return 0 if array is None or array.size < 2 or (array == array.reshape(-1)[0]).all() else array.size


def _array(op: Operation) -> Array | None:
    """The elements of a constant of numbers."""
    match op:
        case Constant():
            array = op.array
            return None if array.dtype == object else array
        case ConstantOp():
            return array_of(op.value, op.y.type)
        case _:
            return None


# Parts of a function


def _body(module: ModuleOp) -> list[Operation]:
    """The operations that compute something, in order."""
    ops = main_of(module).body.block.ops
    return [op for op in ops if not isinstance(op, ReturnOp) and not op.has_trait(ConstantLike)]


def _cuts(count: int) -> list[int]:
    """Where to cut a list of operations: everywhere when it is short."""
    if count <= 2 * PARTS:
        return list(range(1, count))
    return [count * part // PARTS for part in range(1, PARTS)]


def end_earlier(module: ModuleOp, position: int) -> bool | None:
    """Return the results of an operation inside the function, the earliest first."""
    body = _body(module)
    cuts = _cuts(len(body))
    if position >= len(cuts):
        return None
    last = body[cuts[position] - 1]
    results = [result for result in last.results if isinstance(result.type, TensorType)]
    if not results:
        return False
    _return(module, results)
    return True


def begin_later(module: ModuleOp, position: int) -> bool | None:
    """Let the values that the first part of a function gives be inputs; the longest part first."""
    body = _body(module)
    cuts = _cuts(len(body))[::-1]
    if position >= len(cuts):
        return None
    removed = set(body[: cuts[position]])
    values = [result for op in body[: cuts[position]] for result in op.results if _used_outside(result, removed)]
    return _to_inputs(module, values)


def _used_outside(value: SSAValue, ops: set[Operation]) -> bool:
    return any(_in_main(use.operation) not in ops for use in value.uses)


def _in_main(op: Operation) -> Operation:
    """The operation of the function that an operation is, or is inside of."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, FuncOp):
        op = parent
    return op


def to_inputs(module: ModuleOp, position: int) -> bool | None:
    """Let the results of one operation be inputs."""
    body = _body(module)
    if position >= len(body):
        return None
    return _to_inputs(module, [result for result in body[position].results if result.uses])


def bypass(module: ModuleOp, position: int) -> bool | None:
    """Let the users of an operation use an operand of the same type."""
    body = _body(module)
    if position >= len(body):
        return None
    op = body[position]
    source = next((operand for operand in op.operands if op.results and operand.type == op.results[0].type), None)
    if source is None or any(result.uses for result in op.results[1:]):
        return False
    op.results[0].replace_all_uses_with(source)
    _clean(module)
    return True


def fewer_outputs(module: ModuleOp, position: int) -> bool | None:
    """Leave one output out."""
    last = main_of(module).body.block.last_op
    assert last is not None
    if position >= len(last.operands) or len(last.operands) == 1:
        return None
    _return(module, [value for index, value in enumerate(last.operands) if index != position])
    return True


def fewer_attributes(module: ModuleOp, position: int) -> bool | None:
    """Leave one attribute of an ONNX operation out."""
    entries = [(op, name) for op in _body(module) if isinstance(op, OnnxOp) for name in op.attributes]
    if position >= len(entries):
        return None
    op, name = entries[position]
    del op.attributes[name]
    return True


def plain_constants(module: ModuleOp, position: int) -> bool | None:
    """Make all elements of a constant one, or the first of them where that is not possible."""
    constants = [op for op in main_of(module).body.block.ops if _varied_elements(op)]
    if position >= 2 * len(constants):
        return None
    op, array = constants[position // 2], _array(constants[position // 2])
    assert array is not None
    filled = np.full_like(array, 1 if position % 2 == 0 else array.reshape(-1)[0])
    literal = constant_attr(filled, tensor_type_of(op.results[0]))
    (op.properties if isinstance(op, ConstantOp) else op.attributes)["value"] = literal
    return True


REDUCTIONS: Sequence[Reduction] = (
    end_earlier,
    begin_later,
    fewer_outputs,
    to_inputs,
    bypass,
    fewer_attributes,
    plain_constants,
)
"""All of them, in the order in which they are tried."""


# Changing a function


def _return(module: ModuleOp, values: Sequence[SSAValue]) -> None:
    """Let the function return these values instead."""
    block = main_of(module).body.block
    last = block.last_op
    assert last is not None
    last.detach()
    last.erase()
    block.add_op(ReturnOp(*values))
    _clean(module)


def _to_inputs(module: ModuleOp, values: Sequence[SSAValue]) -> bool:
    """Let values be inputs of the function. Whether they all can be: only tensors are."""
    if not values or not all(isinstance(value.type, TensorType) for value in values):
        return False
    block = main_of(module).body.block
    for value in values:
        value.replace_all_uses_with(block.insert_arg(value.type, len(block.args)))
    _clean(module)
    return True


def _clean(module: ModuleOp) -> None:
    """Take out what nothing uses, and let the function say what it takes and returns."""
    function = main_of(module)
    block = function.body.block
    for op in reversed(list(block.ops)):
        if not isinstance(op, ReturnOp):
            erase_if_unused(op)
    for arg in list(block.args):
        if not arg.uses:
            block.erase_arg(arg)
    function.update_function_type()
    function.arg_attrs = None
    function.res_attrs = None
    _rename(function, block)


def _rename(function: FuncOp, block: Block) -> None:
    """Give inputs and outputs new names; the notes of the model on them go."""
    level = "graph" if any(name.startswith("graph.") for name in function.attributes) else "onnx"
    assert block.last_op is not None
    counts = {"input": len(block.args), "output": len(block.last_op.operands)}
    function.attributes = {
        f"{level}.{kind}_names": ArrayAttr(StringAttr(f"{kind}{i}") for i in range(count))
        for kind, count in counts.items()
    }
