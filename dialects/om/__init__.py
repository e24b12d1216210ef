"""The ``om`` dialect: what an OM file says, as text.

A file is one ``om.model``. It holds, in this order, the constants as one block of bytes (``om.weights``), the kernels
(``om.kernel``), the graph that viewers show (``om.op``) and what the device does (``om.task``).

| file | what |
|---|---|
| ``model.py`` | the model, its weights and its kernels |
| ``program.py`` | operators and tasks |
| ``values.py`` | how much memory a value takes |

:mod:`ge.targets.ascend.om` writes and reads the bytes.
"""

from xdsl.ir import Dialect

from ge.dialects.om.model import KernelOp, ModelOp, WeightsOp
from ge.dialects.om.program import OperatorOp, TaskOp

__all__ = ["KernelOp", "ModelOp", "Om", "OperatorOp", "TaskOp", "WeightsOp"]

Om = Dialect("om", [ModelOp, WeightsOp, KernelOp, OperatorOp, TaskOp], [])
