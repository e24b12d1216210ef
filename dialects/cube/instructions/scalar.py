"""Instructions of the scalar unit that touch memory; its arithmetic is in `ge.dialects.cube.scalars`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import Float32Type, f32
from xdsl.irdl import irdl_op_definition, result_def
from xdsl.utils.exceptions import VerifyException

from ge.dialects.cube.fields import READ, Address, Enum
from ge.dialects.cube.instruction import Access, Costs, Instruction, reads
from ge.dialects.cube.instructions.vector import BYTES
from ge.dialects.cube.spaces import Pipe, Space

if TYPE_CHECKING:
    from ge.dialects.cube.memory import Memory


@irdl_op_definition
class ScalarLoad(Instruction):
    """Reads one element of the UB into a float32 value; the offset is a multiple of the element size."""

    name = "cube.scalar_load"
    result = result_def(Float32Type)

    PIPE: ClassVar = Pipe.S
    RESULT: ClassVar = f32
    FIELDS: ClassVar = (Address("src", (Space.UB,), READ, align=2), Enum("dtype", ("f16", "f32")))

    @staticmethod
    def footprint(src: int, dtype: str) -> tuple[Access, ...]:
        return (reads("src", src, BYTES[dtype]),)

    @staticmethod
    def execute(memory: Memory, src: int, dtype: str) -> float:
        return float(memory.view("ub", dtype, src, (1,), (BYTES[dtype],))[0])

    @staticmethod
    def cycles(costs: Costs, *values: Any) -> float:
        return 1.0

    def check(self) -> None:
        offset, size = self.field("src"), BYTES[str(self.field("dtype"))]
        if isinstance(offset, int) and offset % size:
            raise VerifyException(f"offset {offset} is not a multiple of the {size} bytes of an element")


SCALAR = (ScalarLoad,)
