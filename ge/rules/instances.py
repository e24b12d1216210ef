"""Models made from the pattern of a rule: small random shapes, constants and attributes that its conditions may allow.

An instance is what the pattern describes and nothing else: its inputs are the values that the pattern leaves open, its
outputs the results of the root. Whether the conditions hold is seen by applying the rule; most rules say enough to draw
well (``rank(x) == 2``, ``c == 0``, literals), others have a part ``sample`` that draws what they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx import OP_CLASSES, UNKNOWN, Constant, Custom, OnnxOp, make_constant, make_op, static_shape
from ge.dialects.onnx.attributes import to_attribute
from ge.dialects.onnx.ops import split_absent
from ge.dialects.onnx.protos import data_type_of
from ge.dialects.onnx.schema import AttributeSpec
from ge.dialects.onnx.shapes.inference import infer_operation, node_of
from ge.dialects.onnx.shapes.types import type_of_value, value_of_type
from ge.ir.constants import numpy_dtype, tensor_type_of
from ge.ir.errors import GeError
from ge.ir.locations import name_loc
from ge.maths.hostile import SPECIAL, hostile
from ge.rules.build import kind_of
from ge.rules.compiler import NAMESPACE
from ge.rules.draws import INPUTS, KINDS_OF_ATTRIBUTES, OPEN, Drawing, any_shape, broadcastable, draw_of, number
from ge.rules.element_types import ElementTypes
from ge.rules.expressions import Names, source
from ge.rules.functions import ELEMENT_TYPES, FLOATS
from ge.rules.pattern import Absent, Leaf, Literal, Node, ResultOf, Variant
from ge.rules.result_types import result_types
from ge.rules.samples import Drawn
from ge.rules.syntax import Binary, Expression, Function, Listing, Name, Number
from ge.rules.writer import custom_properties

Array: TypeAlias = NDArray[Any]


@dataclass
class Instance:
    """A model made from a pattern."""

    module: ModuleOp
    element_type: str
    """The element type that was asked for."""
    fixed: dict[str, Array] = field(default_factory=dict[str, Array])
    """Inputs whose values the part `sample` has drawn."""
    finite: set[str] = field(default_factory=set[str])
    """Inputs in which it wants no NaN."""

    def inputs(self, kind: str, random: np.random.Generator) -> dict[str, Array]:
        """Values for all inputs, of one kind of :data:`ge.maths.hostile.KINDS`, or of :data:`SPECIAL`.

        NaN is in the first input of floating-point numbers alone, which is the data: a NaN among parameters, such as
        the slope of a rectification, spreads where the parameter has no effect.
        """
        function = next(op for op in self.module.ops if isinstance(op, FuncOp))
        found: dict[str, Array] = {}
        has_nan = False
        for arg in function.body.block.args:
            name = arg.name_hint or ""
            is_float = tensor_type_of(arg).element_type in _FLOATS
            is_plain = is_float and (has_nan or name in self.finite)
            drawn = values_of(arg, "normal" if kind == SPECIAL and is_plain else kind, random)
            found[name] = self.fixed.get(name, drawn)
            has_nan |= is_float and name not in self.fixed
        return found


_FLOATS = frozenset(ELEMENT_TYPES[code] for code in FLOATS)


def values_of(value: SSAValue, kind: str, random: np.random.Generator) -> Array:
    """Values of a kind for a tensor."""
    type = tensor_type_of(value)
    return hostile(type.get_shape(), numpy_dtype(type.element_type), kind, random)


def blurred(module: ModuleOp, random: np.random.Generator) -> ModuleOp:
    """The same model, but some sizes of its inputs are unknown, and so are those that follow from them."""
    module = module.clone()
    block = next(op for op in module.ops if isinstance(op, FuncOp)).body.block
    for arg in list(block.args):
        type = tensor_type_of(arg)
        shape = [DYNAMIC_INDEX if random.integers(2) else size for size in type.get_shape()]
        Rewriter.replace_value_with_new_type(arg, TensorType(type.element_type, shape))
    for op in block.ops:
        if isinstance(op, OnnxOp) and not isinstance(op, Constant):
            types = types_of(op)
            for result, type in zip(list(op.results), types, strict=True):
                Rewriter.replace_value_with_new_type(result, type)
    return module


def types_of(op: OnnxOp) -> list[Attribute]:
    """The types of the results of an operation, one of another domain included. Raises ValueError, GeError."""
    if not isinstance(op, Custom):
        return result_types(op.operator, op.input_list(), op.attributes, len(op.results))
    values = [None if value is None else value_of_type(value.type) for value in op.input_list()]
    found = infer_operation(op, node_of(op, values))
    return [UNKNOWN] * len(op.results) if found is None else [type_of_value(value) for value in found[0]]


class Maker:
    """Makes instances of one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.types = ElementTypes(variant)

    def make(self, element_type: str, random: np.random.Generator) -> Instance | None:
        """An instance with values of an element type; None when what was drawn does not fit together."""
        try:
            with np.errstate(all="ignore"):
                return _Making(self, element_type, random).instance()
        except (ValueError, TypeError, IndexError, ArithmeticError, VerifyException, GeError):
            return None


