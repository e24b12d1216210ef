"""Bringing a model to another opset: up when it is imported, down when it is exported.

The work is done node by node by :mod:`ge.targets.onnx.adapters`. Here is what concerns the model as a whole: which
opset each node is written for, what is illegal there, and how a refusal is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    TypeProto,
    ValueInfoProto,
    helper,
    inliner,
)

from ge.dialects.onnx import ML_OPSET, OPSET
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.shape_inference import infer_types, value_types
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.conversion import AI_ONNX, Conversion, Refused
from ge.targets.onnx.adapters.graphs import OPSET_NOTE, graphs_of, inner_graphs, own_opset
from ge.targets.onnx.adapters.legality import form_obstacle
from ge.targets.onnx.adapters.schemas import histories, schema_at
from ge.targets.onnx.adapters.table import keeps_meaning

LOWEST_TARGET = 11
"""The oldest opset that models are exported for."""


def domain_versions(model: ModelProto, name: str) -> dict[str, int]:
    """The version of each domain that the model imports. Raises GE1015; see :func:`check_versions`."""
    versions = check_versions(model.opset_import, f"'{name}'", name)
    versions.setdefault("", 1)
    return versions


def check_versions(entries: Iterable[OperatorSetIdProto], owner: str, name: str) -> dict[str, int]:
    """The version of each domain that the model ``name`` or a function of it (``owner``) imports.

    ``ai.onnx`` is another name of the empty domain. Raises GE1015 for two versions of one domain, for a version that is
    newer than ours, and for one that cannot exist.
    """
    versions: dict[str, int] = {}
    for entry in entries:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if versions.setdefault(domain, entry.version) != entry.version:
            what = f"{owner} imports domain '{domain or 'ai.onnx'}' twice, as {versions[domain]} and {entry.version}"
            raise GeError("GE1015", what, name)
        oldest, newest = _KNOWN_VERSIONS.get(domain, _POSSIBLE_VERSIONS)
        if entry.version > newest:
            known = f"the newest known is {newest}"
        elif entry.version < oldest:
            known = f"the oldest is {oldest}"
        else:
            continue
        of = f" of domain '{domain}'" if domain else ""
        raise GeError("GE1015", f"{owner} uses opset {entry.version}{of}, {known}", name)
    return versions


_KNOWN_VERSIONS = {"": (1, OPSET), ML_DOMAIN: (1, ML_OPSET)}
_POSSIBLE_VERSIONS = (0, 2**31 - 1)
"""Of a domain that nothing is known of: the number is 0 where the model leaves it out; onnx takes 32 bits."""


def refuse_note(node: NodeProto, name: str) -> None:
    """Raise GE1020 for a node with the note that only :func:`mark_functions` writes."""
    if any(entry.key == OPSET_NOTE for entry in node.metadata_props):
        what = f"metadata '{OPSET_NOTE}' of a node is reserved for this compiler"
        raise GeError("GE1020", what, f"{name}, {_named(node)}", remedy="Take it out of the model.")


def check_node(node: NodeProto, version: int, where: str) -> None:
    """Raise GE1017 when a node of ai.onnx does not fit its operator at the opset the model declares."""
    schema = schema_at(node.op_type, version)
    if schema is None:
        if node.op_type in histories():
            first = histories()[node.op_type][0].since_version
            raise GeError("GE1017", f"{node.op_type} does not exist at opset {version}, first at {first}", where)
        return
    obstacle = form_obstacle(node, schema)
    if obstacle:
        raise GeError("GE1017", f"{node.op_type} {obstacle} at opset {version}", where)


# Up


def mark_functions(model: ModelProto, version: int) -> None:
    """Note on the nodes of local functions written for another opset which one it is; then they can be inlined.

    The functions import opset ``version`` afterwards, as the model does.
    """
    for function in model.functions:
        entries = [entry for entry in function.opset_import if entry.domain in AI_ONNX]
        if entries and entries[0].version != version:
            _mark(function, entries[0].version)
            entries[0].version = version


def _mark(owner: FunctionProto | GraphProto, version: int) -> None:
    for node in owner.node:
        node.metadata_props.add(key=OPSET_NOTE, value=str(version))
        for graph in inner_graphs(node):
            _mark(graph, version)


class Upgrade:
    """The conversion of one model from opset ``version`` to :data:`OPSET`, in place."""

    def __init__(self, model: ModelProto, version: int, name: str) -> None:
        self.model = model
        self.version = version
        self.name = name

    def needed(self) -> bool:
        """Whether any node changes. Checks each node; raises GE1017."""
        changes = False
        for graph in graphs_of(self.model.graph):
            for node in graph.node:
                version = own_opset(node, self.version)
                changes |= version != self.version
                if node.domain in AI_ONNX:
                    check_node(node, version, self._where(node))
                    changes |= node.op_type in histories() and not keeps_meaning(node.op_type, version, OPSET)
        return changes

    def run(self, types: Mapping[str, ValueInfoProto]) -> None:
        """Convert the nodes that change. ``types`` has the inferred type of each value. Raises GE1016."""
        known = {name: value.type for name, value in types.items()}
        refused = Conversion(self.model.graph, known, self.version, OPSET).run()
        if refused:
            first = refused[0]
            what = f"{first.node.op_type} cannot be converted from opset {first.opset} to {OPSET}: {first.why}"
            raise GeError("GE1016", what, self._where(first.node), why=_others(refused))

    def _where(self, node: NodeProto) -> str:
        return f"{self.name}, {_named(node)}"


# Down


def write_for_opset(model: ModelProto, types: dict[str, TypeProto], target: int) -> None:
    """Write a model of nodes of opset :data:`OPSET`, whichever one it names, for opset ``target``, in place.

    ``types`` has the types of its values, as far as they are known. Raises GE2006 for an opset that is not between
    :data:`LOWEST_TARGET` and :data:`OPSET`, GE1021 for nodes that have no equivalent, with the oldest opset that does.
    """
    if not LOWEST_TARGET <= target <= OPSET:
        raise GeError("GE2006", f"opset {target} is not between {LOWEST_TARGET} and {OPSET}", "--target-opset")
    if not _lower_functions(model, target):
        types = _inline_functions(model)
    refused = Conversion(model.graph, types, OPSET, target).run()
    if refused:
        first = refused[0]
        what = f"{first.node.op_type} cannot be written for opset {target}: {first.why}"
        what += f"; the lowest opset that can express it is {first.lowest}"
        lowest = max(refusal.lowest for refusal in refused)
        remedy = f"Give --target-opset={lowest} or more."
        raise GeError("GE1021", what, _named(first.node), why=_others(refused), remedy=remedy)
    _state_opset(model, target)
    model.ir_version = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)


def _lower_functions(model: ModelProto, target: int) -> bool:
    """Write the functions of a model for an opset, if all can be: others may be possible where types are known."""
    lowered: list[FunctionProto] = []
    for function in model.functions:
        copy = FunctionProto()
        copy.CopyFrom(function)
        if Conversion(copy, {value.name: value.type for value in copy.value_info}, OPSET, target).run():
            return False
        lowered.append(copy)
    del model.functions[:]
    model.functions.extend(lowered)
    return True


def _inline_functions(model: ModelProto) -> dict[str, TypeProto]:
    """Inline the functions of a model of nodes of opset :data:`OPSET`; the types of all values."""
    _state_opset(model, OPSET)
    model.CopyFrom(inliner.inline_local_functions(model))
    inferred = infer_types(model)
    return {name: value.type for graph in graphs_of(inferred.graph) for name, value in value_types(graph).items()}


def _state_opset(model: ModelProto, opset: int) -> None:
    for owner in (model, *model.functions):
        for entry in owner.opset_import:
            if entry.domain in AI_ONNX:
                entry.version = opset


def _named(node: NodeProto) -> str:
    return f"node '{node.name or next(filter(None, node.output), '')}' ({node.op_type})"


def _others(refused: Sequence[Refused]) -> str | None:
    """The refusals after the first, nodes of one reason together; None (what the code says) when there are none."""
    if len(refused) == 1:
        return None
    nodes: dict[str, list[str]] = {}
    for refusal in refused[1:]:
        nodes.setdefault(refusal.why, []).append(_named(refusal.node))
    return "The same holds of " + "; ".join(f"{_some(names)}: {why}" for why, names in nodes.items())


def _some(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
