"""Carrying the nodes of a model from one opset to another, over one boundary of their operator after the other.

Going up, a boundary is a *widening* (the node means the same on both sides, see :mod:`.widenings`), or an adapter
rewrites the node. Going down, in this order:

1. an adapter rewrites the node, if there is one for the boundary and it has something to do;
2. over a widening the node stays as it is, when all that it uses was legal before (:mod:`.legality`);
3. the node computes in a wider type between casts (:mod:`.recast`);
4. the node becomes the function by which the standard defines its operator (:mod:`.functions`);
5. it is refused, with the oldest opset that can express it.

Graphs in attributes of a node are converted before the node. Nothing is done by changing the number of the opset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnx import GraphProto, NodeProto, TypeProto
from onnx.defs import OpSchema

from ge.targets.onnx.adapters.builder import Builder
from ge.targets.onnx.adapters.functions import body_opset, expand
from ge.targets.onnx.adapters.graphs import (
    Owner,
    defined,
    drop_opset_note,
    graphs_of,
    inner_graphs,
    names,
    own_opset,
    reads,
)
from ge.targets.onnx.adapters.inference import infer_inputs, infer_types
from ge.targets.onnx.adapters.legality import fit
from ge.targets.onnx.adapters.recast import recast
from ge.targets.onnx.adapters.schemas import schema_at, version_after, version_before
from ge.targets.onnx.adapters.table import adapter, keeps_meaning
from ge.targets.onnx.adapters.values import Node, RefusalError, Scope, node_of
from ge.targets.onnx.adapters.widenings import is_widening

AI_ONNX = ("", "ai.onnx")
"""The two names of the domain that opsets are of."""


@dataclass(frozen=True)
class Refused:
    """A node that could not be converted."""

    node: NodeProto
    opset: int
    """That the node is written for."""
    why: str
    lowest: int
    """The oldest opset that can express it, when going down."""


class Conversion:
    """The conversion of a graph (or function), with all graphs in it, from opset ``source`` to ``target``, in place."""

    def __init__(self, owner: Owner, types: dict[str, TypeProto], source: int, target: int) -> None:
        self.owner = owner
        self.source = source
        self.target = target
        self.refused: list[Refused] = []
        graphs = list(graphs_of(owner))
        self._names = {name for graph in graphs for name in defined(graph)}
        self._names.update(node.name for graph in graphs for node in graph.node)
        self._scope = Scope(types, self._unique, set(reads(owner)))

    def run(self) -> list[Refused]:
        """Convert all nodes; those that cannot be stay as they are and are returned."""
        if any(self._differs(node) for graph in graphs_of(self.owner) for node in graph.node):
            unread = self._names.difference(self._scope.read)
            self._graph(self.owner, self._scope.inner(self.owner), self.source)
            _drop_unread_constants(self.owner, unread)
        return self.refused

    def _differs(self, node: NodeProto) -> bool:
        return node.domain in AI_ONNX and own_opset(node, self.source) != self.target

    def _graph(self, graph: Owner, scope: Scope, opset: int) -> None:
        """Convert the nodes of a graph of the model, each after the graphs in it."""
        nodes: list[NodeProto] = []
        for node in graph.node:
            own = own_opset(node, opset)
            drop_opset_note(node)
            for inner in inner_graphs(node):
                self._graph(inner, scope.inner(inner), own)
            scope.add_node(node, own)
            nodes += self._checked(node, own, scope) if node.domain in AI_ONNX else [node]
        del graph.node[:]
        graph.node.extend(nodes)

    def _checked(self, node: NodeProto, opset: int, scope: Scope) -> list[NodeProto]:
        """The nodes for one node of the model, or the node itself, and a note of why there are none."""
        try:
            return self._chain(node, opset, self.target, scope)
        except RefusalError as refusal:
            self.refused.append(Refused(node, opset, str(refusal), self._lowest(node, opset, scope)))
            return [node]

    def _lowest(self, node: NodeProto, opset: int, scope: Scope) -> int:
        """The oldest opset that a node can be lowered to."""
        lowest = self.target
        while lowest < opset:
            try:
                self._chain(node, opset, lowest, scope)
            except _BoundaryRefusalError as refusal:
                lowest = max(lowest + 1, refusal.version)
            else:
                break
        return lowest

    def _chain(self, node: NodeProto, opset: int, target: int, scope: Scope) -> list[NodeProto]:
        """What a node of ``opset`` becomes at ``target``; the graphs in it are at ``target`` already."""
        schema = schema_at(node.op_type, opset)
        if schema is None:
            return [node]
        if opset <= target:
            if keeps_meaning(node.op_type, opset, target):
                return [node]
            return self._up(Node(node, _undeprecated(schema), scope), target)
        if schema.since_version <= target:
            return [node]
        try:
            return self._down(Node(node, schema, scope), schema, target)
        except _BoundaryRefusalError:
            raise
        except RefusalError as refusal:
            raise _BoundaryRefusalError(str(refusal), schema.since_version) from refusal

    def _up(self, node: Node, target: int) -> list[NodeProto]:
        before = node.schema.since_version
        after = version_after(node.op_type, before)
        if not after or after > target:
            return [node.proto]
        if is_widening(node.op_type, after):
            return self._chain(node.proto, after, target, node.scope)
        rewrite = adapter(node.op_type, before, after)
        if rewrite is None:
            raise RefusalError(f"nothing carries it from version {before} to {after}")
        new = Builder(node, after)
        rewrite(node, new)
        return self._continue(new.nodes or [node.proto], after, target, node.scope)

    def _down(self, node: Node, schema: OpSchema, target: int) -> list[NodeProto]:
        version = schema.since_version
        before = version_before(node.op_type, version)
        rewrite = adapter(node.op_type, version, before)
        new = Builder(node, version - 1)
        if rewrite is not None:
            rewrite(node, new)
        if new.nodes:
            fitting = [done for proto in new.nodes for done in self._fitting(proto, version - 1, node.scope)]
            return self._continue(fitting, version - 1, target, node.scope)
        if not before:
            return self._expanded(node, schema, target, f"{node.op_type} does not exist before opset {version}")
        fitted = fit(node.proto, version - 1, node.scope.types)
        if isinstance(fitted, NodeProto):
            return self._chain(fitted, version - 1, target, node.scope)
        if recast(node, new):
            return self._continue(new.nodes, version - 1, target, node.scope)
        return self._expanded(node, schema, target, f"before opset {version} {node.op_type} {fitted}")

    def _fitting(self, proto: NodeProto, opset: int, scope: Scope) -> list[NodeProto]:
        """A node that an adapter wrote, legal at ``opset``, if need be in a wider type. Raises RefusalError."""
        if own_opset(proto, opset) != opset:
            return [proto]
        fitted = fit(proto, opset, scope.types) if proto.domain in AI_ONNX else proto
        if isinstance(fitted, NodeProto):
            return [fitted]
        new = Builder(node_of(proto, opset, scope), opset)
        if not recast(new.node, new):
            raise RefusalError(f"before opset {opset + 1} {proto.op_type} {fitted}")
        return new.nodes

    def _expanded(self, node: Node, schema: OpSchema, target: int, why: str) -> list[NodeProto]:
        """The body of the function that defines the operator. Raises RefusalError."""
        opset = body_opset(schema)
        if not opset:
            raise RefusalError(why)
        new = Builder(node, opset)
        try:
            expand(node, new)
        except RefusalError as refusal:
            raise RefusalError(f"{why}, and {refusal}") from refusal
        done: list[NodeProto] = []
        for proto in new.nodes:
            self._inner(proto, opset, target, node.scope)
            done += self._chain(proto, opset, target, node.scope)
        return done

    def _inner(self, owner: NodeProto, opset: int, target: int, outer: Scope) -> None:
        """Convert the graphs in a node of the body of a function."""
        for graph in inner_graphs(owner):
            scope = outer.inner(graph)
            infer_inputs(owner, graph, scope)
            nodes: list[NodeProto] = []
            for node in graph.node:
                scope.add_node(node, opset)
                infer_types(node, opset, scope)
                self._inner(node, opset, target, scope)
                nodes += self._chain(node, opset, target, scope)
            del graph.node[:]
            graph.node.extend(nodes)

    def _continue(self, nodes: Iterable[NodeProto], opset: int, target: int, scope: Scope) -> list[NodeProto]:
        done: list[NodeProto] = []
        for node in nodes:
            own = own_opset(node, opset)
            drop_opset_note(node)
            done += self._chain(node, own, target, scope)
        return done

    def _unique(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self._names:
            number += 1
            candidate = f"{name}_{number}"
        self._names.add(candidate)
        return candidate


class _BoundaryRefusalError(RefusalError):
    """A refusal on the way down, with the version of the operator that could not be left."""

    def __init__(self, why: str, version: int) -> None:
        super().__init__(why)
        self.version = version


def _undeprecated(schema: OpSchema) -> OpSchema:
    """The version to treat a node as: an operator that was given up for good means what it meant before."""
    if schema.deprecated and not version_after(schema.name, schema.since_version):
        return schema_at(schema.name, schema.since_version - 1) or schema
    return schema


def _drop_unread_constants(owner: Owner, unread_before: set[str]) -> None:
    """Take out the constants that nothing reads any more, as axes that became an attribute."""
    needed = set(reads(owner)) | unread_before
    for inner in graphs_of(owner):
        kept = needed.union(names(inner.input))
        if isinstance(inner, GraphProto):
            for position in reversed(range(len(inner.initializer))):
                if inner.initializer[position].name not in kept:
                    del inner.initializer[position]
        for position in reversed(range(len(inner.node))):
            node = inner.node[position]
            if node.op_type == "Constant" and kept.isdisjoint(node.output):
                del inner.node[position]
