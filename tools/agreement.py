"""How close the outputs of two runs of a model are, and whether that is close enough.

Whole models that compute in float16 agree with a float32 reference when the cosine is at least 0.9999, the largest
difference is at most 0.4 % of the largest value, and the same class is on top. Models in float32 must agree to
1e-5 of the largest value plus 1e-5 of each value. Integers and booleans must be equal. :class:`Tolerance` replaces the
rule for floats: every difference is then at most ``atol`` plus ``rtol`` of the value, as :func:`numpy.allclose` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

MIN_COSINE = 0.9999
MAX_RELATIVE = 4e-3
"""Of float16 models: largest difference as a part of the largest value of the reference."""
FLOAT32_TOLERANCE = 1e-5


WORST = 10
"""How many elements are listed of an output that differs."""


@dataclass(frozen=True)
class Tolerance:
    """A rule for each element, asked for by the user."""

    rtol: float
    atol: float = 0.0


@dataclass(frozen=True)
class Worst:
    """An element that is far from the reference."""

    index: tuple[int, ...]
    value: float
    expected: float

    def __str__(self) -> str:
        where = ", ".join(map(str, self.index))
        return f"[{where}] is {self.value:.7g}, the reference has {self.expected:.7g}"


@dataclass(frozen=True)
class Agreement:
    """One output compared with the reference."""

    name: str
    passed: bool
    max_error: float = 0.0
    max_reference: float = 0.0
    cosine: float = 1.0
    same_top1: bool | None = None
    """Whether the largest element of each row is the same; None for outputs that are not rows of classes."""
    max_ulp: int | None = None
    """Largest difference in steps of float16; None for integers."""
    relative_l2: float = 0.0
    """The length of the difference as a part of the length of the reference."""
    worst: tuple[Worst, ...] = ()
    """The elements that are furthest from the reference, when the output differs; at most 10."""
    problem: str = ""
    """What cannot be compared: another shape, a missing output."""

    @property
    def relative(self) -> float:
        """Largest difference as a part of the largest value of the reference."""
        return self.max_error / self.max_reference if self.max_reference else self.max_error

    def __str__(self) -> str:
        verdict = "agrees" if self.passed else "DIFFERS"
        if self.problem:
            return f"{self.name}: {verdict}: {self.problem}"
        error = f"max error {self.max_error:.3g} ({self.relative:.2%} of the largest value)"
        parts = [f"cosine {self.cosine:.7f}", error]
        if self.max_ulp is not None:
            parts.append(f"max {self.max_ulp} ULP of float16")
        if self.same_top1 is not None:
            parts.append(f"top-1 {'same' if self.same_top1 else 'other'}")
        return f"{self.name}: {verdict}: {', '.join(parts)}"


def compare(
    outputs: Mapping[str, Any], reference: Mapping[str, Any], *, half: bool, tolerance: Tolerance | None = None
) -> list[Agreement]:
    """Compare outputs by name; those of other names by position. ``half``: the model computes in float16."""
    judge = Judge(half, tolerance)
    if set(outputs) != set(reference) and len(outputs) == len(reference):
        outputs = dict(zip(reference, outputs.values(), strict=True))
    return [
        judge.compare(name, outputs[name], expected)
        if name in outputs
        else Agreement(name, False, problem="the output is missing")
        for name, expected in reference.items()
    ]


@dataclass(frozen=True)
class Judge:
    """What decides whether a value agrees with that of the reference."""

    half: bool
    """Whether it was computed in float16."""
    tolerance: Tolerance | None = None
    top1: bool = True
    """Whether the largest element of each row must be the same; for values inside a model it need not."""

    def compare(self, name: str, value: Any, expected: Any) -> Agreement:
        """Compare one value, of whatever kind."""
        if isinstance(expected, list):
            return self._compare_lists(name, cast("list[Any]", value), cast("list[Any]", expected))
        found, wanted = np.asarray(value), np.asarray(expected)
        if found.shape != wanted.shape:
            what = f"shape {list(found.shape)}, but the reference has {list(wanted.shape)}"
            return Agreement(name, False, problem=what)
        if wanted.dtype.kind not in "fcV":  # V: bfloat16 and smaller
            equal = bool(np.array_equal(found, wanted))
            return Agreement(name, equal, problem="equal" if equal else "not equal")
        return self._compare_floats(name, found.astype(np.float64), wanted.astype(np.float64))

    def _compare_lists(self, name: str, value: list[Any], expected: list[Any]) -> Agreement:
        """The first element that differs, or agreement."""
        if len(value) != len(expected):
            return Agreement(name, False, problem=f"{len(value)} elements, but the reference has {len(expected)}")
        pairs = enumerate(zip(value, expected, strict=True))
        parts = [self.compare(f"{name}[{number}]", *each) for number, each in pairs]
        return next((part for part in parts if not part.passed), Agreement(name, True, problem="a sequence"))

    def _compare_floats(self, name: str, found: Floats, wanted: Floats) -> Agreement:
        finite = np.isfinite(wanted)
        if not np.array_equal(np.isfinite(found), finite):
            return Agreement(name, False, worst=_worst(found, wanted), problem="not the same elements are finite")
        a, b = found[finite], wanted[finite]
        error, size = np.abs(a - b), np.abs(b)
        max_error, largest = float(error.max(initial=0.0)), float(size.max(initial=0.0))
        cosine, top1 = _cosine(a, b), _same_top1(found, wanted) if self.top1 else None
        if self.tolerance is not None:
            passed = bool((error <= self.tolerance.atol + self.tolerance.rtol * size).all())
        elif self.half:
            passed = cosine >= MIN_COSINE and max_error <= MAX_RELATIVE * largest and top1 is not False
        else:
            passed = bool((error <= FLOAT32_TOLERANCE * (largest + size)).all())
        norm = float(np.linalg.norm(b))
        l2 = float(np.linalg.norm(a - b)) / norm if norm else max_error
        worst = () if passed else _worst(found, wanted)
        return Agreement(name, passed, max_error, largest, cosine, top1, _max_ulp(a, b), l2, worst)


def _worst(found: Floats, wanted: Floats) -> tuple[Worst, ...]:
    """The elements with the largest differences that are not zero; those that are finite in one of both come first."""
    with np.errstate(invalid="ignore"):
        error = np.abs(found - wanted)
    error[np.isfinite(found) != np.isfinite(wanted)] = np.inf
    error[np.isnan(error)] = 0
    flat = error.ravel()
    order = np.argsort(-flat, kind="stable")[:WORST]
    places: list[tuple[int, ...]] = [
        tuple(int(each) for each in np.asarray(np.unravel_index(index, error.shape), np.int64))
        for index in order
        if flat[index]
    ]
    return tuple(Worst(place, float(found[place]), float(wanted[place])) for place in places)


def _same_top1(found: Floats, wanted: Floats) -> bool | None:
    """Whether the largest element of each row is the same; None when the shape is not rows of classes."""
    if wanted.ndim != 2 or wanted.shape[1] < 2:
        return None
    return bool(np.array_equal(found.argmax(1), wanted.argmax(1)))


def _cosine(a: Floats, b: Floats) -> float:
    """The cosine of the angle between two vectors; 1 when both are zero."""
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    if norm == 0.0:
        return 1.0 if not a.any() and not b.any() else 0.0
    return float(np.dot(a, b) / norm)


def _max_ulp(a: Floats, b: Floats) -> int:
    """The largest number of float16 numbers between two elements."""
    if not a.size:
        return 0
    with np.errstate(over="ignore"):
        bits = [each.astype(np.float16).view(np.int16).astype(np.int32) for each in (a, b)]
    ordered = [np.where(each < 0, -(each & 0x7FFF), each) for each in bits]
    return int(np.abs(ordered[0] - ordered[1]).max())
