"""Bringing a model to the opset that the dialect speaks, node by node.

Between two opsets most operators do not change, or only accept more types or attributes: such a node stays as it is.
A node whose operator changed its form or meaning is converted by ``onnx.version_converter`` in a model made of
just such nodes and the constants they read: all other nodes, and all names, are out of the converter's reach, and a
failure names the node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, defs, helper, version_converter
from onnx.defs import OpSchema

from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.opset_repairs import REFUSED, REPAIRS, Context

_CHANGED_MEANING = frozenset(
    {("PRelu", 7), ("Resize", 11), ("RoiAlign", 16), ("Split", 18), ("GroupNormalization", 21)}
)
"""Versions of operators that changed the meaning of nodes written for the version before, although the form still fits:
broadcasting of the slope, coordinates of pixels (twice), the number of parts, one scale per channel, not per group."""

_IR_VERSION = 8
"""Of the one-node models: the first in which initializers need not be inputs was 4."""


def domain_versions(model: ModelProto, name: str) -> dict[str, int]:
    """The version of each domain that the model imports; ``ai.onnx`` is another name of the empty domain.

    Raises GE1015 for two versions of one domain and for an opset that is newer than ours.
    """
    versions: dict[str, int] = {}
    for entry in model.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if versions.setdefault(domain, entry.version) != entry.version:
            what = f"'{name}' imports domain '{domain or 'ai.onnx'}' twice, as {versions[domain]} and {entry.version}"
            raise GeError("GE1015", what, name)
    versions.setdefault("", 1)
    if versions[""] > OPSET:
        raise GeError("GE1015", f"'{name}' uses opset {versions['']}, the newest known is {OPSET}", name)
    return versions


@cache
def schema_at(op_type: str, version: int, domain: str = "") -> OpSchema | None:
    """The definition of an operator that is valid at an opset, or None."""
    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None


@cache
def keeps_meaning(op_type: str, old: int, new: int) -> bool:
    """Whether every node of ``op_type`` that is valid at opset ``old`` means the same at opset ``new``."""
    first, last = schema_at(op_type, old), schema_at(op_type, new)
    if first is None or last is None:
        return False
    if first.since_version == last.since_version:
        return True
    steps = [schema_at(op_type, version) for version in range(old, new + 1)]
    return all(a is not None and b is not None and _step_keeps_meaning(a, b) for a, b in pairwise(steps))


def _step_keeps_meaning(old: OpSchema, new: OpSchema) -> bool:
    """Whether ``new`` only adds to ``old``: optional inputs and outputs at the end, optional attributes, types."""
    if old.since_version == new.since_version:
        return True
    return (
        not new.deprecated
        and (new.name, new.since_version) not in _CHANGED_MEANING
        and _extends(old.inputs, new.inputs)
        and _extends(old.outputs, new.outputs)
        and _attributes_extend(old, new)
        and all(_types(new, b) >= _types(old, a) for a, b in zip(old.inputs, new.inputs, strict=False))
    )


def _extends(old: Iterable[OpSchema.FormalParameter], new: Iterable[OpSchema.FormalParameter]) -> bool:
    old, new = list(old), list(new)
    optional = OpSchema.FormalParameterOption.Optional
    return (
        len(new) >= len(old)
        and all(a.name == b.name and b.option in (a.option, optional) for a, b in zip(old, new, strict=False))
        and all(extra.option == optional for extra in new[len(old) :])
    )


def _attributes_extend(old: OpSchema, new: OpSchema) -> bool:
    kept = all(
        name in new.attributes and _default(new.attributes[name]) == _default(attribute)
        for name, attribute in old.attributes.items()
    )
    required = {name for name, attribute in new.attributes.items() if attribute.required}
    return kept and required <= {name for name, attribute in old.attributes.items() if attribute.required}


def _default(attribute: OpSchema.Attribute) -> tuple[object, bytes]:
    return attribute.type, attribute.default_value.SerializeToString()


def _types(schema: OpSchema, parameter: OpSchema.FormalParameter) -> set[str]:
    return set(parameter.types)


def check_node(node: NodeProto, version: int, where: str) -> None:
    """Raise GE1017 when a node of ai.onnx does not fit its operator at the opset the model declares."""
    schema = schema_at(node.op_type, version)
    if schema is None:
        return
    unknown = [attribute.name for attribute in node.attribute if attribute.name not in schema.attributes]
    if unknown:
        raise GeError("GE1017", f"{node.op_type} has no attribute '{unknown[0]}' at opset {version}", where)
    for side, given, most in (("inputs", node.input, schema.max_input), ("outputs", node.output, schema.max_output)):
        if len(given) > most:
            raise GeError("GE1017", f"{node.op_type} has {len(given)} {side}, at opset {version} at most {most}", where)


class Upgrade:
    """The conversion of one model from opset ``version`` to :data:`OPSET`, in place."""

    def __init__(self, model: ModelProto, version: int, name: str) -> None:
        self.model = model
        self.version = version
        self.name = name
        self._names = {value for graph in graphs_of(model.graph) for value in _values(graph)}

    def needed(self) -> bool:
        """Whether any node changes. Checks each node; raises GE1017."""
        changes = False
        for graph in graphs_of(self.model.graph):
            for node in graph.node:
                if node.domain in ("", "ai.onnx"):
                    check_node(node, self.version, self._where(node))
                    changes |= not self._stays(node)
        return changes

    def run(self, types: Mapping[str, onnx.ValueInfoProto]) -> None:
        """Convert the nodes that change. ``types`` has the inferred type of each value, which conversions look at."""
        outer = dict(_constants(self.model.graph))
        for graph in list(graphs_of(self.model.graph)):
            changing = [node for node in graph.node if not self._stays(node)]
            if not changing:
                continue
            constants = outer | dict(_constants(graph))
            try:
                groups = self._convert(changing, types, constants)
            except GeError:
                groups = [self._convert([node], types, constants)[0] for node in changing]
            replacements = iter(groups)
            nodes = [new for node in graph.node for new in ([node] if self._stays(node) else next(replacements))]
            del graph.node[:]
            graph.node.extend(nodes)

    def _stays(self, node: NodeProto) -> bool:
        if node.domain not in ("", "ai.onnx") or schema_at(node.op_type, self.version) is None:
            return True
        return keeps_meaning(node.op_type, self.version, OPSET)

    def _where(self, node: NodeProto) -> str:
        return f"{self.name}, node '{node.name or next(iter(node.output), '')}' ({node.op_type})"

    def _convert(
        self,
        nodes: Sequence[NodeProto],
        types: Mapping[str, onnx.ValueInfoProto],
        constants: Mapping[str, TensorProto],
    ) -> list[list[NodeProto]]:
        """For each of ``nodes``, the nodes that do at the newest opset what it does at the opset of the model.

        They are converted in one model, which has every value that they read from elsewhere as an input. Raises GE1016,
        which names the node when there is only one.
        """
        for node in nodes:
            self._refuse(node)
        outputs = list(filter(None, (name for node in nodes for name in node.output)))
        inputs = dict.fromkeys(name for node in nodes for name in node.input if name and name not in outputs)
        graph = helper.make_graph(
            nodes,
            "nodes",
            [_value_info(name, types, constants) for name in inputs],
            [_value_info(name, types, {}) for name in outputs],
            [constants[name] for name in inputs if name in constants],
        )
        opset = helper.make_opsetid("", self.version)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        try:
            result = version_converter.convert_version(model, OPSET).graph
        except Exception as error:
            what = f"{nodes[0].op_type} cannot be converted from opset {self.version} to {OPSET}"
            raise GeError("GE1016", what, self._where(nodes[0]), why=_reason(error)) from error
        known = {*inputs, *outputs}
        new_nodes = [_constant_node(tensor) for tensor in result.initializer if tensor.name not in known]
        groups = self._grouped(nodes, [*new_nodes, *result.node], known)
        return [self._repaired(*pair, types, constants) for pair in zip(nodes, groups, strict=True)]

    def _repaired(
        self,
        node: NodeProto,
        group: list[NodeProto],
        types: Mapping[str, onnx.ValueInfoProto],
        constants: Mapping[str, TensorProto],
    ) -> list[NodeProto]:
        """The converted nodes of one node, after the repair that they need."""
        version, repair = REPAIRS.get(node.op_type, (0, None))
        if repair is not None and self.version < version:
            group = repair(node, group, Context(types, constants, self._unique, self._where(node)))
        return group

    def _refuse(self, node: NodeProto) -> None:
        """Raise GE1016 for a node whose conversion is known to be wrong."""
        version, why = REFUSED.get(node.op_type, (0, ""))
        if self.version < version:
            what = f"{node.op_type} cannot be converted from opset {self.version} to {OPSET}"
            raise GeError("GE1016", what, self._where(node), why=why)

    def _grouped(
        self, nodes: Sequence[NodeProto], converted: Sequence[NodeProto], known: Collection[str]
    ) -> list[list[NodeProto]]:
        """The converted nodes by the node they come from, with names that fit into the model.

        The nodes behind one original node are those that its outputs need, back to values of the model.
        """
        producers = {output: position for position, node in enumerate(converted) for output in node.output}
        groups: list[list[NodeProto]] = []
        done: set[int] = set()
        for node in nodes:
            group: set[int] = set()
            pending = [producers[output] for output in node.output if output in producers]
            while pending:
                position = pending.pop()
                if position in done:
                    continue
                done.add(position)
                group.add(position)
                pending += [producers[i] for i in converted[position].input if i in producers and i not in known]
            groups.append(self._renamed(node, [converted[position] for position in sorted(group)], known))
        return groups

    def _renamed(self, node: NodeProto, group: list[NodeProto], known: Collection[str]) -> list[NodeProto]:
        """The nodes that replace ``node``: its outputs keep their names, inner values get new, unique names."""
        names = {
            output: self._unique(f"{node.name or node.output[0]}_{new.op_type}")
            for new in group
            for output in new.output
            if output and output not in known
        }
        for new in group:
            new.input[:] = [names.get(name, name) for name in new.input]
            new.output[:] = [names.get(name, name) for name in new.output]
            new.name = node.name if any(output in node.output for output in new.output) else new.output[0]
        return group

    def _unique(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self._names:
            number += 1
            candidate = f"{name}_{number}"
        self._names.add(candidate)
        return candidate


def graphs_of(graph: GraphProto) -> Iterator[GraphProto]:
    """A graph and all graphs in attributes of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs) if attribute.type in _GRAPHS else ():
                yield from graphs_of(inner)


_GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def _values(graph: GraphProto) -> Iterator[str]:
    """The names of all values that a graph defines."""
    yield from (value.name for value in graph.input)
    yield from (tensor.name for tensor in graph.initializer)
    yield from (output for node in graph.node for output in node.output)


def _constants(graph: GraphProto) -> Iterator[tuple[str, TensorProto]]:
    """The small constants of a graph by name; large ones lie outside the message."""
    for tensor in graph.initializer:
        if tensor.data_location != TensorProto.EXTERNAL:
            yield tensor.name, tensor
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            tensor = TensorProto()
            tensor.CopyFrom(node.attribute[0].t)
            tensor.name = node.output[0]
            if tensor.data_location != TensorProto.EXTERNAL:
                yield tensor.name, tensor


def _value_info(
    name: str, types: Mapping[str, onnx.ValueInfoProto], constants: Mapping[str, TensorProto]
) -> onnx.ValueInfoProto:
    if name in constants:
        tensor = constants[name]
        return helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
    return types.get(name) or onnx.ValueInfoProto(name=name)


def _constant_node(tensor: TensorProto) -> NodeProto:
    return helper.make_node("Constant", [], [tensor.name], value=tensor)


def _reason(error: Any) -> str:
    """The converter's own words, without its source position."""
    text = " ".join(str(error).split())
    return text.rpartition(" failed: ")[2] or type(error).__name__
