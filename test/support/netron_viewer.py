"""What the viewer Netron shows of a file."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def netron(file: Path) -> Any:
    """What Netron shows of a file, as `netron_check.mjs` describes it."""
    node, package = shutil.which("node"), find_spec("netron")
    if node is None:
        pytest.fail("this test needs node (version 20 or newer) on the PATH: Netron is written in JavaScript")
    if package is None or package.submodule_search_locations is None:
        pytest.fail("this test needs the package netron: pip install netron")
    script = Path(__file__).with_name("netron_check.mjs")
    command = [node, str(script), package.submodule_search_locations[0], str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
