"""Configuration for ``lit test``: the RUN lines of the ``.mlir`` tests as real processes.

``pytest`` runs the same lines in one process (test/conftest.py); this runner is the check on that one.
"""

import sys
from pathlib import Path
from typing import Any

import lit.formats  # pyright: ignore[reportMissingTypeStubs]

root = Path(__file__).resolve().parent.parent

config: Any = globals()["config"]
"""The configuration that lit gives to this file."""

config.name = "graph-engine"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.excludes = ["inputs"]
config.test_source_root = str(root / "test")
config.test_exec_root = str(root / "build" / "lit")

python = f"env PYTHONPATH={root} {sys.executable}"  # for each command: lit's own cat and diff set it to something else
for tool in ("opt", "translate", "run", "compiler", "bisect", "reduce"):
    command = f"{python} -m ge.tools.ge_{tool}"
    config.substitutions.append((rf"(?<![\w/.-])ge-{tool}(?![\w.-])", command))
config.substitutions.append((r"(?<![\w/.-])filecheck(?![\w.-])", f"{sys.executable} -m filecheck"))
