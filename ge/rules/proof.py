"""Whether a rule keeps the numbers: models made from its pattern, run before and after it.

Three results are compared: that of the model before the rule, that after it, and the *exact* one, of the model before
in float64. The rule is right when the result after it is as near to the exact one as rounding allows, also the rounding
of what is computed on the way, or not much further away than the one before. Integers must stay equal.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import Constant, Custom, OnnxOp, op_class, ranked
from ge.dialects.onnx.attributes import literal_of
from ge.dialects.onnx.meaning import run_module, run_op
from ge.ir.errors import GeError
from ge.ir.rewrite_log import observe
from ge.maths.hostile import KINDS, SPECIAL, largest_finite
from ge.rules.compiler import CompiledRule
from ge.rules.instances import Instance, Maker, blurred

Array: TypeAlias = NDArray[Any]
Outputs: TypeAlias = Mapping[str, Any]

ELEMENT_TYPES = ("f32", "f16", "f64", "i32", "i64", "ui8")
"""What every rule is tried with, as far as its operators allow."""

OTHER_TYPES = ("i8", "i16", "ui16", "ui32", "ui64")
"""What a rule is tried with that is about none of those."""

ENDLESS = 30
"""A rule that applies so many times in a row to a model made from its pattern would apply for ever."""

ATTEMPTS = 60
"""How many instances are made at most for each one that is wanted, until the conditions of the rule hold."""

TOLERANCE = {np.dtype(np.float16): 1e-3, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-5}
"""Allowed difference, as a part of the largest value plus as a part of each value: that of this project everywhere."""

ROUNDING = {np.dtype(np.float16): 2.0**-11, np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
"""The largest relative error of one operation."""

ROUNDINGS = 4.0
"""How many roundings of the largest value on the way may show: in a difference of nearly equal numbers they do."""

SLACK = 2.0
"""How much further from the exact result than before the result may be where rounding before was worse than allowed."""


@dataclass(frozen=True)
class Counterexample:
    """Where a rule changes numbers."""

    instance: Instance
    kind: str
    """The kind of the inputs."""
    inputs: Mapping[str, Array]
    before: Array | None = None
    after: Array | None = None
    position: tuple[int, ...] = ()
    """Where they differ first."""
    problem: str = ""
    """Why they cannot be compared: another shape, or an operation that fails."""


@dataclass
class Verdict:
    """What is known of a rule after trying it."""

    rule: str
    place: str
    instances: int = 0
    element_types: set[str] = field(default_factory=set[str])
    worst: float = 0.0
    """The largest difference from the exact result, as a part of the largest value, where it is larger than before."""
    untried: int = 0
    """How many variants no instance was found for."""
    refused: str = ""
    """Why the replacement could not be made where the conditions hold, when a variant was not tried."""
    is_endless: bool = False
    """Whether the rule goes on applying to what it made itself."""
    undefined: set[str] = field(default_factory=set[str])
    """Operators of other domains in the pattern that no plug-in defines."""
    counterexample: Counterexample | None = None

    @property
    def holds(self) -> bool:
        """Whether every variant was tried, none changed numbers, and all come to an end."""
        return self.counterexample is None and not self.untried and not self.is_endless


def prove(rules: Iterable[CompiledRule], *, instances: int = 24, seed: int = 0) -> list[Verdict]:
    """Try every rule on about so many instances, dealt to its variants (at least two for each)."""
    by_name: dict[str, list[CompiledRule]] = {}
    for rule in rules:
        by_name.setdefault(rule.name, []).append(rule)
    verdicts: list[Verdict] = []
    for name, variants in by_name.items():
        verdict = Verdict(name, str(variants[0].variant.rule.at))
        random = np.random.default_rng(seed)
        for variant in variants:
            verdict.undefined |= {
                f"{each.domain}::{each.op_type}" for each in variant.variant.nodes if each.described is None
            }
            _try(variant, max(2, math.ceil(instances / len(variants))), random, verdict)
            if verdict.counterexample is not None:
                break
        verdicts.append(verdict)
    return verdicts


def _try(rule: CompiledRule, wanted: int, random: np.random.Generator, verdict: Verdict) -> None:
    """Try one variant until ``wanted`` instances were found or there is no hope of more."""
    maker = Maker(rule.variant)
    found, refused = 0, ""
    types = [each for each in ELEMENT_TYPES if maker.types.allows(each)]
    types = types or [each for each in OTHER_TYPES if maker.types.allows(each)] or ["f32"]
    for attempt in range(ATTEMPTS * wanted):
        if found == wanted:
            return
        instance = maker.make(types[attempt % len(types)], random)
        if instance is None:
            continue
        counted = False
        for module in (instance.module.clone(), blurred(instance.module, random)):
            with observe() as log:
                applied = verdict.counterexample is None and _apply(rule, module)
            if applied:
                counted |= _compare(instance, module, random, verdict)
                verdict.is_endless |= all(_apply(rule, module) for _ in range(ENDLESS))
            refused = next((miss.reason for miss in log.misses), refused)
        found += counted
        verdict.instances += counted
        if verdict.counterexample is not None:
            return
    if not found:
        verdict.untried += 1
        verdict.refused = refused


def _apply(rule: CompiledRule, module: ModuleOp) -> bool:
    """Apply a rule once, to the root of an instance."""
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    candidates = [op for op in function.body.block.ops if isinstance(op, rule.rewrite.op_types)]
    with np.errstate(all="ignore"):
        return any(rule.rewrite(op) for op in reversed(candidates))


def _compare(instance: Instance, after: ModuleOp, random: np.random.Generator, verdict: Verdict) -> bool:
    """Run an instance on all kinds of inputs. Whether it could be run."""
    if _problem(instance.module):
        return False
    if problem := _problem(after):
        verdict.counterexample = Counterexample(instance, KINDS[0], {}, problem=problem)
        return True
    exact_module = widened(instance.module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of no numbers, and the like
        ran = [_compare_on(kind, instance, exact_module, after, random, verdict) for kind in (*KINDS, SPECIAL)]
    if any(ran):
        verdict.element_types.add(instance.element_type)
    return any(ran)


def _problem(module: ModuleOp) -> str:
    """What is wrong with an operation of a model by itself, such as an element type that it does not have."""
    try:
        for op in module.walk():
            if isinstance(op, OnnxOp):
                op.verify()
    except (GeError, VerifyException) as error:
        return " ".join((error.what if isinstance(error, GeError) else str(error)).split())
    return ""


def _compare_on(
    kind: str,
    instance: Instance,
    exact_module: ModuleOp | None,
    after: ModuleOp,
    random: np.random.Generator,
    verdict: Verdict,
) -> bool:
    """Run an instance on one kind of inputs. Whether it could be run."""
    inputs = instance.inputs(kind, random)
    try:
        before = run_module(instance.module, inputs)
    except GeError:
        return False
    if verdict.counterexample is not None:
        return True
    exact, largest = run_exactly(exact_module or instance.module, _wide(inputs) if exact_module else inputs)
    try:
        found = run_module(after, inputs)
    except GeError as error:
        verdict.counterexample = Counterexample(instance, kind, inputs, problem=error.what)
        return True
    for name in before:
        a, b = np.asarray(before[name]), np.asarray(found[name])
        problem = "" if (a.shape, a.dtype) == (b.shape, b.dtype) else f"the result has shape {list(b.shape)}"
        wrong, error = ((), 0.0) if problem else _difference(a, b, np.asarray(exact[name]), largest, kind)
        verdict.worst = max(verdict.worst, error)
        if wrong is not None and verdict.counterexample is None:
            verdict.counterexample = Counterexample(instance, kind, inputs, a, b, wrong, problem)
    return True


def _difference(
    before: Array, after: Array, exact: Array, largest: float, kind: str
) -> tuple[tuple[int, ...] | None, float]:
    """The position where an output is wrong after the rule (None when it is right), and its relative error.

    ``largest`` is the largest value on the way. The error counts where it is larger than before.
    """
    if before.dtype not in TOLERANCE:
        return _first(before != after), 0.0
    tolerance, rounding = TOLERANCE[before.dtype], ROUNDING[before.dtype]
    a, b, e = (each.astype(np.float64) for each in (before, after, exact))
    with np.errstate(all="ignore"):
        finite = np.isfinite(e)
        size = np.abs(e[finite]).max(initial=0.0)
        old, new = np.abs(a - e), np.abs(b - e)
        slack = max(SLACK * old[finite & np.isfinite(a)].max(initial=0.0), ROUNDINGS * rounding * largest)
        near = finite & ((new <= tolerance * (size + np.abs(e))) | (new <= slack))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        overflow = ~np.isfinite(a) & (finite | (kind in ("large", "mixed")))
        worse = finite & (new > old) & np.isfinite(new)
    error = float(new[worse].max(initial=0.0) / size) if size else 0.0
    return _first(~(near | same | overflow)), error


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...] | None:
    if not wrong.any():
        return None
    return tuple(int(index) for index in np.unravel_index(int(wrong.argmax()), wrong.shape))


# The exact result


def run_exactly(module: ModuleOp, inputs: Mapping[str, Array]) -> tuple[Outputs, float]:
    """The outputs of an instance, and the largest number that is computed on the way."""
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    names = [arg.name_hint or "" for arg in function.body.block.args]
    values: dict[SSAValue, Any] = dict(zip(function.body.block.args, (inputs[name] for name in names), strict=True))
    for op in function.body.block.ops:
        if isinstance(op, OnnxOp):
            results = run_op(op, [None if each is None else values[each] for each in op.input_list()])
            values.update(zip(op.results, results, strict=True))
    returned = function.body.block.last_op.operands if function.body.block.last_op is not None else ()
    return {f"y{position}": values[value] for position, value in enumerate(returned)}, largest_finite(values.values())


def widened(module: ModuleOp) -> ModuleOp | None:
    """The same model in float64; None when operators would not compute in it (casts, and those that need float32)."""
    wide = module.clone()
    if any(isinstance(op, _NOT_WIDENED) or (isinstance(op, Custom) and not _takes_float64(op)) for op in wide.walk()):
        return None
    for op in list(wide.walk()):
        if isinstance(op, FuncOp):
            for arg in list(op.body.block.args):
                _widen(arg)
        if isinstance(op, Constant) and _is_narrow(op.results[0]):
            literal, type = literal_of(op.array.astype(np.float64))
            op.attributes["value"] = literal
            Rewriter.replace_value_with_new_type(op.results[0], type)
        elif isinstance(op, OnnxOp):
            for result in list(op.results):
                _widen(result)
    return wide


_NOT_WIDENED = tuple(map(op_class, ("Cast", "CastLike", "LayerNormalization", "RMSNormalization", "RoiAlign")))


def _takes_float64(op: Custom) -> bool:
    """Whether a plug-in defines an operator for float64, too."""
    definition = op.definition
    if definition is None:
        return False
    operator = definition.operator
    sets = [operator.type_set(parameter) for parameter in (*operator.inputs, *operator.outputs)]
    return all("f64" in types for types in sets if "f32" in types)


def _is_narrow(value: SSAValue) -> bool:
    type = ranked(value)
    return type is not None and type.element_type in (f16, bf16, f32)


def _widen(value: SSAValue) -> None:
    if (type := ranked(value)) is not None and _is_narrow(value):
        Rewriter.replace_value_with_new_type(value, TensorType(f64, type.get_shape()))


def _wide(inputs: Mapping[str, Array]) -> dict[str, Array]:
    return {name: value.astype(np.float64) if value.dtype.kind == "f" else value for name, value in inputs.items()}


def summary(verdicts: Sequence[Verdict]) -> str:
    """The report: a line for each rule, and the counterexamples."""
    lines: list[str] = []
    for verdict in verdicts:
        if verdict.counterexample is not None:
            outcome = "WRONG"
        elif verdict.is_endless:
            outcome = "ENDLESS"
        elif verdict.untried:
            outcome = "NOT TRIED" if not verdict.instances else f"{verdict.untried} VARIANTS NOT TRIED"
        else:
            outcome = "holds"
        types = ", ".join(code for code in (*ELEMENT_TYPES, *OTHER_TYPES) if code in verdict.element_types)
        lines.append(
            f"{verdict.rule:<28} {outcome:<10} {verdict.instances:4} instances"
            f"  worst error {verdict.worst:8.1e}  {types}"
        )
    return "\n".join(lines)
