"""Checking modules: every operation against its definition, and every value defined before it is used.

The first fault is raised as a :class:`~ge.ir.errors.GeError` that names the operation and its place; the module is
never printed. xDSL's own ``verify`` has no dominance check and prints the whole module on a fault.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ge.ir.attributes import LayoutAttr
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.ir.notes import verify_notes
from ge.ir.registry import DIALECTS


def verify_module(module: Operation) -> None:
    """Check ``module`` and everything in it.

    Raises GE3002 for an operation that breaks its definition or has a wrong note (:mod:`ge.ir.notes`), and GE3003 for a
    value that is used where it is not visible: before its definition in a block, outside its region, or inside an
    operation that is isolated from what is around it. In regions of several blocks, values of other blocks count as
    visible; operations of this project are in regions of one block.
    """
    _verify_uses(module, set())
    _verify(module)


def _verify_uses(op: Operation, visible: set[SSAValue]) -> None:
    """Check that ``op`` and what is in it use visible values; ``visible`` are those around it."""
    for index, operand in enumerate(op.operands):
        if operand not in visible:
            raise GeError("GE3003", f"'{op.name}': operand #{index} is used before it is defined", where(op))
    for region in op.regions:
        isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        _verify_uses_in(region, set[SSAValue]() if isolated else visible)


def _verify_uses_in(region: Region, visible: set[SSAValue]) -> None:
    """Check the blocks of a region; the values that they define are visible only in it."""
    results = {block: [result for op in block.ops for result in op.results] for block in region.blocks}
    if len(region.blocks) > 1:
        for block in region.blocks:
            visible.update(block.args, results[block])
    for block in region.blocks:
        visible.difference_update(results[block])
        visible.update(block.args)
        for op in block.ops:
            _verify_uses(op, visible)
            visible.update(op.results)
    for block in region.blocks:
        visible.difference_update(block.args, results[block])


def _verify(op: Operation) -> None:
    """Check ``op`` and what is in it against their definitions."""
    if op.regions:
        _check(op, _verify_definition)
    for region in op.regions:
        _verify_blocks(region)
        for block in region.blocks:
            for inner in block.ops:
                _verify(inner)
            _verify_end(block, region)
    _check(op, _verify_itself)


def _verify_itself(op: Operation) -> None:
    """Check ``op`` when what is in it is right."""
    _verify_types(op)
    _verify_successors(op)
    op.verify_()
    verify_notes(op)


def _check(op: Operation, check: Callable[[Operation], None]) -> None:
    """Make what a check says the error of an operation."""
    try:
        check(op)
    except VerifyException as error:
        raise GeError("GE3002", f"'{op.name}': {_one_line(error)}", where(op)) from error


def _verify_definition(op: Operation) -> None:
    """Check what the declaration of an operation says, before those inside, whose checks look at it."""
    if isinstance(op, IRDLOperation):
        op.get_irdl_definition().verify(op)


def _verify_types(op: Operation) -> None:
    """Check that the values that an operation defines have a rank that their storage format has a form for."""
    arguments = (arg for region in op.regions for block in region.blocks for arg in block.args)
    for value in (*op.results, *arguments):
        type = value.type
        if isinstance(type, TensorType) and isinstance(type.encoding, LayoutAttr):
            from ge.maths.layouts import storage_shape  # loads numpy

            try:
                storage_shape(type.encoding.format.data, type.get_shape())
            except ValueError as error:
                raise VerifyException(str(error)) from error


def _verify_blocks(region: Region) -> None:
    """Check that operations of this project are in regions of one block: no pass follows branches between blocks."""
    if len(region.blocks) < 2:
        return
    for block in region.blocks:
        for op in block.ops:
            if op.name.partition(".")[0] in DIALECTS:
                what = f"'{op.name}' is in a region of {len(region.blocks)} blocks, not one"
                raise GeError("GE3002", what, where(op), remedy="Write branches as regions: onnx.If or scf.if.")


def _verify_end(block: Block, region: Region) -> None:
    """Check that a block ends with a terminator, unless it is alone in an operation that needs none."""
    parent = region.parent
    if len(region.blocks) == 1 and (parent is None or parent.has_trait(NoTerminator)):
        return
    last = block.last_op
    if last is None or not last.has_trait(IsTerminator):
        culprit = parent if last is None else last
        name = "a block" if parent is None else f"'{parent.name}': a block"
        what = f"{name} must end with a terminator" + ("" if last is None else f", not with '{last.name}'")
        raise GeError("GE3002", what, None if culprit is None else where(culprit))


def _verify_successors(op: Operation) -> None:
    """Check that only the last operation of a block branches, and only to blocks of its region."""
    if not op.successors:
        return
    if op.parent is None or op.parent.last_op is not op:
        raise VerifyException("an operation with successors must be the last of its block")
    if any(successor.parent is not op.parent.parent for successor in op.successors):
        raise VerifyException("a successor is in another region")


def _one_line(error: Exception) -> str:
    """The message of an xDSL error without its own preamble and line breaks."""
    text = " ".join(str(error).split())
    return text.removeprefix("Operation does not verify: ").removeprefix("operation does not verify: ")
