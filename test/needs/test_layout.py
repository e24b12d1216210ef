"""What users of such compilers complain about, in the group "layout"; each test has the rank in its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx_models import ModelBuilder, compile_to_graph, run_reference
from optimised import check_optimised, count
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation

from ge.dialects.graph import HostOp, TransDataOp, ViewOp
from ge.dialects.graph.meaning import run_module
from ge.dialects.onnx.meaning import run_module as run_onnx
from ge.ir.attributes import layout_of
from ge.passes.onnx.transposable import ELEMENTWISE, HANDLERS
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.ascend.runtime import Runtime
from ge.targets.onnx.importer import import_model
from ge.tools import ge_compiler
from ge.tools.agreement import compare
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

DEVICE = ["assign-precision", "merge-host", "propagate-layout"]

# 11


SENSITIVE: Mapping[str, Callable[[ModelBuilder, str], str]] = {
    "Conv": lambda b, x: b.node("Conv", x, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1]),
    "ConvTranspose": lambda b, x: b.node("ConvTranspose", x, b.weights(4, 3, 2, 2), strides=[2, 1]),
    "MaxPool": lambda b, x: b.node("MaxPool", x, kernel_shape=[2, 3], strides=[2, 1]),
    "AveragePool": lambda b, x: b.node("AveragePool", x, kernel_shape=[2, 3], strides=[2, 1]),
    "LpPool": lambda b, x: b.node("LpPool", x, kernel_shape=[2, 3], strides=[2, 1]),
    "GlobalAveragePool": lambda b, x: b.node("GlobalAveragePool", x),
    "GlobalMaxPool": lambda b, x: b.node("GlobalMaxPool", x),
    "BatchNormalization": lambda b, x: b.node("BatchNormalization", x, *b.statistics(4)),
    "InstanceNormalization": lambda b, x: b.node("InstanceNormalization", x, b.weights(4), b.weights(4)),
    "LRN": lambda b, x: b.node("LRN", x, size=3),
    "Resize": lambda b, x: b.node("Resize", x, "", b.constant([1.0, 1.0, 2.0, 2.0]), mode="nearest"),
    "GridSample": lambda b, x: b.node("GridSample", x, b.constant(b.random.uniform(-1, 1, (2, 3, 5, 2)))),
    "RoiAlign": lambda b, x: b.node(
        "RoiAlign",
        x,
        b.constant([[0, 1, 4, 5], [2, 0, 5, 3], [1, 1, 2, 4]]),
        b.constant([0, 1, 1], np.int64),
        output_height=2,
        output_width=3,
    ),
    "DepthToSpace": lambda b, x: b.node("DepthToSpace", x, blocksize=2),
    "SpaceToDepth": lambda b, x: b.node("SpaceToDepth", x, blocksize=2),
    "PRelu": lambda b, x: b.node("PRelu", x, b.weights(4, 1, 1)),
    "Softmax": lambda b, x: b.node("Softmax", x, axis=1),
    "CumSum": lambda b, x: b.node("CumSum", x, b.constant(1, np.int64)),
    "ReduceMax": lambda b, x: b.node("ReduceMax", x, axes=[1]),
    "Concat": lambda b, x: b.node("Concat", x, b.node("Neg", x), axis=1),
    "Gather": lambda b, x: b.node("Gather", x, b.constant([3, 0, 0, 2], np.int64), axis=1),
    "Slice": lambda b, x: b.node("Slice", x, *(b.constant(each, np.int64) for each in ([1, 0], [3, 5], [1, 3]))),
}
"""Operators to which it matters where the channels are."""


def sensitive(b: ModelBuilder, kind: str) -> str:
    """One of the operators between two transposes, as exporters from channels-last frameworks write them."""
    x = b.node("Transpose", b.input("x", 2, 6, 6, 4), perm=[0, 3, 1, 2])
    return b.node("Transpose", SENSITIVE[kind](b, x), perm=[0, 2, 3, 1])


@pytest.mark.parametrize("kind", SENSITIVE)
def test_needs_11_transposes_pass_no_operator_that_depends_on_the_layout(kind: str) -> None:
    b = ModelBuilder()
    b.output(sensitive(b, kind))
    check_optimised(b.build(), b.random_inputs())


@pytest.mark.parametrize("kind", SENSITIVE)
def test_needs_11_formats_of_the_device_change_no_numbers(kind: str) -> None:
    b = ModelBuilder()
    b.output(sensitive(b, kind))
    model, feeds = b.build(), b.random_inputs()
    got = run_module(compile_to_graph(model, DEVICE), feeds)
    (agreement,) = compare(got, run_reference(model, feeds), half=True)
    assert agreement.passed, agreement


BOOLEAN = frozenset(("And", "Not", "Or", "Xor"))
BITS = frozenset(("BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"))
TWO = frozenset(
    (
        *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
        *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub"),
        *("Sum", "Xor"),
    )
)
GIVEN: Mapping[str, dict[str, Any]] = {
    "BitShift": {"direction": "LEFT"},
    "Cast": {"to": TensorProto.INT32},
    "Mod": {"fmod": 1},
}


@pytest.mark.parametrize("op_type", sorted(ELEMENTWISE))
def test_needs_11_operators_in_the_table_do_not_mind_transposed_operands(op_type: str) -> None:
    """There is no default: an operator that is not in the table stays behind its transpose."""
    b, perm = ModelBuilder(opset=24, seed=3), (2, 0, 1)
    kind = TensorProto.BOOL if op_type in BOOLEAN else TensorProto.UINT8 if op_type in BITS else TensorProto.FLOAT
    kinds = [TensorProto.BOOL, kind, kind] if op_type == "Where" else [kind] * (2 if op_type in TWO else 1)
    names = [b.input(f"x{number}", "a", "b", "c", dtype=each) for number, each in enumerate(kinds)]
    b.output(b.node(op_type, *names, **GIVEN.get(op_type, {})))
    module = import_model(b.build())
    values = {
        name: (b.random.uniform(0.1, 0.9, (2, 3, 4)) * (1 if each == TensorProto.FLOAT else 2)).astype(
            onnx.helper.tensor_dtype_to_np_dtype(each)
        )
        for name, each in zip(names, kinds, strict=True)
    }
    (plain,) = run_onnx(module, values).values()
    (moved,) = run_onnx(module, {name: value.transpose(perm) for name, value in values.items()}).values()
    np.testing.assert_allclose(moved, plain.transpose(perm), rtol=1e-6)


def test_needs_11_a_transpose_stops_at_an_operator_that_is_not_in_the_table() -> None:
    b = ModelBuilder()
    x = b.node("Transpose", b.input("x", 2, 3, 4), perm=[2, 0, 1])
    b.output(b.node("Transpose", b.node("CumSum", x, b.constant(1, np.int64)), perm=[1, 2, 0]))
    assert "CumSum" not in HANDLERS
    assert count(check_optimised(b.build(), b.random_inputs())) == {"Transpose": 2, "CumSum": 1}


# 12


def padded_channels(b: ModelBuilder, kind: str, channels: int) -> str:
    """An operation over channels that do not fill a block of 16, behind a convolution."""
    x = b.node(
        "Conv", b.input("x", 1, channels, 6, 6), b.weights(channels, channels, 1, 1, scale=0.3), b.weights(channels)
    )
    match kind:
        case "ReduceMean":
            return b.node(kind, x, axes=[1])
        case "Softmax":
            return b.node(kind, x, axis=1)
        case "Concat":
            return b.node(kind, x, b.node("Conv", x, b.weights(5, channels, 1, 1, scale=0.3)), axis=1)
        case "Split":
            first = b.node(kind, x, b.constant([1, channels - 1], np.int64), axis=1, outputs=2)
            return b.node("Concat", f"{first}_1", first, axis=1)
        case "Div":
            return b.node("Div", x, b.constant(b.random.uniform(0.5, 2, (channels, 1, 1))))
        case "Exp":
            return b.node("GlobalAveragePool", b.node("Exp", x))
        case "ReduceMax":
            return b.node(kind, b.node("Sub", b.node("Sigmoid", x), b.constant(2.0)), axes=[1])
        case "Reciprocal":  # of a lane of zeros it is infinite, and its product with a weight of zero NaN
            far = b.node("Add", b.node("Sigmoid", x), b.constant(np.full((channels, 1, 1), 0.5)))
            return b.node("Conv", b.node(kind, far), b.weights(4, channels, 1, 1, scale=0.3))
        case "BatchNormalization":
            return b.node(kind, b.node("Relu", b.node("Exp", x)), *b.statistics(channels))
        case "InstanceNormalization":
            return b.node(kind, x, b.weights(channels, offset=1), b.weights(channels))
        case _:
            return b.node("ArgMax", x, axis=1)


PADDED = (
    *("ReduceMean", "Softmax", "Concat", "Split", "Div", "Exp", "ArgMax", "ReduceMax", "Reciprocal"),
    *("BatchNormalization", "InstanceNormalization"),
)


@pytest.mark.parametrize("channels", [3, 17])
@pytest.mark.parametrize("kind", PADDED)
def test_needs_12_unused_lanes_reach_no_output(kind: str, channels: int, tmp_path: Path) -> None:
    """The whole way to the simulated chip, whose memory holds NaN where nothing has been written."""
    b = ModelBuilder(seed=1)
    b.output(padded_channels(b, kind, channels))
    onnx.save(b.build(), tmp_path / "m.onnx")
    feeds = b.random_inputs()
    file = model_bytes(compile_model(CompileOptions(tmp_path / "m.onnx")).module)
    got = Runtime().run(file, feeds)
    want = run_reference(onnx.load(tmp_path / "m.onnx"), feeds)
    if kind == "ArgMax":  # where float16 makes two elements equal, either is right
        assert next(iter(got.values())).max() < channels
        return
    assert all(each.passed for each in compare(got, want, half=True))


# 63


def residual_block(b: ModelBuilder) -> str:
    x = b.input("x", 1, 16, 8, 8)
    y = b.node("Relu", b.conv_bn(x, 16, 16))
    return b.node("Relu", b.node("Add", b.conv_bn(y, 16, 16), x))


def channels_last_chain(b: ModelBuilder) -> str:
    """What converters from channels-last frameworks write: a pair of transposes around every operator."""
    y = b.input("x", 1, 8, 8, 4)
    for make in (
        lambda v: b.node("Conv", v, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1]),
        lambda v: b.node("Relu", v),
        lambda v: b.node("Add", v, b.weights(4, 1, 1)),
        lambda v: b.node("LeakyRelu", v),
        lambda v: b.node("Conv", v, b.weights(4, 4, 3, 3), pads=[1, 1, 1, 1]),
    ):
        y = b.node("Transpose", make(b.node("Transpose", y, perm=[0, 3, 1, 2])), perm=[0, 2, 3, 1])
    return y


def test_needs_63_transposes_between_operators_cancel() -> None:
    b = ModelBuilder()
    b.output(channels_last_chain(b))
    assert count(check_optimised(b.build(), b.random_inputs()))["Transpose"] == 2


@pytest.mark.parametrize("build", [residual_block])
def test_needs_63_a_convolution_net_converts_its_layout_at_its_borders_alone(
    build: Callable[[ModelBuilder], str],
) -> None:
    b = ModelBuilder()
    b.output(build(b))
    model, feeds = b.build(), b.random_inputs()
    module = compile_to_graph(model, ["fuse-conv-bn-relu", "fold-conv-bn", "fuse-binary-activation", *DEVICE])
    assert sum(isinstance(op, TransDataOp) for op in module.walk()) == 2
    got: dict[str, NDArray[np.float32]] = run_module(module, feeds)
    assert all(each.passed for each in compare(got, run_reference(model, feeds), half=True))


def vision_transformer_block(b: ModelBuilder) -> str:
    """Patches by a convolution, then an attention over them with a residual connection."""
    patches = b.node("Conv", b.input("x", 1, 3, 16, 16), b.weights(32, 3, 4, 4, scale=0.2), strides=[4, 4])
    t = b.node("Transpose", b.node("Reshape", patches, b.constant([1, 32, 16], np.int64)), perm=[0, 2, 1])
    n = b.node("LayerNormalization", t, b.weights(32, offset=1.0), b.weights(32))

    def heads() -> str:
        projected = b.node("MatMul", n, b.weights(32, 32, scale=0.2))
        return b.node("Transpose", b.node("Reshape", projected, b.constant([1, 16, 4, 8], np.int64)), perm=[0, 2, 1, 3])

    q, k, v = heads(), heads(), heads()
    scores = b.node("Mul", b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2])), b.constant(0.35))
    mixed = b.node("Transpose", b.node("MatMul", b.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    joined = b.node("Reshape", mixed, b.constant([1, 16, 32], np.int64))
    return b.node("Add", t, b.node("MatMul", joined, b.weights(32, 32, scale=0.2)))


def reason(op: TransDataOp) -> str:
    """Why a conversion of the layout is there: what is on one of its sides asks for the plain one."""
    source = op.operands[0].owner
    sides: list[Operation] = [*(use.operation for use in op.results[0].uses)]
    sides += [] if isinstance(source, Block) else [source]
    if isinstance(source, Block) or any(isinstance(side, ReturnOp) for side in sides):
        return "input or output"
    if any(isinstance(side, HostOp) for side in sides):
        return "host"
    plain = any(isinstance(side, ViewOp) or layout_of(side.results[0].type) == "ND" for side in sides if side.results)
    return "reshape, or a kernel for plain values" if plain else "none"


def test_needs_63_every_conversion_in_a_vision_transformer_has_a_reason() -> None:
    b = ModelBuilder()
    b.output(vision_transformer_block(b))
    model, feeds = b.build(), b.random_inputs()
    module = compile_to_graph(model, DEVICE)
    found = [reason(op) for op in module.walk() if isinstance(op, TransDataOp)]
    assert found
    assert "none" not in found
    assert all(each.passed for each in compare(run_module(module, feeds), run_reference(model, feeds), half=True))


# 78


def test_needs_78_the_type_of_outputs_changes_the_signature_and_nothing_else(tmp_path: Path) -> None:
    b = ModelBuilder()
    b.output(residual_block(b))
    onnx.save(b.build(), tmp_path / "m.onnx")
    feeds = b.random_inputs()
    results: list[NDArray[np.float32]] = []
    counts: list[tuple[int, tuple[object, ...]]] = []
    for types in ("", "FP16"):
        compiled = compile_model(CompileOptions(tmp_path / "m.onnx", output_types=types))
        runtime_model = Runtime().load(model_bytes(compiled.module))
        counts.append((compiled.program.kernels, tuple(info.shape for info in runtime_model.inputs)))
        results += runtime_model.run(feeds).values()
    assert counts[0] == counts[1]
    assert [each.dtype for each in results] == [np.float32, np.float16]
    np.testing.assert_array_equal(results[0].astype(np.float16), results[1])


def test_needs_78_a_layout_of_inputs_that_nothing_asks_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The layout says how images are given to the model: without images there is nothing that it could change."""
    b = ModelBuilder()
    b.output(residual_block(b))
    onnx.save(b.build(), tmp_path / "m.onnx")
    with pytest.raises(SystemExit):
        ge_compiler.main([f"--model={tmp_path}/m.onnx", f"--output={tmp_path}/m", "--input_format=NHWC"])
    assert "without an option that is about images" in capsys.readouterr().err
