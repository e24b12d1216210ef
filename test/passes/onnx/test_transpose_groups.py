"""What it costs to move transposes is kept up to date as operations leave a group: it is what counting anew gives."""

from __future__ import annotations

import pytest
from onnx_models import ModelBuilder

from ge.dialects.onnx import OnnxOp
from ge.passes.onnx.building import in_program_order
from ge.passes.onnx.transpose_groups import grown, perm_of, prune
from ge.targets.onnx.importer import import_model

PERMS = ([0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0])


def random_model(seed: int, size: int = 40) -> ModelBuilder:
    """Transposes, functions, sums and reductions of values that are there already."""
    builder = ModelBuilder(seed=seed)
    values = [builder.input("x", 4, 4, 4), builder.input("y", 4, 4, 4)]
    choose = builder.random
    for _ in range(size):
        a, b = (values[-1 - min(int(choose.exponential(4)), len(values) - 1)] for _ in range(2))
        match int(choose.integers(5)):
            case 0 | 1:
                values.append(builder.node("Transpose", a, perm=PERMS[choose.integers(len(PERMS))]))
            case 2:
                values.append(builder.node("Tanh", a))
            case 3:
                values.append(builder.node("Add", a, b))
            case _:
                values.append(builder.node("Softmax", a, axis=int(choose.integers(3))))
    builder.output(*dict.fromkeys([values[-1], *choose.choice(values[2:], 3)]))
    return builder


@pytest.mark.parametrize("seed", range(20))
def test_costs_are_those_of_counting_anew(seed: int) -> None:
    module = import_model(random_model(seed).build())
    transposes = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Transpose"]
    for op in transposes:
        perm = perm_of(op)
        assert perm is not None
        group = grown(op.results[0], perm)
        cost, left = prune(group), set(group.members)
        assert prune(group) == cost  # which counts at first, and then finds nothing to take out
        assert set(group.members) == left


def test_program_order_of_some_operations() -> None:
    module = import_model(random_model(0).build())
    block = next(op for op in module.walk() if isinstance(op, OnnxOp)).parent
    assert block is not None
    ops = list(block.ops)
    for some in (ops, ops[3:9:2], ops[-2:], ops[:1], [ops[0], ops[-1]]):
        assert in_program_order(some[::-1]) == some
