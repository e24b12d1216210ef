"""A model of more than 2 GB: imported, optimised and exported with no more memory than the weights that are touched.

    python -m bench.big_model [--gigabytes 2.5] [--folder TEMPORARY]

Makes a model of matrix products whose weights (external data) take 2.5 GB, most of it a hole in the file, and runs each
step in a process of its own. The table has the time, how much memory the process has then beyond what it had before the
import, private and mapped from files, and how many bytes of weights the step reads and makes. The aim is less than 1.3
times those.

1. import: nothing is read.
2. optimise: the passes of the compiler's second stage; they read one weight of 64 MB, which is transposed.
3. text: as above, and the module as text. The digests of all weights are computed, which maps the file.
4. export: as above, and the model is written again, with its weights next to it.
5. ge-opt: the command ``ge-opt big.onnx --constant-fold --eliminate-identity -o out.onnx`` from its start to its end;
   its peak is beyond that of the same command for a model of two nodes.

``python -m bench.models --write`` puts the table into docs/models.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from ge.ir.printer import write_module
from ge.ir.registry import context, registry
from ge.passes.pipelines import onnx_pipeline
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.importer import import_model
from ge.tools.pipeline import parse_pipeline

SIZE = 4096
"""Rows and columns of each weight: 64 MB of float32."""

WEIGHT_BYTES = 4 * SIZE * SIZE

COLUMNS = ("step", "seconds", "own MB", "mapped MB", "peak MB", "touched MB", "ratio")
STEPS = ("import", "optimise", "text", "export")
SEPARATOR = "; "


def make_model(path: Path, nbytes: int) -> None:
    """A chain of matrix products, of which the first weight is transposed. The file of the weights is mostly a hole."""
    count = nbytes // WEIGHT_BYTES
    data = path.with_suffix(".data")
    tensors: list[TensorProto] = []
    nodes = [helper.make_node("Transpose", ["w0"], ["t"], perm=[1, 0])]
    with data.open("wb") as stream:
        stream.truncate(count * WEIGHT_BYTES)
        for index in range(count):
            stream.seek(index * WEIGHT_BYTES)
            stream.write(np.full(16, index, np.float32).tobytes())
            tensor = TensorProto(name=f"w{index}", dims=[SIZE, SIZE], data_type=TensorProto.FLOAT)
            tensor.data_location = TensorProto.EXTERNAL
            places = {"location": data.name, "offset": index * WEIGHT_BYTES, "length": WEIGHT_BYTES}
            for key, value in places.items():
                tensor.external_data.add(key=key, value=str(value))
            tensors.append(tensor)
            names = [f"v{index - 1}" if index else "x", f"w{index}" if index else "t"]
            nodes.append(helper.make_node("MatMul", names, [f"v{index}"]))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, SIZE]) for name in ("x", f"v{count - 1}"))
    graph = helper.make_graph(nodes, "big", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def memory() -> tuple[int, int]:
    """The bytes that this process has in memory: its own, and those mapped from files."""
    entries = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    own, mapped = (1024 * int(entries[key].split()[0]) for key in ("RssAnon", "RssFile"))
    return own, mapped


def optimise(module: ModuleOp) -> None:
    for each in parse_pipeline(onnx_pipeline(1, "model"), registry()):
        each.apply(context(), module)


def run_step(step: str, path: Path) -> None:
    """Run the steps up to one of them, and print what it took."""
    before = memory()
    start = time.perf_counter()
    module = import_model(path)
    if step != "import":
        optimise(module)
    if step == "text":
        write_module(module, path.with_suffix(".mlir"))
    if step == "export":
        save_model(module, path.with_name("again.onnx"))
    seconds = time.perf_counter() - start
    own, mapped = (now - then for now, then in zip(memory(), before, strict=True))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - sum(before)
    all_weights = path.with_suffix(".data").stat().st_size
    touched = {"import": 0, "optimise": 2 * WEIGHT_BYTES, "text": all_weights, "export": all_weights}[step]
    megabytes = [f"{value / 1e6:.0f}" for value in (own, mapped, peak, touched)]
    print(SEPARATOR.join([step, f"{seconds:.1f}", *megabytes, f"{peak / touched:.2f}" if touched else "-"]))


def run_command(model: Path) -> tuple[float, int]:
    """Optimise a model on the command line: seconds, and the most memory of the process in bytes."""
    command = [sys.executable, "-m", "ge.tools.ge_opt", str(model), "--constant-fold", "--eliminate-identity"]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "-o", str(model.with_name("out.onnx"))])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"ge-opt ends with status {process.returncode}")
    return time.perf_counter() - start, 1024 * usage.ru_maxrss


def rows(gigabytes: float, folder: str | None) -> list[list[str]]:
    """Run all steps: the cells of the table."""
    found: list[list[str]] = []
    with TemporaryDirectory(dir=folder) as temporary:
        path, small = Path(temporary, "big.onnx"), Path(temporary, "small.onnx")
        make_model(path, int(gigabytes * 1e9))
        make_model(small, WEIGHT_BYTES)
        for step in STEPS:
            command = [sys.executable, "-m", "bench.big_model", "--step", step, "--model", str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(done.stdout.strip().split(SEPARATOR))
        (_, before), (seconds, peak) = run_command(small), run_command(path)
        touched = path.with_suffix(".data").stat().st_size - WEIGHT_BYTES
        cells = [f"{value / 1e6:.0f}" for value in (peak - before, touched)]
        found.append(["ge-opt", f"{seconds:.1f}", "", "", *cells, f"{(peak - before) / touched:.2f}"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=2.5)
    parser.add_argument("--folder", help="where to make the model; it is deleted afterwards")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        run_step(options.step, options.model)
        return
    for cells in (COLUMNS, *rows(options.gigabytes, options.folder)):
        print(f"{cells[0]:10}", *(f"{cell:>11}" for cell in cells[1:]))


if __name__ == "__main__":
    main()
