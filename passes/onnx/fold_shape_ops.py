"""The pass `fold-shape-ops`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from ge.dialects.onnx import Constant, Custom, OnnxOp
from ge.dialects.onnx.shapes.inference import Inference, infer_function, main_function
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor
from ge.ir.rewriting import permit, replace
from ge.maths.symbols import Expression, bounds
from ge.passes.onnx.building import bypass, can_stand_for, erase_unused, integers, take_place
from ge.passes.onnx.infer_shapes import has_static_shapes, write_contents

Known: TypeAlias = "MutableMapping[Tensor, SSAValue]"
"""The first value with these contents; those of outer blocks can be seen from inner ones."""


@dataclass(frozen=True)
class FoldShapeOpsPass(ModulePass):
    """Take out arithmetic on shapes whose result is known, be it only as an expression of named sizes.

    1. Integers that are known become constants.
    2. A value whose elements are the same expressions as those of an earlier one gives way to that:
       `Gather(Concat(Unsqueeze(n), [64]), 0)` is n, and the batch size is read from one value only.
    3. `Reshape` to a computed shape becomes one to a constant, when all sizes are numbers, sizes at the same place of
       the operand (0), or one unknown size (-1).
    4. `Reshape`, `Expand`, and `Slice` in steps of one whose result has the same sizes as the operand are taken out.

    The names of dimensions that the model states are believed, as `infer-shapes` does.

    Left alone: contents that are known in part, and of more than 1024 elements; a `Reshape` with a -1 beside a size
    that is copied and may be zero, where nothing would tell what the -1 stands for; a value in one branch that only
    another branch has; an output that would be an input or another output.
    """

    name = "fold-shape-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        if function is None or (has_static_shapes(function) and not _measures(function)):
            return
        inference = infer_function(function, use_notes=False)
        write_contents(function, inference)
        _fold_block(function.body.block, inference, {})


def _measures(function: FuncOp) -> bool:
    """Whether an operation gives a shape."""
    return any(isinstance(op, OnnxOp) and op.op_type in ("Shape", "Size") for op in function.walk())


def _fold_block(block: Block, inference: Inference, known: Known) -> None:
    for op in list(block.ops):
        for region in op.regions:
            _fold_block(region.block, inference, ChainMap({}, known))
        if not isinstance(op, OnnxOp) or isinstance(op, Constant | Custom) or op.parent is None:
            continue
        if op.has_trait(Pure) and not op.domain:
            _fold(op, inference, known)


def _fold(op: OnnxOp, inference: Inference, known: Known) -> bool:
    """Cases 2 to 4, the first that applies. Whether one did."""
    return _merge(op, inference, known) or _constant_shape(op, inference) or _same_shape(op, inference)


def _merge(op: OnnxOp, inference: Inference, known: Known) -> bool:
    """Case 2."""
    if len(op.results) != 1:
        return False
    value = inference.value(op.results[0])
    if not isinstance(value, Tensor) or not value.contents or not _is_symbolic(value):
        return False
    first = known.get(value)
    if first is None or first.owner.parent is None:  # what was the first one went with its last user
        known[value] = op.results[0]
        return False
    if not can_stand_for(first, op.results[0]) or not permit("fold-shape-ops", op):
        return False
    operands = list(op.operands)
    replace(op, [], [first])
    erase_unused(operands)
    return True


def _is_symbolic(value: Tensor) -> bool:
    """Whether all elements are known, and not all of them numbers."""
    contents = value.contents or ()
    return all(isinstance(item, int | Expression) for item in contents) and not all(
        isinstance(item, int) for item in contents
    )


def _constant_shape(op: OnnxOp, inference: Inference) -> bool:
    """Case 3."""
    if op.op_type != "Reshape" or integers(op.operands[1]) is not None:
        return False
    old, new = (_shape(value, inference) for value in (op.operands[0], op.results[0]))
    target = None if old is None or new is None else _target(old, new)
    if target is None or not permit("fold-shape-ops", op):
        return False
    take_place(op, "Reshape", [op.operands[0], target])
    return True


def _target(old: Shape, new: Shape) -> list[int] | None:
    """What the shape of a `Reshape` says to make `new` of `old`."""
    target = [size if isinstance(size, int) else 0 if _at(old, index) == size else -1 for index, size in enumerate(new)]
    copied = [size for size, word in zip(new, target, strict=True) if word == 0]
    surely = all(isinstance(size, Expression) and (bounds(size)[0] or 0) > 0 for size in copied)
    return target if 0 not in new and (target.count(-1) == 0 or (target.count(-1) == 1 and surely)) else None


def _at(shape: Shape, index: int) -> Dim:
    return shape[index] if index < len(shape) else None


def _same_shape(op: OnnxOp, inference: Inference) -> bool:
    """Case 4."""
    if op.op_type not in ("Expand", "Reshape", "Slice"):
        return False
    if op.op_type == "Slice" and op.operand("steps") is not None and set(integers(op.operand("steps")) or [0]) != {1}:
        return False
    old, new = (_shape(value, inference) for value in (op.operands[0], op.results[0]))
    if old is None or old != new or None in old or not permit("fold-shape-ops", op):
        return False
    return bypass(op, op.operands[0])


def _shape(value: SSAValue, inference: Inference) -> Shape | None:
    known = inference.value(value)
    return known.shape if isinstance(known, Tensor) else None
