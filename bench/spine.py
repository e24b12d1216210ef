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
    *("simulation s", "Mcycles", "est. ms", "access MB", "without fusion", "change"),
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


def row(name: str, model: Path, shapes: str) -> list[str]:
    """The cells of one model."""
    result = compile_and_run(model, shapes, "--compare")
    if result.report is None:
        return [name, f"not compiled: {result.error}", *[""] * (len(COLUMNS) - 2)]
    compilation, run = result.report["compilation"], result.report["run"]
    worst = min(result.report["agreement"], key=lambda each: each["cosine"])
    with_fusion, without = compilation["access_bytes"], compilation["access_bytes_without_fusion"]
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
        f"{with_fusion / 1e6:.1f}",
        f"{without / 1e6:.1f}",
        f"{100 * (with_fusion / without - 1):+.0f} %",
    ]


def markdown(rows: list[list[str]]) -> str:
    """The page."""
    lines = [
        "# Results on public models",
        "",
        "Written by `python -m bench.spine --models=DIR`. Every model is compiled for Ascend310P3, run once on the",
        "simulator on random inputs (seed 0) and compared with onnxruntime in float32. Errors are parts of the largest",
        "value of the output; the worst output is shown. Cycles and milliseconds are estimates from the description of",
        "the chip, not measurements. *access* is the size of the operands and results of all launches, and what it",
        f"would be without fusion. Machine: {platform.machine()}, Python {platform.python_version()}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(f"| {' | '.join(cells)} |" for cells in rows),
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
    for name, shapes in MODELS.items():
        folder = model_folder() if name.startswith("light_") else arguments.models
        model = folder / f"{name}.onnx"
        if not model.is_file() or (arguments.names and name not in arguments.names):
            continue
        start = time.perf_counter()
        rows.append(row(name, model, shapes))
        print(f"{' | '.join(rows[-1])}  ({time.perf_counter() - start:.0f} s)", flush=True)
        RESULTS.write_text(markdown(rows))


if __name__ == "__main__":
    main()
