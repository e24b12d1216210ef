"""Who may know what: each folder imports only the layers below it (docs/levels.md).

Imports inside functions count too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ALLOWED = {
    "ge/maths": ("ge.maths",),
    "ge/ir": ("ge.ir", "ge.maths"),
    "dialects": ("ge.dialects", "ge.ir", "ge.maths"),
    "ge/rules": ("ge.rules", "ge.dialects", "ge.ir", "ge.maths"),
    "passes": ("ge.passes", "ge.rules", "ge.dialects", "ge.ir", "ge.maths", "ge.targets.ascend.soc"),
    "lowering": ("ge.lowering", "ge.passes", "ge.dialects", "ge.ir", "ge.maths", "ge.targets.ascend.soc"),
    "targets": ("ge.targets", "ge.dialects", "ge.ir", "ge.maths"),
    "tools": ("ge",),
}
"""Folder -> the packages of ours that its modules may import. Of targets, passes and lowerings know the SoC only."""

VERSION = ("ge", "ge.__version__")
"""The root package, which every module may ask for the version."""

FOLDERS = ("dialects", "passes", "lowering", "targets", "tools")
"""Folders whose files must be imported under their one name ``ge.<folder>``."""


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                assert node.level == 0, f"{file}:{node.lineno}: relative import"
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            case _:
                pass


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("folder", ALLOWED)
def test_folder_imports_only_what_it_may_know(folder: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in imports_of(file)
        if is_below(name, "ge")
        and name not in VERSION
        and not any(is_below(name, allowed) for allowed in ALLOWED[folder])
    ]
    assert not wrong, f"{folder} may import {', '.join(ALLOWED[folder])}, but:\n" + "\n".join(wrong)


@pytest.mark.parametrize("folder", [*ALLOWED, "test", "bench"])
def test_files_have_one_name(folder: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in imports_of(file)
        if name.partition(".")[0] in FOLDERS
    ]
    assert not wrong, "import these as ge.…:\n" + "\n".join(wrong)


def test_mathematics_knows_no_ir() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / "ge" / "maths").rglob("*.py"))
        for line, name in imports_of(file)
        if is_below(name, "xdsl") or is_below(name, "onnx")
    ]
    assert not wrong, "\n".join(wrong)


def modules_after(code: str) -> set[str]:
    """The modules that are loaded in a new process after running ``code``."""
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_root_package_is_instant() -> None:
    assert not modules_after("import ge") & {"xdsl", "numpy", "onnx"}


def test_help_loads_no_heavy_library() -> None:
    loaded = modules_after("import ge.tools.ge_opt")
    assert not loaded & {"numpy", "onnx", "google.protobuf", "rich", "onnxruntime"}


def test_definitions_of_dialects_load_no_heavy_library() -> None:
    code = "from ge.ir.registry import DIALECTS, context\nctx = context()\nfor name in DIALECTS: ctx.get_dialect(name)"
    assert not modules_after(code) & {"numpy", "onnx", "google.protobuf", "rich", "onnxruntime"}


def test_the_solver_is_loaded_when_it_is_asked_for() -> None:
    assert not modules_after("import ge.tools.ge_compiler, ge.maths.exact_placement") & {"ortools", "pandas"}


def test_the_rules_see_imports_inside_functions(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from ge.tools import cli\n    import dialects.onnx\n")
    assert list(imports_of(file)) == [(2, "ge.tools.cli"), (3, "dialects.onnx")]
