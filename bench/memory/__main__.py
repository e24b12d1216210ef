"""The memory of models, beside bounds and onnxruntime, and the time that planning takes.

::

    python -m bench.memory --models=DIR [NAME ...]

takes every ``DIR/*.onnx`` and the light models of the onnx package, and writes docs/memory-results.md after each. A
model has one process for our plan (:mod:`bench.memory.plans`) and one for onnxruntime (:mod:`bench.memory.arena`). The
times are those of graphs made for it (:mod:`bench.memory.planning`). ``--json`` keeps the results; a run that finds
some there goes on behind them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.each_model import ROOT, find_models, run_json
from bench.memory.document import page, row
from bench.memory.planning import all_planned

PAGE = ROOT / "docs" / "memory-results.md"

TIME_LIMIT = 600
"""Seconds after which a model is given up."""


def measure(model: Path) -> dict[str, Any]:
    """Our plan of a model, and what onnxruntime needs; either may be an error."""
    ours = run_json("bench.memory.plans", model, seconds=TIME_LIMIT)
    return {"plan": ours, "arena": run_json("bench.memory.arena", model, seconds=TIME_LIMIT)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; the exit status is 1 when planning takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the models to take (default all)")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on behind them")
    parser.add_argument("--no-document", action="store_true", help="do not write the page")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {"planning": [], "models": {}}
    if options.json and options.json.is_file():
        results.update(json.loads(options.json.read_text()))
    if not results["planning"]:
        results["planning"] = [asdict(each) | {"in_time": each.is_in_time} for each in all_planned()]
    write(results, options)
    for model in find_models(options.models, options.names):
        if model.stem not in results["models"]:
            results["models"][model.stem] = measure(model)
            print(" | ".join(row(model.stem, results["models"][model.stem])), flush=True)
            write(results, options)
    return int(not all(each["in_time"] for each in results["planning"]))


def write(results: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Keep the results so far."""
    if not options.no_document:
        PAGE.write_text(page(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    raise SystemExit(main())
