"""The instruction set: one class per instruction, by the unit that executes them."""

from ge.dialects.cube.instruction import Instruction
from ge.dialects.cube.instructions.copies import COPIES
from ge.dialects.cube.instructions.loads import LOADS
from ge.dialects.cube.instructions.matrix import MATRIX
from ge.dialects.cube.instructions.scalar import SCALAR
from ge.dialects.cube.instructions.sync import SYNC
from ge.dialects.cube.instructions.vector import VECTOR

INSTRUCTIONS: dict[str, type[Instruction]] = {
    cls.name.removeprefix("cube."): cls for cls in (*COPIES, *LOADS, *MATRIX, *VECTOR, *SCALAR, *SYNC)
}
"""Every instruction by its short name."""
