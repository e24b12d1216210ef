"""The passes that compute, fold and recognise keep the numbers of models: before and after, in onnxruntime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_models import F32, ModelBuilder, assert_close, run_pass, run_reference

from ge.ir.rewrite_log import observe
from ge.passes.graph import report
from ge.passes.onnx.fusion_rules import SHIPPED
from ge.rules import load_rules
from ge.rules.proof import prove
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model


def check(builder: ModelBuilder, *passes: str, feeds: dict[str, Any] | None = None) -> Counter[str]:
    """Run passes and compare with onnxruntime: how often each operator is left."""
    model, inputs = builder.build(), feeds or builder.random_inputs()
    module = import_model(model)
    for name in passes:
        run_pass(module, name)
    exported = export_model(module)
    onnx.checker.check_model(exported, full_check=True)
    assert_close(run_reference(exported, inputs), run_reference(model, inputs), F32)
    names = [output for node in exported.graph.node for output in node.output]
    names += [tensor.name for tensor in exported.graph.initializer]
    assert len(names) == len(set(names))
    return Counter(node.op_type for node in exported.graph.node if node.op_type != "Constant")


def heads(m: ModelBuilder, x: str, perm: list[int], heads: int = 4, size: int = 8) -> str:
    """The heads of [2, length, heads · size], as exporters make them."""
    shape = m.constant([2, -1, heads, size], np.int64)
    return m.node("Transpose", m.node("Reshape", x, shape), perm=perm)


def attention(m: ModelBuilder) -> None:
    """Multi-head attention of BERT: the keys are transposed at once, the scores are divided, and masked."""
    x = m.input("x", 2, 6, 32)
    mask = m.weights(2, 1, 6, 6)
    q, k, v = (m.node("MatMul", x, m.weights(32, 32, scale=0.2)) for _ in range(3))
    scores = m.node("MatMul", heads(m, q, [0, 2, 1, 3]), heads(m, k, [0, 2, 3, 1]))
    scores = m.node("Add", m.node("Div", scores, m.constant(np.sqrt(8.0))), mask)
    mixed = m.node("MatMul", m.node("Softmax", scores, axis=-1), heads(m, v, [0, 2, 1, 3]))
    merged = m.node("Transpose", mixed, perm=[0, 2, 1, 3])
    m.output(m.node("Reshape", merged, m.constant([2, 6, 32], np.int64)))


def test_attention_takes_the_place_of_everything_around_it() -> None:
    m = ModelBuilder(opset=18)
    attention(m)
    assert check(m, "infer-shapes", "recognise-attention") == {"MatMul": 3, "Attention": 1}


def test_query_key_and_value_are_one_product() -> None:
    m = ModelBuilder(opset=18)
    attention(m)
    left = check(m, "infer-shapes", "recognise-attention", "fuse-horizontal")
    assert left == {"MatMul": 1, "Split": 1, "Attention": 1}


def test_products_of_flattened_values() -> None:
    """GPT-2 multiplies [batch · length, size], also behind its attention."""
    m = ModelBuilder(opset=18)
    rows, back = m.constant([-1, 32], np.int64), m.constant([2, 6, 32], np.int64)
    x = m.node("Gemm", m.node("Reshape", m.input("x", 2, 6, 32), rows), m.weights(32, 32, scale=0.2), m.weights(32))
    x = m.node("Reshape", x, back)
    q, k, v = (heads(m, x, [0, 2, 1, 3]) for _ in range(3))
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2]))
    mixed = m.node("Transpose", m.node("MatMul", m.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    y = m.node("Gemm", m.node("Reshape", mixed, rows), m.weights(32, 32, scale=0.2))
    m.output(m.node("Reshape", y, back))
    left = check(m, "infer-shapes", "recognise-attention", "fuse-matmul-add")
    assert left == {"MatMul": 2, "Add": 1, "Attention": 1}


def test_heads_that_are_repeated() -> None:
    m = ModelBuilder(opset=18)
    q, k, v = m.input("q", 1, 4, 5, 8), m.input("k", 1, 2, 6, 8), m.input("v", 1, 2, 6, 8)
    axis, to, heads = (m.constant(shape, np.int64) for shape in ([2], [1, 2, 2, 6, 8], [1, 4, 6, 8]))
    k, v = (m.node("Reshape", m.node("Expand", m.node("Unsqueeze", x, axis), to), heads) for x in (k, v))
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2]))
    m.output(m.node("MatMul", m.node("Softmax", scores, axis=-1), v))
    assert check(m, "infer-shapes", "recognise-attention") == {"Attention": 1}


@pytest.mark.parametrize(
    "attributes", [{"is_causal": 1}, {"softcap": 1.5, "is_causal": 1}, {"scale": 0.3}, {}], ids=str
)
def test_attention_of_the_model_keeps_its_attributes(attributes: dict[str, Any]) -> None:
    m = ModelBuilder(opset=24)
    x = m.input("x", 2, 6, 32)
    q, k, v = (heads(m, x, [0, 2, 1, 3]) for _ in range(3))
    y = m.node("Transpose", m.node("Attention", q, k, v, **attributes), perm=[0, 2, 1, 3])
    m.output(m.node("Reshape", y, m.constant([2, 6, 32], np.int64)))
    assert check(m, "infer-shapes", "recognise-attention") == {"Attention": 1}


def test_rotated_halves() -> None:
    m = ModelBuilder(opset=18)
    x = m.input("x", 2, 3, 4, 8)
    angle = m.random.uniform(0, 3, (4, 4))
    cos, sin = (m.constant(np.concatenate([f(angle)] * 2, 1)[None, None]) for f in (np.cos, np.sin))
    first = m.node("Split", x, axis=-1, num_outputs=2, outputs=2)
    rotated = m.node("Concat", m.node("Neg", f"{first}_1"), first, axis=-1)
    m.output(m.node("Add", m.node("Mul", x, cos), m.node("Mul", rotated, sin)))
    assert check(m, "recognise-rotary") == {"RotaryEmbedding": 1}


def needs_1_batch_norm(m: ModelBuilder) -> None:
    """Needs 1: one input and one weight of two convolutions, no bias, a transposed convolution in groups, names."""
    x = m.input("x", 2, 4, 6, 6)
    w = m.weights(4, 4, 1, 1, name="w")
    a = m.node("BatchNormalization", m.node("Conv", x, w), *m.statistics(4))
    b = m.node("BatchNormalization", m.node("Conv", x, w), *m.statistics(4))
    c = m.node("BatchNormalization", m.node("ConvTranspose", a, m.weights(4, 3, 2, 2), group=2), *m.statistics(6))
    m.output(c, m.node("Conv", m.node("BatchNormalization", b, *m.statistics(4)), m.weights(2, 2, 3, 3), group=2))


def test_needs_1_batch_normalisation() -> None:
    m = ModelBuilder()
    needs_1_batch_norm(m)
    assert check(m, "onnx-fold-conv-bn") == {"Conv": 3, "ConvTranspose": 1}


def test_needs_1_weights_from_a_node_and_behind_an_identity() -> None:
    m = ModelBuilder()
    x = m.input("x", 1, 2, 4, 4)
    w = m.node("Constant", name="w", value=onnx.numpy_helper.from_array(np.full((3, 2, 1, 1), 0.5, np.float32)))
    y = m.node("BatchNormalization", m.node("Conv", x, m.node("Identity", w)), *m.statistics(3))
    m.output(y)
    assert check(m, "eliminate-identity", "onnx-fold-conv-bn") == {"Conv": 1}


def test_needs_66_a_normalisation_that_stays_says_why() -> None:
    m = ModelBuilder()
    conv = m.node("Conv", m.input("x", 1, 2, 4, 4), m.node("Relu", m.input("w", 3, 2, 1, 1)))
    m.output(m.node("BatchNormalization", conv, *m.statistics(3)))
    module = import_model(m.build())
    with report.collect() as found:
        run_pass(module, "onnx-fold-conv-bn")
    assert [miss.reason for miss in found.misses] == ["weights or bias are not constant"]


def test_needs_15_outputs_in_between_and_second_users_stay() -> None:
    m = ModelBuilder(opset=20)
    x = m.input("x", 1, 3, 4, 4)
    conv = m.node("Conv", x, m.weights(3, 3, 1, 1))
    scaled = m.node("Mul", conv, m.constant([[[2.0]], [[3.0]], [[4.0]]]))
    gate = m.node("Sigmoid", scaled)
    m.output(conv, gate, m.node("Mul", scaled, gate))
    assert check(m, "fold-scale-into-conv", "recognise-swish") == {"Conv": 1, "Mul": 2, "Sigmoid": 1}


def scale_chain(m: ModelBuilder) -> None:
    """Caffe's batch normalisation and scale, and what older exporters write around a fully connected layer."""
    x = m.input("x", 2, 3, 5, 5)
    per_channel = [m.constant(m.random.uniform(0.5, 2, (4, 1, 1))) for _ in range(4)]
    y = m.node("Conv", m.node("Mul", x, m.constant(1 / 255.0)), m.weights(4, 3, 3, 3))
    y = m.node("Add", m.node("Mul", y, per_channel[0]), per_channel[1])
    y = m.node("Sub", m.node("Div", y, per_channel[2]), per_channel[3])
    y = m.node("Flatten", m.node("GlobalAveragePool", y))
    y = m.node("Add", m.node("MatMul", y, m.weights(4, 6)), m.weights(6))
    m.output(m.node("Mul", y, m.constant(2.0)))


