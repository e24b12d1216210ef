"""What adapters can know of a node and of its values: types, shapes, constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper
from onnx.defs import OpSchema

from ge.targets.onnx.adapters.graphs import Owner
from ge.targets.onnx.adapters.schemas import schema_at

Array: TypeAlias = NDArray[Any]


class RefusalError(Exception):
    """A node has no equivalent on the other side of a boundary; the text says why, in lower case."""


class Scope:
    """The values of the graph that is converted, and of the graphs around it."""

    def __init__(self, types: dict[str, TypeProto], unique: Callable[[str], str], read: set[str]) -> None:
        self.types = types
        """By name, of all values of the model that have a type."""
        self.read = read
        """The values that nodes or outputs of the model read."""
        self.unique = unique
        """Makes a name that no value of the model has."""
        self._constants: dict[str, TensorProto] = {}
        self._producers: dict[str, tuple[NodeProto, int]] = {}
        self._values: dict[str, Array | None] = {}

    def inner(self, graph: Owner) -> Scope:
        """The scope of a graph in this one."""
        scope = Scope(self.types, self.unique, self.read)
        scope._constants.update(self._constants)
        scope._producers.update(self._producers)
        for tensor in graph.initializer if isinstance(graph, GraphProto) else ():
            if tensor.data_location != TensorProto.EXTERNAL:  # large ones lie outside the message
                scope._constants[tensor.name] = tensor
        return scope

    def add_node(self, node: NodeProto, opset: int) -> None:
        """Enter a node of this graph."""
        self._producers.update((output, (node, opset)) for output in node.output if output)

    def shape(self, name: str) -> list[int | None] | None:
        """The sizes of a tensor, None for each that is unknown, or None when not even their number is known."""
        type = self.types.get(name)
        if type is None or not type.tensor_type.HasField("shape"):
            return None
        return [dim.dim_value if dim.HasField("dim_value") else None for dim in type.tensor_type.shape.dim]

    def value(self, name: str) -> Array | None:
        """The value of a constant, or of what can be computed from constants and known shapes; None for others."""
        if name not in self._values:
            self._values[name] = self._computed(name)
        return self._values[name]

    def _computed(self, name: str) -> Array | None:
        if name in self._constants:
            return _array(self._constants[name])
        node, opset = self._producers.get(name, (None, 0))
        if node is None or node.domain not in ("", "ai.onnx"):
            return None
        if node.op_type == "Constant" and (tensor := _inner_tensor(node)) is not None:
            return _array(tensor)
        if node.op_type == "Shape" and not node.attribute:
            sizes = self.shape(node.input[0])
            return None if sizes is None or None in sizes else np.array(sizes, np.int64)
        if f" {node.op_type} " not in _COMPUTABLE:
            return None
        inputs = {operand: self.value(operand) for operand in node.input if operand}
        if any(value is None or value.size > _MAX_ELEMENTS for value in inputs.values()):
            return None
        return _evaluate(node, opset, inputs)


def _inner_tensor(node: NodeProto) -> TensorProto | None:
    """The tensor of a Constant, unless its value has another form or lies outside the message."""
    tensors = (attribute.t for attribute in node.attribute if attribute.name == "value")
    return next((tensor for tensor in tensors if tensor.data_location != TensorProto.EXTERNAL), None)


def _array(tensor: TensorProto) -> Array | None:
    """The elements of a tensor; None for one that the import will refuse."""
    try:
        return numpy_helper.to_array(tensor)
    except (TypeError, ValueError):
        return None


_COMPUTABLE = (
    " Abs Add Cast CastLike Ceil Concat Constant ConstantOfShape Div Equal Expand Floor Gather Greater Identity Less "
    "Max Min Mod Mul Neg Not Range ReduceMax ReduceMin ReduceProd ReduceSum Reshape Shape Size Slice Squeeze Sub Tile "
    "Transpose Unsqueeze Where "
)
"""What index arithmetic consists of."""

_MAX_ELEMENTS = 1 << 16


def _evaluate(node: NodeProto, opset: int, inputs: Mapping[str, Array | None]) -> Array | None:
    """The value of a node of one output, or None where the reference implementation has none."""
    outputs = [helper.make_tensor_value_info(node.output[0], TensorProto.UNDEFINED, None)]
    infos = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in inputs]
    graph = helper.make_graph([node], "constant", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        from onnx.reference import ReferenceEvaluator  # only few models have something to compute here

        evaluator: Any = ReferenceEvaluator(model)
        result = evaluator.run(None, dict(inputs))[0]
    except Exception:  # whatever keeps the reference from computing it, the value is not known then
        return None
    return np.asarray(result)


class Node:
    """A node at a version of its operator, its inputs and attributes by the names that the standard gives them."""

    def __init__(self, proto: NodeProto, schema: OpSchema, scope: Scope) -> None:
        self.proto = proto
        self.schema = schema
        self.scope = scope

    @property
    def op_type(self) -> str:
        """The operator."""
        return self.proto.op_type

    @property
    def outputs(self) -> list[str]:
        """The names of all outputs; empty where one is not asked for."""
        return list(self.proto.output)

    def input(self, name: str) -> str:
        """The value that is the input called ``name``, or "" when it is absent."""
        position = next(i for i, parameter in enumerate(self.schema.inputs) if parameter.name == name)
        return self.proto.input[position] if position < len(self.proto.input) else ""

    def has(self, name: str) -> bool:
        """Whether there is an attribute ``name`` on the node itself."""
        return any(attribute.name == name for attribute in self.proto.attribute)

    def attribute(self, name: str) -> Any:
        """The value of an attribute: of the node, or the default of the standard, or None."""
        for attribute in self.proto.attribute:
            if attribute.name == name:
                return attribute_value(attribute)
        schema = self.schema.attributes.get(name)
        default = None if schema is None else schema.default_value
        return None if default is None or not default.name else attribute_value(default)

    def value(self, name: str) -> Array | None:
        """The value of an input, if it is present and constant."""
        return self.scope.value(self.input(name)) if self.input(name) else None

    def known(self, name: str) -> Array:
        """The value of an input that must be constant. Raises RefusalError."""
        value = self.value(name)
        if value is None:
            raise RefusalError(f"its input '{name}' is computed, and has to be constant")
        return value

    def shape(self, name: str) -> list[int | None] | None:
        """The shape of an input as far as it is known; see :meth:`Scope.shape`."""
        return self.scope.shape(self.input(name))

    def rank(self, name: str) -> int:
        """The number of dimensions of an input. Raises RefusalError when it is not known."""
        shape = self.shape(name)
        if shape is None:
            raise RefusalError(f"the rank of its input '{name}' is not known")
        return len(shape)

    def sizes(self, name: str, axes: Sequence[int] | None = None) -> list[int]:
        """The sizes of an input (along some axes). Raises RefusalError when one of them is not known."""
        shape = self.shape(name)
        sizes = [None] if shape is None else shape if axes is None else [shape[axis] for axis in axes]
        known = [size for size in sizes if size is not None]
        if len(known) != len(sizes):
            raise RefusalError(f"the shape of its input '{name}' is not known")
        return known

    def element(self, name: str) -> int:
        """The element type (of ``TensorProto.DataType``) of an input; 0 when it is not known, or no tensor."""
        return self.element_of(self.input(name))

    def element_of(self, value: str) -> int:
        """The element type of a value; 0 when it is not known, or no tensor."""
        type = self.scope.types.get(value)
        return type.tensor_type.elem_type if type is not None and type.HasField("tensor_type") else 0

    def known_element(self, name: str) -> int:
        """The element type of an input. Raises RefusalError when it is not known."""
        element = self.element(name)
        if not element:
            raise RefusalError(f"the type of its input '{name}' is not known")
        return element


def attribute_value(attribute: AttributeProto) -> Any:
    """The value of an attribute; strings as text. Raises RefusalError for one that a function gets from its call."""
    if attribute.ref_attr_name:
        raise RefusalError(f"its attribute '{attribute.name}' is a parameter of the function that it is in")
    value: Any = helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.STRING:
        return value.decode()
    return [text.decode() for text in value] if attribute.type == AttributeProto.STRINGS else value


def node_of(proto: NodeProto, opset: int, scope: Scope) -> Node:
    """The view of a node that is written for an opset which has its operator."""
    schema = schema_at(proto.op_type, opset)
    assert schema is not None, (proto.op_type, opset)
    return Node(proto, schema, scope)
