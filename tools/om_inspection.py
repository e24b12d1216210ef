"""What an OM file says of itself, as facts: ``ge-om info``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ge.targets.ascend.om.container import partition_name
from ge.targets.ascend.om.conventions import AIPP, COMMAND_LINE, COMPILER_VERSION, OUTPUT_NAMES, WEIGHTS_FILE
from ge.targets.ascend.om.file import OmFile, split_edge
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.tools.console import megabytes, print_facts, print_table

GAP = "(zero bytes)"
"""What aligns a partition, in the list of them."""


def om_facts(file: OmFile) -> dict[str, Any]:
    """Everything that ``ge-om info`` shows, in plain types. Sizes and offsets are in bytes."""
    return {
        "file": str(file.path),
        "size": file.size,
        "name": file.definition.name or file.container.name,
        "compiler": file.definition.custom_version or file.text(COMPILER_VERSION) or "unknown",
        "command": file.text(COMMAND_LINE),
        "aipp": file.text(AIPP),
        "soc": file.text("soc_version"),
        "model_version": file.definition.version,
        "format_version": f"{file.container.header.version:#x}",
        "table": "64-bit" if file.container.is_wide else "32-bit",
        "partitions": partitions(file),
        "memory": memory(file),
        "constants": constants(file),
        "weights_file": file.text(WEIGHTS_FILE),
        "streams": _count(file, "stream_num", file.tasks.stream_num),
        "events": _count(file, "event_num", file.tasks.event_num),
        "models": 1 + len(file.parts),
        "graphs": len(file.definition.graph),
        "operators": dict(sorted(Counter(op.type for op in file.operators).items())),
        "tasks": len(file.tasks.task),
        "kernels": {kind.name: len(store) for kind, store in file.kernels.items() if store},
        "inputs": inputs(file),
        "outputs": outputs(file),
        "problems": file.problems(),
    }


def _count(file: OmFile, name: str, of_tasks: int) -> int:
    """A count that the model says; older files only say it of their tasks."""
    found = file.integer(name)
    return of_tasks if found is None else found


def partitions(file: OmFile) -> list[dict[str, Any]]:
    """Header, table, partitions and what aligns them, in file order; their sizes add up to that of the file."""
    rows: list[dict[str, Any]] = [{"name": "header", "offset": 0, "size": file.container.start}]
    for container in (file.container, *file.parts):
        rows.append({"name": "partition table", "offset": container.start, "size": container.table_bytes})
        end = container.start + container.table_bytes
        for each in container.entries:
            if each.gap:
                rows.append({"name": GAP, "offset": end, "size": each.gap})
            rows.append({"name": partition_name(each.kind), "offset": each.offset, "size": each.data.nbytes})
            end = each.offset + each.data.nbytes
        if container.tail:
            rows.append({"name": GAP, "offset": end, "size": container.tail})
    return rows


def memory(file: OmFile) -> dict[str, int]:
    """What the model needs on the device."""
    names = ("memory_size", "zero_copy_memory_size", "weight_size")
    return {name: found for name in names if (found := file.integer(name)) is not None}


def constants(file: OmFile) -> dict[str, int]:
    """How many constants the graph has, their bytes, and how many of these are saved because equal ones lie once."""
    descriptors = [op.attr["value"].t.desc for op in file.constant_operators()]
    stored = {(each.data_offset, each.weight_size) for each in descriptors}
    total = sum(each.weight_size for each in descriptors)
    return {"count": len(descriptors), "bytes": total, "saved": total - sum(size for _, size in stored)}


def inputs(file: OmFile) -> list[dict[str, Any]]:
    """The inputs of the model in order."""
    data = [op for op in file.operators if op.type == "Data" and op.output_desc]
    data.sort(key=lambda op: op.attr["index"].i if "index" in op.attr else 0)
    return [{"name": op.name, **descriptor(op.output_desc[0])} for op in data]


def outputs(file: OmFile) -> list[dict[str, Any]]:
    """The outputs of the model in order."""
    ends = [op for op in file.operators if op.type == "NetOutput"]
    edges = [edge for op in ends for edge in op.input if split_edge(edge)[1] >= 0]
    descriptors = [desc for op in ends for desc in op.input_desc]
    named = file.definition.attr[OUTPUT_NAMES].list.s if OUTPUT_NAMES in file.definition.attr else ()
    names = [name.decode(errors="replace") for name in named]
    if len(names) != len(edges):
        names = edges
    return [{"name": name, **descriptor(desc)} for name, desc in zip(names, descriptors, strict=False)]


def descriptor(desc: ir.TensorDescriptor) -> dict[str, Any]:
    """A type: element type, shape and format of the storage, and those of the model where they differ."""
    found: dict[str, Any] = {
        "type": _type_name(desc.dtype),
        "shape": list(desc.shape.dim),
        "format": desc.layout,
    }
    if "origin_shape" in desc.attr and list(desc.attr["origin_shape"].list.i) != found["shape"]:
        found["origin_shape"] = list(desc.attr["origin_shape"].list.i)
    return found


def _type_name(number: int) -> str:
    names: dict[int, str] = {value: name for name, value in ir.DataType.items()}
    return names.get(number, f"type {number}").removeprefix("DT_").lower()


def print_om_facts(facts: dict[str, Any]) -> None:
    """Print ``ge-om info`` as text."""
    print_facts(
        {
            "model": f"{facts['name']}, {facts['size']} bytes",
            "compiler": facts["compiler"],
            "command": facts["command"] or "unknown",
            **({"images": facts["aipp"]} if facts["aipp"] else {}),
            "soc": facts["soc"] or "unknown",
            "models, graphs": f"{facts['models']}, {facts['graphs']}",
            "versions": f"format {facts['format_version']}, model {facts['model_version']}, {facts['table']} table",
            **{name.replace("_", " "): megabytes(size) for name, size in facts["memory"].items()},
            "constants": "{count}, {bytes} bytes, {saved} of them saved: equal ones lie once".format(
                **facts["constants"]
            ),
            **({"weights file": facts["weights_file"]} if facts["weights_file"] else {}),
            "streams, events": f"{facts['streams']}, {facts['events']}",
            "tasks": str(facts["tasks"]),
            "kernels": ", ".join(f"{count} in {store}" for store, count in facts["kernels"].items()) or "none",
            "operators": ", ".join(f"{kind} {count}" for kind, count in facts["operators"].items()),
        }
    )
    print_table(
        ["partition", "offset", "bytes"],
        [[part["name"], str(part["offset"]), str(part["size"])] for part in facts["partitions"]],
    )
    rows = [[side[:-1], *_row(each)] for side in ("inputs", "outputs") for each in facts[side]]
    print_table(["", "name", "type", "shape", "format"], rows, left=(0, 1, 2, 3, 4))
    for problem in facts["problems"]:
        print(f"problem: {problem}")


def _row(tensor: dict[str, Any]) -> Sequence[str]:
    return [tensor["name"], tensor["type"], str(tensor.get("origin_shape", tensor["shape"])), tensor["format"]]
