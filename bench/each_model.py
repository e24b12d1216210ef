"""Going through models: which there are, and a process of its own for each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ge.tools.example import model_folder

ROOT = Path(__file__).resolve().parent.parent

TIME_LIMIT = 1800
"""Seconds after which a process is given up."""

GIVEN_UP = "no result after "
"""How the error of a process begins that was given up; the time follows."""


def find_models(folder: Path, names: Sequence[str]) -> list[Path]:
    """The models in a folder and the light ones, or those of them that are named."""
    light = {path.stem: path for path in model_folder().glob("light_*.onnx")}
    others = {path.stem: path for path in folder.glob("*.onnx") if path.stem.removeprefix("pkg_onnx_") not in light}
    models = {**light, **others}
    return [models[name] for name in sorted(models) if not names or name in names]


def run_json(module: str, *arguments: str | Path, seconds: int = TIME_LIMIT) -> dict[str, Any]:
    """What a module prints as JSON on its last line, or ``{"error": ...}``."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"error": f"{GIVEN_UP}{seconds} s"}
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode == 0 and last.startswith("{"):
        return json.loads(last)
    return {"error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
