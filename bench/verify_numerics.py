"""Every pass of -O3 on every model, with the numbers before and after each: what ``ge-opt --verify-numerics`` says.

::

    python -m bench.verify_numerics --models=DIR [NAME ...]

takes every ``DIR/*.onnx`` and the light models of the onnx package, each in a process of its own, and writes
docs/numerics-results.md after each. ``--json`` keeps the results; a run that finds some there goes on behind them.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from bench.each_model import ROOT, find_models, run_json

PAGE = ROOT / "docs" / "numerics-results.md"

LEVEL = 3
"""The level whose passes are judged."""

TIME_LIMIT = 600
"""Seconds after which a model is given up."""


def judge(model: Path) -> dict[str, Any]:
    """Run the passes on a model and judge each: counts, draws and seconds, or the error."""
    from ge.ir.errors import GeError
    from ge.ir.registry import context, registry
    from ge.ir.verifier import verify_module
    from ge.passes.pipelines import onnx_pipeline
    from ge.targets.onnx.importer import import_model
    from ge.tools.pipeline import PassRunner, parse_pipeline
    from ge.tools.verify_numerics import NumericsCheck

    start = time.perf_counter()
    check = NumericsCheck()
    found: dict[str, Any] = {}
    try:
        passes = parse_pipeline(onnx_pipeline(LEVEL, "model"), registry())
        runner = PassRunner(verify_module, str, verify_each=False, verify_first=False, observers=[check])
        runner.run(context(), import_model(model), passes)
    except GeError as error:
        found["problem"] = f"{error.what} [{error.code}]"
    draws = check.draws
    return {
        **found,
        "passes": check.passes,
        "judged": check.judged,
        "draws": [draw.kind for draw in draws.kept],
        "refused": list(draws.refused),
        "silent": draws.silent,
        "seconds": time.perf_counter() - start,
    }


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of all results."""
    done = [result for result in results.values() if "error" not in result]
    right = sum("problem" not in result for result in done)
    passes, judged, seconds = (sum(result[key] for result in done) for key in ("passes", "judged", "seconds"))
    runs = sum(len(result["draws"]) * result["judged"] for result in done)
    lines = [
        "# Numbers before and after every pass",
        "",
        "Written by `python -m bench.verify_numerics --models=DIR`: the passes of `-O3` on models of ONNX, judged one",
        "by one as `ge-opt --verify-numerics` does ([proof.md](proof.md)), each model in a process of its own.",
        f"onnxruntime {_version('onnxruntime')}, onnx {onnx.__version__}; Python {platform.python_version()}.",
        "",
        f"* no pass changes the numbers: **{right} of {len(results)}** models",
        f"* {judged} of {passes} passes changed the operations of their model, and were judged by {runs} runs, in",
        f"  {seconds:.0f} s",
        "",
        "*changed*: passes after which the model computes by other operations; after the others there is nothing to",
        "run. *draws*: inputs on which they were judged, of six kinds (normal, zeros, negative, tiny, large, mixed). A",
        "draw is left out when the model itself refuses it (*refused*), or gives nothing to compare, such as no boxes",
        "(*silent*).",
        "",
        "| model | passes | changed | draws | refused | silent | seconds | result |",
        "| --- | --: | --: | --: | --- | --- | --: | --- |",
        *_rows(results),
        "",
    ]
    return "\n".join(lines)


def _rows(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, result in sorted(results.items()):
        if "error" in result:
            yield f"| {name} | - | - | - | - | - | - | {result['error']} |"
            continue
        cells = [name, result["passes"], result["judged"], len(result["draws"])]
        cells += [", ".join(result["refused"]), ", ".join(result["silent"]), f"{result['seconds']:.1f}"]
        yield f"| {' | '.join(map(str, cells))} | {result.get('problem', 'equal')} |"


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def run(models: Sequence[Path], kept: Path | None) -> None:
    """Judge models that are not among the results that are kept already, and write the page."""
    results: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept is not None and kept.is_file() else {}
    for model in models:
        if model.stem not in results:
            results[model.stem] = run_json("bench.verify_numerics", "--one", model, seconds=TIME_LIMIT)
            print(*_rows({model.stem: results[model.stem]}), flush=True)
        if kept is not None:
            kept.write_text(json.dumps(results, indent=1))
        PAGE.write_text(page(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the models to take (default all)")
    parser.add_argument("--models", type=Path, default=Path("models"), help="folder of the models that are not light")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on behind them")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(judge(options.one)))
        return
    run(find_models(options.models, options.names), options.json)


if __name__ == "__main__":
    main()
