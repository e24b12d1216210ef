"""The pass `assign-precision`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.graph import (
    CastOp,
    ConstantOp,
    Conv2DOp,
    DequantiseOp,
    FusionOp,
    HostOp,
    LaunchOp,
    LayerNormOp,
    MatmulOp,
    ViewOp,
    main_function,
)
from ge.dialects.graph.base import tensor
from ge.dialects.graph.constants import constant, constant_array
from ge.dialects.graph.integer_kernels import is_odd, on_integers
from ge.ir.attributes import EIGHT_BITS, layout_of
from ge.ir.rewriting import erase_if_unused
from ge.maths.floats import to_float16
from ge.passes.graph import report
from ge.passes.graph.divisors import keep_divisors
from ge.passes.graph.factors import split_factors
from ge.passes.graph.keep import KeepList, Mode, read_keep_file
from ge.passes.graph.place import (
    NAME,
    is_device,
    move_to_host,
    only_reshaped,
    reduced_for_host,
    sliced_from_host,
    stranded,
    without_kernel,
)
from ge.passes.graph.unscaled_integers import with_unscaled_integers

FLOAT32_OPERANDS: dict[type[Operation], tuple[int, ...]] = {Conv2DOp: (2,), MatmulOp: (2,), LayerNormOp: (1, 2)}
"""Constant vectors that kernels compute with in float32, and that stay that: a bias for the accumulator, and so on."""


@dataclass(frozen=True)
class AssignPrecisionPass(ModulePass):
    """Let the device compute in float16, and move to the host what it cannot compute.

    1. Operations without a kernel (`ge.dialects.graph.capabilities`), and what is to keep its precision, move to the
       host, where they compute in the types of the model. What is kept is said by name (`keep`), by ONNX operator
       (`keep-types`), by a file of both (`keep-file`, as ATC's ``--keep_dtype``) and by `mode`.
    2. So does what computes with integers that float16 may not hold, until they are scaled
       (:mod:`ge.passes.graph.unscaled_integers`).
    3. Cheap operations between host operations only move there, too: two conversions would cost more than they save.
       So does a reduction whose result only the host wants, of a value that it has, and a slice of what the host has
       made, where the device wants nothing but such slices.
    4. All others take and give float16; the bias of convolutions and matrix products is float32, and so is what they
       accumulate, and the vectors of a normalisation of rows. Constants are converted beforehand, saturating.
    5. Constant factors, divisors and weights that float16 does not hold are split (:mod:`ge.passes.graph.factors`);
       divisors that it would make zero are kept above it (:mod:`ge.passes.graph.divisors`).
    6. Inputs, outputs and values of the host keep their types, with `graph.cast` at the border; reshapes between them,
       too.

    A model of which all nodes are kept stays as it is, bit by bit. A module that has storage formats already is left
    alone.
    """

    name = "assign-precision"

    keep: tuple[str, ...] = field(default=())
    """Names of model nodes that stay in the precision of the model, on the host."""
    keep_types: tuple[str, ...] = field(default=())
    """Types of ONNX operators that do."""
    keep_file: str = ""
    """A file of names, and of types as ``OpType::Name``, one on each line."""
    mode: Mode = "force_fp16"
    """``force_fp16``: everything with a kernel computes in float16. ``allow_mix_precision``: but not functions whose
    results float16 is too narrow for. ``must_keep_origin_dtype``: only what the model has in float16."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = main_function(op)
        if has_formats(main):
            return
        keep = self.keep_list()
        keep.check(main)
        unscaled = set(with_unscaled_integers(main.body.block))
        for inner in list(main.body.block.ops):
            if without_kernel(inner) or _is_kept(inner, keep) or _is_unscaled(inner, unscaled):
                move_to_host(inner)
        for inner in reversed(list(main.body.block.ops)):
            if reduced_for_host(inner):
                move_to_host(inner)
        for inner in list(main.body.block.ops):
            for each in sliced_from_host(inner):
                move_to_host(each)
        for inner in stranded(main.body.block):
            move_to_host(inner)
        split_factors(main.body.block)
        keep_divisors(main.body.block)
        _Converter(main.body.block).run()

    def keep_list(self) -> KeepList:
        """What the options say together. Raises what reading the file raises."""
        names, types = read_keep_file(Path(self.keep_file)) if self.keep_file else ((), ())
        return KeepList(frozenset((*self.keep, *names)), frozenset((*self.keep_types, *types)), self.mode)


def _is_kept(op: Operation, keep: KeepList) -> bool:
    """Whether a device operation is to keep its precision; the reason goes into the report."""
    if not is_device(op) or (reason := keep.keeps(op)) is None:
        return False
    report.missed(NAME, op, f"it runs on the host: {reason}")
    return True


def _is_unscaled(op: Operation, unscaled: Collection[Operation]) -> bool:
    """Whether an operation is one of those that compute with unscaled integers; the reason goes into the report."""
    if op not in unscaled:
        return False
    report.missed(NAME, op, "it runs on the host: it computes with integers that float16 may not hold")
    return True


def has_formats(main: FuncOp) -> bool:
    """Whether a function has been given storage formats: some value has one, or there is a view, fusion or launch.

    Where all formats are plain and nothing is a view, giving them again changes nothing.
    """
    return any(
        isinstance(op, ViewOp | LaunchOp | FusionOp) or any(layout_of(result.type) != "ND" for result in op.results)
        for op in main.walk()
    )


class _Converter:
    """Replaces the device operations of a block by ones on float16."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.converted: dict[SSAValue, SSAValue] = {}
        """The float16 value that stands for each value used or made by the device."""
        self.restored: dict[SSAValue, SSAValue] = {}
        """The value of the model's type, where the host or the caller wants one."""

    def run(self) -> None:
        old, untouched = list(self.block.ops), only_reshaped(self.block)
        for op in old:
            if op in untouched:
                continue
            if isinstance(op, HostOp | ReturnOp):
                op.operands = [self.restore(operand) for operand in op.operands]
            elif on_integers(op):
                self.convert_integers(op)
            elif isinstance(op, CastOp):
                self.converted[op.y] = self.half(op.x, op)
            elif not isinstance(op, ConstantOp):
                self.convert(op)
        for op in reversed(old):
            if not isinstance(op, HostOp | ReturnOp):
                erase_if_unused(op)

    def convert(self, op: Operation) -> None:
        """Put the float16 twin of a device operation before it."""
        operands = [
            self.single(operand) if i in FLOAT32_OPERANDS.get(type(op), ()) else self.half(operand, op)
            for i, operand in enumerate(op.operands)
        ]
        self._put_twin(op, operands, [_with_element(result.type, f16) for result in op.results])

    def convert_integers(self, op: Operation) -> None:
        """Put a twin of an operation on integers before it: it takes what there is, and gives float16 for floats.

        Numbers of quantised values that only the host or the caller want stay in the type of the model.
        """
        exact = isinstance(op, DequantiseOp) and not is_odd(op.x) and only_for_the_host(op)
        operands = [self.converted.get(operand, operand) for operand in op.operands]
        types = [
            result.type if exact or tensor(result).element_type in EIGHT_BITS else _with_element(result.type, f16)
            for result in op.results
        ]
        self._put_twin(op, operands, types)

    def _put_twin(self, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> None:
        """Put an operation like another one before it, whose results stand for those of that one."""
        twin = type(op).create(
            operands=operands,
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            location=op.location,
        )
        self.block.insert_op_before(twin, op)
        for result, new in zip(op.results, twin.results, strict=True):
            new.name_hint = result.name_hint
            self.converted[result] = new

    def half(self, value: SSAValue, user: Operation) -> SSAValue:
        """`value` in float16: its twin, a converted constant, or a cast before its first user."""
        if value not in self.converted:
            self.converted[value] = self._make_half(value, user)
        return self.converted[value]

    def _make_half(self, value: SSAValue, user: Operation) -> SSAValue:
        if tensor(value).element_type == f16:
            return value
        array = constant_array(value)
        new = CastOp(value, f16) if array is None else constant(to_float16(array))
        return self._insert(new, value, user)

    def single(self, value: SSAValue) -> SSAValue:
        """A constant vector in float32."""
        array = constant_array(value)
        owner = value.owner
        if array is None or tensor(value).element_type == f32 or not isinstance(owner, Operation):
            return value
        return self._insert(constant(array.astype(np.float32)), value, owner)

    def restore(self, value: SSAValue) -> SSAValue:
        """A value of the device in the type that the model gives it."""
        half = self.converted.get(value)
        if half is None or isinstance(value.owner, ConstantOp | HostOp | Block):
            return value
        if half.type == value.type:
            return half
        if value not in self.restored:
            last = half.owner if isinstance(half.owner, Operation) else self.block.first_op
            assert last is not None, "the block of a function has a terminator"
            new = CastOp(half, tensor(value).element_type)
            new.location = last.location
            self.block.insert_op_after(new, last)
            self.restored[value] = new.y
        return self.restored[value]

    def _insert(self, new: CastOp | ConstantOp, value: SSAValue, before: Operation) -> SSAValue:
        owner = value.owner
        new.location = owner.location if isinstance(owner, Operation) else before.location
        new.y.name_hint = value.name_hint
        self.block.insert_op_before(new, before)
        return new.y


def only_for_the_host(op: Operation) -> bool:
    """Whether nothing but the host and the caller read what an operation of the device gives."""
    return all(isinstance(use.operation, HostOp | ReturnOp) for result in op.results for use in result.uses)


def _with_element(type: Attribute, element_type: Attribute) -> TensorType[Attribute]:
    assert isinstance(type, TensorType), "device operations give tensors"
    return TensorType(element_type, type.get_shape())
