"""Operators of your own: register one, and every command knows it.

    from ge import register_operator
    from ge.custom import Cost, like_input

    def decompose(ops, x, *, factor):
        return ops.Mul(ops.Relu(x), factor)

    @register_operator(
        "com.example", "ScaledRelu", "x: T -> y: T",
        attributes=["factor: float = 1.0"],
        types={"T": "f16 f32"},
        shapes=like_input,
        decomposition=decompose,
        cost=lambda node: Cost(flops=2 * elements(node.shape(0))),
    )
    def scaled_relu(x, *, factor):
        return np.maximum(x, 0) * x.dtype.type(factor)

The decorated function is the meaning: NumPy arrays by position, attributes by keyword, an array or a tuple of arrays in
return. Signature, attributes and types are written as in the table of the standard (:mod:`ge.dialects.onnx.schema`).
A file with such code is a plug-in: ``--load-plugin=FILE.py``, or an entry point of the group ``ge.plugins``.
docs/tutorial-custom-operator.md builds one from nothing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from ge.dialects.onnx.registered import Cost, CustomOperator, Decomposition, begin, end, register
from ge.dialects.onnx.registered import unregister as unregister_operator
from ge.dialects.onnx.schema import AttributeSpec, Operator, expand_type_set
from ge.dialects.onnx.shapes.elementwise import broadcast as broadcast_inputs
from ge.dialects.onnx.shapes.elementwise import like_input
from ge.dialects.onnx.shapes.node import Node, Rule
from ge.dialects.onnx.shapes.values import Shape
from ge.ir.errors import GeError

__all__ = ["Cost", "Node", "broadcast_inputs", "elements", "like_input", "register_operator", "unregister_operator"]

Meaning = TypeVar("Meaning", bound=Callable[..., Any])


def elements(shape: Shape | None) -> int:
    """The number of elements of a shape, for costs; a size that is not known counts as 1."""
    count = 1
    for dim in shape or ():
        count *= dim if isinstance(dim, int) else 1
    return count


def register_operator(
    domain: str,
    name: str,
    signature: str,
    *,
    since: int = 1,
    attributes: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    shapes: Rule | None = None,
    decomposition: Decomposition | str | None = None,
    cost: Callable[[Node], Cost] | None = None,
) -> Callable[[Meaning], Meaning]:
    """Register an operator; the decorated function is what it computes.

    It must be a function of its inputs and attributes, without random numbers or memory: passes may merge operators.
    The arrays that it gets can only be read.
    ``signature`` is ``"x: T, scale?: f32 -> y: T"``, an attribute ``"axis: int = -1"``, and ``types`` says what ``T``
    may be. ``since`` is the version of the domain from which on the operator is there. ``shapes`` is a function from a
    :class:`Node` to a list with a shape for each result. ``decomposition`` is a function ``(ops, inputs..., attributes
    by keyword)`` that builds operators of the standard (``ops.Mul(x, 2.0)``) and returns what replaces the results, or
    the path of a ``.gerules`` file, from the folder of the plug-in; without one, the operator runs on the host.

    Raises GE2011, with operator and file, for a registration that is incomplete, contradicts itself, or is there.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    file, line = frame.f_code.co_filename, frame.f_lineno
    module: str = frame.f_globals.get("__name__", "")
    operator = Operator(name, since, signature, tuple(attributes), dict(types or {}), domain)
    begin(operator, f"{file}:{line}:1")

    def decorate(meaning: Meaning) -> Meaning:
        end(operator)
        rules = Path(file).parent / decomposition if isinstance(decomposition, str) else decomposition
        problem = next(filter(None, _problems(operator, shapes, meaning, rules, cost)), None)
        if problem is not None or shapes is None:
            raise GeError("GE2011", f"operator '{domain}::{name}': {problem}", f"{file}:{line}:1")
        register(CustomOperator(operator, shapes, meaning, rules, cost, file, line, module))
        return meaning

    return decorate


