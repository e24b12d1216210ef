"""What is kept with attributes: computed once for each object, and no part of it."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute

from ge.ir.attributes import remembered


def test_an_answer_is_kept_with_the_attribute_and_is_no_part_of_it() -> None:
    asked: list[Attribute] = []

    @remembered
    def text(type: Attribute) -> str:
        asked.append(type)
        return str(type)

    @remembered
    def other(type: Attribute) -> None:
        asked.append(type)

    first, second = TensorType(f32, [1, 2]), TensorType(f32, [1, 2])
    assert text(first) == text(first) == "tensor<1x2xf32>"
    assert other(first) is None
    assert other(first) is None
    assert len(asked) == 2
    assert first == second
    assert hash(first) == hash(second)
    assert text(second) == "tensor<1x2xf32>"
    assert len(asked) == 3
