"""Running modules: inputs, float16, launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge.dialects.graph.meaning import run_module
from ge.ir.errors import GeError
from ge.ir.registry import context


def parse(body: str, arguments: str, results: str) -> ModuleOp:
    text = (
        f"func.func @main({arguments}) -> ({results}) "
        f'attributes {{graph.input_names = ["x"], graph.output_names = ["y"]}} {{\n{body}\n}}'
    )
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


RELU = parse(
    """%y = graph.unary <relu> %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>""",
    "%x: tensor<2x3xf32>",
    "tensor<2x3xf32>",
)


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({}, "GE6002"),
        ({"x": np.zeros((3, 2), np.float32)}, "GE6004"),
        ({"x": np.zeros((2, 3, 1), np.float32)}, "GE6004"),
        ({"x": np.zeros((2, 3), np.float64)}, "GE6005"),
    ],
)
def test_inputs_are_checked(inputs: dict[str, Any], code: str) -> None:
    with pytest.raises(GeError) as error:
        run_module(RELU, inputs)
    assert error.value.code == code


def test_float16_is_computed_in_float32_and_rounded_once_saturating() -> None:
    module = parse(
        """%y = graph.binary mul %x, %x : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
        func.return %y : tensor<3xf16>""",
        "%x: tensor<3xf16>",
        "tensor<3xf16>",
    )
    y = run_module(module, {"x": np.array([300.0, -2.0, 0.1], np.float16)})["y"]
    assert y.dtype == np.float16
    assert y.tolist() == [65504.0, 4.0, float(np.float16(np.float32(np.float16(0.1)) ** 2))]


def test_a_launch_takes_and_gives_arrays_in_storage_layout() -> None:
    module = parse(
        """%y = graph.launch @twice(%x) blocks 1 type "Mul"
          : (tensor<1x3x2x2xf16, #ge.layout<NC1HWC0>>) -> tensor<1x3x2x2xf16, #ge.layout<NC1HWC0>>
        func.return %y : tensor<1x3x2x2xf16, #ge.layout<NC1HWC0>>""",
        "%x: tensor<1x3x2x2xf16, #ge.layout<NC1HWC0>>",
        "tensor<1x3x2x2xf16, #ge.layout<NC1HWC0>>",
    )
    kernel = Parser(context(), "func.func @twice() { func.return }").parse_module().body.block.first_op
    assert kernel is not None
    kernel.detach()
    module.body.block.add_op(kernel)
    seen: list[tuple[int, ...]] = []

    def launch(kernel: Operation, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        seen.append(arrays[0].shape)
        return [arrays[0].reshape(4, 16) * np.float16(2)]

    x = np.arange(12, dtype=np.float16).reshape(1, 3, 2, 2)
    np.testing.assert_array_equal(run_module(module, {"x": x}, launch)["y"], 2 * x)
    assert seen == [(1, 1, 2, 2, 16)]


def test_an_operation_without_meaning_is_named() -> None:
    module = parse(
        """%y = arith.negf %x : f32
        func.return %y : f32""",
        "%x: f32",
        "f32",
    )
    with pytest.raises(GeError, match=r"arith\.negf"):
        run_module(module, {"x": 1.0})


STREAMS = """%a = graph.host(%x) stream 0 : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%i: tensor<2x3xf32>):
      %r = onnx.Relu(%i) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      graph.yield %r : tensor<2x3xf32>
    }
    graph.record event 0 stream 0
    graph.wait event 0 stream 1
    %y = graph.host(%a) stream 1 : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%i: tensor<2x3xf32>):
      %r = onnx.Neg(%i) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      graph.yield %r : tensor<2x3xf32>
    }
    func.return %y : tensor<2x3xf32>"""


def test_streams_take_turns_in_the_order_of_the_program() -> None:
    x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    y = run_module(parse(STREAMS, "%x: tensor<2x3xf32>", "tensor<2x3xf32>"), {"x": x})["y"]
    assert np.array_equal(y, -np.maximum(x, 0))


def test_events_without_sense_do_not_run() -> None:
    text = STREAMS.replace("graph.record event 0 stream 0", "")
    with pytest.raises(GeError, match="event 0 is waited for, but nothing before records it") as error:
        run_module(parse(text, "%x: tensor<2x3xf32>", "tensor<2x3xf32>"), {"x": np.zeros((2, 3), np.float32)})
    assert error.value.code == "GE3024"
