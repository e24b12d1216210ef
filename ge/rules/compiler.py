"""From a checked rule to a Python function, and to a rule for :func:`ge.ir.rewriting.apply_rules`.

Every variant of a rule becomes one function of its root operation, written as a person would write it: guards first,
each as soon as what it asks for is known, then the replacement. For

    rule swish
    match
        y = Mul(x, Sigmoid(x))
    rewrite
        y = Swish(x)

the function is (:attr:`CompiledRule.source` shows it)

    def swish(o1):
        p1, p2 = o1.operands
        for v_x, t1 in ((p1, p2), (p2, p1)):
            o0 = t1.owner
            if type(o0) is not Sigmoid:
                continue
            if not t1.has_one_use():
                continue
            (t2,) = o0.operands
            if t2 is not v_x:
                continue
            build = Build('swish', (o0, o1))
            try:
                n1 = build.op(Swish, (v_x,), {}, 1)
                return build.finish((n1[0],))
            except NOT_COMPUTABLE:
                return build.undo()
        return False
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from typing import Any

from ge.dialects.onnx import OP_CLASSES, Constant, Custom
from ge.ir.errors import GeError
from ge.ir.rewriting import RewriteRule
from ge.rules import functions, runtime
from ge.rules.build import Build
from ge.rules.checker import check_rules
from ge.rules.explain import explain
from ge.rules.functions import FUNCTIONS
from ge.rules.parser import parse_rules
from ge.rules.pattern import Variant
from ge.rules.samples import DRAWS
from ge.rules.writer import Writer


@dataclass(frozen=True)
class CompiledRule:
    """A variant of a rule, ready to be applied."""

    name: str
    variant: Variant
    source: str
    """The function that it was compiled to."""
    rewrite: RewriteRule[Any]


def load_rules(path: str | Path) -> list[CompiledRule]:
    """The rules of a file, compiled. Raises GE1001, GE3020 or GE3021."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise GeError("GE1001", f"cannot read '{path}': {reason}", str(path)) from error
    return list(compile_file(text, str(path)))


@cache
def compile_file(text: str, file: str) -> tuple[CompiledRule, ...]:
    """The rules of a text, compiled; ``file`` is its name in errors. Raises GE3020 or GE3021."""
    return tuple(map(compile_variant, check_rules(parse_rules(text, file))))


def compile_variant(variant: Variant) -> CompiledRule:
    """Compile one variant."""
    name = variant.rule.name
    function_name = f"rule_{name.replace('-', '_')}"
    writer = Writer(variant, function_name)
    text = writer.function()
    namespace = {**NAMESPACE, **writer.constants}
    exec(compile(text, f"<rule {name}>", "exec"), namespace)
    function: Callable[[Any], bool] = namespace[function_name]
    function.__name__ = name
    root = OP_CLASSES.get((variant.root.domain, variant.root.op_type), Custom)
    rewrite = RewriteRule((root,), function, name, explain=partial(explain, variant, namespace))
    return CompiledRule(name, variant, text, rewrite)


NAMESPACE: dict[str, Any] = {
    **{f"fn_{name}": each.call for name, each in FUNCTIONS.items()},
    **{f"draw_{name}": each.call for name, each in DRAWS.items()},
    **{name: getattr(functions, name) for name in ("equal", "listed", "member", "same", "shape_part", "unequal")},
    **{
        name: getattr(runtime, name)
        for name in (
            *("NOT_COMPUTABLE", "at_defaults", "attribute", "data", "has_absent", "has_only", "is_custom"),
            *("is_number", "only_results", "padded", "precision", "truth", "used"),
        )
    },
    "Build": Build,
    "Constant": Constant,
    "Custom": Custom,
    "inf": math.inf,
    "permutations": permutations,
}
"""What compiled rules may name."""
