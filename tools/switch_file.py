"""The file that switches single passes and rules off, in the form of ATC.

::

    {"Switch": {"GraphFusion": {"ALL": "on", "swish": "off", "eliminate-identity.transpose": "off"},
                "UBFusion": {"ALL": "off", "fuse-conv-bn-relu": "on"}}}

A name is that of a pass, of a rule in a .gerules file, or of a rule in Python as ``pass.rule``; it may stand in either
section. ``ALL`` is about every pass of its section that has no switch of its own: those that join operations of the
device in one kernel in ``UBFusion``, all others in ``GraphFusion``. Passes that nothing compiles without stay on.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, cast

from ge.ir.errors import GeError
from ge.ir.registry import Registry
from ge.ir.rewrite_log import Switches
from ge.passes.pipelines import buffer_fusions, graph_fusions
from ge.tools.compilation import NEEDED
from ge.tools.rule_names import rule_names

ROOT, EVERYTHING = "Switch", "ALL"
SECTIONS = {"GraphFusion": graph_fusions, "UBFusion": buffer_fusions}
STATES = {"on": True, "off": False}

logger = logging.getLogger("ge.fusion")


def read_switch_file(path: str, registry: Registry, rule_files: Sequence[str] = ()) -> Switches:
    """What a switch file switches; ``rule_files`` have rules besides those of the passes. Raises GE1001 or GE2030."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GeError("GE1001", f"cannot read '{path}': {error}", path) from error
    known = {*registry.passes, *rule_names(registry, rule_files)}
    return _Reader(path, text).switches(known)


@dataclass(frozen=True)
class _Reader:
    """Reads one text; every error has its place in it."""

    path: str
    text: str

    def switches(self, known: set[str]) -> Switches:
        states: dict[str, bool] = {}
        defaults: dict[str, bool] = {}
        root = self._table(self._parse(), ())
        self._only_keys(root, (), [ROOT])
        sections = self._table(root.get(ROOT, {}), (ROOT,))
        self._only_keys(sections, (ROOT,), SECTIONS)
        for section, entries in sections.items():
            where = (ROOT, section)
            for name, value in self._table(entries, where).items():
                state = self._state(value, (*where, name))
                if name == EVERYTHING:
                    defaults |= dict.fromkeys(SECTIONS[section](), state)
                elif name not in known:
                    self._unknown((*where, name), f"there is no pass or rule '{name}'", known)
                elif name in NEEDED and not state:
                    logger.warning("pass '%s' stays on: nothing compiles without it", name)
                else:
                    states[name] = state
        return Switches(states, defaults)

    def _parse(self) -> Any:
        try:
            value = json.loads(self.text)
        except json.JSONDecodeError as error:
            place = f"{self.path}:{error.lineno}:{error.colno}"
            raise GeError("GE2030", f"this is not JSON: {error.msg}", place) from error
        seen: set[tuple[str, ...]] = set()
        for path, start in _keys(self.text):
            if path in seen:
                self._fail(start, f"'{path[-1]}' is there twice")
            seen.add(path)
        return value

    def _table(self, value: Any, path: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            name = f"'{path[-1]}'" if path else "the file"
            self._fail(self._position(path), f"{name} is {_kind(value)}, not an object {{...}}")
        return cast("dict[str, Any]", value)

    def _only_keys(self, table: Mapping[str, Any], path: tuple[str, ...], allowed: Collection[str]) -> None:
        for name in table:
            if name not in allowed:
                self._unknown((*path, name), f"'{name}' means nothing here", allowed)

    def _state(self, value: Any, path: tuple[str, ...]) -> bool:
        if not isinstance(value, str) or value not in STATES:
            self._fail(self._position(path), f'\'{path[-1]}\' is {_kind(value)}, not "on" or "off"')
        return STATES[value]

    def _unknown(self, path: tuple[str, ...], what: str, known: Collection[str]) -> NoReturn:
        close = get_close_matches(path[-1], known, n=3)
        hint = f"; near it are {', '.join(map(repr, close))}" if close else ""
        self._fail(self._position(path), f"{what}{hint}")

    def _position(self, path: tuple[str, ...]) -> int:
        return next((start for each, start in _keys(self.text) if each == path), 0)

    def _fail(self, position: int, what: str) -> NoReturn:
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        raise GeError("GE2030", what, f"{self.path}:{line}:{column}")


def _kind(value: Any) -> str:
    """A JSON value as an error names it."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    return json.dumps(value)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
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
