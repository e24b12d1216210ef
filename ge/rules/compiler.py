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
from collections.abc import Callable, Sequence
from functools import cache, cached_property
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
from ge.rules.pattern import Variant
from ge.rules.samples import DRAWS
from ge.rules.syntax import RuleText
from ge.rules.writer import Writer


class CompiledRule:
    """A variant of a rule. It is compiled when it is first needed: most models lack the operators of most rules."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.name = variant.rule.name
        types = frozenset(OP_CLASSES.get((node.domain, node.op_type), Custom) for node in variant.nodes)
        root = OP_CLASSES.get((variant.root.domain, variant.root.op_type), Custom)
        self.rewrite: RewriteRule[Any] = RewriteRule(
            (root,), self._apply, self.name, explain=self._explain, needs=(types,), compile=lambda: self.function
        )
        """The rule as the rewrite driver takes it."""

    @cached_property
    def _written(self) -> tuple[str, dict[str, Any]]:
        writer = Writer(self.variant, self.function_name)
        return writer.function(), {**NAMESPACE, **writer.constants}

    @property
    def function_name(self) -> str:
        """The name of the function that the rule becomes."""
        return f"rule_{self.name.replace('-', '_')}"

    @property
    def source(self) -> str:
        """The function that the rule becomes."""
        return self._written[0]

    @property
    def namespace(self) -> dict[str, Any]:
        """What the function may name."""
        return self._written[1]

    @cached_property
    def function(self) -> Callable[[Any], bool]:
        """The rule as a function of an operation of its root's type: whether it was applied."""
        exec(compile(self.source, f"<rule {self.name}>", "exec"), self.namespace)
        return self.namespace[self.function_name]

    def _apply(self, op: Any) -> bool:
        return self.function(op)

    def _explain(self, op: Any) -> str | None:
        return explain(self.variant, self.namespace, op)


def read_rules(path: str | Path) -> str:
    """The text of a rule file. Raises GE1001."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise GeError("GE1001", f"cannot read '{path}': {reason}", str(path)) from error


def load_rules(path: str | Path) -> list[CompiledRule]:
    """The rules of a file, compiled. Raises GE1001, GE3020 or GE3021."""
    return list(compile_file(read_rules(path), str(path)))


@cache
def compile_file(text: str, file: str) -> tuple[CompiledRule, ...]:
    """The rules of a text, compiled; ``file`` is its name in errors. Raises GE3020 or GE3021."""
    return compile_rules(text, file)


def compile_rules(text: str, file: str) -> tuple[CompiledRule, ...]:
    """The same, anew with every call."""
    from ge.rules.parser import parse_rules  # loads lark, which many models need not

    return compile_read(parse_rules(text, file))


def compile_read(rules: Sequence[RuleText]) -> tuple[CompiledRule, ...]:
    """Rules that have been read, compiled. Raises GE3021."""
    return tuple(map(CompiledRule, check_rules(rules)))


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