def test_scales_end_in_the_weights() -> None:
    m = ModelBuilder(opset=18)
    scale_chain(m)
    passes = ["strength-reduction", "fold-scale-into-conv", "fuse-matmul-add", "fold-scale-into-conv"]
    assert check(m, *passes, "recognise-reduce-mean") == {"Conv": 1, "ReduceMean": 1, "Gemm": 1}


def test_scales_that_find_no_weights_are_one_operator() -> None:
    m = ModelBuilder(opset=18)
    x = m.node("HardSwish", m.input("x", 2, 3, 5, 5))
    y = m.node("Add", m.node("Mul", x, m.constant(1.3)), m.constant([[[0.5]], [[-1.0]], [[2.0]]]))
    m.output(m.node("Conv", y, m.weights(4, 3, 3, 3), pads=[1, 1, 1, 1]))
    passes = ["fold-scale-into-conv", "recognise-batch-norm", "onnx-fold-conv-bn"]
    assert check(m, *passes) == {"HardSwish": 1, "BatchNormalization": 1, "Conv": 1}


def padded(m: ModelBuilder) -> None:
    """Pads in front of a convolution and of both poolings."""
    x = m.input("x", 1, 2, 6, 6)
    pads = m.constant([0, 0, 1, 0, 0, 0, 1, 2], np.int64)
    conv = m.node("Conv", m.node("Pad", x, pads), m.weights(2, 2, 3, 3))
    average = m.node("AveragePool", m.node("Pad", x, pads), kernel_shape=[3, 3])
    low = m.node("MaxPool", m.node("Pad", x, pads, m.constant(-np.inf)), kernel_shape=[3, 3])
    zero = m.node("MaxPool", m.node("Pad", m.node("Relu", x), pads), kernel_shape=[3, 3])
    m.output(conv, average, low, zero)


