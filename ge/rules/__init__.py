"""Fusion rules in text: what is replaced by what, without Python.

| module | what |
|---|---|
| `grammar.lark`, `parser` | text to :mod:`syntax`, with line and column in every error |
| `functions`, `samples` | the functions that conditions and arithmetic, and samples, may call |
| `checker`, `replacement_checker`, `operators` | names, operators, attributes and kinds; alternatives become variants |
| `pattern` | a pattern as a graph |
| `outline` | which operators a rule needs, so that those of no use to a model are not even read |
| `reading` | what was read is kept as Python keeps compiled modules |
| `compiler`, `pattern_writer`, `writer`, `expressions` | a variant to a Python function, dispatched as Python's |
| `runtime`, `build`, `result_types` | what compiled rules call |
| `instances`, `draws`, `element_types`, `proof` | models made from a pattern: does the rule keep their numbers? |

docs/rules.md is the language.
"""

from __future__ import annotations

from ge.rules.compiler import CompiledRule, compile_file, load_rules
from ge.rules.outline import Outline, outlines

__all__ = ["CompiledRule", "Outline", "compile_file", "load_rules", "outlines"]
