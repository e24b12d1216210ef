"""OM files of real models: time to compile and to load, sizes, and whether Netron shows all of them.

    python -m bench.om --models=DIR [--write] [NAME ...]

Compiles DIR/NAME.onnx (all of them without names), each in a process of its own, then reads the file again and opens it
in Netron's own parser, which must show every operator as a node and every constant as a tensor. ``--write`` makes
docs/om-results.md of the results.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ge
from bench.models import SHAPES
from ge.targets.ascend.om.file import OmFile

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "om-results.md"


@dataclass(frozen=True)
class OmResult:
    """What became of one model. Times in seconds, sizes in bytes."""

    name: str
    error: str = ""
    compile_seconds: float = 0.0
    compile_peak: int = 0
    load_seconds: float = 0.0
    load_peak: int = 0
    """More memory than the process had before it loaded the file; the weights are in it, in the device's memory."""
    onnx_bytes: int = 0
    om_bytes: int = 0
    operators: int = 0
    constants: int = 0
    netron: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models, print and write the results; the exit status is 1 when a file does not open."""
    parser = argparse.ArgumentParser("python -m bench.om", description="Compile, load and open real models.")
    parser.add_argument("--models", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="write docs/om-results.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(loaded(Path(options.one))))
        return 0
    names = options.names or sorted(path.stem for path in options.models.glob("*.onnx"))
    results: list[OmResult] = []
    for name in names:
        with TemporaryDirectory() as folder:
            results.append(measure(options.models / f"{name}.onnx", Path(folder) / "model.om"))
        print(row(results[-1]), flush=True)
        if options.write:  # after each model: all of them take hours
            PAGE.write_text(page(results), encoding="utf-8")
    return int(any(result.netron not in ("", "whole") for result in results))


def measure(model: Path, om: Path) -> OmResult:
    """Compile, load and open one model."""
    shapes = ";".join(f"{name}:{','.join(map(str, shape))}" for name, shape in SHAPES.get(model.stem, {}).items())
    options = [f"--model={model}", f"--output={om}", "--report=json", *([f"--input_shape={shapes}"] if shapes else [])]
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "ge.tools.ge_compiler", *options], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        return OmResult(model.stem, error=(done.stderr.splitlines() or ["ended without a message"])[0][:100])
    stages: Sequence[Mapping[str, Any]] = json.loads(done.stdout)["compilation"]["stages"]
    command = [sys.executable, "-m", "bench.om", "--models=.", f"--one={om}"]
    load = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    file = OmFile.open(om)
    constants = sum(op.type == "Const" for op in file.operators)
    return OmResult(
        model.stem,
        compile_seconds=seconds,
        compile_peak=max(stage["peak_bytes"] for stage in stages),
        **load,
        onnx_bytes=onnx_bytes(model),
        om_bytes=om.stat().st_size,
        operators=len(file.operators),
        constants=constants,
        netron=opened(om, len(file.operators) - constants, constants),
    )


def onnx_bytes(model: Path) -> int:
    """The size of a model with the files of its weights."""
    beside = model.with_name(f"{model.name}.data")
    return model.stat().st_size + (beside.stat().st_size if beside.is_file() else 0)


def loaded(om: Path) -> dict[str, Any]:
    """What it takes to load a file until it is ready to run, in this process."""
    runtime = ge.Runtime()
    unit = 1 if sys.platform == "darwin" else 1024
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    runtime.load(om)
    seconds = time.perf_counter() - start
    return {
        "load_seconds": seconds,
        "load_peak": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit,
    }


def opened(om: Path, nodes: int, constants: int) -> str:
    """``whole`` when Netron shows as many nodes and constants as there are; otherwise what it shows. Empty without."""
    node, package = shutil.which("node"), find_spec("netron")
    if node is None or package is None or package.submodule_search_locations is None:
        return ""
    script = ROOT / "test" / "support" / "netron_check.mjs"
    command = [node, str(script), package.submodule_search_locations[0], str(om)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"fails: {done.stderr.strip()[:80]}"
    shown = json.loads(done.stdout)["graphs"][0]
    found = (len(shown["nodes"]), len(shown["tensors"]))
    return "whole" if found == (nodes, constants) else f"{found[0]} of {nodes} nodes, {found[1]} of {constants} tensors"


def row(result: OmResult) -> str:
    """One line of the table."""
    if result.error:
        return f"| {result.name} | {result.error} | | | | | | | |"
    sizes = [result.onnx_bytes, result.om_bytes]
    return (
        f"| {result.name} | {result.compile_seconds:.1f} s | {result.compile_peak / 1e6:.0f} MB "
        f"| {1000 * result.load_seconds:.0f} ms | {result.load_peak / 1e6:.0f} MB | {sizes[0] / 1e6:.1f} MB "
        f"| {sizes[1] / 1e6:.1f} MB | {result.operators} | {result.netron or 'not tried'} |"
    )


def page(results: Sequence[OmResult]) -> str:
    """The page docs/om-results.md."""
    head = [
        "# OM files of real models",
        "",
        f"Written by `python -m bench.om --write`: Graph Engine {ge.__version__}, Python {platform.python_version()}.",
        "Loading ends when the model is ready to run. ONNX files mostly hold float32 weights, OM files float16",
        "weights, kernels and tasks. *whole*: Netron shows every operator as a node and every constant as a tensor.",
        "",
        "| model | compile | peak memory | load | its memory | ONNX | OM | operators | Netron |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    return "\n".join([*head, *map(row, results), ""])


if __name__ == "__main__":
    raise SystemExit(main())
