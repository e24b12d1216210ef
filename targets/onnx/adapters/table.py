"""What is decided for each boundary of each operator: a widening, or adapters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import pairwise

from onnx import NodeProto, TypeProto

from ge.targets.onnx.adapters.legality import fit
from ge.targets.onnx.adapters.registry import ADAPTERS, Adapter, Key
from ge.targets.onnx.adapters.schemas import histories, schema_at, version_before
from ge.targets.onnx.adapters.widenings import is_narrowing, is_widening

FAMILIES = (
    *("activations", "arithmetic", "axes", "casts", "control_flow", "gathering"),
    *("legacy", "normalization", "pooling", "quantization", "recurrent", "resize"),
    *("sampling", "shapes", "slicing", "softmax", "spectral"),
)
"""The modules of this package whose adapters are in :data:`ADAPTERS`: importing one puts them there."""


@cache
def adapters() -> Mapping[Key, Adapter]:
    """All adapters. Most models need none of them, so they are loaded with the first question."""
    for family in FAMILIES:
        import_module(f"ge.targets.onnx.adapters.{family}")
    return ADAPTERS


def adapter(op_type: str, source: int, target: int) -> Adapter | None:
    """The adapter over one boundary in one direction, or None."""
    return adapters().get(("", op_type, source, target))


def boundaries() -> Iterator[tuple[str, int, int]]:
    """Each boundary of each operator: its name, a version and the next one."""
    for op_type, schemas in histories().items():
        for old, new in pairwise(schemas):
            yield op_type, old.since_version, new.since_version


@cache
def keeps_meaning(op_type: str, old: int, new: int) -> bool:
    """Whether every node of ``op_type`` that is legal at opset ``old`` means the same at opset ``new``."""
    first, last = schema_at(op_type, old), schema_at(op_type, new)
    if first is None or last is None or last.deprecated:
        return False
    versions = (schema.since_version for schema in histories()[op_type])
    return all(is_widening(op_type, v) for v in versions if first.since_version < v <= last.since_version)


def is_at_most(op_type: str, opset: int) -> bool:
    """Whether the newest version of an operator is there at an opset."""
    return histories()[op_type][-1].since_version <= opset


def oldest_unchanged(node: NodeProto, types: Mapping[str, TypeProto], first: int) -> int:
    """The oldest opset from ``first`` on at which a node of the newest means the same, just as it is."""
    version = histories()[node.op_type][-1].since_version
    while version > first:
        before = version_before(node.op_type, version)
        is_same = is_widening(node.op_type, version) or is_narrowing(node.op_type, version)
        if not before or not is_same or fit(node, version - 1, types) is not node:
            return version
        version = before
    return first
