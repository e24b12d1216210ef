"""Real models through import, text, parser and export: the same results in onnxruntime, times and memory.

    python -m bench.models --models=DIR [--write] [NAME ...]

Runs the light models of the onnx package and all DIR/*.onnx, each in a process of its own. ``--write`` makes
docs/models.md of the results; without it they are only printed. The steps:

1. import: the file as a module of the onnx dialect, at the newest opset, with inferred types;
2. text: the module as text; its weights stay in the file of the model;
3. parse: the text as a module again; the digests of all weights are compared;
4. export: that module as an ONNX model, with its weights.

Then onnxruntime runs the file from before and the one from after on the same random inputs (seed 0), and all outputs
are compared bit by bit.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from ge.ir.parser import parse_module
from ge.ir.printer import write_module
from ge.targets.onnx.canonical import same_model
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.importer import import_model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "models.md"

SHAPES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "pkg_ddddocr_common": {"input1": [1, 1, 64, 160]},
    "pkg_ddddocr_common_old": {"input1": [1, 1, 64, 160]},
    "pkg_magika": {"bytes": [2, 2048]},
    "pkg_nudenet_320n": {"images": [1, 3, 320, 320]},
    "pkg_ppocr_cls": {"x": [1, 3, 48, 192]},
    "pkg_ppocrv4_det": {"x": [1, 3, 640, 640]},
    "pkg_ppocrv4_rec": {"x": [1, 3, 48, 320]},
    "pkg_silero_vad": {"input": [1, 576], "state": [2, 1, 128]},
    "pkg_silero_vad_16k_op15": {"input": [1, 576], "state": [2, 1, 128]},
    "pkg_silero_vad_16k_sequence": {"input": [4, 576]},
    "pkg_silero_vad_half": {"input": [1, 576], "state": [2, 1, 128]},
    "pkg_silero_vad_ifless": {"input": [1, 576], "state": [2, 1, 128]},
    "torch_bert_base_dyn": {"input_ids": [2, 64], "attention_mask": [2, 64]},
    "torch_llama_tiny_kv": {"input_ids": [1, 4], "past_k": [6, 1, 4, 32, 64], "past_v": [6, 1, 4, 32, 64]},
    "torch_resnet50_dyn": {"x": [2, 3, 224, 224]},
}
"""Shapes of the inputs that a model leaves open."""

INTEGERS = {"sr": (16000, 16001), "bytes": (0, 256), "input_ids": (0, 1000), "attention_mask": (1, 2), "n": (5, 6)}
"""The range of an input of integers, by its name: from the first number to below the second."""

COLUMNS = (
    *("model", "MB", "operations", "opset", "model after", "results"),
    *("import s", "text s", "parse s", "export s", "peak MB"),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one model. Times are seconds of the processor, which do not tell how busy the machine is."""

    name: str
    file_bytes: int
    operations: int
    opset: int
    after: str
    """"identical", or the opset of the model that was written."""
    results: str
    """"equal", or the largest difference."""
    seconds: Mapping[str, float]
    peak_bytes: int
    """The most memory of the process up to the end of the export, mapped files included."""

    def row(self) -> list[str]:
        """The cells of the table."""
        times = [f"{self.seconds[step]:.2f}" for step in ("import", "text", "parse", "export")]
        sizes = [f"{self.file_bytes / 1e6:.2f}", str(self.operations), str(self.opset)]
        return [self.name, *sizes, self.after, self.results, *times, f"{self.peak_bytes / 1e6:.0f}"]


# One model, in a process of its own


def outcome(path: Path) -> Outcome:
    """Bring one model through all steps, and compare what it computes before and after."""
    with TemporaryDirectory() as folder:
        model, text, exported = (Path(folder, name) for name in ("model.onnx", "model.mlir", "again.onnx"))
        _link(path, model)
        seconds: dict[str, float] = {}
        clock = time.process_time
        started = clock()
        module = import_model(model)
        seconds["import"], started = clock() - started, clock()
        write_module(module, text)
        seconds["text"] = clock() - started
        del module  # its mapping of the file would count beside that of the next
        gc.collect()
        started = clock()
        again = parse_module(text)
        seconds["parse"], started = clock() - started, clock()
        save_model(again, exported)
        seconds["export"] = clock() - started
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        operations = sum(op.name.startswith("onnx.") and op.name != "onnx.Yield" for op in again.walk())
        opset, after = _after(model, exported)
        results = _results(model, exported, path.stem)
    return Outcome(path.stem, path.stat().st_size, operations, opset, after, results, seconds, peak)


def _link(source: Path, target: Path) -> None:
    """The same file under another name; its text then can refer to the weights in it."""
    try:
        os.link(source, target)
    except OSError:
        target.write_bytes(source.read_bytes())


def _after(before: Path, after: Path) -> tuple[int, str]:
    """The opset of a model, and what the model that came back is."""
    models = onnx.load(before), onnx.load(after)
    old, new = ({entry.domain: entry.version for entry in model.opset_import} for model in models)
    same = "identical" if same_model(*models) else "differs" if old == new else f"opset {new.get('', 0)}"
    return old.get("", 0), same