def test_pads_are_attributes() -> None:
    m = ModelBuilder(opset=18)
    padded(m)
    assert check(m, "fuse-pad") == {"Conv": 1, "AveragePool": 1, "MaxPool": 2, "Relu": 1}


def test_a_maximum_that_rounds_up_keeps_its_windows() -> None:
    """A window that begins in the padding of the operator itself is left out, one in what a Pad adds is not."""
    m = ModelBuilder(opset=21)
    x = m.node("Pad", m.input("x", 1, 1, "n"), m.constant([0, 0, 0, 0, 0, 2], np.int64), m.constant(-np.inf))
    m.output(m.node("MaxPool", x, kernel_shape=[3], strides=[2], ceil_mode=1))
    feeds = {"x": np.ones((1, 1, 4), np.float32)}
    assert check(m, "infer-shapes", "fuse-pad", feeds=feeds) == {"Pad": 1, "MaxPool": 1}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("small", [1e-6, 1.0])
def test_folded_filters_keep_their_digits(small: float, transposed: bool) -> None:
    """One filter of four would be of numbers that float16 has few digits for."""
    m = ModelBuilder(opset=21)
    x = m.input("x", 1, 2, 5, 5, dtype=TensorProto.FLOAT16)
    shape, op_type = ((2, 2, 3, 3), "ConvTranspose") if transposed else ((4, 1, 3, 3), "Conv")
    y = m.node(op_type, x, m.constant(m.random.standard_normal(shape), np.float16), group=2)
    scale = m.constant([1, 1, small, 1], np.float16)
    zero, one = m.constant(np.zeros(4), np.float16), m.constant(np.ones(4), np.float16)
    m.output(m.node("BatchNormalization", y, scale, zero, zero, one))
    model = m.build()
    module = import_model(model)
    run_pass(module, "onnx-fold-conv-bn")
    left = [node.op_type for node in export_model(module).graph.node if node.op_type != "Constant"]
    assert left == ([op_type] if small == 1 else [op_type, "BatchNormalization"])


