"""Numbers and names that the writer and the reader of OM files agree on."""

from __future__ import annotations

from collections.abc import Mapping

from ge.dialects.om.values import Area

PRODUCER = "graph-engine"
"""How `ModelDef.custom_version` begins: the mark of our own files."""

BASE_ADDRESS: Mapping[Area, int] = {Area.MEMORY: 1 << 40, Area.WEIGHTS: 2 << 40}
"""Where the two memories begin in the addresses of kernel arguments."""
HOST_ADDRESS = 0
"""The address of a value that lives on the host."""

KERNEL_TASK, RECORD_TASK, WAIT_TASK = 0, 1, 2
"""`TaskDef.type` of a kernel launch, of the record of an event, and of the wait for one."""
AI_CORE_KERNEL = 2
"""`KernelContext.kernel_type` TE: a kernel of the AI Cores."""
HOST_KERNEL = 8
"""`KernelContext.kernel_type` HOST_CPU."""

NODE_NAMES = "_datadump_original_op_names"
"""The attribute of an operator that names the nodes of the ONNX model it stands for."""
KERNEL_NAME = "_tbe_kernel_name"
"""The attribute of an operator that names the kernel of its task."""
OUTPUT_NAMES = "attr_model_out_nodes_name"
"""The attribute of the model that names its outputs."""
WEIGHTS_FILE, WEIGHTS_SHA256 = "external_weight_file", "external_weight_sha256"
"""The attributes of a model whose weights are in a file beside the OM file: its name, and the digest of its bytes."""
GRAPH = "ge_graph"
"""The attribute of a model that is the optimised graph as text, without its weights."""

WRITTEN_ATTRIBUTES = frozenset(
    {
        *("memory_size", "weight_size", "zero_copy_memory_size", "stream_num", "event_num", "label_num", "soc_version"),
        *("task_gen_base_addr", "task_gen_weight_addr", OUTPUT_NAMES, WEIGHTS_FILE, WEIGHTS_SHA256, GRAPH),
    }
)
"""The attributes of the model that follow from the rest of it; all others are attributes of the ``om.model``."""

AIPP = "aipp"
"""The attribute of a model whose inputs are images: what it does to them, input by input."""

COMMAND_LINE, COMPILER_VERSION = "atc_cmdline", "atc_version"
"""The attributes of the model that say how, and by which version, it was compiled."""


def address(area: Area, offset: int) -> int:
    """The address of a value in kernel arguments."""
    return HOST_ADDRESS if area is Area.HOST else BASE_ADDRESS[area] + offset
