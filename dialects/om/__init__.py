"""The ``om`` dialect: what an OM file says, as text.

A file of this compiler is one ``om.model``. It holds, in this order, the graph that it was made of (``om.graph``), the
constants as one block of bytes (``om.weights``), the kernels (``om.kernel``), the graph that viewers show (``om.op``)
and what the device does (``om.task``, ``om.record``, ``om.wait``). A file of any other compiler is one ``om.file``,
with its partitions as they are.

| file | what |
|---|---|
| ``model.py`` | the model, its weights and its kernels |
| ``program.py`` | operators, tasks and events |
| ``values.py`` | how much memory a value takes |
| ``container.py`` | files of other compilers: tables, partitions, kernels that are only bytes |
| ``message.py`` | the messages in those |

:mod:`ge.targets.ascend.om` writes and reads the bytes.
"""

from xdsl.ir import Dialect

from ge.dialects.om.container import BinaryOp, ContainerOp, FileOp, KernelStoreOp, PartitionOp
from ge.dialects.om.message import MessageAttr
from ge.dialects.om.model import GraphOp, KernelOp, ModelOp, WeightsOp
from ge.dialects.om.program import OperatorOp, RecordOp, TaskOp, WaitOp

__all__ = [
    "BinaryOp",
    "ContainerOp",
    "FileOp",
    "GraphOp",
    "KernelOp",
    "KernelStoreOp",
    "MessageAttr",
    "ModelOp",
    "Om",
    "OperatorOp",
    "PartitionOp",
    "RecordOp",
    "TaskOp",
    "WaitOp",
    "WeightsOp",
]

Om = Dialect(
    "om",
    [
        *(ModelOp, GraphOp, WeightsOp, KernelOp, OperatorOp, TaskOp, RecordOp, WaitOp),
        *(FileOp, ContainerOp, PartitionOp, KernelStoreOp, BinaryOp),
    ],
    [MessageAttr],
)
