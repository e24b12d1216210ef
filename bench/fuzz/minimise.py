"""Making a failing case small: fewer mutations, then fewer parts of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.fuzz.target import Target

MAX_TRIES = 150


def minimise(target: Target, seed: int, number: int, fails: Callable[[bytes], bool]) -> bytes:
    """A smaller file that still `fails` like the case does."""
    tries = iter(range(MAX_TRIES))
    case = target.case(seed, number)
    steps = set(range(case.steps))
    data = case.data
    for step in range(case.steps):
        candidate = target.case(seed, number, steps - {step}).data
        if _spend(tries) and fails(candidate):
            steps.discard(step)
            data = candidate
    progress = True
    while progress:
        progress = False
        for candidate in target.without_parts(data):
            if not _spend(tries):
                return data
            if fails(candidate):
                data, progress = candidate, True
                break
    return data


def _spend(tries: Iterator[int]) -> bool:
    return next(tries, None) is not None