def _results(before: Path, after: Path, name: str) -> str:
    """Whether onnxruntime computes the same; where not, also without its own fusions, which depend on the opset."""
    fused, plain = (compare(run(before, name, fuse), run(after, name, fuse)) for fuse in (True, False))
    return fused if fused in ("equal", plain) else f"{plain}; {fused} when fused"


def run(path: Path, name: str, fuse: bool = True) -> dict[str, Any]:
    """The outputs of a model on its random inputs, by name; with the fusions of onnxruntime or without."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not fuse:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(None, feeds(session, name)), strict=True))


def feeds(session: Any, name: str, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Random inputs for a session of the model of this name: normally distributed floats, integers within range."""
    random = np.random.default_rng(seed)
    values: dict[str, NDArray[Any]] = {}
    for entry in session.get_inputs():
        shape = SHAPES.get(name, {}).get(entry.name, entry.shape)
        if "float" in entry.type or "double" in entry.type:
            dtype = {"tensor(float16)": np.float16, "tensor(double)": np.float64}.get(entry.type, np.float32)
            values[entry.name] = random.standard_normal(shape).astype(dtype)
        else:
            low, high = INTEGERS[entry.name]
            dtype = np.int32 if entry.type == "tensor(int32)" else np.int64
            values[entry.name] = np.array(random.integers(low, high, shape), dtype)
    return values


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Whether two runs gave the same, in words."""
    if list(before) != list(after):
        return f"other outputs: {', '.join(after)}"
    differences = [_difference(before[name], after[name]) for name in before]
    return next((text for text in differences if text), "equal")


def _difference(a: Any, b: Any) -> str:
    """How two outputs differ, empty when they are the same bit by bit."""
    if not isinstance(a, np.ndarray):
        return "" if repr(a) == repr(b) else "other values"
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    if a.tobytes() == b.tobytes():
        return ""
    if a.dtype.kind != "f":
        return f"{np.count_nonzero(a != b)} of {a.size} values differ"
    return f"within {np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30):.0e} of the largest"


# All models


def paths(folder: Path | None, names: Sequence[str]) -> Iterator[Path]:
    """The light models and those of a folder, or those of the names given."""
    from ge.tools.example import model_folder  # the compiler, which the measured processes do not need

    found = [*model_folder().glob("light_*.onnx"), *(folder.glob("*.onnx") if folder else ())]
    for path in sorted(found, key=lambda path: path.name):
        if not names or path.stem in names:
            yield path


def run_apart(path: Path) -> Outcome | str:
    """The outcome of a model in a process of its own, or the end of what it said."""
    command = [sys.executable, "-m", "bench.models", "--one", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def page(rows: Sequence[Sequence[str]], failures: int, big: Sequence[Sequence[str]]) -> str:
    """The text of docs/models.md."""
    from bench.big_model import COLUMNS as BIG_COLUMNS
    from bench.spine import table

    equal = sum(row[5].startswith("equal") for row in rows)
    summary = f"{len(rows)} models, {equal} with equal results, {failures} failures."
    lines = [
        "# Real models, in and out",
        "",
        "Written by `python -m bench.models --models=DIR --write`, where DIR has the models beside those of the onnx",
        "package. Each is imported, printed, parsed and exported, and onnxruntime computes the same before and after.",
        "",
        "* *operations*: constants count, too.",
        "* *model after*: `identical` in structure, names, metadata and the bytes of constants; or its opset, where",
        "  operators had to be converted.",
        "* *results*: all outputs on random inputs (seed 0), compared bit by bit. onnxruntime fuses some operators",
        "  only at a newer opset, and then rounds otherwise: there, the outputs without its fusions come first.",
        "* Times are of the processor, with the digests of all weights in *text* and *parse*.",
        "* *peak*: the memory of the process up to the end of the export, with the mapped file of the model and the",
        "  packages (80 MB).",
        "",
        f"{summary} Machine: {platform.machine()}, Python {platform.python_version()}, onnx {onnx.__version__}.",
        "",
        *table(COLUMNS, rows),
        "",
        "## A model of more than 2 GB",
        "",
        "From `python -m bench.big_model`, which says what the steps are: the most memory that each takes beyond the",
        "packages, and the bytes of weights that it reads or makes.",
        "",
        *table(BIG_COLUMNS, big),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="a folder of models")
    parser.add_argument("--write", action="store_true", help=f"write the table to docs/{PAGE.name}")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="the models to run (default all)")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(outcome(options.one))))
        return 0
    rows: list[list[str]] = []
    failures = 0
    for path in paths(options.models, options.names):
        found = run_apart(path)
        failed = isinstance(found, str)
        rows.append([path.stem, *[""] * 4, f"fails: {found}", *[""] * 5] if failed else found.row())
        failures += failed
        print(" | ".join(rows[-1]), flush=True)
    if options.write:
        from bench.big_model import rows as big_rows

        PAGE.write_text(page(rows, failures, big_rows(2.5, None)))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
