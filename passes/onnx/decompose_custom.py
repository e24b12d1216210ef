"""The pass `decompose-custom`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge.dialects.onnx import OP_CLASSES, UNKNOWN, Custom, RefAttr
from ge.dialects.onnx.attributes import to_attribute, to_python
from ge.dialects.onnx.protos import plain_attributes
from ge.dialects.onnx.registered import CustomOperator
from ge.ir.locations import where
from ge.ir.rewriting import RewriteRule, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.rules import load_rules
from ge.rules.build import Build


@dataclass(frozen=True)
class DecomposeCustomPass(RulePass):
    """Replace operators that a plug-in registers by operators of the standard, where the plug-in says how.

    1. The plug-in gives a Python function: it builds the operators.
    2. The plug-in gives a file of fusion rules: the first of them that applies replaces the operator. Attributes that
       the model does not give have their default in the rules.

    Left alone: operators that no plug-in defines, or without a decomposition; those for which the function returns
    None or no rule applies, and those whose results would get another type. They run on the host. Operators in
    functions of the model, where types and some attributes are not known, wait until these are inlined.
    """

    name = "decompose-custom"

    def rules(self) -> Iterable[RewriteRule[Any]]:
        return [decompose]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with np.errstate(all="ignore"):
            super().apply(ctx, op)


@rewrite_rule(Custom)
def decompose(op: Custom) -> bool:
    """Replace one operator."""
    definition = op.definition
    if definition is None or definition.decomposition is None:
        return False
    if UNKNOWN in op.operand_types or any(isinstance(each, RefAttr) for each in op.attributes.values()):
        return False
    if isinstance(definition.decomposition, Path):
        return _by_rules(op, definition, definition.decomposition)
    return _by_function(op, definition, definition.decomposition)


def _by_rules(op: Custom, definition: CustomOperator, file: Path) -> bool:
    """Apply the first rule that fits to an operator with all of its attributes."""
    given = dict(op.attributes)
    for name, value in definition.defaults.items():
        op.attributes.setdefault(name, to_attribute(definition.operator.attributes[name].kind, value))
    for rule in load_rules(file):
        if Custom in rule.rewrite.op_types and rule.rewrite(op):
            return True
    op.attributes = given
    return False


class Operators:
    """What a decomposition builds with: ``ops.Mul(x, 2.0)`` is a new operation of the standard.

    Inputs are values, numbers and arrays (which become constants of the type that the operator asks for), and None
    where absent; attributes are keywords. ``outputs=2`` gives a list of two results, otherwise the first is returned.
    """

    def __init__(self, build: Build) -> None:
        self._build = build

    def __getattr__(self, op_type: str) -> Callable[..., Any]:
        if ("", op_type) not in OP_CLASSES:
            raise AttributeError(f"ONNX has no operator '{op_type}'")
        return partial(self._add, op_type)

    def _add(self, op_type: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        cls = OP_CLASSES["", op_type]
        unknown = next((name for name in attributes if name not in cls.OPERATOR.attributes), None)
        if unknown is not None:
            raise TypeError(f"{op_type} has no attribute '{unknown}'")
        results = list(self._build.op(cls, inputs, attributes, outputs))
        return results[0] if outputs == 1 else results


def _by_function(op: Custom, definition: CustomOperator, function: Callable[..., Any]) -> bool:
    """Replace an operator by what a function builds. Raises GE3017 when it fails."""
    build = Build(definition.name, [op])
    given = {name: to_python(each) for name, each in plain_attributes(op.attributes).items()}
    inputs: list[SSAValue | None] = op.input_list()
    parameters = definition.operator.inputs
    if not (parameters and parameters[-1].variadic):
        inputs += [None] * (len(parameters) - len(inputs))
    try:
        found = function(Operators(build), *inputs, **{**definition.defaults, **given})
        results = list(cast("Sequence[Any]", found)) if isinstance(found, list | tuple) else [found]
    except Exception as error:
        build.undo()
        problem = f"its decomposition raised {type(error).__name__}: {error} (for {where(op)})"
        raise definition.error("GE3017", problem) from error
    if found is None:
        return build.undo()
    if len(results) != len(op.results) or any(each is None for each in results):
        build.undo()
        raise definition.error("GE3017", f"its decomposition gives {len(results)} results for {len(op.results)}")
    return build.finish(results)
