"""Streams on models: the time and memory of one stream, of several, and of several that share the cores.

::

    python -m bench.streams --models=DIR [NAME ...]

takes ``DIR/*.onnx`` and the light models of the onnx package, each in a process of its own, and writes
docs/streams-results.md after each. A model is compiled in three ways and run; its outputs must be the same, bit by bit,
in one stream, in several, and in ``--orders`` random orders that the streams may take turns in.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.each_model import ROOT, find_models, run_json
from bench.models import SHAPES
from ge.ir.errors import GeError
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime.model import Model
from ge.targets.ascend.soc import load_soc
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions, StreamOptions
from ge.tools.report import stream_facts

PAGE = ROOT / "docs" / "streams-results.md"

WAYS = {
    "one": StreamOptions(single=True),
    "several": StreamOptions(),
    "shared": StreamOptions(auto_parallel=True),
}

HEAD = """# Streams, measured

Written by `python -m bench.streams --models=DIR`; [streams.md](streams.md) says what the words mean. Times are those of
the model of the chip, an estimate for the Ascend310P3; memory is that of values that come and go. *Several* is what
`ge-compiler` does by itself, *shared* is `--auto_parallel=true`. Events are those inserted, of those that every
dependency between streams would take. *Part* counts the launches that take at most half of the cores.

Outputs were compared bit by bit: in one stream, in several, and in random orders of the streams, the same with shared
cores; the last column says in how many orders. Kernels for fewer cores may have other tiles, which round otherwise.

{columns}
"""

COLUMNS = (
    *("model", "tasks", "one stream", "several", "streams", "events", "memory"),
    *("shared", "streams", "memory", "part", "bits"),
)


def measure(path: Path, orders: int) -> dict[str, Any]:
    """What a model takes in each way, and whether its outputs are the same. Raises what compiling and running raise."""
    found: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for way, streams in WAYS.items():
        compilation = compile_model(CompileOptions(path, input_shapes=SHAPES.get(path.stem, {}), streams=streams))
        memory = compilation.program.memory
        found[way] = {
            "memory": memory.arena_size,
            "seconds": compilation.seconds,
            **(stream_facts(compilation.program) or {}),
        }
        files[way] = model_bytes(compilation.module)
    return {**found, "tasks": len(read_model(files["one"]).tasks), **compare_orders(files, orders)}


def compare_orders(files: Mapping[str, bytes], orders: int) -> dict[str, Any]:
    """Whether outputs are the same in one stream and in several, and in random orders of the streams."""
    model = read_model(files["one"])
    inputs = random_inputs([InputInfo(name, value.type) for name, value in model.inputs.items()], 0)

    def bits(file: bytes, seed: int | None = None, runs: int = 1) -> set[bytes]:
        loaded = Model(read_model(file), interleaving=seed, profile=False)
        return {b"".join(value.tobytes() for value in loaded.run(inputs).values()) for _ in range(runs)}

    several, shared = bits(files["several"], 0, orders), bits(files["shared"], 0, orders)
    return {
        "same": bits(files["one"]) == several and shared == bits(files["shared"]),
        "same_shared": several == shared,
        "orders": orders,
    }


def row(name: str, result: Mapping[str, Any], soc: str = "Ascend310P3") -> str:
    """The line of a model."""
    if "error" in result:
        return f"| {name} | {result['error'].replace('|', '/')} |" + " |" * 10
    one, several, shared = (result[way] for way in WAYS)
    before = several["cycles_in_one_stream"]

    def time(cycles: int) -> str:
        milliseconds = f"{1e3 * load_soc(soc).seconds(cycles):.2f} ms"
        return milliseconds if cycles == before else f"{milliseconds} ({100 * (cycles / before - 1):+.0f} %)"

    def memory(facts: Mapping[str, Any]) -> str:
        return "+0 %" if facts["memory"] == one["memory"] else f"{100 * (facts['memory'] / one['memory'] - 1):+.1f} %"

    part = sum(count for cores, count in shared["launches_by_cores"].items() if int(cores) <= load_soc(soc).cores // 2)
    bits = f"the same ({result['orders']})" if result["same"] else "DIFFERENT"
    cells = (
        *(name, result["tasks"], time(before), time(several["cycles"]), several["count"]),
        *(f"{several['events']} of {several['events_before_reduction']}", memory(several)),
        *(time(shared["cycles"]), shared["count"], memory(shared), part),
        bits if result["same_shared"] else f"{bits}; shared rounds otherwise",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; the exit status is 1 when outputs differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the models to take (default all)")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("--orders", type=int, default=20, help="random orders of the streams (default 20)")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on behind them")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        try:
            print(json.dumps(measure(options.one, options.orders)))
        except GeError as error:
            print(json.dumps({"error": f"{error.code}: {error.what}"}))
        return 0
    results: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.is_file() else {}
    for model in find_models(options.models, options.names):
        if model.stem not in results:
            results[model.stem] = run_json("bench.streams", f"--one={model}", f"--orders={options.orders}")
            print(row(model.stem, results[model.stem]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
        rows = "\n".join(row(name, result) for name, result in sorted(results.items()))
        columns = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
        PAGE.write_text(f"{HEAD.format(columns=columns)}{rows}\n", encoding="utf-8")
    return int(any(not result.get("same", True) for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
