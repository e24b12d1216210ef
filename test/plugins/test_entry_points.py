"""Installed packages announce plug-ins as entry points of the group ``ge.plugins``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ge.ir.errors import GeError
from ge.ir.registry import Registry

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def test_an_installed_package_adds_its_dialect_and_pass(tmp_path: Path) -> None:
    """Install the sample package into a folder, and run ge-opt with that folder on the path."""
    source, target = tmp_path / "source", tmp_path / "site"
    shutil.copytree(HERE / "ge_toy", source, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, str(source)], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "ge.tools.ge_opt", "--toy-expand-square"],
        input="func.func @f(%x: i32) -> i32 {\n  %y = toy.square %x : i32 -> i32\n  func.return %y : i32\n}\n",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(ROOT)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "%y = arith.muli %x, %x : i32" in done.stdout


def test_register_functions_are_called() -> None:
    class Plugin:
        @staticmethod
        def register(registry: Registry) -> None:
            registry.add_pass(
                "another-cse", "xdsl.transforms.common_subexpression_elimination:CommonSubexpressionElimination"
            )

    registry = Registry()
    registry.add_plugin(Plugin())
    assert registry.passes["another-cse"]().name == "cse"
    assert registry.own_passes[-1] == "another-cse"


def test_a_plugin_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(GeError, match=r"broken\.py': division by zero") as error:
        Registry().load_plugin(tmp_path / "broken.py")
    assert error.value.code == "GE2005"


def test_loading_a_file_twice_is_harmless() -> None:
    registry = Registry()
    registry.load_plugin(HERE / "ge_toy" / "ge_toy.py")
    registry.load_plugin(HERE / "ge_toy" / "ge_toy.py")
    assert registry.own_passes.count("toy-expand-square") == 1
