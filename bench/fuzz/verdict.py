"""What an exception says about the code that raised it: a clear message, or a fault of ours."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

from bench.fuzz.memory import TooMuchMemory
from ge.ir.errors import GeError

REPOSITORY = Path(__file__).resolve().parents[2]

PASSED = "passed"
REFUSED = "refused"
"""Ended in a clear message."""
STOPPED = "stopped"
"""Ran longer than its budget where only the work that the file asks for takes the time."""
TRACEBACK = "traceback"
INTERNAL = "internal"
"""A GeError that hides a fault: its cause is an exception that only a programming error raises."""
UNCLEAR = "unclear"
"""A message that is empty, of several lines, or too long to read."""
HANG = "hang"
MEMORY = "memory"
CRASH = "crash"
MISMATCH = "mismatch"
"""The case was accepted, and does not read back as it was written."""

FAILURES = frozenset({TRACEBACK, INTERNAL, UNCLEAR, HANG, MEMORY, CRASH, MISMATCH})

_FAULTS = (
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ZeroDivisionError,
)
"""Exceptions that nothing should raise on purpose about a user's file."""

_MEANT = frozenset({"GE6006", "GE6020"})
"""Codes that report whatever an operator or instruction raised when it was run on values."""

_OUT_OF_MEMORY = frozenset({"GE6006", "GE6009"})
"""Codes that say so when there is not enough memory for what a file asks."""

_MAX_LENGTH = 1500


class Mismatch(Exception):
    """What was read back differs from what was written."""


class OverBudget(BaseException):
    """The CPU time of a case is used up. No `except Exception` catches it."""


def judge(error: BaseException) -> str:
    """The verdict on a case that ended in an exception."""
    chain = list(_causes(error))
    if isinstance(error, OverBudget):
        return HANG
    if isinstance(error, Mismatch):
        return MISMATCH
    if isinstance(error, TooMuchMemory):
        return MEMORY
    if any(isinstance(each, MemoryError) for each in chain) and getattr(error, "code", "") not in _OUT_OF_MEMORY:
        return MEMORY
    if not isinstance(error, GeError):
        return TRACEBACK
    if "internal error" in error.what:
        return INTERNAL
    if error.code not in _MEANT and any(_is_fault(cause) for cause in chain[1:]):
        return INTERNAL
    message = f"{error.what} {error.where or ''}"
    if not error.what.strip() or not message.isprintable() or len(message) > _MAX_LENGTH:
        return UNCLEAR
    return REFUSED


def _is_fault(error: BaseException) -> bool:
    """Whether only a programming error of ours raises this.

    A RuntimeError is a message where C++ code raises it, NotImplementedError where xDSL does.
    """
    if isinstance(error, RecursionError) or type(error) is RuntimeError:
        return False
    if isinstance(error, NotImplementedError) and str(error):
        return False
    return isinstance(error, _FAULTS)


def signature(error: BaseException) -> str:
    """What failures of one kind have in common: the root exception, and the last line of ours that it went through."""
    root = list(_causes(error))[-1]
    frames = traceback.extract_tb(root.__traceback__) or traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if str(REPOSITORY) in str(Path(frame.filename).resolve())]
    ours = [frame for frame in ours if "bench/fuzz" not in frame.filename] or ours
    place = "?"
    if ours:
        name = Path(ours[-1].filename).resolve().relative_to(REPOSITORY)
        place = f"{name}:{ours[-1].lineno} {ours[-1].name}"
    return f"{type(root).__name__} {place}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, and what it was raised from."""
    each: BaseException | None = error
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__
