"""The optimisers as a user calls them: the time of a whole command, from the start of its process to its end.

That is what :mod:`bench.optimiser.tools` leaves out: Python starts, modules are imported, and whatever a tool prepares
when it is first used is prepared. All have their default options, and their modules compiled, as an installation has.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.each_model import ROOT
from bench.optimiser.tools import ENOUGH_SECONDS

COMMANDS: Mapping[str, Sequence[str]] = {
    "ge -O3": (sys.executable, "-m", "ge.tools.ge_opt", "{source}", "-O3", "-o", "{target}"),
    "onnxsim": (str(Path(sys.executable).with_name("onnxsim")), "{source}", "{target}"),
    "onnxslim": (str(Path(sys.executable).with_name("onnxslim")), "{source}", "{target}"),
}
"""The command line of each tool; those of others are beside the Python that runs this."""


def time_commands(source: Path, folder: Path, repeat: int, limit: int) -> dict[str, Any]:
    """Seconds of every run of every tool on a model, or its error; the tools take turns, ``repeat`` times.

    There are fewer turns when they take more than :data:`ENOUGH_SECONDS` together. One that takes more than ``limit``
    seconds is given up. What Python compiles is kept in the folder; where nothing is there yet, a turn that does not
    count comes first.
    """
    found: dict[str, Any] = {tool: {"seconds": []} for tool in COMMANDS}
    if not (folder / _COMPILED).exists():
        for tool in COMMANDS:
            _time(tool, source, folder, {"seconds": []}, limit)
    start = time.perf_counter()
    for _ in range(repeat):
        for tool in COMMANDS:
            if "error" not in found[tool]:
                _time(tool, source, folder, found[tool], limit)
        if time.perf_counter() - start > ENOUGH_SECONDS:
            break
    return found


_COMPILED = "pycache"
"""The folder of what Python compiles."""


def _time(tool: str, source: Path, folder: Path, found: dict[str, Any], limit: int) -> None:
    """Run a command once, which writes a new file, and note its time or its error."""
    target = folder / f"command.{source.stem}.onnx"
    target.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder.resolve() / _COMPILED)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [word.format(source=source.resolve(), target=target.resolve()) for word in COMMANDS[tool]]
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=limit
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        found["error"] = str(error)
        return
    if done.returncode or not target.is_file():
        found["error"] = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        return
    found["seconds"].append(time.perf_counter() - start)
