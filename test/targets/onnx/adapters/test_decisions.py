"""Each boundary between two versions of an operator has one decision, and the decisions fit the standard."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from onnx.defs import OpSchema

from bench.opsets import PAGE, decisions
from ge.targets.onnx.adapters.attribute_values import ALLOWED, allowed_values
from ge.targets.onnx.adapters.schemas import histories, schema_at, version_before
from ge.targets.onnx.adapters.table import adapter, adapters, boundaries, is_widening, keeps_meaning
from ge.targets.onnx.adapters.values import attribute_value
from ge.targets.onnx.adapters.widenings import WIDENINGS
from ge.targets.onnx.opsets import LOWEST_TARGET

BOUNDARIES = list(boundaries())

GIVEN_UP = {("GroupNormalization", 21)}
"""Versions above one that must not be written any more: these nodes become the function that defines them."""


def test_every_boundary_is_decided_once_for_the_way_up() -> None:
    undecided = [b for b in BOUNDARIES if is_widening(b[0], b[2]) == (adapter(*b) is not None)]
    assert not undecided, "neither a widening nor an adapter, or both"


def test_every_boundary_is_decided_for_the_way_down() -> None:
    exported = [(op_type, old, new) for op_type, old, new in BOUNDARIES if new > LOWEST_TARGET]
    undecided = {
        (op_type, new)
        for op_type, old, new in exported
        if not is_widening(op_type, new) and not adapter(op_type, new, old)
    }
    # What was taken out on the way up is no loss on the way down: types, and a mode.
    removed = {("Erf", 13), ("ReduceLogSum", 28), ("ReduceLogSumExp", 28)}
    assert undecided == GIVEN_UP | removed
    for op_type, version in removed:
        new, old = schema_at(op_type, version), schema_at(op_type, version - 1)
        assert new is not None and old is not None
        assert not _additions(new, old), "a node of the newer version is one of the older, but for its types"


def test_adapters_and_widenings_belong_to_boundaries() -> None:
    known = set(BOUNDARIES)
    for _, op_type, source, target in adapters():
        old, new = sorted((source, target))
        assert (op_type, old, new) in known or (old == 0 and version_before(op_type, new) == 0), (op_type, old, new)
    for version, names in WIDENINGS.items():
        for op_type in names.split():
            assert (op_type, version_before(op_type, version), version) in known, (op_type, version)


@pytest.mark.parametrize("version", sorted(WIDENINGS))
def test_widenings_only_add(version: int) -> None:
    for op_type in WIDENINGS[version].split():
        old, new = schema_at(op_type, version - 1), schema_at(op_type, version)
        assert old is not None and new is not None
        assert not _additions(old, new), op_type
        for a, b in zip((*old.inputs, *old.outputs), (*new.inputs[: len(old.inputs)], *new.outputs), strict=False):
            assert set(a.types) <= set(b.types), (op_type, a.name)


def _additions(old: OpSchema, new: OpSchema) -> list[str]:
    """What a node of ``old`` may have that ``new`` does not take, or takes for something else; types aside."""
    problems = [name for name in old.attributes if name not in new.attributes]
    for name, attribute in new.attributes.items():
        before = old.attributes.get(name)
        if before is None:
            problems += [name] if attribute.required else []
        elif (before.type, before.default_value) != (attribute.type, attribute.default_value):
            problems.append(name)
    for side in ("inputs", "outputs"):
        problems += _changed(getattr(old, side), getattr(new, side))
    return problems


def _changed(old: Iterable[OpSchema.FormalParameter], new: Iterable[OpSchema.FormalParameter]) -> list[str]:
    old, new = list(old), list(new)
    optional = OpSchema.FormalParameterOption.Optional
    same = [a.name for a, b in zip(old, new, strict=False) if a.option != b.option and b.option != optional]
    return same + [b.name for b in new[len(old) :] if b.option != optional] + [a.name for a in old[len(new) :]]


def test_values_of_attributes_include_the_defaults() -> None:
    for (op_type, name), versions in ALLOWED.items():
        for schema in histories()[op_type]:
            if name in schema.attributes and min(versions) <= schema.since_version and not schema.deprecated:
                default = attribute_value(schema.attributes[name].default_value)
                assert default in (allowed_values(op_type, name, schema.since_version) or ()), (op_type, name)


def test_the_page_is_up_to_date() -> None:
    """What a run adds, the lowest opsets, is not compared; `python -m bench.opsets` writes all of it."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [decisions(operator) for operator in histories()]
    assert not [row for row in rows if not any(line.startswith(row) for line in lines)]


@pytest.mark.parametrize(
    ("op_type", "old", "new", "kept"),
    [
        ("Relu", 6, 28, True),
        ("Softmax", 12, 13, False),
        ("Softmax", 13, 28, True),
        ("ReduceSum", 12, 13, False),
        ("ReduceMean", 17, 18, False),
        ("Gelu", 19, 20, False),
    ],
)
def test_which_operators_keep_their_meaning(op_type: str, old: int, new: int, kept: bool) -> None:
    assert keeps_meaning(op_type, old, new) is kept
