"""OM files of real models: time to compile and to load, memory, sizes, and whether other tools can read them.

    python -m bench.om --models=DIR [--write] [NAME ...]

Compiles DIR/NAME.onnx and the light models of the package onnx (all of them without names), each in a process of its
own, and reads the file again. Netron's own parser must show every operator as a node and every constant as a tensor.
The graph that ``ge-om extract`` takes out runs in onnxruntime, beside the model. ``--write`` makes docs/om-results.md.
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
from bench.each_model import ROOT, find_models, run_json
from bench.models import SHAPES
from ge.ir.errors import GeError
from ge.targets.ascend.om.file import OmFile
from ge.targets.ascend.om.reader import read_model
from ge.targets.onnx.exporter import save_model
from ge.tools.agreement import compare
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.om_inspection import constants
from ge.tools.om_onnx import onnx_module
from ge.tools.reference import run_onnx

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
    """More memory than the process had before it loaded the file, beside the weights, which are in a file in memory."""
    onnx_bytes: int = 0
    om_bytes: int = 0
    saved_bytes: int = 0
    """Of the weights, because equal constants lie in the file once."""
    operators: int = 0
    netron: str = ""
    graph: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models, print and write the results; the exit status is 1 when another tool cannot read a file."""
    parser = argparse.ArgumentParser("python -m bench.om", description="Compile, load and open real models.")
    parser.add_argument("--models", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="write docs/om-results.md")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--graph", type=Path, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.load or options.graph:
        print(json.dumps(loaded(options.load) if options.load else {"verdict": graph_verdict(*options.graph)}))
        return 0
    results: list[OmResult] = []
    for model in find_models(options.models, options.names):
        with TemporaryDirectory() as folder:
            results.append(measure(model, Path(folder) / "model.om"))
        print(row(results[-1]), flush=True)
        if options.write:  # after each model: all of them take an hour
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
    load = run_json("bench.om", "--models=.", "--load", om)
    graph = run_json("bench.om", "--models=.", "--graph", model, om)
    if "error" in load:
        return OmResult(model.stem, error=f"does not load: {load['error'][:100]}")
    file = OmFile.open(om)
    found = constants(file)
    return OmResult(
        model.stem,
        compile_seconds=seconds,
        compile_peak=max(stage["peak_bytes"] for stage in stages),
        **load,
        onnx_bytes=onnx_bytes(model),
        om_bytes=om.stat().st_size,
        saved_bytes=found["saved"],
        operators=len(file.operators),
        netron=opened(om, len(file.operators) - found["count"], found["count"]),
        graph=graph.get("verdict") or f"fails: {graph.get('error', '')[:60]}",
    )


def graph_verdict(model: Path, om: Path) -> str:
    """``agrees`` when the graph in a file gives in onnxruntime what the model gives; otherwise what is in the way."""
    module = onnx_module(OmFile.open(om))
    if module is None:
        return "none"
    inputs = random_inputs([InputInfo(name, value.type) for name, value in read_model(om).inputs.items()], 0)
    try:
        _, expected = run_onnx(str(model), inputs)
    except GeError:
        return "the model does not run"
    graph = om.with_name("graph.onnx")
    save_model(module, graph)
    failed = [each for each in compare(run_onnx(str(graph), inputs)[1], expected, half=True) if not each.passed]
    return f"differs: {failed[0]}"[:80] if failed else "agrees"


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
        return f"| {result.name} | {result.error} | | | | | | | | | |"
    return (
        f"| {result.name} | {result.compile_seconds:.1f} s | {_mb(result.compile_peak, 0)} "
        f"| {1000 * result.load_seconds:.0f} ms | {_mb(result.load_peak, 0)} | {_mb(result.onnx_bytes)} "
        f"| {_mb(result.om_bytes)} | {_mb(result.saved_bytes)} | {result.operators} | {result.netron or 'not tried'} "
        f"| {result.graph} |"
    )


def _mb(size: int, digits: int = 1) -> str:
    return f"{size / 1e6:.{digits}f} MB"


def page(results: Sequence[OmResult]) -> str:
    """The page docs/om-results.md."""
    head = [
        "# OM files of real models",
        "",
        f"Written by `python -m bench.om --write`: Graph Engine {ge.__version__}, Python {platform.python_version()}.",
        "Loading ends when the model is ready to run; its memory is beside the weights, which runs share. ONNX",
        "files mostly hold float32 weights, OM files float16 weights, kernels and tasks. *Shared* is what is saved by",
        "equal weights that lie in the file once. *whole*: Netron shows every operator as a node and every constant as",
        "a tensor. *Graph*: `graph.onnx` of `ge-om extract` is run in onnxruntime beside the model, on the same random",
        "inputs, and judged within the tolerance of float16; *none*: it has no form in standard operators.",
        "",
        "| model | compile | peak memory | load | its memory | ONNX | OM | shared | operators | Netron | graph |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    return "\n".join([*head, *map(row, results), "", *_totals([each for each in results if not each.error]), ""])


def _totals(results: Sequence[OmResult]) -> list[str]:
    """What the table says in a sentence."""
    seconds = sum(result.compile_seconds for result in results)
    onnx, om = (sum(sizes) for sizes in zip(*((each.onnx_bytes, each.om_bytes) for each in results), strict=True))
    whole = sum(result.netron == "whole" for result in results)
    agree = sum(result.graph == "agrees" for result in results)
    return [
        f"{len(results)} models compiled in {seconds / 60:.0f} minutes: {onnx / 1e6:.0f} MB of ONNX files became "
        f"{om / 1e6:.0f} MB of OM files. Netron shows {whole} of them whole, and the graphs of {agree} agree in "
        "onnxruntime."
    ]


if __name__ == "__main__":
    raise SystemExit(main())
