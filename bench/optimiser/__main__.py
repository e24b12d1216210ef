"""Our optimiser beside onnxsim, onnxslim and onnxruntime, in the same run on the same machine.

::

    python -m bench.optimiser --models=DIR [NAME ...]

needs the extras ``test`` and ``bench``, and takes every ``DIR/*.onnx`` and the light models of the onnx package. Writes
docs/optimiser-results.md after each model. Every tool has a process of its own for each model
(:mod:`bench.optimiser.tools`), and so has the comparison of numbers (:mod:`bench.optimiser.agreement`). What a user
waits for is the whole command, which is timed apart (:mod:`bench.optimiser.commands`).
Then some models are compiled, for what fusion saves on the device (:mod:`bench.optimiser.traffic`).

``--json`` keeps the results; a run that finds some there goes on behind them. ``--folder`` keeps the optimised models,
and ``--operators`` prints which operators each tool leaves.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.each_model import ROOT, TIME_LIMIT, find_models, run_json
from bench.optimiser import document, traffic
from bench.optimiser.commands import time_commands
from bench.optimiser.document import REFERENCE
from bench.optimiser.tools import TOOLS, count_operators

RESULTS = ROOT / "docs" / "optimiser-results.md"


def compare_on(model: Path, folder: Path, tools: Sequence[str], repeat: int, limit: int) -> dict[str, Any]:
    """What every tool did with one model: see :class:`bench.optimiser.tools.Measurement`, and the agreement."""
    targets = {tool: folder / f"{model.stem}.{tool.replace(' ', '')}.onnx" for tool in tools}
    found: dict[str, Any] = {
        tool: run_json("bench.optimiser.tools", tool, model, target, f"--repeat={repeat}", seconds=limit)
        for tool, target in targets.items()
    }
    written = {tool: target for tool, target in targets.items() if "error" not in found[tool] and tool != REFERENCE}
    distances = run_json("bench.optimiser.agreement", model, *written.values())
    for tool, target in written.items():
        found[tool]["agreement"] = distances.get(str(target), distances)
    commands = time_commands(model, folder, repeat, limit)
    return {"original": original_operators(model), "tools": found, "commands": commands}


def original_operators(model: Path) -> dict[str, int]:
    import onnx

    return dict(count_operators(onnx.load(model, load_external_data=False)))


def print_operators(name: str, result: dict[str, Any]) -> None:
    """A table of the operators that the tools leave, but for those of which all leave as many."""
    left = {tool: measured["operators"] for tool, measured in result["tools"].items() if "error" not in measured}
    columns = {"original": result["original"], **left}
    print(f"{name:36}", *(f"{column:>12}" for column in columns))
    operators = sorted({operator for counts in columns.values() for operator in counts})
    rows = {operator: [counts.get(operator, 0) for counts in columns.values()] for operator in operators}
    for op, counts in {"total": [sum(counts.values()) for counts in columns.values()], **rows}.items():
        if len(set(counts[1:])) > 1 or op == "total":
            print(f"{op:36}", *(f"{count:12}" for count in counts))


@contextmanager
def place_for(folder: Path | None) -> Iterator[Path]:
    """Where the optimised models of one model go: a folder that is kept, or one that is not, since they are large."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory() as temporary:
        yield Path(temporary)


def run(models: Sequence[Path], options: argparse.Namespace) -> None:
    results: dict[str, dict[str, Any]] = {"models": {}, "traffic": {}}
    if options.json and options.json.is_file():
        results.update(json.loads(options.json.read_text()))
    for model in models:
        if model.stem in results["models"]:
            continue
        with place_for(options.folder) as folder:
            result = compare_on(model, folder, options.tools, options.repeat, options.limit)
        results["models"][model.stem] = result
        print(document.line(model.stem, result), flush=True)
        if options.operators:
            print_operators(model.stem, result)
        write(results, options)
    for model in models:
        if model.stem in traffic.MODELS and model.stem not in results["traffic"]:
            results["traffic"][model.stem] = traffic.measure_traffic(model, traffic.MODELS[model.stem], ROOT)
            write(results, options)
    write(results, options)


def write(results: dict[str, dict[str, Any]], options: argparse.Namespace) -> None:
    """Keep the results so far."""
    if not options.no_document:
        RESULTS.write_text(document.page(results, options.repeat))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the models to take (default all)")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the best counts (default 3)")
    parser.add_argument(
        "--limit", type=int, default=TIME_LIMIT, help=f"seconds that a tool has for a model (default {TIME_LIMIT})"
    )
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS), help="the optimisers to run")
    parser.add_argument("--folder", type=Path, help="where to keep the optimised models")
    parser.add_argument("--operators", action="store_true", help="print which operators each tool leaves")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on behind them")
    parser.add_argument("--no-document", action="store_true", help="do not write the page")
    options = parser.parse_args()
    run(find_models(options.models, options.names), options)


if __name__ == "__main__":
    main()
