"""What ge-compiler and ge-run tell about a compilation and a run.

Everything is first gathered in plain types (``..._facts``, the form of ``--report=json``), then printed from those.
Times are in seconds, sizes in bytes, MB are 10^6 bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from ge.targets.ascend.runtime.statistics import RunStatistics, TaskRun
from ge.tools.agreement import Agreement
from ge.tools.compilation import Compilation, Program
from ge.tools.compile_options import MemoryOptions
from ge.tools.console import change, megabytes, print_facts, print_table
from ge.tools.custom_costs import custom_costs


def compilation_facts(
    compilation: Compilation, options: MemoryOptions, weight_bytes: int, file_bytes: int
) -> dict[str, Any]:
    """What is known of a compilation."""
    program, memory = compilation.program, compilation.program.memory
    return {
        "seconds": compilation.seconds,
        "stages": [{**asdict(stage), "share": stage.seconds / compilation.seconds} for stage in compilation.stages],
        "fusions": dict(Counter(fusion.text for fusion in compilation.log.fusions)),
        "access_bytes": program.access_bytes,
        "access_bytes_without_fusion": program.unfused_access_bytes,
        "kernels": program.kernels,
        "launches": program.launches,
        "host_operators": program.host_operators,
        "custom_operators": [asdict(cost) for cost in custom_costs(compilation.module)],
        "memory": {
            "bytes": memory.memory_size,
            "values": memory.arena_size,
            "values_without_reuse": memory.size_without_reuse,
            "values_lower_bound": memory.lower_bound,
            "values_lower_bound_of_any_order": program.least_memory,
            "results_over_operands": memory.in_place,
            "values_limit": options.limit or None,
            "reuse": options.reuse,
            "planner": options.planner,
            "double_buffer": options.double_buffer,
            "inputs_and_outputs": memory.io_size,
        },
        "streams": stream_facts(program),
        "weight_bytes": weight_bytes,
        "file_bytes": file_bytes,
    }


def stream_facts(program: Program) -> dict[str, Any] | None:
    """How the tasks of a program are spread over streams and cores; None where cycles were not estimated."""
    time = program.time
    if time is None:
        return None
    cores = Counter(task.cores for task in time.tasks if not task.on_host)
    return {
        "count": max(time.schedule.stream_count, 1),
        "events": len(time.schedule.events),
        "events_before_reduction": time.schedule.dependencies,
        "cycles": time.cycles,
        "cycles_in_one_stream": program.base_cycles,
        "values_in_one_stream": program.one_stream_memory.arena_size,
        "launches_by_cores": {str(count): cores[count] for count in sorted(cores, reverse=True)},
    }


def print_compilation(facts: dict[str, Any]) -> None:
    """Print the report of a compilation."""
    rows = [
        [
            stage["name"],
            f"{stage['seconds']:.2f} s",
            f"{stage['share']:.1%}",
            megabytes(stage["peak_bytes"]),
            str(stage["operations"]),
        ]
        for stage in facts["stages"]
    ]
    print_table(
        ["stage", "time", "share", "peak memory", "operations"],
        [*rows, ["all", f"{facts['seconds']:.2f} s", "100.0%", "", ""]],
    )
    for text, count in facts["fusions"].items():
        print(f"{text}  x{count}" if count > 1 else text)
    for cost in facts["custom_operators"]:
        moved = f"{cost['flops']} flops, {megabytes(cost['bytes'])}"
        print(f"{cost['operator']} of {cost['plugin']} on the host  x{cost['count']}: {moved}")
    before, after, memory = facts["access_bytes_without_fusion"], facts["access_bytes"], facts["memory"]
    access = f"{megabytes(before)} -> {megabytes(after)} in each run"
    without_reuse, in_order, in_any = (
        megabytes(memory[name])
        for name in ("values_without_reuse", "values_lower_bound", "values_lower_bound_of_any_order")
    )
    print_facts(
        {
            "memory access": f"{change(before, after)} by fusion: {access}",
            "kernels": f"{facts['kernels']}, launched {facts['launches']} times",
            "on the host": f"{facts['host_operators']} operators",
            "values": f"{megabytes(memory['values'])} of memory (without reuse {without_reuse})",
            "at least": f"{in_order} in this order of launches, {in_any} in any",
            "memory plan": _plan_text(memory),
            **_stream_texts(facts["streams"], memory["values"]),
            "inputs, outputs": megabytes(memory["inputs_and_outputs"]),
            "weights": megabytes(facts["weight_bytes"]),
            "file": megabytes(facts["file_bytes"]),
        }
    )


def _plan_text(memory: dict[str, Any]) -> str:
    """How memory was planned."""
    limit = "no limit" if memory["values_limit"] is None else f"at most {megabytes(memory['values_limit'])} of values"
    over = memory["results_over_operands"]
    reuse = f"by {memory['planner']}, {over} results over operands" if memory["reuse"] else "nothing is reused"
    return f"{reuse}, {limit}, {'two buffers' if memory['double_buffer'] else 'one buffer'} for each loop of a kernel"


def _stream_texts(streams: dict[str, Any] | None, values: int) -> dict[str, str]:
    """How work is spread over streams and cores, where it is known."""
    if streams is None:
        return {}
    before, after = streams["cycles_in_one_stream"], streams["cycles"]
    events = f"{streams['events']} events ({streams['events_before_reduction']} before they were reduced)"
    launches = ", ".join(f"{count} on {cores}" for cores, count in streams["launches_by_cores"].items())
    texts = {"launches on cores": launches or "none", "expected time": f"{after} cycles"}
    if before != after:
        texts["expected time"] += f", {change(before, after)} against one stream on all cores ({before})"
    if streams["count"] > 1:
        alone = megabytes(streams["values_in_one_stream"])
        texts["streams"] = f"{streams['count']}, {events}; values take {megabytes(values)}, in one stream {alone}"
    return texts


def run_facts(statistics: RunStatistics) -> dict[str, Any]:
    """What is known of a run on the simulated chip."""
    return {
        "soc": statistics.soc.name,
        "clock_mhz": statistics.soc.clock_mhz,
        "cycles": statistics.cycles,
        "device_cycles": statistics.device_cycles,
        "device_seconds": statistics.device_seconds,
        "pipe_cycles": statistics.pipe_cycles,
        "gm_bytes": statistics.gm_bytes,
        "saturated": statistics.saturated,
        "simulation_seconds": statistics.seconds,
        "tasks": [asdict(task) for task in statistics.tasks],
    }


def print_run(facts: dict[str, Any]) -> None:
    """Print the report of a run."""
    total = facts["cycles"] or 1
    busy = ", ".join(f"{name} {cycles / total:.0%}" for name, cycles in facts["pipe_cycles"].items())
    print_facts(
        {
            "cycles": f"{facts['cycles']} on {facts['soc']}, an estimate from the description of the chip",
            "time": f"{1e3 * facts['device_seconds']:.2f} ms at {facts['clock_mhz']:.0f} MHz, kernel starts included",
            "busy": busy or "nothing",
            "transfers": f"{megabytes(facts['gm_bytes'])} from and to device memory",
            "saturated": saturation((task["operator"], task["saturated"]) for task in facts["tasks"]),
            "simulation": f"{facts['simulation_seconds']:.2f} s",
        }
    )


def saturation(operators: Iterable[tuple[str, int]]) -> str:
    """Where results left the range of float16: of operators, in the order in which they run, how many of each did."""
    counts = [(operator, count) for operator, count in operators if count]
    if not counts:
        return "no result of float16"
    total = sum(count for _, count in counts)
    return f"{total} results of {len(counts)} operators became 65504 or -65504, first of {counts[0][0]}"


def print_profile(tasks: Sequence[TaskRun]) -> None:
    """Print one line for each task: what it took; and where results saturated."""
    total = sum(task.cycles for task in tasks) or 1
    several = any(task.stream for task in tasks)
    rows = [
        [
            f"{task.operator} ({task.kind})",
            *([str(task.stream)] if several else ()),
            "host" if task.on_host else f"{task.blocks} cores",
            "" if task.on_host else str(task.cycles),
            "" if task.on_host else f"{task.cycles / total:.1%}",
            megabytes(task.gm_bytes),
            f"{task.seconds:.3f} s",
        ]
        for task in tasks
    ]
    print_table(["operator", *(["stream"] if several else ()), "on", "cycles", "share", "moved", "simulation"], rows)
    if not all(task.on_host for task in tasks):
        print(f"saturated: {saturation((task.operator, task.saturated) for task in tasks)}")


def agreement_facts(agreements: Sequence[Agreement]) -> list[dict[str, Any]]:
    """How outputs agree with a reference."""
    return [{**asdict(agreement), "relative": agreement.relative} for agreement in agreements]
