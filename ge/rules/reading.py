"""Rule files as they were read before: what Python does for its modules, in the same place.

Reading a text takes lark, its grammar, and most of the time that rules cost when a command starts. So what was read of
a file of this project is kept in ``__pycache__`` beside it, as the compiled form of a Python module is: with the same
switches (``PYTHONDONTWRITEBYTECODE``, ``PYTHONPYCACHEPREFIX``), and made anew when the file, or what reads it, is
another one. Where nothing is kept, every process reads the rules that it needs.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any
from zlib import crc32

from ge.rules.syntax import RuleText

_READERS = tuple(
    Path(__file__).with_name(name) for name in ("grammar.lark", "parser.py", "syntax.py", Path(__file__).name)
)
"""The files on which it depends what is read of a text."""


def kept_rule(file: str, name: str) -> RuleText | None:
    """A rule of a file as it was read before, or is read now to be kept; None when it is not. Raises GE3020."""
    kept = _kept_rules(file).get(name)
    return None if kept is None else pickle.loads(kept)


@cache
def _kept_rules(file: str) -> Mapping[str, bytes]:
    """The rules of a file by name, pickled; none when they are not kept and will not be."""
    if not _may_be_kept(Path(cache_from_source(file))):
        return {}
    names: dict[str, Any] = {}
    code = _Loader(Path(file).stem, file).get_code(Path(file).stem)
    assert code is not None, "a loader of source has code"
    exec(code, names)
    return names["RULES"]


def _may_be_kept(kept: Path) -> bool:
    """Whether something is kept, or Python would write it."""
    folder = next(each for each in kept.parents if each.is_dir())
    return kept.is_file() or (not sys.dont_write_bytecode and os.access(folder, os.W_OK))


class _Loader(SourceFileLoader):
    """Python's loader of modules, which keeps what it compiles, for rule files."""

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """The size, and for the time that Python compares a digest of where the file is, and of all that matters."""
        found = [os.stat(each) for each in (path, *_READERS)]
        digest = crc32(repr((path, [(each.st_mtime_ns, each.st_size) for each in found])).encode())
        return {"mtime": digest, "size": found[0].st_size}

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        """A module with the rules of a text, each for itself."""
        from ge.rules.parser import parse_rules  # loads lark

        rules = {rule.name: pickle.dumps(rule) for rule in parse_rules(bytes(data).decode(), path)}
        return compile(f"RULES = {rules!r}", path, "exec")
