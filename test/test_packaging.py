"""The package as users get it: the wheel has every module of the tree, and an editable install follows the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("dialects", "passes", "lowering", "targets", "tools")
DATA = (".toml", ".proto", ".mlir", ".json", ".tsv", ".gerules", ".lark", ".typed")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a package is built from, so that building leaves nothing behind in the repository."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in ("ge", *FOLDERS):
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def pip(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *map(str, arguments)], check=True)


def files_of_tree(root: Path, suffixes: tuple[str, ...]) -> set[str]:
    """Names, as in the package, of the files that belong to it."""
    own = [file.relative_to(root).as_posix() for file in (root / "ge").rglob("*") if not _is_below_link(file, root)]
    linked = [f"ge/{file.relative_to(root).as_posix()}" for folder in FOLDERS for file in (root / folder).rglob("*")]
    return {name for name in (*own, *linked) if name.endswith(suffixes)}


def _is_below_link(file: Path, root: Path) -> bool:
    return file.relative_to(root).parts[1] in FOLDERS


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", folder, tree)
    (file,) = folder.glob("graph_engine-*.whl")
    return file


def test_folders_are_links() -> None:
    for folder in FOLDERS:
        assert (ROOT / "ge" / folder).readlink() == Path("..") / folder


def test_wheel_has_the_modules_of_the_tree(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if name.endswith(".py")} == files_of_tree(ROOT, (".py",))


def test_wheel_has_the_data_files_of_the_tree(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if name.startswith("ge/") and name.endswith(DATA)} == files_of_tree(ROOT, DATA)


def test_type_checker_is_told_of_every_link() -> None:
    """Pyright does not descend into links: a folder that is not listed would not be checked."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(settings["tool"]["pyright"]["include"]) == {"ge", "test", *(f"ge/{folder}" for folder in FOLDERS)}


def test_every_folder_with_modules_is_a_package() -> None:
    """A folder without __init__.py would be left out of the wheel."""
    folders = {file.parent for folder in ("ge", *FOLDERS) for file in (ROOT / folder).rglob("*.py")}
    assert not [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()]


def test_editable_install_follows_the_tree(tree: Path, tmp_path: Path) -> None:
    """Commands run from an editable install, and a module added later is found.

    The environment has everything that this one has, except this package.
    """
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    for installed in Path(sysconfig.get_path("purelib")).iterdir():
        if installed.name != "ge" and not installed.name.startswith(("graph_engine", "__editable__")):
            (site / installed.name).symlink_to(installed)
    python = venv / "bin" / "python"
    pip("--python", python, "install", "--no-deps", "--no-build-isolation", "--force-reinstall", "-e", tree)
    (tree / "passes" / "added_later.py").write_text("VALUE = 7\n")
    code = "import ge, ge.passes.added_later as m; print(ge.__file__, m.VALUE)"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == [str(tree / "ge" / "__init__.py"), "7"]
    done = subprocess.run([venv / "bin" / "ge-opt", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ge-opt ")
