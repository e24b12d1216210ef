"""Compiled models on the simulated chip, beside onnxruntime: how far the numbers are apart, and what moves them.

::

    python -m bench.compiled --models=DIR [--json=FILE] [--write] [NAME ...]

takes DIR/NAME.onnx and the light models of the onnx package (all of them without names), each in a process of its own
(:mod:`bench.compiled.measure`). A model that float16 moves too far is compiled again with options that let less of it
be float16. ``--json`` keeps the results; a run that finds some there goes on behind them. ``--write`` makes
docs/compiled-results.md. The exit status is 1 when a model has no result, or rewrites or kernels move one beyond the
limits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.compiled.document import AS_GOOD_AS_IT_GETS, FAULTS, FLOAT16, REMEDIES, cause, is_detector, page, rows
from bench.each_model import ROOT, find_models, run_json

PAGE = ROOT / "docs" / "compiled-results.md"

TIME_LIMIT = 600
"""Seconds after which a model is given up."""


def result_of(model: Path) -> dict[str, Any]:
    """What was measured of a model; of one that float16 moves too far, also with the options that help.

    Detections in another order need none.
    """
    result = run_json("bench.compiled.measure", model, seconds=TIME_LIMIT)
    if cause(result) == FLOAT16 and not is_detector(result):
        result["remedies"] = {}
        for remedy in REMEDIES:
            found = run_json("bench.compiled.measure", model, *remedy.arguments, seconds=TIME_LIMIT)
            result["remedies"][remedy.text] = found
            if cause(found) in AS_GOOD_AS_IT_GETS:
                break
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the models to take (default all)")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on behind them")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = json.loads(options.json.read_text()) if options.json and options.json.is_file() else {}
    for model in find_models(options.models, options.names):
        if model.stem not in results:
            results[model.stem] = result_of(model)
        for row in rows(model.stem, results[model.stem]):
            print(" | ".join(row), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
        if options.write:
            PAGE.write_text(page(results), encoding="utf-8")
    return int(any(cause(result) in FAULTS for result in results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