def test_float64_gets_no_operator_that_runtimes_lack() -> None:
    m = ModelBuilder(opset=24)
    x = m.input("x", 3, 4, dtype=TensorProto.DOUBLE)
    one, tenth = m.constant(1.0, np.float64), m.constant(0.1, np.float64)
    m.output(
        m.node("Log", m.node("Add", m.node("Exp", x), one)),
        m.node("Div", x, m.node("Add", m.node("Abs", x), one)),
        m.node("Max", x, m.node("Mul", x, tenth)),
        m.node("Sub", m.node("Relu", x), m.node("Mul", m.node("Relu", m.node("Neg", x)), tenth)),
        m.node("Clip", m.node("Add", m.node("Mul", x, tenth), one), m.constant(0.0, np.float64), one),
        m.node("Mul", x, m.node("Sigmoid", x)),
        m.node("Mul", m.node("MatMul", x, m.node("Transpose", x, perm=[1, 0])), m.constant(1e300, np.float64)),
    )
    recognise = ("recognise-swish", "recognise-hard-swish", "onnx-recognise-activations", "fuse-matmul-add")
    assert check(m, "infer-shapes", *recognise)["Swish"] == 1


def test_integers_are_multiplied_by_the_operator_that_runtimes_have() -> None:
    m = ModelBuilder(opset=21)
    x = m.input("x", 3, 4, dtype=TensorProto.INT32)
    m.output(m.node("MatMul", x, m.node("Transpose", x, perm=[1, 0])))
    assert check(m, "infer-shapes", "fuse-matmul-add") == {"MatMul": 1, "Transpose": 1}


@pytest.mark.parametrize("factor", [1e-25, 0.5])
def test_a_scale_of_attention_that_is_no_float32(factor: float) -> None:
    m = ModelBuilder(opset=24)
    q, k, v = (m.input(name, 1, 2, 3, 4) for name in "qkv")
    scale = m.constant(factor)
    q = m.node("Mul", m.node("Mul", q, scale), scale)
    scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2]))
    m.output(m.node("MatMul", m.node("Softmax", scores, axis=-1), v))
    assert check(m, "infer-shapes", "recognise-attention")["Attention"] == (factor == 0.5)


def linear_chain(m: ModelBuilder) -> None:
    """Products that follow each other and stand side by side."""
    x = m.input("x", 2, 4, 6, 6)
    y = m.node("Conv", m.node("Conv", x, m.weights(6, 4, 1, 1), m.weights(6)), m.weights(3, 6, 3, 3), m.weights(3))
    branches = [m.node("Relu", m.node("Conv", x, m.weights(n, 4, 3, 3), m.weights(n))) for n in (2, 3, 4)]
    m.output(m.node("Add", y, branches[1]), *branches[::2])


