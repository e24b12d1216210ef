"""An OM file of any compiler as what it is made of: a header and partitions.

The files that this project writes are an ``om.model``; these operations hold all others, whatever is in them, so that
they are written again byte by byte. What can be taken apart is: messages are ``#om.message<...>``, stores of kernels
are lists of binaries. The rest are bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ge.dialects.om.message import MessageAttr
from ge.dialects.om.program import Int
from ge.ir.attributes import WeightsAttr

MAX_GAP = 4096
"""The most zero bytes that align a partition: a page. Offsets further apart are those of a damaged table."""

SUBMODEL = "FLOW_SUBMODEL"
"""The type of partition of which a container may have several: the models of a flow."""


@irdl_op_definition
class BinaryOp(IRDLOperation):
    """A kernel that nothing here can decode: ``om.binary "conv1" <...>``."""

    name = "om.binary"

    label = prop_def(StringAttr)
    value = prop_def(WeightsAttr)

    assembly_format = "$label $value attr-dict"

    def __init__(self, label: str, value: WeightsAttr) -> None:
        super().__init__(properties={"label": StringAttr(label), "value": value})


@irdl_op_definition
class PartitionOp(IRDLOperation):
    """A partition: ``om.partition "MODEL_DEF" #om.message<...>`` or ``om.partition "13" #ge.weights<...>``.

    ``kind`` is the name of its type, or the number where it has none. ``gap 24`` are zero bytes in front of it, which
    align it.
    """

    name = "om.partition"

    kind = prop_def(StringAttr)
    content = prop_def(WeightsAttr | MessageAttr)
    gap = opt_prop_def(Int)

    assembly_format = "$kind (`gap` $gap^)? $content attr-dict"

    def __init__(self, kind: str, content: WeightsAttr | MessageAttr, gap: int = 0) -> None:
        super().__init__(properties={"kind": StringAttr(kind), "content": content, "gap": _gap(gap)})

    def verify_(self) -> None:
        _check_gap(self.gap)


@irdl_op_definition
class KernelStoreOp(IRDLOperation):
    """A partition of kernels: ``om.kernel_store "TBE_KERNELS" { ... }``; in it are ``om.binary``, in file order.

    ``gap`` is that of any partition.
    """

    name = "om.kernel_store"

    kind = prop_def(StringAttr)
    gap = opt_prop_def(Int)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$kind (`gap` $gap^)? $body attr-dict"

    def __init__(self, kind: str, binaries: Sequence[BinaryOp], gap: int = 0) -> None:
        super().__init__(
            properties={"kind": StringAttr(kind), "gap": _gap(gap)}, regions=[Region(Block(list(binaries)))]
        )

    @property
    def binaries(self) -> Iterator[BinaryOp]:
        """The kernels, in file order."""
        return (op for op in self.body.block.ops if isinstance(op, BinaryOp))

    def verify_(self) -> None:
        _check_gap(self.gap)
        _only(self.body, BinaryOp)
        _all_different(op.label.data for op in self.binaries)


@irdl_op_definition
class ContainerOp(IRDLOperation):
    """A partition table with its partitions: ``om.container { ... }``.

    ``table`` is there when the table is not what the partitions say, such as one with bytes in its padding. ``tail``
    are zero bytes behind the last partition.
    """

    name = "om.container"

    table = opt_prop_def(WeightsAttr)
    tail = opt_prop_def(Int)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "(`table` $table^)? (`tail` $tail^)? $body attr-dict"

    def __init__(
        self, partitions: Sequence[PartitionOp | KernelStoreOp], table: WeightsAttr | None = None, tail: int = 0
    ) -> None:
        super().__init__(
            properties={"table": table, "tail": _gap(tail)},
            regions=[Region(Block(list(partitions)))],
        )

    @property
    def partitions(self) -> Iterator[PartitionOp | KernelStoreOp]:
        """The partitions, in file order."""
        return (op for op in self.body.block.ops if isinstance(op, PartitionOp | KernelStoreOp))

    def verify_(self) -> None:
        _check_gap(self.tail)
        _only(self.body, PartitionOp, KernelStoreOp)
        _all_different(op.kind.data for op in self.partitions if op.kind.data != SUBMODEL)


@irdl_op_definition
class FileOp(IRDLOperation):
    """An OM file: ``om.file wide {name = "demo"} { ... }``; in it is one ``om.container``, or several.

    ``wide`` files have 64-bit partition tables. The dictionary has the fields of the header that are not what this
    project writes, sizes left out; ``raw`` is the header, when those do not say all of it.
    """

    name = "om.file"

    wide = opt_prop_def(UnitAttr)
    header = prop_def(DictionaryAttr)
    raw = opt_prop_def(WeightsAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "(`wide` $wide^)? $header (`raw` $raw^)? $body attr-dict"

    def __init__(
        self,
        containers: Sequence[ContainerOp],
        header: Mapping[str, Attribute],
        wide: bool = False,
        raw: WeightsAttr | None = None,
    ) -> None:
        super().__init__(
            properties={"wide": UnitAttr() if wide else None, "header": DictionaryAttr(dict(header)), "raw": raw},
            regions=[Region(Block(list(containers)))],
        )

    @property
    def containers(self) -> Iterator[ContainerOp]:
        """The models in the file; all but the first are parts of it."""
        return (op for op in self.body.block.ops if isinstance(op, ContainerOp))

    def verify_(self) -> None:
        _only(self.body, ContainerOp)


def _gap(count: int) -> IntegerAttr | None:
    return IntegerAttr(count, i64) if count else None


def _check_gap(gap: IntegerAttr | None) -> None:
    if gap is not None and not 0 < gap.value.data <= MAX_GAP:
        raise VerifyException(f"{gap.value.data} bytes align nothing: 1 to {MAX_GAP} may")


def _only(body: Region, *allowed: type[Operation]) -> None:
    for op in body.block.ops:
        if not isinstance(op, allowed):
            raise VerifyException(f"{op.name} cannot be here")


def _all_different(names: Iterator[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise VerifyException(f"'{name}' is here {count} times")
