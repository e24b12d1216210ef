"""Files of options in JSON: read strictly, with the line and column of what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path as File
from typing import Any, NoReturn, TypeAlias, cast

from ge.ir.errors import GeError

Path: TypeAlias = tuple[str, ...]
"""Where a value is: the keys from the outside."""


@dataclass(frozen=True)
class JsonFile:
    """The text of a file, and the code of the errors about it."""

    path: str
    text: str
    code: str

    @staticmethod
    def read(path: str, code: str) -> JsonFile:
        """Read a file. Raises GE1001."""
        try:
            return JsonFile(path, File(path).read_text(encoding="utf-8-sig"), code)
        except (OSError, UnicodeDecodeError) as error:
            raise GeError("GE1001", f"cannot read '{path}': {error}", path) from error

    def root(self) -> Mapping[str, Any]:
        """The object that the file holds. Raises the error of the file, also for a key that is there twice."""
        try:
            value = json.loads(self.text)
        except json.JSONDecodeError as error:
            place = f"{self.path}:{error.lineno}:{error.colno}"
            raise GeError(self.code, f"this is not JSON: {error.msg}", place) from error
        except RecursionError as error:
            raise GeError(self.code, "this is nested too deeply", self.path) from error
        seen: set[Path] = set()
        for path, start in _keys(self.text):
            if path in seen:
                self._fail(start, f"'{path[-1]}' is there twice")
            seen.add(path)
        return self.table(value, ())

    def table(self, value: Any, path: Path) -> Mapping[str, Any]:
        """A value that must be an object."""
        if not isinstance(value, dict):
            name = f"'{path[-1]}'" if path else "the file"
            self.fail(path, f"{name} is {kind(value)}, not an object {{...}}")
        return cast("dict[str, Any]", value)

    def only_keys(self, table: Mapping[str, Any], path: Path, allowed: Collection[str]) -> None:
        """Refuse other keys than these."""
        for name in table:
            if name not in allowed:
                self.unknown((*path, name), f"'{name}' means nothing here", allowed)

    def unknown(self, path: Path, what: str, known: Collection[str]) -> NoReturn:
        """Refuse a name that is not known, with those that are near it."""
        close = nearest(path[-1], known)
        hint = f"; near it are {', '.join(map(repr, close))}" if close else ""
        self.fail(path, f"{what}{hint}")

    def fail(self, path: Path, what: str) -> NoReturn:
        """Raise the error of this file about a value."""
        self._fail(next((start for each, start in _keys(self.text) if each == path), 0), what)

    def _fail(self, position: int, what: str) -> NoReturn:
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        raise GeError(self.code, what, f"{self.path}:{line}:{column}")


def nearest(name: str, known: Collection[str]) -> list[str]:
    """At most three names that are near one, however it is written: ``FoldConvBn`` is near ``fold-conv-bn``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower().removesuffix("-fusion-pass")
    spellings = {each.lower(): each for each in known}
    found = [*get_close_matches(name, known, n=3), *get_close_matches(words, spellings, n=3)]
    return list(dict.fromkeys(spellings.get(each, each) for each in found))[:3]


def kind(value: Any) -> str:
    """A JSON value as an error names it."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    return json.dumps(value)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')


def _keys(text: str) -> Iterator[tuple[Path, int]]:
    """Every key of a JSON text that is valid: its path from the outside, and where it starts."""
    path: list[str] = []
    tokens = list(_TOKEN.finditer(text))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        match token[0]:
            case "{":
                path.append("")
            case "}":
                path.pop()
            case string if string.startswith('"') and after is not None and after[0] == ":":
                path[-1] = json.loads(string)
                yield tuple(path), token.start()
            case _:
                pass
