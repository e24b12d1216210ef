"""Operators that plug-ins register: what the standard says of its own, said of one more.

A :class:`CustomOperator` is the one definition of an operator of another domain. From it, ``onnx.Custom`` knows names
and defaults of attributes, its verifier and the shape inference what the types may be, ``ge-run`` and the host what it
computes, and the pass `decompose-custom` what it stands for. :func:`ge.custom.register_operator` makes one and puts it
into the table here; docs/tutorial-custom-operator.md shows how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from ge.dialects.onnx.schema import Operator
from ge.ir.errors import GeError

if TYPE_CHECKING:  # the shape rules are many, and not needed to register operations
    from ge.dialects.onnx.shapes.node import Node, Result, Rule
    from ge.dialects.onnx.shapes.values import Value


@dataclass(frozen=True)
class Cost:
    """What one run of an operator costs, for reports."""

    flops: int = 0
    """Operations on numbers."""
    bytes: int | None = None
    """Read and written; None: all inputs and outputs, once."""


Decomposition: TypeAlias = "Callable[..., Any] | Path"
"""A function that builds operators of the standard, or a file of fusion rules."""


@dataclass(frozen=True)
class CustomOperator:
    """An operator of another domain: everything that is known of it."""

    operator: Operator
    """Signature, attributes and types, in the notation of :mod:`ge.dialects.onnx.schema`."""
    shapes: Rule
    """What the plug-in says of the shapes of results; :attr:`rule` is what to call."""
    meaning: Callable[..., Any]
    """From NumPy arrays (by position, None where absent) and attributes (by keyword) to an array or a tuple of them."""
    decomposition: Decomposition | None
    cost: Callable[[Node], Cost] | None
    file: str
    """The file that registers the operator."""
    line: int
    """The line of that file."""
    module: str
    """The Python module that registers the operator."""

    @property
    def name(self) -> str:
        """The operator with its domain: ``com.example::ScaledRelu``."""
        return f"{self.operator.domain}::{self.operator.name}"

    @property
    def plugin(self) -> str:
        """What must be there when the operator runs: the name of a plug-in file, or an installed module."""
        return Path(self.file).name if self.module.startswith(("ge_plugin_", "__main__")) else self.module

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The default values of the attributes that have one."""
        return {name: spec.default for name, spec in self.operator.attributes.items() if spec.default is not None}

    @cached_property
    def rule(self) -> Rule:
        """The shape rule. Whatever the function of the plug-in raises becomes GE3017."""

        def rule(node: Node) -> Sequence[Result]:
            try:
                results: object = self.shapes(node)
                if not isinstance(results, list | tuple):
                    raise TypeError(f"it returned {results!r}, not a list with a shape for each result")
                listed = [_result(each) for each in cast("Sequence[object]", results)]
                if not self._may_have(len(listed), node.output_count):
                    raise TypeError(f"it returned {len(listed)} shapes for {node.output_count} results")
                return listed
            except GeError:
                raise
            except Exception as error:
                problem = f"the shape function failed: {type(error).__name__}: {error}"
                raise self.error("GE3017", problem) from error

        rule.__name__ = f"shape function of {self.operator.name}"
        return rule

    def cost_of(self, node: Node) -> Cost:
        """What the operator costs; nothing but its inputs and outputs when the plug-in does not say. Raises GE3017."""
        if self.cost is None:
            return Cost()
        try:
            found = cast("object", self.cost(node))
            if not isinstance(found, Cost):
                raise TypeError(f"it returned {found!r}, not a Cost")
            return found
        except Exception as error:
            raise self.error("GE3017", f"the cost function failed: {type(error).__name__}: {error}") from error

    def error(self, code: str, problem: str) -> GeError:
        """An error of the operator's definition."""
        return GeError(code, f"operator '{self.name}': {problem}", f"{self.file}:{self.line}:1")

    def evaluate(self, inputs: Sequence[Any], attributes: Mapping[str, Any], count: int) -> list[Any]:
        """The results for arrays; ``attributes`` are those that the model gives.

        The function cannot change the arrays, which others may read after it. Raises GE6010 when there are fewer than
        ``count`` results, or more than the signature has, or when one has a type or shape that the definition excludes.
        """
        import numpy as np

        from ge.dialects.onnx.shapes.values import contradict

        attributes = {**self.defaults, **attributes}
        parameters = self.operator.inputs
        is_variadic = bool(parameters) and parameters[-1].variadic
        missing = 0 if is_variadic else len(parameters) - len(inputs)
        found = self.meaning(*map(_read_only, inputs), *[None] * missing, **attributes)
        listed = cast("Sequence[Any]", found if isinstance(found, tuple | list) else [found])
        arrays = [np.asarray(each) for each in listed]
        results: list[Any] = [each if each.flags.writeable else each.copy() for each in arrays]
        if not self._may_have(len(results), count):
            raise self.error("GE6010", f"{len(results)} results instead of {count}")
        for number, (result, expected) in enumerate(
            zip(results, self._expected(inputs, attributes, count), strict=False)
        ):
            if contradict(expected, got := _value(result)):
                raise self.error("GE6010", f"result {number} is {got}, the definition says {expected}")
        return results[:count]

    def _may_have(self, given: int, count: int) -> bool:
        """Whether so many things can be given for ``count`` results; those that a model leaves out may be, too."""
        outputs = self.operator.outputs
        return count <= given and (given <= len(outputs) or outputs[-1].variadic)

    def _expected(self, inputs: Sequence[Any], attributes: Mapping[str, Any], count: int) -> list[Value]:
        """What the definition says of the results for these inputs."""
        from ge.dialects.onnx.shapes.node import Node
        from ge.dialects.onnx.shapes.rules import apply_rule

        values = [None if value is None else _value(value) for value in inputs]
        return apply_rule(self.rule, Node(self.name, values, attributes, count), self.operator)


