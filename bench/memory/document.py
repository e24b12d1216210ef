"""The page docs/memory-results.md."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bench.memory.planning import COUNTS
from bench.spine import table

ALLOWED = 1.02
"""The peak of a plan, by the bound of its order, that is near enough."""

Result = Mapping[str, Any]

HEAD = f"""# Memory of the device: results

Written by `python -m bench.memory --models=DIR`. onnxruntime {{onnxruntime}}; Python {{python}}, {{machine}}.

{{summary}}

## Models

Values that come and go while a model runs, in MB; inputs, outputs and weights are apart, for onnxruntime, too.

* *peak*: what our plan takes, slots rounded up to 512 bytes included. Device values are float16 where the model has
  float32: *in float32* is the peak of a plan in which they take twice as much.
* *by order*: the most bytes that are live at one moment of our order of launches; no plan takes less. *ratio* is the
  peak by that, {ALLOWED} at most; with `--memory_optimize=low` in parentheses.
* *any order*: what the most demanding operation reads and makes; no order takes less.
* *without reuse*: every value in a slot of its own.
* *onnxruntime*: what its arena has in use at the most, and in parentheses what operators asked it for; the smaller one
  of its two ways to allocate (`bench/memory/arena.py` says how that is measured). *ours / its*: our peak by what the
  arena has in use; then the same in float32. It computes the models `quant_...` in 8 bits, and so do we
  where scales are constant; those of `quant_bert_base_dyn_int8` are not.
* A task of the host has its values inside on the host, where they are not planned. A model that is one such task has no
  values on the device, and is not counted.
"""

COLUMNS = (
    *("model", "launches", "host", "peak", "by order", "ratio", "any order", "without reuse", "in float32"),
    *("onnxruntime", "ours / its", "in float32"),
)

PLANNING_COLUMNS = ("graph", "values", "`--memory_optimize=high`", "`low`", "planner `best-fit`")

PLANNING = """
## How long planning takes

Graphs made for this, with sizes of feature maps; seconds of the processor for the order of the operations and the
places of the values (`high`), or the places alone. In parentheses: the peak by the most bytes live at one moment.
"""


def page(results: Result) -> str:
    """The text of the page."""
    models: Mapping[str, Result] = results["models"]
    head = HEAD.format(
        onnxruntime=version("onnxruntime"),
        python=platform.python_version(),
        machine=platform.machine(),
        summary="\n".join(f"* {each}" for each in summary(results)),
    )
    rows = [row(name, result) for name, result in models.items()]
    times = [planning_row(each) for each in results["planning"]]
    return "\n".join([head, *table(COLUMNS, rows), PLANNING, *table(PLANNING_COLUMNS, times), ""])


def summary(results: Result) -> Iterator[str]:
    """What the tables say, in few lines."""
    models: Sequence[Result] = [{"name": name, **each} for name, each in results["models"].items()]
    planned = [each for each in models if "error" not in each["plan"]]
    on_device = [each for each in planned if each["plan"]["values"]]
    compared = [each for each in on_device if "error" not in each["arena"]]
    yield f"{len(planned)} of {len(models)} models compile; {len(on_device)} have values on the device"
    yield count(on_device, f"at most {ALLOWED} x the bound of the order", lambda each: ratio(each) <= ALLOWED)
    yield count(compared, "less than the arena of onnxruntime", lambda each: by_arena(each, "peak") < 1)
    asked = count(
        compared, "less than operators ask it for", lambda each: each["plan"]["peak"] < each["arena"]["asked"]
    )
    yield asked
    yield count(compared, "less than the arena, counted in float32", lambda each: by_arena(each, "wide") < 1)
    for values, seconds in COUNTS.items():
        found = [level["seconds"] for each in results["planning"] if each["count"] == values for level in levels(each)]
        yield f"{values} values are planned in {max(found, default=0):.2f} s or less ({seconds:.0f} s allowed)"


def count(results: Sequence[Result], what: str, holds: Callable[[Result], bool]) -> str:
    """How many results something holds for, and for which few not."""
    missed = [f"`{each['name']}`" for each in results if not holds(each)]
    named = f"; not {', '.join(missed)}" if 0 < len(missed) <= 8 else ""
    return f"{what}: **{len(results) - len(missed)} of {len(results)}**{named}"


def ratio(result: Result) -> float:
    """The peak by the bound of the order."""
    return result["plan"]["peak"] / max(result["plan"]["bound"], 1)


def by_arena(result: Result, name: str) -> float:
    """One of our numbers of bytes by what the arena of onnxruntime has in use."""
    return result["plan"][name] / max(result["arena"]["used"], 1)


def row(name: str, result: Result) -> list[str]:
    """The cells of a model."""
    ours, arena = result["plan"], result["arena"]
    if "error" in ours:
        return [name, ours["error"][:90].replace("|", " "), *[""] * (len(COLUMNS) - 2)]
    cells = [name, str(ours["launches"]), str(ours["host"]), *["-"] * 6]
    if ours["values"]:
        sizes = {each: megabytes(ours[each]) for each in ("peak", "bound", "least", "sum", "wide")}
        ratios = f"{ratio(result):.3f} ({ours['low'] / max(ours['bound'], 1):.3f})"
        cells[3:] = [sizes["peak"], sizes["bound"], ratios, sizes["least"], sizes["sum"], sizes["wide"]]
    if "error" in arena:
        return [*cells, arena["error"][:60].replace("|", " "), "", ""]
    compared = [f"{by_arena(result, each):.2f}" if ours["values"] else "-" for each in ("peak", "wide")]
    return [*cells, f"{megabytes(arena['used'])} ({megabytes(arena['asked'])})", *compared]


def planning_row(each: Result) -> list[str]:
    """The cells of a graph that was planned."""
    return [each["shape"], str(each["count"]), *(f"{at['seconds']:.2f} s ({at['ratio']:.3f})" for at in levels(each))]


def levels(each: Result) -> Sequence[Result]:
    """What was measured on a graph, in the order of the columns."""
    return [each["levels"][name] for name in ("high", "low", "best-fit")]


def megabytes(size: int) -> str:
    return f"{size / 1e6:.3f}"
