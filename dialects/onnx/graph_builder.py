"""Writing operations as a graph of ONNX, with the names and notes that they have (:mod:`ge.dialects.onnx.notes`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from onnx import AttributeProto, GraphProto, NodeProto
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ge.dialects.onnx.attributes import SparseAttr, TensorAttr, literal_array, to_attribute
from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.custom import Call, Custom
from ge.dialects.onnx.ops import Constant, yielded
from ge.dialects.onnx.protos import (
    TensorMaker,
    add_documentation,
    add_rest,
    attribute_protos,
    dictionary_note,
    sparse_tensor_proto,
    tensor_proto,
    text_note,
    text_notes,
)
from ge.dialects.onnx.schema import AttributeKind
from ge.dialects.onnx.scopes import Scope
from ge.dialects.onnx.types import ABSENT, UNKNOWN
from ge.dialects.onnx.value_info import stated_infos, value_info
from ge.ir.errors import GeError
from ge.ir.locations import node_names, where


def default_output_names(label: str, unnamed: bool, count: int) -> list[str]:
    """The names of the outputs of a node that are not written down."""
    return [_default_output_name(label, unnamed, count, index) for index in range(count)]


def _default_output_name(label: str, unnamed: bool, count: int, index: int) -> str:
    return label if unnamed and count == 1 else f"{label}_output_{index}"


def result_name(op: Operation, index: int) -> str:
    """The ONNX name of a result."""
    written = op.attributes.get("onnx.outputs")
    texts = cast("ArrayAttr[StringAttr]", written).data if isinstance(written, ArrayAttr) else ()
    if len(texts) == len(op.results):
        return texts[index].data
    label = next(iter(node_names(op)), "") or op.results[index].name_hint or op.name.rpartition(".")[2]
    if isinstance(op, Constant):
        return label
    unnamed = op.attributes.get("onnx.name") == StringAttr("")
    return _default_output_name(label, unnamed, len(op.results), index)


class GraphBuilder:
    """Writes operations as graphs.

    Constants of more than ``max_constant_bytes`` become inputs of the graph, for a reader that only asks for types.
    ``tensor`` makes the message of a constant. All names in the graphs of one builder differ, unless it is ``scoped``:
    then graphs beside each other may use the same names, as the branches of an If in many models do. ``only_nodes``
    writes every constant as a node, for functions, which have no initializers.
    """

    def __init__(
        self,
        max_constant_bytes: int | None = None,
        *,
        tensor: TensorMaker = tensor_proto,
        scoped: bool = False,
        only_nodes: bool = False,
    ) -> None:
        self.max_constant_bytes = max_constant_bytes
        self.names: dict[SSAValue, str] = {}
        """The ONNX name of each value written."""
        self._tensor = tensor
        self._scoped = scoped
        self._only_nodes = only_nodes
        self._scope: Scope | None = None
        self._all: set[str] = set()
        self._copies = 0

    def graph(
        self,
        ops: Iterable[Operation],
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
        notes: Operation | None = None,
        *,
        copied: Collection[SSAValue] = (),
    ) -> GraphProto:
        """The graph of ``ops`` (terminators are left out), with the notes of an operation, if it is given.

        An output that this graph does not define, or that is one already, or that has another name, gets its value from
        an Identity; so do inputs that are ``copied``.

        Raises GE3004 for operations of other dialects, GE3003 for values from elsewhere.
        """
        ops = [op for op in ops if op.parent is None or op.parent.last_op is not op or isinstance(op, OnnxOp)]
        self._scope = scope = Scope(self._scope, None if self._scoped else self._all)
        graph = GraphProto()
        for position, value in enumerate(inputs):
            self._bind(value, _at(input_names, position) or value.name_hint or "input")
            scope.define(self.names[value])
            graph.input.append(value_info(self.names[value], value.type, _value_notes(notes, "input", position)))
        own: dict[SSAValue, tuple[Operation, int]] = {
            result: (op, index) for op in ops for index, result in enumerate(op.results)
        }
        for position, value in enumerate(outputs):
            if value in own and value not in self.names:
                self._bind(value, _at(output_names, position) or result_name(*own[value]))
        for op in ops:
            if self._is_initializer(op):
                self._bind_results(op)
                scope.define(self.names[op.results[0]])
        for op in ops:
            self._add(graph, op, scope)
            self._state_results(graph, op, outputs)
        written: set[SSAValue] = set()
        for position, value in enumerate(outputs):
            is_new = self._only_nodes or value not in written  # functions may give one value twice
            written.add(value)
            here = (value in own or (value in inputs and value not in copied)) and is_new
            name = self._output(graph, value, _at(output_names, position), here, scope)
            graph.output.append(value_info(name, value.type, _value_notes(notes, "output", position)))
        self._insert_inputs(graph, ops)
        if notes is not None:
            _add_graph_notes(graph, notes)
        self._scope = scope.outer
        return graph

    def block(self, block: Block, notes: Operation) -> GraphProto:
        """The graph of a block; ``notes`` is the operation that has its notes: the function or the terminator.

        Some of its arguments are given as copies, since onnxruntime uses their memory again: all of a `Scan`, and the
        number of the turn in a `Loop`.
        """
        names = text_notes(notes, "input_names"), text_notes(notes, "output_names")
        around = block.parent_op()
        count = _COPIED.get(around.op_type, 0) if isinstance(around, OnnxOp) else 0
        return self.graph(block.ops, block.args, yielded(block), *names, notes=notes, copied=block.args[:count])

    def _bind(self, value: SSAValue, name: str) -> None:
        assert self._scope is not None
        self.names[value] = self._scope.bind(name)

    def _output(self, graph: GraphProto, value: SSAValue, wanted: str, own: bool, scope: Scope) -> str:
        """The name under which a value is an output of the graph."""
        name = self._read(None, value)
        if own and wanted in ("", name):
            return name
        copy = scope.bind(wanted or (f"output_{self._copies}" if self._copies else "output"))
        self._copies += not wanted  # copies in graphs inside each other have different names, too
        graph.node.append(NodeProto(op_type="Identity", input=[name], output=[copy], name=scope.node_name(copy)))
        return copy

    def _add(self, graph: GraphProto, op: Operation, scope: Scope) -> None:
        """Add the node, or the initializer, of one operation."""
        if not isinstance(op, OnnxOp):
            raise GeError("GE3004", f"operation '{op.name}' has no form in ONNX", where(op))
        self._bind_results(op)
        if self._is_input(op):
            graph.input.append(value_info(self.names[op.results[0]], op.results[0].type))
        elif self._is_initializer(op):
            self._add_initializer(graph, op)
        else:
            graph.node.append(self._constant_node(op) if isinstance(op, Constant) else self._node(op, scope))
        for result in op.results:
            scope.define(self.names.get(result, ""))

    def _bind_results(self, op: Operation) -> None:
        for index, result in enumerate(op.results):
            if result not in self.names and result.type != ABSENT:
                self._bind(result, result_name(op, index))

    def _is_input(self, op: Operation) -> bool:
        """Whether an operation is a constant that is too large for the graph."""
        nbytes = getattr(op.attributes.get("value"), "nbytes", 0) if isinstance(op, Constant) else 0
        return self.max_constant_bytes is not None and nbytes > self.max_constant_bytes

    def _is_initializer(self, op: Operation) -> bool:
        """Whether an operation is a constant that is no node."""
        return isinstance(op, Constant) and "onnx.node" not in op.attributes and not self._only_nodes

    def _state_results(self, graph: GraphProto, op: Operation, outputs: Sequence[SSAValue]) -> None:
        """State the types of results: those that the model states, and what nobody can infer."""
        graph.value_info.extend(stated_infos(op, [self.names.get(result, "") for result in op.results]))
        if isinstance(op, Custom) and not isinstance(op, Call) and "onnx.stated" not in op.attributes:
            inner = [result for result in op.results if result.type not in (ABSENT, UNKNOWN) and result not in outputs]
            graph.value_info.extend(value_info(self.names[result], result.type) for result in inner)

    # Constants

    def _add_initializer(self, graph: GraphProto, op: OnnxOp) -> None:
        literal, value = op.attributes["value"], op.results[0]
        name = self.names[value]
        if isinstance(literal, SparseAttr):
            notes = dictionary_note(op, "tensor")
            sparse = sparse_tensor_proto(literal, value.type, notes, self._tensor)
            sparse.values.name = name
            graph.sparse_initializer.append(sparse)
        else:
            tensor = self._tensor(literal, value.type, name)
            add_documentation(tensor, op.attributes)
            graph.initializer.append(tensor)

    def _insert_inputs(self, graph: GraphProto, ops: Sequence[Operation]) -> None:
        """Put the initializers that are inputs, too, among the inputs, where the model has them."""
        notes = {op: dictionary_note(op, "input") for op in ops if "onnx.input" in op.attributes}
        places = {op: cast("IntegerAttr[Any]", note["index"]).value.data for op, note in notes.items()}
        inputs, known = list(graph.input), {info.name for info in graph.input}
        for op, place in sorted(places.items(), key=lambda item: item[1]):
            (value,) = op.results
            if self.names[value] not in known:
                inputs.insert(place, value_info(self.names[value], value.type, notes[op]))
        del graph.input[:]
        graph.input.extend(inputs)

    def _constant_node(self, op: OnnxOp) -> NodeProto:
        """A Constant node, with its value in the attribute in which the model has it."""
        literal, type = op.attributes["value"], op.results[0].type
        kind = text_note(op, "attribute")
        if kind:
            word = cast(AttributeKind, kind.removeprefix("value_"))
            value = to_attribute(word, literal_array(literal, type).tolist())
        else:
            kind = "sparse_value" if isinstance(literal, SparseAttr) else "value"
            value = TensorAttr(literal, type, DictionaryAttr(dict(dictionary_note(op, "tensor"))))
        notes = {name: note for name, note in op.attributes.items() if "." in name}
        node = NodeProto(op_type="Constant", output=[self.names[op.results[0]]], name=text_note(op, "node") or None)
        node.attribute.extend(attribute_protos({**notes, kind: value}, self._tensor))
        add_documentation(node, notes)
        add_rest(node, op)
        return node

    # Nodes

    def _node(self, op: OnnxOp, scope: Scope) -> NodeProto:
        node = NodeProto(
            op_type=op.op_type, domain=op.domain or None, attribute=attribute_protos(op.attributes, self._tensor)
        )
        if isinstance(op, Custom) and op.overload:
            node.overload = op.overload
        node.input.extend("" if value is None else self._read(op, value) for value in op.input_list())
        node.input.extend([""] * (_places_in_front(op) - len(node.input)))
        node.output.extend(self.names.get(result, "") for result in op.results)
        if name := _node_name(op, node, scope):
            node.name = name
        self._add_graphs(node, op)
        add_documentation(node, op.attributes)
        add_rest(node, op)
        return node

    def _add_graphs(self, node: NodeProto, op: OnnxOp) -> None:
        regions = iter(op.regions)
        docs = dictionary_note(op, "attribute_docs")
        for group in op.region_groups:
            attribute = node.attribute.add(name=group.name)
            if group.count is None:
                attribute.type = AttributeProto.GRAPH
                attribute.g.CopyFrom(self._body(next(regions).block))
            else:
                attribute.type = AttributeProto.GRAPHS
                attribute.graphs.extend(self._body(next(regions).block) for _ in range(group.count))
            if group.name in docs:
                attribute.doc_string = cast(StringAttr, docs[group.name]).data

    def _read(self, op: OnnxOp | None, value: SSAValue) -> str:
        if value not in self.names:
            reader = "an output" if op is None else f"'{op.op_type}'"
            raise GeError("GE3003", f"{reader} reads a value that is not among these operations", op and where(op))
        return self.names[value]

    def _body(self, block: Block) -> GraphProto:
        terminator = cast(Operation, block.last_op)
        graph = self.block(block, terminator)
        if "onnx.graph_name" not in terminator.attributes:
            graph.name = next(iter(node_names(terminator)), "body")
        return graph


_COPIED = {"Loop": 1, "Scan": None}
"""How many arguments of the body of an operator must be copied when it gives them; None: all of them."""


def _node_name(op: OnnxOp, node: NodeProto, scope: Scope) -> str:
    """The name of a node: what the model says, or one that no other node has."""
    if isinstance(stated := op.attributes.get("onnx.name"), StringAttr):
        return stated.data
    return scope.node_name(next(iter(node_names(op)), "") or next(filter(None, node.output), op.op_type))


def _places_in_front(op: OnnxOp) -> int:
    """How many inputs are in front of those that may be any number: the standard wants `Loop(n, "")`, not `Loop(n)`."""
    parameters = () if isinstance(op, Custom) else op.operator.inputs
    return len(parameters) - 1 if parameters and parameters[-1].variadic else 0


def _at(names: Sequence[str], position: int) -> str:
    return names[position] if position < len(names) else ""


def _value_notes(owner: Operation | None, side: str, position: int) -> Mapping[str, Attribute]:
    """The notes of an input or output of the graph of a function or terminator."""
    if owner is None:
        return {}
    if isinstance(owner, FuncOp):
        tables = owner.arg_attrs if side == "input" else owner.res_attrs
    else:
        tables = cast("ArrayAttr[DictionaryAttr] | None", owner.attributes.get(f"onnx.{side}_values"))
    return tables.data[position].data if tables is not None and position < len(tables) else {}


def _add_graph_notes(graph: GraphProto, owner: Operation) -> None:
    if name := text_note(owner, "graph_name"):
        graph.name = name
    add_documentation(graph, owner.attributes)
    add_rest(graph, owner)
    if others := dictionary_note(owner, "values"):
        defined = {name for node in graph.node for name in node.output}  # a new value may have taken a name
        for name in (name for name in others if name not in defined):
            graph.value_info.append(value_info(name, UNKNOWN, cast(DictionaryAttr, others[name]).data))
