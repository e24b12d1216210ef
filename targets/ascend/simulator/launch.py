"""Running a kernel: on a global memory with windows for its arguments, or on separate arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ge.dialects.cube.memory import Memory
from ge.ir.errors import GeError
from ge.targets.ascend.simulator.blas import one_thread
from ge.targets.ascend.simulator.program import SOURCE_NAME, CoreRun, Program, Variant, load_program
from ge.targets.ascend.simulator.strict import SPARE, Checker
from ge.targets.ascend.soc import Soc, load_soc

SLOT = 512
"""Alignment of arguments in a global memory that this module makes."""


class TraceEvent(NamedTuple):
    """One instruction on one pipe; times are in cycles, `end` is when the pipe is free again."""

    core: int
    pipe: str
    instruction: int
    start: int
    end: int


@dataclass(frozen=True)
class KernelResult:
    """What a launch did. `cycles` and `busy` are those of the slowest core, the counts those of all cores together."""

    outputs: list[NDArray[Any]]
    """The written arguments, where arrays were given."""
    cycles: int
    """Cycles from the first instruction to the last result; 0 if they were not counted."""
    busy: dict[str, int]
    """Cycles for which each pipe was busy."""
    core_cycles: list[int]
    instructions: int
    gm_read: int
    """Bytes read from global memory."""
    gm_written: int
    saturated: int
    """float16 results that saturated."""
    trace: list[TraceEvent] = field(default_factory=list[TraceEvent])
    texts: list[str] = field(default_factory=list[str])
    """With a trace: the text of each instruction."""


def launch(
    binary: bytes,
    gm: NDArray[np.uint8],
    windows: Sequence[tuple[int, int]],
    soc: Soc | str,
    *,
    name: str = "kernel",
    warm: Sequence[bool] = (),
    strict: bool = False,
    count_cycles: bool = True,
    trace: bool = False,
) -> KernelResult:
    """Run an encoded kernel on global memory `gm` (bytes), which it changes.

    `windows` gives byte offset and size of each argument. A transfer may touch up to 32 bytes after a window, so
    nothing else may lie there. `warm` says for each argument whether it is in the L2 cache (default: none is).
    `strict` checks every instruction (`ge.targets.ascend.simulator.strict`) and raises GE602x to GE6030; without it
    only what cannot be executed is an error, GE6020.
    """
    soc = load_soc(soc) if isinstance(soc, str) else soc
    program = load_program(binary, name, soc)
    if len(windows) != program.arguments:
        raise GeError("GE6020", f"{len(windows)} arguments, expected {program.arguments}", f"kernel @{name}")
    cached = [*warm, *([False] * (len(windows) - len(warm)))]
    variant = Variant(cycles=count_cycles, checks=strict, trace=trace and count_cycles)
    memory = _take_memory(soc, gm)
    checker = Checker(program, name, gm, windows) if strict else None
    events: list[Any] = []
    runs: list[CoreRun] = []
    arguments = (*(start for start, _ in windows), *cached, checker, events)
    with np.errstate(all="ignore"), one_thread():
        for core in range(program.blocks):
            if checker is not None:
                memory.poison()
                checker.begin(core)
            runs.append(_run_core(program, variant, name, memory, core, arguments))
            if checker is not None:
                checker.end()
    if checker is not None:
        checker.finish()
    saturated = memory.saturated
    _give_back(soc, memory)
    slowest = max(runs, key=lambda run: run.cycles)
    return KernelResult(
        outputs=[],
        cycles=slowest.cycles,
        busy=slowest.busy,
        core_cycles=[run.cycles for run in runs],
        instructions=sum(run.instructions for run in runs),
        gm_read=sum(run.gm_read for run in runs),
        gm_written=sum(run.gm_written for run in runs),
        saturated=saturated,
        trace=[TraceEvent(*event) for event in events],
        texts=[program.text(number) for number in range(len(program.instructions))] if trace else [],
    )


_IDLE: dict[tuple[tuple[str, int], ...], list[Memory]] = {}
"""On-chip memories of earlier launches, by their sizes: they have caches of what kernels address."""


def _take_memory(soc: Soc, gm: NDArray[np.uint8]) -> Memory:
    """The memory of a core, filled with NaN, so that what a launch computes depends on nothing before it."""
    try:
        memory = _IDLE[tuple(soc.buffers.items())].pop()
    except (KeyError, IndexError):  # none is idle: other threads may have taken the last one just now
        return Memory(soc.buffers, gm)
    memory.reset(gm)
    return memory


def _give_back(soc: Soc, memory: Memory) -> None:
    memory.bytes["gm"] = np.empty(0, np.uint8)
    _IDLE.setdefault(tuple(soc.buffers.items()), []).append(memory)


def _run_core(
    program: Program, variant: Variant, name: str, memory: Memory, core: int, arguments: tuple[Any, ...]
) -> CoreRun:
    try:
        return CoreRun(*program.function(variant)(memory, core, *arguments))
    except (ValueError, TypeError, IndexError, ArithmeticError) as error:
        number = _failed_instruction(program, variant, error)
        raise GeError("GE6020", str(error), program.where(name, core, number)) from error


def _failed_instruction(program: Program, variant: Variant, error: Exception) -> int | None:
    """The instruction that raised an error."""
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == SOURCE_NAME:
            return program.instruction_at(variant, frame.tb_lineno)
        frame = frame.tb_next
    return None


def run_kernel(
    binary: bytes,
    arrays: Sequence[NDArray[Any]],
    soc: Soc | str,
    strict: bool = False,
    *,
    name: str = "kernel",
    warm: Sequence[bool] = (),
    count_cycles: bool = True,
    trace: bool = False,
) -> KernelResult:
    """Run an encoded kernel on one array for each argument.

    Of the arguments that the kernel writes (the last ones) only shape and type count; what it wrote is in `outputs`.
    The arrays are not changed. See `launch` for the other parameters.
    """
    soc = load_soc(soc) if isinstance(soc, str) else soc
    windows: list[tuple[int, int]] = []
    end = 0
    for array in arrays:
        windows.append((end, array.nbytes))
        end += -(-(array.nbytes + SPARE) // SLOT) * SLOT
    gm = np.full(end, 0xFF, np.uint8)
    outputs = load_program(binary, name, soc).outputs
    inputs = len(arrays) - outputs
    for (start, size), array in zip(windows[: max(inputs, 0)], arrays, strict=False):
        gm[start : start + size] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    result = launch(
        binary, gm, windows, soc, name=name, warm=warm, strict=strict, count_cycles=count_cycles, trace=trace
    )
    written: list[NDArray[Any]] = [
        gm[start : start + size].view(array.dtype).reshape(array.shape).copy()
        for (start, size), array in zip(windows[inputs:], arrays[inputs:], strict=True)
    ]
    return replace(result, outputs=written)