def _problems(
    operator: Operator, shapes: object, meaning: object, decomposition: object, cost: object
) -> Sequence[str | None]:
    """What is wrong with a registration; None where nothing is."""
    if (problem := _names_problem(operator) or _notation_problem(operator)) is not None:
        return [problem]
    return [
        "it has no function for 'shapes'" if not callable(shapes) else None,
        "'cost' is no function" if cost is not None and not callable(cost) else None,
        _function_problem(operator, meaning, "the function that it computes", 0),
        _file_problem(decomposition)
        if isinstance(decomposition, Path)
        else _function_problem(operator, decomposition, "the decomposition", 1)
        if decomposition is not None
        else None,
    ]


def _names_problem(operator: Operator) -> str | None:
    if not operator.domain or operator.domain.startswith("ai.onnx"):
        return f"domain '{operator.domain}' belongs to the ONNX standard"
    if not operator.name.isidentifier():
        return f"'{operator.name}' is not a name"
    if isinstance(operator.since, bool) or not isinstance(operator.since, int) or operator.since < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        return f"since={operator.since!r} is not a version"
    return None


def _notation_problem(operator: Operator) -> str | None:
    """What cannot be read of signature, attributes and types."""
    if " -> " not in operator.signature:
        return f"signature '{operator.signature}' has no ' -> ' between inputs and outputs"
    try:
        parameters = [*operator.inputs, *operator.outputs]
        specs = operator.attributes
        types = {parameter.type: operator.type_set(parameter) for parameter in parameters}
    except (ValueError, SyntaxError, IndexError, KeyError) as error:
        return f"its signature or attributes cannot be read: {error}"
    if not operator.outputs:
        return "it has no output"
    for parameter in parameters:
        if unknown := sorted(types[parameter.type] - _TYPES):
            return f"'{parameter.name}' has type '{unknown[0]}', which neither types= nor the standard defines"
    for name, spec in specs.items():
        if spec.kind not in _KINDS:
            return f"attribute '{name}' is of kind '{spec.kind}'; the kinds are {', '.join(sorted(_KINDS))}"
        if not name.isidentifier():
            return f"attribute '{name}' is not a name"
        if spec.default is not None and not _has_kind(spec):
            return f"the default of attribute '{name}' is no {spec.kind}"
    return None


def _has_kind(spec: AttributeSpec) -> bool:
    """Whether the default of an attribute is of its kind."""
    given = cast("Sequence[object] | object", spec.default)
    items = cast("Sequence[object]", given if isinstance(given, list | tuple) else [given])
    item_types = {"int": int, "float": int | float, "string": str}.get(spec.kind.removesuffix("s"))
    is_list = spec.kind.endswith("s")
    if item_types is None or is_list is not isinstance(given, list | tuple):
        return False
    return all(isinstance(item, item_types) and not isinstance(item, bool) for item in items)


_KINDS = frozenset({"int", "float", "string", "tensor", "ints", "floats", "strings"})
"""The kinds of attributes that reach a function as Python values."""

_ELEMENTS = "int uint float float8 float6 float4 scale8 int4 int2 bool complex"
_TYPES = expand_type_set(f"{_ELEMENTS} string seq({_ELEMENTS} string) optional({_ELEMENTS} string)")


def _file_problem(path: Path) -> str | None:
    return None if path.is_file() else f"there is no file '{path}' of its decomposition"


def _function_problem(operator: Operator, function: object, what: str, extra: int) -> str | None:
    """Whether a function takes ``extra`` arguments, the inputs by position and the attributes by keyword."""
    if not callable(function):
        return f"{what} is no function"
    count = extra + sum(not parameter.variadic for parameter in operator.inputs)
    try:
        inspect.signature(function).bind(*[None] * count, **dict.fromkeys(operator.attributes))
    except TypeError as error:
        return f"{what} does not take {count} arguments and {_listed(operator)}: {error}"
    except ValueError:  # a function of C, which does not say what it takes
        return None
    return None


def _listed(operator: Operator) -> str:
    names = ", ".join(operator.attributes)
    return f"the attributes {names} by keyword" if names else "no attributes"
