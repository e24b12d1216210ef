"""Each boundary of each operator, from both sides, on a node test of the standard.

On either side of a boundary the case is written for that opset, and computes the same; read again, which carries it
over all boundaries above, it computes the same once more. Sides before the lowest opset that models are exported for
are reached where the node is legal there too: then it is read under the older number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from bench.opsets import RANDOM, Case, Expectation, cases
from ge.dialects.onnx import OPSET
from ge.ir.errors import GeError
from ge.targets.onnx.adapters.legality import fit
from ge.targets.onnx.adapters.schemas import histories, schema_at
from ge.targets.onnx.adapters.table import boundaries, is_widening
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model
from ge.targets.onnx.opsets import LOWEST_TARGET

OLDEST = 7
"""The oldest side that is tested here; ``test_up.py`` has what is older."""

BY_HAND = {
    *(("Upsample", version) for version in (9, 10)),
    *(("Dropout", 10), ("Slice", 10), ("TopK", 10)),
    *(("Clip", 11), ("Pad", 11), ("Resize", 11), ("Scatter", 11)),
    *(("BatchNormalization", 9), ("Scan", 9)),
}
"""Boundaries of another form below the lowest opset of exports: ``test_up.py`` and ``../test_opsets.py`` have them."""

CANDIDATES = 100
"""Cases of an operator that are tried for one side."""


def one_node(op_type: str, outputs: list[Any], inputs: dict[str, Any], **attributes: Any) -> Case:
    """A case like those of the standard, for an operator that it has none for."""
    node = helper.make_node(op_type, list(inputs), [f"y{i}" for i in range(len(outputs))], **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    model = helper.make_model(
        helper.make_graph([node], "test", infos, results), opset_imports=[helper.make_opsetid("", OPSET)]
    )
    return Case(f"test_{op_type}", onnx.shape_inference.infer_shapes(model), inputs, outputs)


IMAGE = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)

MORE_CASES = [
    one_node("Bernoulli", [np.array([0, 1], np.float32)], {"x": np.array([0, 1], np.float32)}),
    one_node("GlobalLpPool", [np.sqrt((IMAGE**2).sum((2, 3), keepdims=True))], {"x": IMAGE}),
    one_node(
        "MaxRoiPool", [IMAGE[:, :, :2, :2].max((2, 3), keepdims=True)],
        {"x": IMAGE, "rois": np.array([[0, 0, 0, 1, 1]], np.float32)}, pooled_shape=[1, 1],
    ),
    one_node("Multinomial", [np.array([[1]], np.int32)], {"x": np.log(np.array([[0, 1, 0]], np.float32) + 1e-30)}),
    one_node("RandomNormal", [np.array([[2, 2]], np.float32)], {}, shape=[1, 2], mean=2.0, scale=1e-30),
    one_node("RandomNormalLike", [np.full_like(IMAGE, 2)], {"x": IMAGE}, mean=2.0, scale=1e-30),
    one_node("RandomUniform", [np.array([[2, 2]], np.float32)], {}, shape=[1, 2], low=2.0, high=2.0000001),
    one_node("RandomUniformLike", [np.full_like(IMAGE, 2)], {"x": IMAGE}, low=2.0, high=2.0000001),
]  # fmt: skip

NOT_RUN = {
    "Optional": "the standard has no case of it alone, and no runtime gives an optional as an output",
}

OPERATORS = sorted({op_type for op_type, _, _ in boundaries()} - set(NOT_RUN))


@cache
def by_operator() -> dict[str, list[Case]]:
    """The cases of each operator, small ones first, each with computed inputs and with constants."""
    found: dict[str, list[Case]] = {}
    for case in sorted([*cases(), *MORE_CASES], key=lambda case: case.model.ByteSize()):
        if not case.name.startswith(RANDOM) and len(case.model.graph.node) == 1:
            found.setdefault(case.operator, []).append(case)
    return found


def sides(op_type: str) -> list[int]:
    """The last opset of each version of an operator and the first of the next one, where it exists."""
    versions = [schema.since_version for schema in histories()[op_type]]
    opsets = {side for version in versions[1:] for side in (version - 1, version)}
    return sorted(side for side in opsets if OLDEST <= side <= OPSET and side >= versions[0])


def candidates(op_type: str) -> Iterator[Case]:
    """The cases to try: first as they are, then with constants."""
    plain = by_operator()[op_type][:CANDIDATES]
    yield from plain
    yield from filter(None, (case.with_constants() for case in plain))


def written_for(case: Case, opset: int) -> ModelProto | None:
    """The model of a case for an opset, or None when it cannot be written for it."""
    try:
        model = export_model(import_model(case.model), max(opset, LOWEST_TARGET))
    except GeError as error:
        assert error.code == "GE1021"
        return None
    if opset < LOWEST_TARGET:
        node = older_form(model, opset) if len(model.graph.node) == 1 else None
        if node is None:
            return None
        model.graph.node[0].CopyFrom(node)
        model.opset_import[0].version = opset
    return model


def older_form(model: ModelProto, opset: int) -> NodeProto | None:
    """The one node of a model, if it is legal at an older opset and only widenings lie between."""
    node = model.graph.node[0]
    types = {value.name: value.type for value in (*model.graph.input, *model.graph.output)}
    later = (schema.since_version for schema in histories()[node.op_type])
    if not all(is_widening(node.op_type, version) for version in later if opset < version <= LOWEST_TARGET):
        return None
    fitted = fit(node, opset, types)
    return fitted if isinstance(fitted, NodeProto) else None


def is_by_hand(op_type: str, opset: int) -> bool:
    return any(opset < version and op_type == name for name, version in BY_HAND)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op_type", OPERATORS)
def test_operator(op_type: str) -> None:
    for side in sides(op_type):
        schema = schema_at(op_type, side)
        if is_by_hand(op_type, side) or schema is None or schema.deprecated:
            continue
        for case in candidates(op_type):
            model = written_for(case, side)
            if model is not None:
                break
        else:
            pytest.fail(f"no case of {op_type} can be written for opset {side}")
        expectation = Expectation(case)
        if side >= LOWEST_TARGET:
            onnx.checker.check_model(model)
            assert not expectation.failure(model), f"{case.name} written for opset {side}"
        again = export_model(import_model(model), OPSET)
        assert not expectation.failure(again), f"{case.name} read at opset {side}"


def test_an_optional_value_keeps_its_meaning() -> None:
    type = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    optional = helper.make_node("Optional", ["x"], ["o"])
    get = helper.make_node("OptionalGetElement", ["o"], ["y"])
    x = onnx.ValueInfoProto(name="x", type=type)
    graph = helper.make_graph([optional, get], "test", [x], [onnx.ValueInfoProto(name="y", type=type)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    case = Case("optional", model, {"x": np.array([1, 2], np.float32)}, [np.array([1, 2], np.float32)])
    for side in (15, 17, 18, 27, 28):
        written = export_model(import_model(model), side)
        assert not Expectation(case).failure(written)
        assert not Expectation(case).failure(export_model(import_model(written), OPSET))
