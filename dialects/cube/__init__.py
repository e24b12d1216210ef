"""The `cube` level: what an AI Core does. Operations are single instructions, values are addresses and flags."""

from xdsl.ir import Dialect

from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.kernel import AllocOp, BlockIdxOp, CubeKernelOp
from ge.dialects.cube.spaces import BufferType, SpaceAttr

Cube = Dialect("cube", [CubeKernelOp, BlockIdxOp, AllocOp, *INSTRUCTIONS.values()], [BufferType, SpaceAttr])
