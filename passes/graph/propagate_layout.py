"""The pass `propagate-layout`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import BinaryOp, CastOp, ConstantOp, Conv2DOp, HostOp, ReshapeOp, TransposeOp, main_function
from ge.dialects.graph.base import int_attr, shape_of, tensor
from ge.dialects.graph.capabilities import Formats, broadcast_form, kernel_formats, obstacle
from ge.dialects.graph.constants import constant, constant_array
from ge.ir.attributes import with_layout
from ge.ir.errors import GeError
from ge.ir.locations import where
from ge.ir.rewriting import apply_rules, erase_if_unused, replace, rewrite_rule
from ge.maths.group_merge import merge_count, merge_weights
from ge.passes.graph.assign_precision import has_formats
from ge.passes.graph.format_choice import choose_formats, wanted_formats
from ge.passes.graph.format_versions import Versions


@dataclass(frozen=True)
class PropagateLayoutPass(ModulePass):
    """Give every value of the device the storage format that the kernels around it need.

    * An operation whose kernels take one set of formats gets that; elementwise operations, which take any, get the one
      that converts the fewest elements (`format_choice`). So a format travels through them, and conversions are only
      made between different kinds of operations. With `plain` they get the plain format, wherever there is a kernel
      for it.
    * A conversion (`graph.trans_data`, which changes the element type, too) is made once for each value and format,
    before   its first user; back to the format that a value was made in, it is that value. Where the bytes are the same
    it is a   `graph.view` (`format_versions`).
    * Constants are packed beforehand: weights of convolutions as FRACTAL_Z, their groups merged (`group_merge`).
    * A reshape is a view where the bytes are the same, otherwise one in plain format; so is a transposition, as that of
      the heads of an attention in FRACTAL_NZ.
    * Inputs, outputs and values of the host are in plain format.

    Runs after `assign-precision`, which must have moved to the host what has no kernel (GE4002 otherwise). A module
    that has storage formats already is left alone.
    """

    name = "propagate-layout"

    plain: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = main_function(op)
        if has_formats(main):
            return
        apply_rules(main, [reshape_before_cast, channels_of_feature_maps])
        _Propagation(main.body.block, self.plain).run()


@rewrite_rule(ReshapeOp)
def reshape_before_cast(op: ReshapeOp) -> bool:
    """Cast after a reshape instead of before it: the cast may then become part of a conversion."""
    cast = op.x.owner
    if not isinstance(cast, CastOp):
        return False
    reshaped = ReshapeOp(cast.x, shape_of(op.y))
    replace(op, [reshaped, CastOp(reshaped, tensor(op.y).element_type)], fused=[cast])
    erase_if_unused(cast)
    return True


@rewrite_rule(BinaryOp)
def channels_of_feature_maps(op: BinaryOp) -> bool:
    """Give an operand [C, 1, 1] that spreads over feature maps the four dimensions of a feature map."""
    for position, operand in enumerate(op.operands):
        shape = shape_of(operand)
        if len(shape) == 3 and broadcast_form(shape, shape_of(op.y)) == "channel":
            array = constant_array(operand)
            new = ReshapeOp(operand, (1, *shape)) if array is None else constant(array.reshape(1, *shape))
            sides = [new.y if i == position else side for i, side in enumerate(op.operands)]
            replace(op, [new, BinaryOp(op.kind.data, sides[0], sides[1])])
            return True
    return False


class _Propagation:
    """Replaces the device operations of a block by ones on values with storage formats."""

    def __init__(self, block: Block, plain: bool) -> None:
        self.block = block
        self.plain = plain
        self.versions = Versions(block)
        self.wanted = wanted_formats(block)

    def run(self) -> None:
        old = list(self.block.ops)
        for op in old:
            match op:
                case ConstantOp():
                    pass
                case HostOp() | ReturnOp():
                    op.operands = [self.versions.get(operand, "ND", op) for operand in op.operands]
                case CastOp() | ReshapeOp() | TransposeOp():
                    self.versions.derive(op)
                case _:
                    self.convert(op)
        for op in reversed(list(self.block.ops)):
            if not isinstance(op, HostOp | ReturnOp):
                erase_if_unused(op)

    def convert(self, op: Operation) -> None:
        """Put the twin of `op`, on values with formats, before it."""
        choices = kernel_formats(op)
        if not choices:
            raise GeError("GE4002", f"{op.name} has no kernel: {obstacle(op)}", where(op))
        plain = [choice for choice in choices if self.plain and choice.result == "ND"]
        formats = choose_formats(op, plain or choices, self.versions, self.wanted)
        result = op.results[0]
        twin = type(op).create(
            operands=self.operands(op, formats),
            result_types=[with_layout(tensor(result), formats.result)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            location=op.location,
        )
        if isinstance(op, Conv2DOp):
            twin.properties["group_merge"] = int_attr(_merge_count(op))
        twin.results[0].name_hint = result.name_hint
        self.block.insert_op_before(twin, op)
        self.versions.add(result, twin.results[0])

    def operands(self, op: Operation, formats: Formats) -> list[SSAValue]:
        """The operands of `op` in their formats; of grouped convolutions the weights of merged groups."""
        operands = list(op.operands)
        if isinstance(op, Conv2DOp) and _merge_count(op) > 1:
            operands[1] = self.merged_weights(op)
        return [
            self.versions.get(operand, format or "ND", op)
            for operand, format in zip(operands, formats.operands, strict=True)
        ]

    def merged_weights(self, op: Conv2DOp) -> SSAValue:
        """The weights of a grouped convolution as those of merged groups."""
        w = constant_array(op.w)
        assert w is not None, "a convolution with other weights has no kernel"
        new = constant(merge_weights(w, op.groups.value.data, _merge_count(op)))
        new.location, new.y.name_hint = op.location, op.w.name_hint
        self.block.insert_op_before(new, op)
        return new.y


def _merge_count(op: Conv2DOp) -> int:
    return merge_count(shape_of(op.x)[1], shape_of(op.y)[1], op.groups.value.data)
