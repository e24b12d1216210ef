"""Whether optimised models give what the original gives: ``python -m bench.optimiser.agreement ORIGINAL OTHER ...``.

onnxruntime runs all of them, without optimisations of its own, on the same inputs drawn from seed 0, and again with all
integers zero: masks that take everything away, tokens that are padding. Floats agree when no element differs by more
than 1e-4 of the largest value of the output, float16 by no more than 1e-3 (two steps); everything else must be equal.
Prints a JSON object: for each optimised model the largest difference as a part of the largest value (null: something
that must be equal is not) and the limit, or an error.

Where a model differs by more, the original runs again on inputs that are moved by a rounding: no optimised model can be
nearer to it than it is to itself. How far that is, is printed as well.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

MAX_RELATIVE = 1e-4
"""How much of the largest value of an output its elements may differ by."""

MAX_RELATIVE_FLOAT16 = 1e-3
"""The same of outputs in float16."""

UNKNOWN_SIZE = 2
"""Unknown dimensions that :data:`SHAPES` does not name."""

SHAPES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "pkg_ddddocr_common": {"input1": (1, 1, 64, 128)},
    "pkg_ddddocr_common_old": {"input1": (1, 1, 64, 128)},
    "pkg_magika": {"bytes": (2, 2048)},
    "pkg_nudenet_320n": {"images": (1, 3, 320, 320)},
    "pkg_ppocr_cls": {"x": (2, 3, 48, 192)},
    "pkg_ppocrv4_det": {"x": (1, 3, 320, 320)},
    "pkg_ppocrv4_rec": {"x": (1, 3, 48, 160)},
    "pkg_silero_vad": {"input": (2, 512)},
    "pkg_silero_vad_16k_op15": {"input": (2, 512)},
    "pkg_silero_vad_half": {"input": (2, 512)},
    "pkg_silero_vad_ifless": {"input": (2, 512)},
}
"""Shapes of inputs that models leave open, where not every shape will do."""

VALUES: Mapping[str, Any] = {"sr": np.int64(16000)}
"""Inputs that are no data: the rate of samples."""

_DTYPES = {"float": "float32", "double": "float64"}
"""Where onnxruntime calls an element type otherwise than NumPy."""


def draw_inputs(name: str, session: Any) -> dict[str, Any]:
    """Normally distributed floats, integers 0 or 1."""
    random = np.random.default_rng(0)
    return {each.name: _draw(each, SHAPES.get(name, {}).get(each.name), random) for each in session.get_inputs()}


def cleared(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same inputs with zeros in the place of integers."""
    return {
        name: value if value.dtype.kind == "f" or name in VALUES else np.zeros_like(value)
        for name, value in inputs.items()
    }


def _draw(info: Any, asked: Sequence[int] | None, random: np.random.Generator) -> Any:
    if info.name in VALUES:
        return np.asarray(VALUES[info.name])
    shape = [size if isinstance(size, int) and size > 0 else UNKNOWN_SIZE for size in info.shape]
    kind = info.type.removeprefix("tensor(").removesuffix(")")
    dtype = np.dtype(_DTYPES.get(kind, kind))
    shape = shape if asked is None else asked
    values = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
    return np.asarray(values, dtype)


def open_session(path: Path) -> Any:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def distance(found: Any, wanted: Any) -> float | None:
    """The largest difference as a part of the largest value; None when something that must be equal is not."""
    a, b = np.asarray(found), np.asarray(wanted)
    if a.shape != b.shape or a.dtype != b.dtype:
        return None
    if b.dtype.kind != "f":
        return 0.0 if bool((a == b).all()) else None
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True) or not np.isfinite(x[finite]).all():
        return None
    largest = np.abs(y[finite]).max(initial=0.0)
    error = np.abs(x[finite] - y[finite]).max(initial=0.0)
    return float(error / largest) if largest else float(error)


def _rounded_anew(value: Any, random: np.random.Generator) -> Any:
    """Floats that are each moved by a rounding or less."""
    epsilon = float(np.finfo(value.dtype).eps)
    return np.asarray(value * (1 + random.uniform(-1, 1, value.shape) * epsilon), value.dtype)


def sensitivity(original: Path, inputs: Mapping[str, Any], names: Sequence[str], wanted: Sequence[Any]) -> float:
    """How far a model is from itself when each float of its inputs moves by a rounding or less: the most of three."""
    session = open_session(original)
    found = 0.0
    for seed in range(3):
        random = np.random.default_rng(seed)
        moved = {
            name: _rounded_anew(value, random) if value.dtype.kind == "f" else value for name, value in inputs.items()
        }
        distances = [distance(a, b) for a, b in zip(session.run(names, moved), wanted, strict=True)]
        found = max(found, *(each for each in distances if each is not None), 0.0)
    return found


def compare(original: Path, optimised: Sequence[Path]) -> dict[str, Any]:
    """The distance of each optimised model from the original."""
    session = open_session(original)
    first = draw_inputs(original.stem, session)
    has_integers = any(value.dtype.kind != "f" and name not in VALUES for name, value in first.items())
    draws = [first, cleared(first)] if has_integers else [first]
    names = [each.name for each in session.get_outputs()]
    wanted = [session.run(names, inputs) for inputs in draws]
    half = any(np.asarray(value).dtype == np.float16 for value in wanted[0])
    limit = MAX_RELATIVE_FLOAT16 if half else MAX_RELATIVE
    del session
    found: dict[str, Any] = {}
    own: float | None = None
    for path in optimised:
        try:
            far = _farthest(open_session(path), names, draws, wanted)
            found[str(path)] = {"distance": far, "limit": limit}
            if far is not None and far > limit:
                if own is None:
                    pairs = zip(draws, wanted, strict=True)
                    own = max(sensitivity(original, inputs, names, values) for inputs, values in pairs)
                found[str(path)]["own"] = own
        except Exception as error:
            found[str(path)] = {"error": str(error)}
    return found


def _farthest(
    session: Any, names: Sequence[str], draws: Sequence[Mapping[str, Any]], wanted: Sequence[Sequence[Any]]
) -> float | None:
    """The largest distance of an output on any of the inputs; None when something that must be equal is not."""
    found = 0.0
    for inputs, values in zip(draws, wanted, strict=True):
        for distance_of_one in map(distance, session.run(names, inputs), values):
            if distance_of_one is None:
                return None
            found = max(found, distance_of_one)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", type=Path)
    parser.add_argument("optimised", type=Path, nargs="*")
    arguments = parser.parse_args()
    print(json.dumps(compare(arguments.original, arguments.optimised)))


if __name__ == "__main__":
    main()
