"""The memory that onnxruntime needs for the values of a model while it runs: ``python -m bench.memory.arena MODEL``.

onnxruntime tells in its profile how many bytes of its arena are in use after each operator, when what the operator has
read is still there: as they were *asked* for, and as *used*, with the rounding of the arena (as our numbers have that
of slots). Weights are kept out of the arena by an option of the session, packed weights are there before the first
operator and are taken off; inputs and outputs are arrays of the caller. Scratch memory inside operators does not count.
All is measured twice, in runs where

* every value is allocated when it is made and freed after its last reader;
* a plan from an earlier run (the *memory pattern*) has one block for all of them,

and the smaller number counts. What the arena has taken from the system for this is more, up to twice as much.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime as ort

from bench.models import feeds

Event = Mapping[str, Any]

COUNTERS = {
    "asked": ("mem_bytes_requested_in_use", "mem_requested_in_use_delta"),
    "used": ("mem_bytes_in_use", "mem_in_use_delta"),
}
"""What is measured: the names of a count of bytes after an operator, and of its change by the operator."""


def arena(model: Path) -> dict[str, int]:
    """The most bytes at one moment, for each of the counters."""
    runs = [measured(model, pattern=pattern) for pattern in (False, True)]
    return {name: min(run[name] for run in runs) for name in COUNTERS}


def measured(model: Path, *, pattern: bool) -> dict[str, int]:
    """The most bytes at one moment of the last of three runs, without those that were there before the first."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.enable_mem_pattern = pattern
    options.enable_profiling = True
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    with TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        inputs = feeds(session, model.stem)
        names = [output.name for output in session.get_outputs()]
        outputs = copies(session.run(names, inputs))  # the results themselves are in the arena
        for _ in range(2):
            try:
                run_bound(session, inputs, dict(zip(names, outputs, strict=True)))
            except RuntimeError:  # the model states another rank than the outputs have; then they are in the arena
                session.run(names, inputs)
        events: Sequence[Event] = json.loads(Path(session.end_profiling()).read_text())
    starts = [event["ts"] for event in events if event["name"] == "model_run"]
    nodes = [event for event in events if "mem_bytes_requested_in_use" in event.get("args", {})]
    if not nodes:
        raise SystemExit(f"onnxruntime {ort.__version__} tells no memory in its profile, 1.32 does")
    last = [event for event in nodes if event["ts"] >= max(starts)]
    return {
        name: max(number(event, count) for event in last) - (number(nodes[0], count) - number(nodes[0], change))
        for name, (count, change) in COUNTERS.items()
    }


def copies(values: Sequence[Any]) -> list[Any]:
    """The same values in memory of their own."""
    return [np.array(value) if isinstance(value, np.ndarray) else value for value in values]


def run_bound(session: ort.InferenceSession, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Run once; outputs that are arrays go to memory outside the arena."""
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_cpu_input(name, value)
    for name, value in outputs.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(value))
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)


def number(event: Event, name: str) -> int:
    """One of the numbers of an event."""
    return int(event["args"][name])


if __name__ == "__main__":
    print(json.dumps(arena(Path(sys.argv[1]))))
