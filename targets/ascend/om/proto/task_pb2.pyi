from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelTaskDef(_message.Message):
    __slots__ = ("version", "task", "memory_size", "stream_num", "event_num", "weight_size", "base_addr", "weight_addr")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    MEMORY_SIZE_FIELD_NUMBER: _ClassVar[int]
    STREAM_NUM_FIELD_NUMBER: _ClassVar[int]
    EVENT_NUM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_SIZE_FIELD_NUMBER: _ClassVar[int]
    BASE_ADDR_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_ADDR_FIELD_NUMBER: _ClassVar[int]
    version: str
    task: _containers.RepeatedCompositeFieldContainer[TaskDef]
    memory_size: int
    stream_num: int
    event_num: int
    weight_size: int
    base_addr: int
    weight_addr: int
    def __init__(self, version: _Optional[str] = ..., task: _Optional[_Iterable[_Union[TaskDef, _Mapping]]] = ..., memory_size: _Optional[int] = ..., stream_num: _Optional[int] = ..., event_num: _Optional[int] = ..., weight_size: _Optional[int] = ..., base_addr: _Optional[int] = ..., weight_addr: _Optional[int] = ...) -> None: ...

class TaskDef(_message.Message):
    __slots__ = ("id", "type", "stream_id", "event_id", "kernel")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STREAM_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    id: int
    type: int
    stream_id: int
    event_id: int
    kernel: KernelDef
    def __init__(self, id: _Optional[int] = ..., type: _Optional[int] = ..., stream_id: _Optional[int] = ..., event_id: _Optional[int] = ..., kernel: _Optional[_Union[KernelDef, _Mapping]] = ...) -> None: ...

class KernelDef(_message.Message):
    __slots__ = ("context", "stub_func", "block_dim", "args_size", "args", "so_name", "kernel_name")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    STUB_FUNC_FIELD_NUMBER: _ClassVar[int]
    BLOCK_DIM_FIELD_NUMBER: _ClassVar[int]
    ARGS_SIZE_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    SO_NAME_FIELD_NUMBER: _ClassVar[int]
    KERNEL_NAME_FIELD_NUMBER: _ClassVar[int]
    context: KernelContext
    stub_func: str
    block_dim: int
    args_size: int
    args: bytes
    so_name: str
    kernel_name: str
    def __init__(self, context: _Optional[_Union[KernelContext, _Mapping]] = ..., stub_func: _Optional[str] = ..., block_dim: _Optional[int] = ..., args_size: _Optional[int] = ..., args: _Optional[bytes] = ..., so_name: _Optional[str] = ..., kernel_name: _Optional[str] = ...) -> None: ...

class KernelContext(_message.Message):
    __slots__ = ("kernel_type", "op_id", "op_index", "args_offset", "args_count")
    KERNEL_TYPE_FIELD_NUMBER: _ClassVar[int]
    OP_ID_FIELD_NUMBER: _ClassVar[int]
    OP_INDEX_FIELD_NUMBER: _ClassVar[int]
    ARGS_OFFSET_FIELD_NUMBER: _ClassVar[int]
    ARGS_COUNT_FIELD_NUMBER: _ClassVar[int]
    kernel_type: int
    op_id: int
    op_index: int
    args_offset: bytes
    args_count: int
    def __init__(self, kernel_type: _Optional[int] = ..., op_id: _Optional[int] = ..., op_index: _Optional[int] = ..., args_offset: _Optional[bytes] = ..., args_count: _Optional[int] = ...) -> None: ...
