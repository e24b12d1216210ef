"""Compile a model that comes with the onnx package, run it on the simulated chip and compare it with onnxruntime.

::

    python -m ge.tools.example              # light_resnet50: ResNet-50 with generated weights
    python -m ge.tools.example squeezenet   # another of the models: see --help

The command that it runs is printed first; it writes ``light_resnet50.om`` into the current folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ge.tools import ge_compiler


def model_folder() -> Path:
    """Where the onnx package keeps its small models."""
    package = find_spec("onnx")
    assert package is not None and package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0]) / "backend" / "test" / "data" / "light"


def main(args: Sequence[str] | None = None) -> None:
    """Compile, run and compare."""
    names = sorted(path.stem.removeprefix("light_") for path in model_folder().glob("light_*.onnx"))
    parser = argparse.ArgumentParser("python -m ge.tools.example", description="Compile, run and compare a model.")
    parser.add_argument("name", nargs="?", default="resnet50", choices=names, help="the model (default resnet50)")
    name = f"light_{parser.parse_args(args).name}"
    command = [f"--model={model_folder() / name}.onnx", f"--output={name}.om", "--compare"]
    print("ge-compiler", *command)
    ge_compiler.main(command)


if __name__ == "__main__":
    main()
