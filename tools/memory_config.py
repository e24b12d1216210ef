"""The file of ``--optimization_config``: how the memory of the device is used.

::

    {"memory_optimization": {"reuse_memory": true, "workspace_size": 1024, "enable_double_buffer": true}}
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ge.tools.json_file import JsonFile, kind

ROOT = "memory_optimization"
MIB = 1 << 20


@dataclass(frozen=True)
class MemoryConfig:
    """The keys of the file, with what holds when they are not there."""

    reuse_memory: bool = True
    """Values that are not live at the same time share memory."""
    workspace_size: int = 0
    """The most MiB that values may take that come and go while the model runs; 0 is no limit."""
    enable_double_buffer: bool = True
    """Loops of kernels load the next tile while they compute on this one."""

    @property
    def workspace_bytes(self) -> int:
        """The limit in bytes; 0 is none."""
        return self.workspace_size * MIB


def read_memory_config(path: str) -> MemoryConfig:
    """What a file asks for. Raises GE1001, or GE2031 with the place of what is wrong."""
    file = JsonFile.read(path, "GE2031")
    root = file.root()
    file.only_keys(root, (), [ROOT])
    table = file.table(root.get(ROOT, {}), (ROOT,))
    types: dict[str, type[Any]] = {name: type(value) for name, value in asdict(MemoryConfig()).items()}
    file.only_keys(table, (ROOT,), types)
    for name, value in table.items():
        if type(value) is not types[name]:
            wanted = "true or false" if types[name] is bool else "a whole number"
            file.fail((ROOT, name), f"'{name}' is {kind(value)}, not {wanted}")
    config = MemoryConfig(**table)
    if config.workspace_size < 0:
        file.fail((ROOT, "workspace_size"), f"'workspace_size' is {config.workspace_size}, less than nothing")
    return config
