"""Fusion rules in text: what is replaced by what, without Python.

| module | what |
|---|---|
| `grammar.lark`, `parser` | text to :mod:`syntax`, with line and column in every error |
| `functions` | the functions that conditions and arithmetic may call |
| `checker` | names, operators, attributes and kinds; alternatives become variants |
| `compiler` | a variant to a Python function, dispatched like the patterns written in Python |
| `runtime`, `result_types` | what compiled rules call |
| `instances`, `proof` | models made from a rule's own pattern, and whether the rule keeps their numbers |

docs/rules.md is the language.
"""

from __future__ import annotations

from ge.rules.compiler import CompiledRule, compile_file, load_rules

__all__ = ["CompiledRule", "compile_file", "load_rules"]
