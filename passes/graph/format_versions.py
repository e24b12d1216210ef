"""The versions of each value in different storage formats, made when they are first asked for.

A value has one version from the operation that makes it. Others come from it, in this order of preference: a view,
where the bytes are the same; a transposition of the storage; a cast, where only the element type differs; one
`graph.trans_data`; two, by way of plain format.

The results of `graph.cast`, `graph.reshape` and `graph.transpose` have no version of their own at first: they are
derived from their operand in whatever format is asked for. So a cast becomes part of a conversion, a reshape a view,
and a transposition, too, where it only moves whole blocks that lie apart already: the heads of an attention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.graph import CastOp, ConstantOp, ReshapeOp, TransDataOp, TransposeOp, ViewOp
from ge.dialects.graph.base import shape_of, tensor
from ge.dialects.graph.constants import constant, constant_array
from ge.dialects.graph.movement_kernels import transposition_obstacle
from ge.ir.attributes import block_lanes, layout_of, with_layout
from ge.maths.layouts import Transposition, same_bytes, storage_shape, storage_transposition


class Versions:
    """All versions of all values of a block that is being rewritten."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._versions: dict[SSAValue, dict[str, SSAValue]] = {}
        self._derived: dict[SSAValue, CastOp | ReshapeOp | TransposeOp] = {}

    def add(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new`, in the format of its type, be the version of `old`."""
        self._versions[old] = {layout_of(new.type): new}

    def derive(self, op: CastOp | ReshapeOp | TransposeOp) -> None:
        """Let versions of the result of `op` be derived from those of its operand."""
        self._derived[op.y] = op
        self._versions[op.y] = {}

    def of(self, value: SSAValue) -> dict[str, SSAValue]:
        """The versions there are; inputs, constants and values of the host have a plain one."""
        return self._versions.setdefault(value, {"ND": value})

    def get(self, value: SSAValue, format: str, user: Operation) -> SSAValue:
        """The version of `value` in `format`; made before `user` when there is none."""
        versions = self.of(value)
        if format not in versions:
            versions[format] = self._make(value, format, user)
        return versions[format]

    def cost(self, value: SSAValue, format: str) -> int:
        """How many elements a conversion of `value` to `format` reads and writes; 0 when there is nothing to do."""
        if format in self.of(value) or isinstance(value.owner, ConstantOp) or self._as_view(value, format) is not None:
            return 0
        shape = shape_of(value)
        return math.prod(shape) + math.prod(storage_shape(format, shape, block_lanes(tensor(value))))

    # Making versions

    def _make(self, value: SSAValue, format: str, user: Operation) -> SSAValue:
        array = constant_array(value)
        if array is not None:
            return self._insert(constant(array, format), value, user)
        type = with_layout(tensor(value), format)
        if (same := self._as_view(value, format)) is not None:
            return self._insert(ViewOp(same, type), value, user)
        if (found := self._as_transposition(value, format)) is not None:
            source, (shape, order) = found
            seen = self._insert(ViewOp(source, TensorType(type.element_type, shape)), value, user)
            moved = self._insert(TransposeOp(seen, order), value, user)
            return self._insert(ViewOp(moved, type), value, user)
        derived = self._derived.get(value)
        if not self.of(value) and isinstance(derived, CastOp):
            return self._make_cast(derived, type, user)
        if "ND" not in self.of(value) and (format != "ND" or isinstance(derived, ReshapeOp | TransposeOp)):
            self.of(value)["ND"] = self._make_plain(value, user)
            return self.get(value, format, user)
        source = self.of(value).get("ND") or next(iter(self.of(value).values()))
        return self._insert(TransDataOp(source, type), value, user)

    def _as_view(self, value: SSAValue, format: str) -> SSAValue | None:
        """A version that has the bytes of `value` in `format`, of the value itself or of what it is derived from."""
        for source, moves in self._sources(value):
            stored, lanes = layout_of(source.type), block_lanes(tensor(source))
            if same_bytes(stored, shape_of(source), format, shape_of(value), moves, lanes):
                return source
        return None

    def _as_transposition(self, value: SSAValue, format: str) -> tuple[SSAValue, Transposition] | None:
        """A version of which `value` in `format` is the storage in another order, and that order, if a kernel has it.

        So windows and heads of several matrices are moved block by block, without a conversion before and after. Where
        nothing is transposed, a conversion is the same.
        """
        if self.of(value):
            return None
        for source, moves in self._sources(value):
            if not moves:
                continue
            stored, lanes = layout_of(source.type), block_lanes(tensor(source))
            move = storage_transposition(stored, shape_of(source), format, shape_of(value), moves, lanes)
            if move is not None and transposition_obstacle(tuple(move[0]), move[1]) is None:
                return source, move
        return None

    def _sources(self, value: SSAValue) -> Iterator[tuple[SSAValue, Sequence[Transposition]]]:
        """Versions of a value, and of those that it is a reshape or transposition of, with what is between."""
        moves: list[Transposition] = []
        origin: SSAValue | None = value
        while origin is not None:
            for source in self.of(origin).values():
                yield source, moves
            derived = self._derived.get(origin)
            if isinstance(derived, TransposeOp):
                moves.insert(0, (shape_of(derived.x), derived.perm.get_values()))
            origin = derived.x if isinstance(derived, ReshapeOp | TransposeOp) else None

    def _make_cast(self, op: CastOp, type: TensorType[Attribute], user: Operation) -> SSAValue:
        """The result of a cast, from the operand in the same format if there is one, otherwise with a conversion."""
        format = layout_of(type)
        sources = self.of(op.x)
        if format in sources or self._as_view(op.x, format) is not None:
            return self._insert(CastOp(self.get(op.x, format, user), type.element_type), op.y, user)
        if "ND" not in sources and format != "ND":
            return self._insert(TransDataOp(self.get(op.x, "ND", user), type), op.y, user)
        source = sources.get("ND") or next(iter(sources.values()), None) or self.get(op.x, "ND", user)
        new = CastOp(source, type.element_type) if layout_of(source.type) == format else TransDataOp(source, type)
        return self._insert(new, op.y, user)

    def _make_plain(self, value: SSAValue, user: Operation) -> SSAValue:
        """The version of `value` in plain format: a view of what it is made from, a transposition, or a conversion."""
        derived = self._derived.get(value)
        if (same := self._as_view(value, "ND")) is not None:
            return self._insert(ViewOp(same, tensor(value)), value, user)
        if isinstance(derived, ReshapeOp) and not self.of(value):
            return self._insert(ViewOp(self.get(derived.x, "ND", user), tensor(value)), value, user)
        if isinstance(derived, TransposeOp) and not self.of(value):
            return self._insert(TransposeOp(self.get(derived.x, "ND", user), derived.perm.get_values()), value, user)
        source = next(iter(self.of(value).values()))
        return self._insert(TransDataOp(source, with_layout(tensor(value), "ND")), value, user)

    def _insert(
        self, new: ConstantOp | ViewOp | CastOp | TransDataOp | TransposeOp, value: SSAValue, user: Operation
    ) -> SSAValue:
        """Put an operation that makes a version of `value` before `user`."""
        owner = self._derived.get(value, value.owner)
        new.location = owner.location if isinstance(owner, Operation) else user.location
        new.y.name_hint = value.name_hint
        self.block.insert_op_before(new, user)
        return new.y