def test_convolutions_in_a_row_and_side_by_side() -> None:
    m = ModelBuilder(opset=18)
    linear_chain(m)
    assert check(m, "fold-consecutive-linear", "fuse-horizontal") == {"Conv": 1, "Split": 1, "Relu": 3, "Add": 1}


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 0.0])
def test_values_that_are_no_numbers(special: float) -> None:
    """Bounds and choices treat them as before."""
    m = ModelBuilder(opset=18)
    x = m.input("x", 4)
    zero, two = m.constant(0.0), m.constant(2.0)
    m.output(
        m.node("Min", m.node("Max", x, zero), two),
        m.node("Max", m.node("Max", x, zero), two),
        m.node("Relu", m.node("Clip", x, zero, two)),
        m.node("Abs", m.node("Neg", x)),
        m.node("Not", m.node("Not", m.node("Less", x, two))),
        m.node("Where", m.node("Not", m.node("Greater", x, zero)), x, two),
        m.node("Add", m.node("Sub", x, x), m.node("Mul", x, zero)),
    )
    model, feeds = m.build(), {"x": np.array([special, 1.0, -3.0, 5.0], np.float32)}
    module = import_model(model)
    run_pass(module, "algebraic-simplify")
    want, got = run_reference(model, feeds), run_reference(export_model(module), feeds)
    for (name, a), b in zip(want.items(), got.values(), strict=True):
        np.testing.assert_array_equal(b, a, err_msg=name)


@pytest.mark.parametrize("element", [TensorProto.FLOAT16, TensorProto.DOUBLE])
@pytest.mark.parametrize("bounds", [(None, 1.5), (-0.5, None), (None, None), (-0.5, 1.5)])
def test_needs_29_relu_and_clip_with_missing_bounds(bounds: tuple[float | None, float | None], element: int) -> None:
    m = ModelBuilder(opset=18)
    x = m.input("x", 2, 3, dtype=element)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element)
    values = ["" if bound is None else m.constant(bound, dtype) for bound in bounds]
    m.output(m.node("Relu", m.node("Clip", x, *values)), m.node("Clip", m.node("Relu", x), *values))
    left = check(m, "algebraic-simplify")
    assert left["Clip"] + left["Relu"] == 2


MODELS: list[Callable[[ModelBuilder], None]] = [attention, needs_1_batch_norm, scale_chain, padded, linear_chain]
PASSES = [
    *("algebraic-simplify", "combine-constants", "strength-reduction", "onnx-fold-conv-bn", "fold-scale-into-conv"),
    *("fuse-pad", "fuse-matmul-add", "fold-consecutive-linear", "recognise-attention", "fuse-horizontal"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_needs_27_all_passes_together_in_both_orders(model: Callable[[ModelBuilder], None]) -> None:
    for order in (PASSES, PASSES[::-1]):
        m = ModelBuilder(opset=18)
        model(m)
        check(m, *order)


def test_optional_rules_keep_the_numbers() -> None:
    files = sorted((SHIPPED / "optional").glob("*.gerules"))
    assert files and all(verdict.holds for file in files for verdict in prove(load_rules(file), instances=8))


def test_what_is_quantised_keeps_its_bits() -> None:
    """One rounding ahead of a quantisation would be a step behind it."""
    m = ModelBuilder(opset=20)
    x = m.input("x", 256, 512)
    gate = m.node("Add", m.node("Erf", m.node("Div", x, m.constant(np.float32(np.sqrt(2))))), m.constant(1.0))
    gelu = m.node("Mul", x, m.node("Mul", gate, m.constant(0.5)))
    quantised = m.node("DynamicQuantizeLinear", gelu, outputs=3)
    m.output(quantised, f"{quantised}_1", f"{quantised}_2")
    with observe(explain={"gelu"}) as log:
        assert check(m, "infer-shapes", "recognise-gelu")["Gelu"] == 0
    assert any(miss.reason.startswith("what it gives is quantised afterwards") for miss in log.misses)
