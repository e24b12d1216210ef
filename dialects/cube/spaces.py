"""The places of an AI Core: its memories, its instruction queues, and the type of a buffer in one of the memories."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

BLOCK = 32
"""Bytes of one block, the unit of every on-chip transfer."""

LANES = 16
"""float16 lanes of one block; also rows and columns of a fractal."""

FRACTAL_F16 = 512
"""Bytes of one 16x16 fractal of float16."""

FRACTAL_F32 = 1024
"""Bytes of one 16x16 fractal of float32, the unit of L0C."""


class Space(StrEnum):
    """A memory that instructions address: global memory, or one of the buffers inside a core."""

    GM = "gm"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    UB = "ub"


class Pipe(StrEnum):
    """An in-order instruction queue of a core. Different queues run concurrently unless flags order them."""

    S = "s"
    V = "v"
    M = "m"
    MTE1 = "mte1"
    MTE2 = "mte2"
    MTE3 = "mte3"


ALL_PIPES = "all"
"""What `pipe_barrier` names to wait for every queue."""


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space]):
    """A memory space as an attribute."""

    name = "cube.space"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Contiguous bytes in one memory: `!cube.buffer<l1>`."""

    name = "cube.buffer"

    space_attr: SpaceAttr

    @property
    def space(self) -> Space:
        """The memory that the bytes lie in."""
        return self.space_attr.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[SpaceAttr]:
        """Parse `<space>`."""
        with parser.in_angle_brackets():
            return [SpaceAttr(parser.parse_str_enum(Space))]

    def print_parameters(self, printer: Printer) -> None:
        """Print `<space>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.space.value)


def buffer(space: Space | str) -> BufferType:
    """The type of a buffer in `space`."""
    return BufferType(SpaceAttr(Space(space)))