class _Making:
    """One instance while it is made."""

    def __init__(self, maker: Maker, element_type: str, random: np.random.Generator) -> None:
        self.variant = maker.variant
        self.types = maker.types
        self.element_type = element_type
        self.random = random
        self.block = Block()
        self.values: dict[str, list[SSAValue]] = {}
        self.results: dict[tuple[int, int], SSAValue] = {}
        self.fixed: dict[str, Array] = {}
        self.finite: set[str] = set()
        self.data: dict[str, Any] = {}

    def instance(self) -> Instance:
        for statement in self.variant.rule.sample:
            self.data[statement.targets[0].name] = self._evaluate(statement.value)
        for node in self.variant.nodes:
            self._node(node)
        root = self.variant.root
        returned = [value for (number, _), value in self.results.items() if number == root.index]
        places = {name: (node.index, index) for node in self.variant.nodes for index, name in enumerate(node.results)}
        shared = [places[name] for name in sorted(self.variant.shared)]
        returned += [self.results[place] for place in shared if place in self.results and self.random.integers(2)]
        returned = [self._with_user(value) for value in returned]
        self.block.add_op(ReturnOp(*returned))
        inputs = [arg.type for arg in self.block.args]
        main = FuncOp("main", (inputs, [value.type for value in returned]), Region(self.block))
        names = ArrayAttr(StringAttr(arg.name_hint or "") for arg in self.block.args)
        main.attributes["onnx.input_names"] = names
        main.attributes["onnx.output_names"] = ArrayAttr(StringAttr(f"y{i}") for i in range(len(returned)))
        return Instance(ModuleOp([main]), self.element_type, self.fixed, self.finite)

    def _with_user(self, value: SSAValue) -> SSAValue:
        """A value as an output, mostly by way of another operation: an output may not be replaced by an input."""
        if not self.random.integers(4):
            return value
        copy = make_op("Identity", [value], [value.type])
        self.block.add_op(copy)
        return copy.results[0]

    def _evaluate(self, expression: Expression) -> Any:
        """The value of an expression in what has been drawn so far."""
        names = Names({}, {name: f"drawn[{name!r}]" for name in self.data}, {})
        return eval(source(expression, names), {**NAMESPACE, "drawn": self.data, "random": self.random})

    # Operations

    def _node(self, node: Node) -> None:
        """Make the operation of a node, after its inputs."""
        attributes: dict[str, Any] = {}
        inputs: list[SSAValue | None] = []
        for position, each in enumerate(node.inputs):
            if position == min(1, len(node.inputs)):
                attributes = self._attributes(node, inputs)
            inputs += self._input(node, position, each, inputs, attributes)
        if len(node.inputs) < 2:
            attributes = self._attributes(node, inputs)
        op_class = OP_CLASSES.get((node.domain, node.op_type), Custom)
        specs: Mapping[str, AttributeSpec] = {} if node.described is None else node.described.attributes
        converted = {
            name: to_attribute(specs[name].kind if name in specs else kind_of(value), value)
            for name, value in attributes.items()
        }
        operands, properties = split_absent(inputs)
        op = op_class.create(
            operands=operands,
            result_types=[UNKNOWN] * self._result_count(node),
            attributes=converted,
            properties={**properties, **({} if node.operator is not None else custom_properties(node))},
            location=name_loc(f"{node.op_type}_{node.index}"),
        )
        for result, type in zip(list(op.results), types_of(op), strict=True):
            Rewriter.replace_value_with_new_type(result, type)
        op.verify()
        self.block.add_op(op)
        for index, result in enumerate(op.results):
            self.results[node.index, index] = result

    def _result_count(self, node: Node) -> int:
        """How many results an operation has: sometimes those are left out that are optional and lead nowhere."""
        count = max(1, len(node.results))
        outputs = () if node.described is None else node.described.outputs
        read = {index for number, index in self.variant.uses if number == node.index}
        while 1 < count <= len(outputs) and outputs[count - 1].optional and count - 1 not in read:
            if self.random.integers(3):
                break
            count -= 1
        return count

    def _attributes(self, node: Node, inputs: Sequence[SSAValue | None]) -> dict[str, Any]:
        """What the pattern says of attributes, and random values for those that it captures or leaves open."""
        drawing = self._drawing(inputs, {})
        found: dict[str, Any] = {}
        for name, value in node.attributes.items():
            if isinstance(value, Name) and value.name in self.variant.captured:
                if value.name not in self.data:
                    self.data[value.name] = self._attribute(node, name, value.name, drawing)
                drawn = self.data[value.name]
            else:
                drawn = self._evaluate(value)
            if drawn is not None:
                found[name] = drawn
        if node.any_others and node.described is not None:
            for name, spec in node.described.attributes.items():
                draw = draw_of(node.op_type, spec)
                if name not in found and draw is not None and (spec.required or not self.random.integers(OPEN)):
                    found[name] = draw(drawing)
        return found

    def _attribute(self, node: Node, name: str, captured: str, drawing: Drawing) -> Any:
        """A value of an attribute that the pattern captures."""
        if node.described is None:
            raise ValueError("nothing is known of operators of other domains that no plug-in defines")
        spec = node.described.attributes[name]
        wanted = self._wanted(captured)
        if wanted is not None:
            return wanted
        if node.op_type == "Cast" and name == "to":
            code = str(self.random.choice(["f16", "f32", "f64", "i32", "i64"]))
            return data_type_of(ELEMENT_TYPES[code])
        draw = draw_of(node.op_type, spec) or (KINDS_OF_ATTRIBUTES.get(spec.kind) if node.domain else None)
        if draw is None or (not spec.required and self.random.integers(4) == 0):
            return spec.default
        return draw(drawing)

    # Inputs

    def _drawing(self, inputs: Sequence[SSAValue | None], attributes: Mapping[str, Any], name: str = "") -> Drawing:
        shapes = [static_shape(value) or () for value in inputs if value is not None]
        return Drawing(self.random, shapes, attributes, self._wanted_rank(name))

    def _input(
        self, node: Node, position: int, each: Any, before: Sequence[SSAValue | None], attributes: Mapping[str, Any]
    ) -> Sequence[SSAValue | None]:
        """The values of one input of the pattern: one, or any number for one that is variadic."""
        match each:
            case ResultOf(number, index):
                return [self.results[number, index]]
            case Absent():
                return [None]
            case Literal(expression):
                return [self._literal(node, position, expression)]
            case Leaf(name, kind):
                if name not in self.values:
                    count = {"optional": int(self.random.integers(3) > 0), "variadic": int(self.random.integers(1, 4))}
                    drawn = range(count.get(kind, 1))
                    self.values[name] = [self._leaf(node, position, name, before, attributes) for _ in drawn]
                return self.values[name] or ([None] if kind == "optional" else [])
            case _:
                return [self._leaf(node, position, "", before, attributes)]

    def _code(self, node: Node, position: int) -> str:
        code = self.types.choose((node.index, "input", position), self.element_type)
        if code is None:
            raise ValueError("no element type is possible")
        return code

    def _literal(self, node: Node, position: int, expression: Expression) -> SSAValue:
        one = INPUTS.get((node.op_type, position)) is not number and self.random.integers(2)
        array = np.asarray(self._evaluate(expression)).reshape((1,) if one else ())
        return self._constant(array, self._code(node, position))

    def _leaf(
        self,
        node: Node,
        position: int,
        name: str,
        before: Sequence[SSAValue | None],
        attributes: Mapping[str, Any],
    ) -> SSAValue:
        """A value that the pattern leaves open: a constant where it must be one, and sometimes elsewhere."""
        code = self._code(node, position)
        drawn = self.data.get(name)
        if drawn is None:
            drawing = self._drawing(before, attributes, name)
            drawn = INPUTS.get((node.op_type, position), broadcastable if drawing.shapes else any_shape)(drawing)
        must = name in self.variant.constants
        if not must and isinstance(self.data.get(name), np.ndarray):
            return self._argument(name, np.asarray(drawn, numpy_dtype(ELEMENT_TYPES[code])), code)
        if not isinstance(drawn, tuple | Drawn):
            array = np.asarray(drawn)
            self.data[name] = array
            return self._constant(array, code)
        shape = drawn.shape if isinstance(drawn, Drawn) else cast("tuple[int, ...]", drawn)
        if must or (position and self.random.integers(4) == 0):
            array = self._elements(name, shape, code)
            self.data[name] = array
            return self._constant(array, code)
        arg = self._argument(name, None, code, shape)
        if isinstance(drawn, Drawn) and not drawn.has_nan:
            self.finite.add(arg.name_hint or "")
        return arg

    def _argument(self, name: str, fixed: Array | None, code: str, shape: Sequence[int] = ()) -> SSAValue:
        """A new input of the model."""
        shape = shape if fixed is None else fixed.shape
        arg = self.block.insert_arg(TensorType(ELEMENT_TYPES[code], shape), len(self.block.args))
        arg.name_hint = f"{name or 'any'}{len(self.block.args)}"
        if fixed is not None:
            self.fixed[arg.name_hint or ""] = fixed
        return arg

    def _constant(self, array: Array, code: str) -> SSAValue:
        op = make_constant(array.astype(numpy_dtype(ELEMENT_TYPES[code])))
        self.block.add_op(op)
        return op.results[0]

    def _elements(self, name: str, shape: Sequence[int], code: str) -> Array:
        """The elements of a constant: what the conditions compare it with, a round number, or any numbers."""
        wanted = self._wanted(name)
        if wanted is not None and np.asarray(wanted).ndim == 0 and self.random.integers(8):
            return np.full(shape, wanted)
        dtype = numpy_dtype(ELEMENT_TYPES[code])
        if self.random.integers(2):
            return np.full(shape, self.random.choice([0.5, 1, 2, 3, 4] if code in FLOATS else [1, 2, 3, 4]))
        kind = str(self.random.choice(["normal", "normal", "mixed"]))
        return hostile(shape, dtype, kind, self.random)

    # What conditions ask for

    def _wanted(self, name: str) -> Any:
        """A number that a condition compares a constant or captured attribute with."""
        for left, right in self._comparisons():
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Function) and one.name in ("scalar", "or_else"):
                    one = one.arguments[0]
                if one == Name(name, one.at):
                    try:
                        return self._evaluate(other)
                    except KeyError:
                        continue
        return None

    def _wanted_rank(self, name: str) -> int | None:
        for left, right in self._comparisons():
            is_rank = isinstance(left, Function) and left.name == "rank" and left.arguments == (Name(name, left.at),)
            if is_rank and isinstance(right, Number):
                return int(right.value)
        return None

    def _comparisons(self) -> Sequence[tuple[Expression, Expression]]:
        """Both sides of every equality that must hold; of a list to choose from, one item."""
        found: list[tuple[Expression, Expression]] = []
        waiting = list(self.variant.where)
        while waiting:
            match waiting.pop():
                case Binary("and", left, right):
                    waiting += [left, right]
                case Binary("in", left, Listing(items)) if items:
                    found.append((left, items[self.random.integers(len(items))]))
                case Binary("==" | "in", left, right) | Function("close", (left, right)):
                    found.append((left, right))
                case _:
                    pass
        return found
