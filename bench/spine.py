"""The whole way from ONNX to the simulated chip, on public models: agreement, times, memory, cycles.

::

    python -m bench.spine --models=DIR [NAME ...]

Writes docs/spine-results.md. The light models come with the onnx package (their weights are generated, so their outputs
say little); the others are ``DIR/NAME.onnx``. Each model is compiled and run in a process of its own, once with fusion
and once without; models that are not there are left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ge.tools.example import model_folder

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "spine-results.md"

MODELS = {
    **{path.stem: "" for path in sorted(model_folder().glob("light_*.onnx"))},
    "pkg_ppocr_cls": "x:1,3,48,192",
    "torch_resnet50_bn": "",
    "torch_mobilenet_v2_bn": "",
    "torch_efficientnet_b4_bn": "",
}
"""Name of a model -> shapes of its inputs, where it leaves them open."""

COLUMNS = (
    *("model", "cosine", "max error", "top-1", "compile s", "peak MB", "kernels", "launches", "host"),
    *("simulation s", "Mcycles", "est. ms"),
)

FUSION_COLUMNS = (
    *("model", "launches", "without", "access MB", "without", "change", "transfers MB", "without", "change"),
    *("Mcycles", "without", "change"),
)


@dataclass(frozen=True)
class Result:
    """One run of ge-compiler: its report, or the error that it printed."""

    report: dict[str, Any] | None
    error: str


def compile_and_run(model: Path, shapes: str, *options: str) -> Result:
    """Run ge-compiler in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ge.tools.ge_compiler", f"--model={model}", f"--output={folder}/model.om"]
        command += [f"--input_shape={shapes}"] if shapes else []
        done = subprocess.run(
            [*command, "--report=json", *options], cwd=ROOT, capture_output=True, text=True, check=False
        )
    error = done.stderr.strip().splitlines()[-3] if done.returncode and len(done.stderr.splitlines()) >= 3 else ""
    if not done.stdout.startswith("{"):
        return Result(None, error or done.stderr[-300:])
    return Result(json.loads(done.stdout), error)


def row(name: str, result: Result) -> list[str]:
    """The cells of one model in the first table."""
    if result.report is None:
        return [name, f"not compiled: {result.error}", *[""] * (len(COLUMNS) - 2)]
    compilation, run = result.report["compilation"], result.report["run"]
    worst = min(result.report["agreement"], key=lambda each: each["cosine"])
    return [
        name,
        f"{worst['cosine']:.7f}",
        f"{worst['relative']:.2%}" + ("" if worst["passed"] else " (differs)"),
        {True: "same", False: "other", None: ""}[worst["same_top1"]],
        f"{compilation['seconds']:.1f}",
        f"{compilation['stages'][-1]['peak_bytes'] / 1e6:.0f}",
        str(compilation["kernels"]),
        str(compilation["launches"]),
        str(compilation["host_operators"]),
        f"{run['simulation_seconds']:.1f}",
        f"{run['cycles'] / 1e6:.2f}",
        f"{1e3 * run['device_seconds']:.2f}",
    ]


def fusion_row(name: str, fused: Result, unfused: Result) -> list[str]:
    """The cells of one model in the table of what fusion saves."""
    if fused.report is None or unfused.report is None:
        return [name, *["not compiled"] * (len(FUSION_COLUMNS) - 1)]
    cells = [name, *(str(result.report["compilation"]["launches"]) for result in (fused, unfused) if result.report)]
    for part, key in (("compilation", "access_bytes"), ("run", "gm_bytes"), ("run", "cycles")):
        after, before = fused.report[part][key], unfused.report[part][key]
        cells += [f"{after / 1e6:.2f}", f"{before / 1e6:.2f}", f"{100 * (after / before - 1):+.0f} %"]
    return cells


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)]


def markdown(rows: Sequence[Sequence[str]], fusion_rows: Sequence[Sequence[str]]) -> str:
    """The page."""
    lines = [
        "# Results on public models",
        "",
        "Written by `python -m bench.spine --models=DIR`. Every model is compiled for Ascend310P3, run once on the",
        "simulator on random inputs (seed 0) and compared with onnxruntime in float32. Errors are parts of the largest",
        "value of the output; the worst output is shown. Cycles and milliseconds are estimates from the description of",
        f"the chip, not measurements. Machine: {platform.machine()}, Python {platform.python_version()}.",
        "",
        *table(COLUMNS, rows),
        "",
        "## What fusion saves",
        "",
        "The same models with and without (`--no-fusion`) the fusion passes. *access* is the size of the operands and",
        "results of all launches, weights included; *transfers* is what the kernels move from and to device memory on",
        "the simulator, where cores read weights and overlapping rows more than once.",
        "",
        *table(FUSION_COLUMNS, fusion_rows),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Run the models named, or all, and write the page after each."""
    parser = argparse.ArgumentParser("python -m bench.spine", description="Compile and run public models.")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("names", nargs="*", choices=[*MODELS, []], help="the models to run (default all)")
    arguments = parser.parse_args()
    rows: list[list[str]] = []
    fusion_rows: list[list[str]] = []
    for name, shapes in MODELS.items():
        folder = model_folder() if name.startswith("light_") else arguments.models
        model = folder / f"{name}.onnx"
        if not model.is_file() or (arguments.names and name not in arguments.names):
            continue
        start = time.perf_counter()
        fused = compile_and_run(model, shapes, "--compare")
        rows.append(row(name, fused))
        fusion_rows.append(fusion_row(name, fused, compile_and_run(model, shapes, "--run", "--no-fusion")))
        print(f"{' | '.join(rows[-1])}  ({time.perf_counter() - start:.0f} s)", flush=True)
        RESULTS.write_text(markdown(rows, fusion_rows))


if __name__ == "__main__":
    main()
