"""Checking modules: every operation against its definition, and every value defined before it is used.

The first fault is raised as a :class:`~ge.ir.errors.GeError` that names the operation and its place; the module is
never printed. xDSL's own ``verify`` has no dominance check and prints the whole module on a fault.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ge.ir.errors import GeError
from ge.ir.locations import where


def verify_module(module: Operation) -> None:
    """Check ``module`` and everything in it.

    Raises GE3002 for an operation that breaks its definition, and GE3003 for a value that is used where it is not
    visible: before its definition in a block, outside its region, or inside an operation that is isolated from what is
    around it. In regions of several blocks, values of other blocks count as visible.
    """
    _verify(module, set())


def _verify(op: Operation, visible: set[SSAValue]) -> None:
    """Check ``op``, where the values ``visible`` may be used."""
    for index, operand in enumerate(op.operands):
        if operand not in visible:
            raise GeError("GE3003", f"'{op.name}': operand #{index} is used before it is defined", where(op))
    for region in op.regions:
        _verify_region(region, set() if op.has_trait(IsolatedFromAbove, value_if_unregistered=False) else visible)
    try:
        _verify_successors(op)
        op.verify_()
    except VerifyException as error:
        raise GeError("GE3002", f"'{op.name}': {_one_line(error)}", where(op)) from error


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    """Check the blocks of a region; the values that they define are visible only in it."""
    results = {block: [result for op in block.ops for result in op.results] for block in region.blocks}
    if len(region.blocks) > 1:
        for block in region.blocks:
            visible.update(block.args, results[block])
    for block in region.blocks:
        visible.difference_update(results[block])
        visible.update(block.args)
        for op in block.ops:
            _verify(op, visible)
            visible.update(op.results)
        _verify_end(block, region)
    for block in region.blocks:
        visible.difference_update(block.args, results[block])


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
