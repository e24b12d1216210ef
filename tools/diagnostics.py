"""``--verify-diagnostics``: comparing the errors of a file with what its comments expect.

A comment ``// expected-error @+1 {{text}}`` expects an error whose message contains ``text``, on the line so many lines
away (``@-1``, ``@+2``; without ``@`` the line of the comment itself).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ge.ir.errors import GeError

_COMMENT = re.compile(r"//\s*expected-error\s*(?:@\s*([+-]\d+)\s*)?\{\{(.*?)\}\}")
_LINE = re.compile(r".*?:(\d+):\d+", re.DOTALL)


@dataclass(frozen=True)
class Expected:
    """An error that a comment expects: in this line (from 1), with this text in its message."""

    line: int
    text: str


def expected_errors(text: str) -> list[Expected]:
    """The errors that the comments of a text expect."""
    found: list[Expected] = []
    for number, line in enumerate(text.splitlines(), start=1):
        found += [Expected(number + int(match[1] or 0), match[2]) for match in _COMMENT.finditer(line)]
    return found


def check_errors(expected: list[Expected], raised: GeError | None, name: str) -> None:
    """Check that exactly the expected errors were raised (at most one is). Raises GE3013 otherwise."""
    problems: list[str] = []
    matching = [entry for entry in expected if raised is not None and _matches(entry, raised)]
    if raised is not None and not matching:
        problems.append(f"unexpected error: {raised.what} (at {raised.where})")
    problems += [
        f"expected error '{entry.text}' at {name}:{entry.line} was not produced"
        for entry in expected
        if entry not in matching
    ]
    if problems:
        raise GeError("GE3013", "; ".join(problems), name)


def _matches(expected: Expected, raised: GeError) -> bool:
    line = _LINE.match(raised.where or "")
    return expected.text in raised.what and (line is None or int(line[1]) == expected.line)
