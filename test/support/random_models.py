"""Random ONNX models for property tests: valid, and with everything in them that a model can hold.

:func:`models` draws a model whose nodes mean little and whose names, attributes, constants, types and notes come
from :mod:`random_values`. Three kinds of nodes make it up: operators of a domain that nobody knows, which take any
values and attributes; a few operators of the standard, so that types are inferred and compared; and calls of local
functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    helper,
)
from random_values import (
    ATTRIBUTE_KINDS,
    ELEMENT_TYPES,
    FLOAT32,
    INT64,
    NO_IDENTITY,
    PLAIN_TYPES,
    attributes,
    byte_strings,
    document,
    make_attribute,
    names,
    nonempty_names,
    sparse_tensors,
    tensor_types,
    tensors,
    texts,
    types,
)

from ge.dialects.onnx import OPSET


@dataclass(frozen=True)
class Value:
    """A value that nodes may read, and its type as far as the drawer knows it; inference may find more."""

    name: str
    type: TypeProto
    inferred: bool = False


@dataclass
class _Names:
    """The names of one graph, and of those around it, which it must not hide (``outer`` is None when it may)."""

    outer: _Names | None = None
    own: set[str] = field(default_factory=set[str])

    def taken(self, name: str) -> bool:
        return name in self.own or (self.outer is not None and self.outer.taken(name))


@dataclass(frozen=True)
class Signature:
    """What the caller of a local function must know of it."""

    function: FunctionProto

    def call(self, inputs: Sequence[str], outputs: Sequence[str]) -> NodeProto:
        """A node that calls it."""
        callee = self.function
        node = NodeProto(op_type=callee.name, domain=callee.domain, input=inputs, output=outputs)
        if callee.overload:
            node.overload = callee.overload
        return node


class _ModelDrawer:
    """Draws one model; ``draw`` is that of a composite strategy. With ``hiding``, graphs may hide outer names."""

    def __init__(self, draw: st.DrawFn, *, hiding: bool) -> None:
        self.draw = draw
        self.hiding = hiding
        self.opset: int = draw(st.sampled_from([OPSET, OPSET, OPSET, OPSET - 1, 20, 17, 16]))
        self.elements = ELEMENT_TYPES if self.opset == OPSET else PLAIN_TYPES
        self.domains: list[str] = draw(
            st.lists(
                nonempty_names.filter(lambda domain: not domain.startswith("ai.onnx")),
                min_size=1,
                max_size=3,
                unique=True,
            )
        )
        self.functions: list[Signature] = []

    def model(self) -> ModelProto:
        draw = self.draw
        for _ in range(draw(st.integers(0, 2))):
            self._add_function()
        graph = self.graph(None, [], inputs=draw(st.integers(0, 3)))
        self._add_notes(graph)
        model = ModelProto(ir_version=13, graph=graph, functions=[each.function for each in self.functions])
        versions = {"": self.opset, **{domain: draw(st.integers(1, 2**31 - 1)) for domain in self.domains}}
        for domain in draw(st.permutations(list(versions))):
            model.opset_import.add(domain=domain, version=versions[domain])
        for text in ("producer_name", "producer_version", "domain"):
            setattr(model, text, draw(texts))
        model.model_version = draw(INT64)
        document(draw, model)
        return model

    def _fresh(self, scope: _Names) -> str:
        """A name for a value of a graph."""
        name = self.draw(nonempty_names)
        while scope.taken(name):
            name += self.draw(st.sampled_from(["_1", "'", "名"]))
        scope.own.add(name)
        return name

    # Graphs

    def graph(
        self, outer: _Names | None, visible: Sequence[Value], *, inputs: int, results: Sequence[TypeProto] | None = None
    ) -> GraphProto:
        """A graph; ``visible`` are the values of graphs around. With ``results`` it has outputs of these types."""
        draw, scope = self.draw, _Names(None if self.hiding else outer)
        graph, values = GraphProto(name=draw(texts)), list(visible)
        input_types = [_CONDITION] if outer is None else []
        for type in [*input_types, *(draw(types(self.elements)) for _ in range(inputs))]:
            _define(values, Value(self._fresh(scope), type))
            graph.input.append(self._info(values[-1]))
        self._add_initializers(graph, scope, values, is_main=outer is None)
        for _ in range(draw(st.integers(0, 4))):
            self._add_node(graph, scope, values, depth=0 if outer is None else 1)
        self._state(graph, values, visible)
        if results is not None:
            self._add_results(graph, scope, values, results)
            return graph
        own = [value for value in values if value not in visible and not value.inferred]
        for value in draw(st.lists(st.sampled_from(own), max_size=3, unique_by=id)) if own else ():
            graph.output.append(self._info(value))
        document(draw, graph)
        return graph

    def _info(self, value: Value) -> ValueInfoProto:
        """A value of a graph and what is said of it."""
        info = ValueInfoProto(name=value.name, type=value.type if value.type.ListFields() else None)
        document(self.draw, info)
        return info

    def _add_results(self, graph: GraphProto, scope: _Names, values: list[Value], results: Sequence[TypeProto]) -> None:
        """Outputs of the types that a node wants of its graph, from an operator that makes anything."""
        for type in results:
            output = Value(self._fresh(scope), type)
            graph.node.append(helper.make_node("Make", [], [output.name], domain=self.domains[0]))
            graph.output.append(self._info(output))

    def _add_initializers(self, graph: GraphProto, scope: _Names, values: list[Value], *, is_main: bool) -> None:
        """Constants, of which some are inputs, too."""
        draw = self.draw
        for _ in range(draw(st.integers(0, 2))):
            tensor = draw(tensors(self._fresh(scope), self.elements))
            graph.initializer.append(tensor)
            _define(values, Value(tensor.name, helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))))
            if is_main and draw(st.integers(0, 4)) == 0:
                graph.input.insert(draw(st.integers(0, len(graph.input))), self._info(values[-1]))
        if draw(st.integers(0, 4)) == 0:
            sparse = draw(sparse_tensors(self._fresh(scope)))
            graph.sparse_initializer.append(sparse)
            values[:] = [value for value in values if value.name != sparse.values.name]

    def _state(self, graph: GraphProto, values: Sequence[Value], visible: Sequence[Value]) -> None:
        """State types of some results: all that is known, or less; and of a value that there is not."""
        draw = self.draw
        made = {name for node in graph.node for name in node.output}
        for value in values:
            if value in visible or value.name not in made or not draw(st.booleans()):
                continue
            info = self._info(value)
            if value.type.HasField("tensor_type") and draw(st.booleans()):
                info.type.tensor_type.ClearField("shape")
            graph.value_info.append(info)

    def _add_notes(self, graph: GraphProto) -> None:
        """Quantization annotations, and the type of a value of another graph."""
        draw = self.draw
        if draw(st.integers(0, 3)) == 0:
            annotation = graph.quantization_annotation.add(tensor_name=draw(names))
            for key, value in draw(st.dictionaries(texts, texts, max_size=2)).items():
                annotation.quant_parameter_tensor_names.add(key=key, value=value)
        if draw(st.integers(0, 3)) == 0:
            graph.value_info.append(ValueInfoProto(name="a value that is gone", type=draw(types())))

    # Nodes

    def _add_node(self, graph: GraphProto, scope: _Names, values: list[Value], depth: int) -> None:
        kinds = [self._custom, self._custom, self._identity, self._constant]
        kinds += [self._call] if self.functions else []
        kinds += [self._if] if depth == 0 else []
        node, outputs = self.draw(st.sampled_from(kinds))(scope, values, depth)
        if self.draw(st.booleans()):
            node.name = self.draw(names)
        document(self.draw, node)
        graph.node.append(node)
        for value in outputs:
            _define(values, value)

    def _inputs(self, values: Sequence[Value], most: int) -> list[str]:
        """Values, some of which are absent."""
        known = ["", *(value.name for value in values)]
        return self.draw(st.lists(st.sampled_from(known), max_size=most))

    def _outputs(self, scope: _Names, most: int) -> list[Value]:
        """New values of which nothing is known; some are not asked for."""
        count, unwanted = self.draw(st.integers(0, most)), Value("", TypeProto())
        return [
            Value(self._fresh(scope), TypeProto()) if self.draw(st.integers(0, 4)) else unwanted for _ in range(count)
        ]

    def _custom(self, scope: _Names, values: Sequence[Value], depth: int) -> tuple[NodeProto, list[Value]]:
        """A node of an unknown domain, with any attributes, also graphs that read outer values."""
        draw = self.draw
        inputs, outputs = self._inputs(values, 4), self._outputs(scope, 3)
        node = NodeProto(op_type=draw(nonempty_names), domain=draw(st.sampled_from(self.domains)), input=inputs)
        if self._is_function(node):
            node.op_type += " "
        known = draw(st.lists(nonempty_names, max_size=4, unique=True))
        for name in known:
            node.attribute.append(draw(attributes(name)))
        if depth == 0 and draw(st.integers(0, 2)) == 0:
            graphs = [self.graph(scope, values, inputs=draw(st.integers(0, 2))) for _ in range(draw(st.integers(0, 2)))]
            kind = AttributeProto.GRAPH if len(graphs) == 1 and draw(st.booleans()) else AttributeProto.GRAPHS
            attribute = node.attribute.add(name="graph " + draw(texts), type=kind)
            if kind == AttributeProto.GRAPH:
                attribute.g.CopyFrom(graphs[0])
            else:
                attribute.graphs.extend(graphs)
        made = [Value(value.name, draw(types(self.elements))) if value.name else value for value in outputs]
        node.output.extend(value.name for value in made)
        return node, [value for value in made if value.name]

    def _is_function(self, node: NodeProto) -> bool:
        return any((node.domain, node.op_type) == (each.function.domain, each.function.name) for each in self.functions)

    def _identity(self, scope: _Names, values: Sequence[Value], depth: int) -> tuple[NodeProto, list[Value]]:
        """An operator of the standard whose result has the type of its operand."""
        fitting = [value for value in values if value.type.tensor_type.elem_type not in NO_IDENTITY]
        if not fitting:
            return self._constant(scope, values, depth)
        value = self.draw(st.sampled_from(fitting))
        is_float = value.type.tensor_type.elem_type == TensorProto.FLOAT
        op_type = self.draw(st.sampled_from(["Identity", "Relu", "Neg", "LeakyRelu"] if is_float else ["Identity"]))
        type = TypeProto()
        type.CopyFrom(value.type)
        type.ClearField("denotation")
        for dim in type.tensor_type.shape.dim:
            dim.ClearField("denotation")
        node = helper.make_node(op_type, [value.name], [self._fresh(scope)])
        if op_type == "LeakyRelu":
            node.attribute.add(name="alpha", type=AttributeProto.FLOAT, f=self.draw(FLOAT32))
        return node, [Value(node.output[0], type)]

    def _constant(self, scope: _Names, values: Sequence[Value], depth: int) -> tuple[NodeProto, list[Value]]:
        """A Constant node with its value in any of its attributes."""
        draw, name = self.draw, self._fresh(scope)
        kinds: dict[str, tuple[AttributeProto.AttributeType, st.SearchStrategy[Any]]] = {
            "value": (AttributeProto.TENSOR, tensors(elements=self.elements)),
            "sparse_value": (AttributeProto.SPARSE_TENSOR, sparse_tensors()),
            "value_int": (AttributeProto.INT, INT64),
            "value_ints": (AttributeProto.INTS, st.lists(INT64, max_size=3)),
            "value_float": (AttributeProto.FLOAT, FLOAT32),
            "value_floats": (AttributeProto.FLOATS, st.lists(FLOAT32, max_size=3)),
            "value_string": (AttributeProto.STRING, byte_strings),
            "value_strings": (AttributeProto.STRINGS, st.lists(byte_strings, max_size=3)),
        }
        key = draw(st.sampled_from(list(kinds)))
        kind, contents = kinds[key]
        attribute = make_attribute(key, kind, draw(contents))
        return NodeProto(op_type="Constant", output=[name], attribute=[attribute]), [Value(name, TypeProto(), True)]

    def _if(self, scope: _Names, values: Sequence[Value], depth: int) -> tuple[NodeProto, list[Value]]:
        """A condition on what another node makes; the branches read the values around."""
        condition = self.draw(st.sampled_from([value for value in values if value.type == _CONDITION]))
        type = self.draw(tensor_types(PLAIN_TYPES))
        branches = [self.graph(scope, values, inputs=0, results=[type]) for _ in range(2)]
        node = helper.make_node("If", [condition.name], [self._fresh(scope)])
        for name, branch in zip(("then_branch", "else_branch"), branches, strict=True):
            node.attribute.add(name=name, type=AttributeProto.GRAPH).g.CopyFrom(branch)
        return node, [Value(node.output[0], TypeProto(), inferred=True)]

    # Functions

    def _add_function(self) -> None:
        """A function with attributes with and without defaults, which may call those before it."""
        draw, scope = self.draw, _Names()
        function = FunctionProto(domain=draw(st.sampled_from(self.domains)), name=draw(nonempty_names) + "()")
        if overload := draw(texts):
            function.overload = overload
        if any(_key(function) == _key(other.function) for other in self.functions):
            return
        values = [Value(self._fresh(scope), TypeProto()) for _ in range(draw(st.integers(0, 3)))]
        function.input.extend(value.name for value in values)
        attributes_named = draw(st.lists(nonempty_names, max_size=4, unique=True))
        function.attribute.extend(attributes_named[::2])
        function.attribute_proto.extend(draw(attributes(name)) for name in attributes_named[1::2])
        graph = GraphProto()
        for _ in range(draw(st.integers(1, 3))):
            self._add_node(graph, scope, values, depth=1)
        self._refer(graph, attributes_named)
        function.node.extend(graph.node)
        computed = values[len(function.input) :]
        outputs = draw(st.lists(st.sampled_from(computed), max_size=2, unique_by=id)) if computed else []
        function.output.extend(value.name for value in outputs)
        for domain in ("", *self.domains):
            function.opset_import.add(domain=domain, version=self.opset if domain == "" else draw(st.integers(1, 9)))
        document(draw, function)
        self.functions.append(Signature(function))

    def _refer(self, graph: GraphProto, attributes_named: Sequence[str]) -> None:
        """Let nodes take attributes of the function around."""
        for node in graph.node:
            if attributes_named and node.domain in self.domains and not self._is_function(node):
                target = self.draw(st.sampled_from(attributes_named))
                kind = self.draw(st.sampled_from(ATTRIBUTE_KINDS))
                node.attribute.add(name="a reference", type=kind, ref_attr_name=target)

    def _call(self, scope: _Names, values: Sequence[Value], depth: int) -> tuple[NodeProto, list[Value]]:
        """A call of a function, which may leave out inputs and outputs at the end."""
        draw = self.draw
        callee = draw(st.sampled_from(self.functions))
        inputs = self._inputs(values, len(callee.function.input))
        outputs = self._outputs(scope, len(callee.function.output))
        node = callee.call(inputs, [value.name for value in outputs])
        for name in draw(st.lists(nonempty_names, max_size=2, unique=True)):
            node.attribute.append(draw(attributes(name)))
        return node, [Value(value.name, value.type, inferred=True) for value in outputs if value.name]


def _define(values: list[Value], value: Value) -> None:
    """Add a value to those that can be read; it hides one of the same name."""
    values[:] = [other for other in values if other.name != value.name]
    values.append(value)


def _key(function: FunctionProto) -> tuple[str, str, str]:
    return function.domain, function.name, function.overload


_CONDITION = helper.make_tensor_type_proto(TensorProto.BOOL, [])
"""The type of the first input, on which an If may depend."""


@st.composite
def models(draw: st.DrawFn, *, hiding: bool = False) -> ModelProto:
    """A model with anything in it; see the module docstring. ``hiding`` lets graphs hide names, which ONNX forbids."""
    return _ModelDrawer(draw, hiding=hiding).model()


def numbered(model: ModelProto) -> ModelProto:
    """A copy with its values called ``v0``, ``v1``, ... in order: what they are called in the model does not matter."""
    copy = ModelProto()
    copy.CopyFrom(model)
    _number(copy.graph, {}, [0])
    for function in copy.functions:
        graph = GraphProto(node=function.node, value_info=function.value_info)
        graph.input.extend(ValueInfoProto(name=name) for name in function.input)
        graph.output.extend(ValueInfoProto(name=name) for name in function.output)
        _number(graph, {}, [0])
        del function.node[:], function.value_info[:], function.input[:], function.output[:]
        function.node.extend(graph.node)
        function.value_info.extend(graph.value_info)
        function.input.extend(value.name for value in graph.input)
        function.output.extend(value.name for value in graph.output)
    return copy


def _number(graph: GraphProto, outer: Mapping[str, str], count: list[int]) -> None:
    names = dict(outer)

    def define(name: str) -> str:
        if name:
            names[name] = f"v{count[0]}"
            count[0] += 1
        return names.get(name, "")

    constants = [*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)]
    given = {tensor.name for tensor in constants}
    for value in graph.input:
        if value.name not in given:
            define(value.name)
    for tensor in constants:
        tensor.name = define(tensor.name)
    for value in graph.input:
        value.name = names[value.name]
    for node in graph.node:
        node.input[:] = [names.get(name, "") for name in node.input]
        for attribute in sorted(node.attribute, key=lambda attribute: attribute.name):
            for inner in (attribute.g, *attribute.graphs) if attribute.type in _GRAPHS else ():
                _number(inner, names, count)
        node.output[:] = [define(name) for name in node.output]
    for value in (*graph.output, *graph.value_info):
        value.name = names.get(value.name, value.name)


_GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
