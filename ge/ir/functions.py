"""Functions: their body, which is one block that ends by returning, since models have no branches, and their type."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block

from ge.ir.errors import GeError
from ge.ir.locations import where


def body_of(function: FuncOp) -> Block:
    """The block of a function. Raises GE3004 for a declaration, for several blocks, and for another end."""
    name, blocks = function.sym_name.data, function.body.blocks
    if len(blocks) != 1:
        what = f"function @{name} has {len(blocks)} blocks, not one" if blocks else f"function @{name} has no body"
        raise GeError("GE3004", what, where(function), _WHY, _REMEDY)
    block = function.body.block
    if not isinstance(block.last_op, ReturnOp):
        end = "nothing" if block.last_op is None else f"'{block.last_op.name}'"
        raise GeError("GE3004", f"function @{name} ends with {end}, not with 'func.return'", where(function), _WHY)
    return block


def update_type(function: FuncOp) -> None:
    """Let the type of a function say what its block takes and gives, after a change of either."""
    block = body_of(function)
    results = () if block.last_op is None else block.last_op.operand_types
    function.function_type = FunctionType.from_lists(block.arg_types, results)


def refuse_branches(module: ModuleOp) -> None:
    """Refuse a module with a function of several blocks, which no pass of this project follows. Raises GE3004."""
    for op in module.ops:
        if isinstance(op, FuncOp) and len(op.body.blocks) > 1:
            body_of(op)


_WHY = "The functions of a model run from their first operation to the last and return; conditions are regions."
_REMEDY = "Write branches as onnx.If, and give every function a body of one block."