def _result(given: object) -> Result:
    """What a shape function gave for one result: a shape or value. Raises TypeError for anything else."""
    from ge.dialects.onnx.shapes.values import MapOf, OptionalOf, SequenceOf, Tensor, Unknown
    from ge.maths.symbols import Expression

    if given is None or isinstance(given, Tensor | SequenceOf | OptionalOf | MapOf | Unknown):
        return given
    if not isinstance(given, list | tuple):
        raise TypeError(f"{given!r} is not a shape")
    dims = cast("Sequence[Any]", given)
    return tuple(dim if dim is None or isinstance(dim, Expression) else index(dim) for dim in dims)


def _read_only(given: Any) -> Any:
    """An array that cannot be changed; what is no array stays as it is."""
    import numpy as np

    if not isinstance(given, np.ndarray):
        return given
    view = cast("np.ndarray[Any, Any]", given).view()
    view.flags.writeable = False
    return view


def _value(given: Any) -> Value:
    """What is known of a value of the run: type and shape of an array, nothing of others."""
    import numpy as np

    from ge.dialects.onnx.shapes.values import UNKNOWN_VALUE, Tensor
    from ge.ir.constants import element_type

    if not isinstance(given, np.ndarray):
        return UNKNOWN_VALUE
    array = cast("np.ndarray[Any, Any]", given)
    code = "string" if array.dtype.kind in "OUS" else str(element_type(array.dtype))
    return Tensor(code, tuple(array.shape))


# What a compiled model says of the plug-in that it needs

_METADATA, _PLUGIN = "onnx.metadata", "ge.plugin"


def note_plugin(op: Operation, definition: CustomOperator) -> None:
    """Note on an operation which plug-in defines it; the note is among the metadata of the node when exported."""
    there = op.attributes.get(_METADATA)
    entries = dict(there.data) if isinstance(there, DictionaryAttr) else {}
    op.attributes[_METADATA] = DictionaryAttr({**entries, _PLUGIN: StringAttr(definition.plugin)})


def plugin_of(op: Operation) -> str | None:
    """What :func:`note_plugin` noted; None when nothing is."""
    there = op.attributes.get(_METADATA)
    plugin = there.data.get(_PLUGIN) if isinstance(there, DictionaryAttr) else None
    return plugin.data if isinstance(plugin, StringAttr) else None


# The table

_OPERATORS: dict[tuple[str, str], CustomOperator] = {}
"""By domain and name."""

_BEGUN: dict[tuple[str, str], GeError] = {}
"""The errors of registrations that lack their function as yet: a decorator that decorates nothing."""


def begin(operator: Operator, place: str) -> None:
    """A registration begins, which :func:`end` ends."""
    what = f"operator '{operator.domain}::{operator.name}': it has no function that computes it"
    _BEGUN[operator.domain, operator.name] = GeError("GE2011", what, place)


def end(operator: Operator) -> None:
    """A registration has its function, right or wrong."""
    _BEGUN.pop((operator.domain, operator.name), None)


def register(definition: CustomOperator) -> None:
    """Add an operator. Raises GE2011 when another place defines the same; the same place may define it anew."""
    key = definition.operator.domain, definition.operator.name
    there = _OPERATORS.get(key)
    if there is not None and (there.file, there.line) != (definition.file, definition.line):
        raise definition.error("GE2011", f"registered already, in {there.file}:{there.line}")
    _OPERATORS[key] = definition


def unregister(domain: str, name: str) -> None:
    """Forget an operator."""
    _OPERATORS.pop((domain, name), None)
    _BEGUN.pop((domain, name), None)


def registered(domain: str, name: str) -> CustomOperator | None:
    """The definition of an operator; None when no plug-in registers it. Installed plug-ins are loaded first.

    Raises GE2011 for a registration without a function.
    """
    if (domain, name) in _BEGUN:
        raise _BEGUN[domain, name]
    if domain and (domain, name) not in _OPERATORS:
        from ge.ir.registry import registry

        registry()
    return _OPERATORS.get((domain, name))
