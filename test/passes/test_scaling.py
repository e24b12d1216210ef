"""The work of passes is proportional to the size of the model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from onnx import TensorProto, helper
from onnx_models import ModelBuilder, branch, compile_to_graph, run_pass
from work import calls_of, growth

from ge.dialects.onnx.scopes import Scope
from ge.targets.ascend.runtime.launch import L2Cache
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model


def constants_only(size: int) -> ModelBuilder:
    """A chain of functions of a constant."""
    builder = ModelBuilder()
    value = builder.weights(4)
    for _ in range(size):
        value = builder.node("Tanh", value)
    builder.output(builder.node("Add", builder.input("x", 4), value))
    return builder


def transposes(size: int) -> ModelBuilder:
    """A chain in which each transpose can go past what is behind it, to the next."""
    builder = ModelBuilder()
    value = builder.input("x", 2, 4, 8)
    for _ in range(size // 2):
        for shape in ((1, 8, 4), (1, 4, 8)):
            value = builder.node("Transpose", value, perm=[0, 2, 1])
            value = builder.node("Tanh", builder.node("Add", value, builder.weights(*shape)))
    builder.output(value)
    return builder


def transpose_of_many(size: int) -> ModelBuilder:
    """A transpose that would have to go past all users of its result, and cannot."""
    builder = ModelBuilder()
    value = builder.node("Transpose", builder.input("y", 2, 4, 8), perm=[0, 2, 1])
    turned = builder.node("Transpose", builder.input("x", 2, 4, 8), perm=[0, 2, 1])
    for _ in range(size):
        value = builder.node("Tanh", builder.node("Add", value, turned))
    builder.output(builder.node("Transpose", value, perm=[0, 2, 1]))
    return builder


def shared_shapes(size: int) -> ModelBuilder:
    """Reshapes that become one, with shapes that all of them share."""
    builder = ModelBuilder()
    value, flat, square = builder.input("x", 16), builder.constant([16], "int64"), builder.constant([4, 4], "int64")
    for _ in range(size):
        value = builder.node("Tanh", builder.node("Reshape", builder.node("Reshape", value, square), flat))
    builder.output(value)
    return builder


def conditions(size: int) -> ModelBuilder:
    """Many `If` with the same condition."""
    builder = ModelBuilder()
    builder.input("condition", dtype=TensorProto.BOOL)
    value = builder.input("x", 8)
    for number in range(size):
        then = branch("then", helper.make_node("Sin", [value], [f"then{number}"]))
        otherwise = branch("else", helper.make_node("Cos", [value], [f"else{number}"]))
        value = builder.node("If", "condition", then_branch=then, else_branch=otherwise)
    builder.output(value)
    return builder


def slices(size: int) -> ModelBuilder:
    """Slices that become one split."""
    builder = ModelBuilder()
    value, axis = builder.input("x", size, 2), builder.constant([0], "int64")
    for start in range(size):
        ends = (builder.constant([at], "int64") for at in (start, start + 1))
        builder.output(builder.node("Slice", value, *ends, axis))
    return builder


def products(size: int) -> ModelBuilder:
    """Groups of products of the same value, each with a value of its own."""
    builder = ModelBuilder()
    value = builder.input("x", 2, 4)
    for _ in range(size):
        value = builder.node("Sum", *(builder.node("MatMul", value, builder.weights(4, 4)) for _ in range(3)))
    builder.output(value)
    return builder


def many_parts(size: int) -> ModelBuilder:
    """Parts of one value, each with a function of its own."""
    builder = ModelBuilder(opset=18)
    first = builder.node("Split", builder.input("x", size, 2), outputs=size, axis=0, num_outputs=size)
    parts = [first, *(f"{first}_{number}" for number in range(1, size))]
    builder.output(builder.node("Concat", *(builder.node("Sin", part) for part in parts), axis=0))
    return builder


MODELS: list[tuple[str, Callable[[int], ModelBuilder]]] = [
    ("constant-fold", constants_only),
    ("sink-transpose", transposes),
    ("sink-transpose", transpose_of_many),
    ("merge-reshape", shared_shapes),
    ("inline-if", conditions),
    ("onnx-cse", conditions),
    ("merge-slices-to-split", slices),
    ("fuse-horizontal", products),
]


@pytest.mark.parametrize(("name", "model"), MODELS, ids=[f"{name}-{model.__name__}" for name, model in MODELS])
def test_work_is_proportional_to_size(name: str, model: Callable[[int], ModelBuilder]) -> None:
    run_pass(import_model(model(4).build()), name)  # what is done once is not counted

    def work(size: int) -> int:
        module = import_model(model(size).build())
        return calls_of(lambda: run_pass(module, name))

    assert growth(work) < 2.5


def test_work_of_export_is_proportional_to_size() -> None:
    """Many results of one node, and many outputs."""

    def work(size: int) -> int:
        builder = ModelBuilder(opset=18)
        first = builder.node("Split", builder.input("x", size, 2), outputs=size, axis=0, num_outputs=size)
        builder.output(first, *(f"{first}_{number}" for number in range(1, size)))
        module = import_model(builder.build())
        return calls_of(lambda: export_model(module))

    assert growth(work) < 2.5


def test_work_of_names_is_proportional_to_their_count() -> None:
    """Many values that would have the same name."""

    def work(size: int) -> int:
        scope = Scope(None)
        return calls_of(lambda: [scope.bind("x") for _ in range(size)])

    assert growth(work) < 2.5


def test_work_of_merge_host_is_proportional_to_size() -> None:
    """All operators are on the host, and join one region one by one."""

    def work(size: int) -> int:
        module = compile_to_graph(many_parts(size).build(), ["assign-precision"])
        return calls_of(lambda: run_pass(module, "merge-host"))

    assert growth(work) < 2.5


def test_work_of_the_cache_is_proportional_to_its_uses() -> None:
    def work(size: int) -> int:
        cache = L2Cache(10 * size)
        return calls_of(lambda: [cache.use((10 * start, 10)) for start in range(size)])

    assert growth(work) < 2.5


def test_long_chains_of_constants() -> None:
    """What a constant ends in is looked for without going deeper with each operation."""
    builder = ModelBuilder()
    value = builder.node("Cast", builder.weights(4), to=11)
    for _ in range(2000):
        value = builder.node("Tanh", value)
    builder.output(value)
    module = import_model(builder.build())
    run_pass(module, "constant-fold", max_growth=0)  # a weight might grow
    assert sum(op.name == "onnx.Tanh" for op in module.walk()) == 2000
    run_pass(module, "constant-fold")
    assert not any(op.name == "onnx.Tanh" for op in module.walk())
