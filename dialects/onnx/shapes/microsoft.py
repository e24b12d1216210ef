"""Rules of operators of com.microsoft that models in the wild contain: what onnxruntime's optimiser and tools write.

A shape without an element type is of the type of the first input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elementwise import broadcast_shapes, like_input
from ge.dialects.onnx.shapes.indexing import concatenated
from ge.dialects.onnx.shapes.matrices import gemm, multiplied
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.normalisation import dequantise, quantise
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor
from ge.dialects.onnx.shapes.windows import convolution, global_pooling, pooling


def quantised_broadcast(node: Node) -> Sequence[Result]:
    """What the operands broadcast to; scale and zero point follow each."""
    return [broadcast_shapes(node, [node.shape(0), node.shape(3)])]


def quantised_concat(node: Node) -> Sequence[Result]:
    """The inputs end to end: after scale and zero point of the result come value, scale and zero point of each."""
    shapes = [node.shape(position) for position in range(2, len(node.inputs), 3)]
    return [Tensor(node.element(1), concatenated(node, shapes, node.attribute("axis", 0)))]


def quantised_pooling(node: Node) -> Sequence[Result]:
    """Pooling of [N, C, ...], or of [N, ..., C] with attribute `channels_last`."""
    return _channels_last(node, pooling)


def quantised_global_pooling(node: Node) -> Sequence[Result]:
    """Global pooling of [N, C, ...], or of [N, ..., C] with attribute `channels_last`."""
    return _channels_last(node, global_pooling)


def _channels_last(node: Node, rule: Rule) -> Sequence[Result]:
    x = node.expect_least_rank(0, 3)
    if x is None or not node.attribute("channels_last", 0):
        return rule(node)[:1]
    moved = Node(
        node.op_type, [Tensor(node.element(), (x[0], x[-1], *x[1:-1]))], node.attributes, node.output_count, node.where
    )
    found = rule(moved)[0]
    return [(found[0], *found[2:], found[1]) if isinstance(found, tuple) else None]


def matrix_product(node: Node) -> Sequence[Result]:
    """A matrix product, either side transposed on request."""
    a, b = node.shape(0), node.shape(1)
    if node.attribute("transBatchA", 0) or node.attribute("transBatchB", 0):
        return [None]
    a = _swapped(a) if node.attribute("transA", 0) else a
    b = _swapped(b) if node.attribute("transB", 0) else b
    return [multiplied(node, a, b)]


def _swapped(shape: Shape | None) -> Shape | None:
    return shape if shape is None or len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])


def float_matrix_product(node: Node) -> Sequence[Result]:
    """A matrix product whose result is not quantised."""
    return [Tensor("f32", multiplied(node, node.shape(0), node.shape(1)))]


def packed_matrix_product(node: Node) -> Sequence[Result]:
    """[..., K] by packed weights of attributes K and N: [..., N]."""
    a, rows = node.expect_least_rank(0, 1), node.attribute("K")
    if a is None:
        return [None]
    node.same(a[-1], rows, "the inner sizes of a matrix product")
    return [(*a[:-1], node.attribute("N"))]


def quantised_gemm(node: Node) -> Sequence[Result]:
    """[M, K] by [K, N], each transposed on request: [M, N], in the type of its zero point, or f32 without a scale."""
    a, b = node.expect_rank(0, 2) or (None, None), node.expect_rank(3, 2) or (None, None)
    a = a[::-1] if node.attribute("transA", 0) else a
    b = b[::-1] if node.attribute("transB", 0) else b
    node.same(a[1], b[0], "the inner sizes of a matrix product")
    element = node.element(8) if node.has(8) else node.element(0) if node.has(7) else "f32"
    return [Tensor(element, (a[0], b[1]))]


def quantised_recurrent(node: Node) -> Sequence[Result]:
    """X [T, N, I] with weights [D, I, 4H] and [D, H, 4H]: all hidden states [T, D, N, H], and the last two states."""
    x, w = node.expect_rank(0, 3) or (None,) * 3, node.expect_rank(1, 3) or (None,) * 3
    r = node.expect_rank(2, 3) or (None,) * 3
    node.same(x[2], w[1], "width of input and weights")
    hidden = node.same(node.attribute("hidden_size"), r[1], "hidden size and weights")
    directions = 2 if node.attribute("direction") == "bidirectional" else 1
    last: Shape = (directions, x[1], hidden)
    return [(x[0], directions, x[1], hidden), last, last]


def skip_normalisation(node: Node) -> Sequence[Result]:
    """The shape of the input; mean and deviation have size 1 at the end; the sum of both inputs."""
    x = node.shape(0)
    kept = Tensor("f32", None if x is None else (*x[:-1], 1))
    return [x, kept, kept, x]


def embedding(node: Node) -> Sequence[Result]:
    """Tokens [B, T] with tables [words, D]: [B, T, D], a mask index [B], and the sum again."""
    ids, table = node.expect_rank(0, 2) or (None, None), node.expect_rank(2, 2) or (None, None)
    result = Tensor(node.element(2), (*ids, table[1]))
    return [result, Tensor("i32", (ids[0],)), result]


def fused_attention(node: Node) -> Sequence[Result]:
    """[B, T, C] with weights [C, 3 x D], or `qkv_hidden_sizes`: [B, T, D]."""
    x, weights = node.expect_rank(0, 3) or (None,) * 3, node.expect_rank(1, 2)
    sizes = node.attribute("qkv_hidden_sizes")
    width: Dim = sizes[2] if sizes else None
    if not sizes and weights is not None:
        width = node.divided(weights[1], 3, "width of the weights and three parts")
    return [(x[0], x[1], width)]


def multi_head_attention(node: Node) -> Sequence[Result]:
    """Queries [B, T, D] with values [B, S, E] or [B, H, S, E / H]: [B, T, E]; or all packed as [B, T, H, 3, D / H]."""
    q, v = node.expect_rank(0, 3, 5), node.shape(2)
    if q is None:
        return [(None, None, None)]
    if len(q) == 5:
        return [(q[0], q[1], None if q[2] is None or q[4] is None else q[2] * q[4])]
    if not node.has(2):
        key = node.shape(1)
        packed = key is not None and len(key) == 5
        return [(q[0], q[1], q[2] if packed else None)]
    if v is not None and len(v) == 4:
        return [(q[0], q[1], None if v[1] is None or v[3] is None else v[1] * v[3])]
    return [(q[0], q[1], node.dim(2, -1))]


def grouped_attention(node: Node) -> Sequence[Result]:
    """Queries [B, T, heads x D]: the same shape; all three packed: without the parts of key and value."""
    q, heads, kv_heads = node.expect_rank(0, 3), node.attribute("num_heads", 0), node.attribute("kv_num_heads", 0)
    if q is None or node.has(1) or heads + kv_heads < 1:
        return [q]
    head = node.divided(q[2], heads + 2 * kv_heads, "width and number of heads")
    return [(q[0], q[1], None if head is None else head * heads)]


RULES: Mapping[str, Rule] = {
    f"com.microsoft.{name}": rule
    for name, rule in {
        "Attention": fused_attention,
        "BiasAdd": like_input,
        "BiasGelu": like_input,
        "BiasSoftmax": like_input,
        "DequantizeLinear": dequantise,
        "DynamicQuantizeMatMul": float_matrix_product,
        "DynamicQuantizeLSTM": quantised_recurrent,
        "EmbedLayerNormalization": embedding,
        "FastGelu": like_input,
        "FusedConv": convolution,
        "FusedGemm": gemm,
        "FusedMatMul": matrix_product,
        "Gelu": like_input,
        "GroupQueryAttention": grouped_attention,
        "Inverse": like_input,
        "MatMulIntegerToFloat": float_matrix_product,
        "MatMulNBits": packed_matrix_product,
        "MultiHeadAttention": multi_head_attention,
        "QGemm": quantised_gemm,
        "QLinearAdd": quantised_broadcast,
        "QLinearAveragePool": quantised_pooling,
        "QLinearConcat": quantised_concat,
        "QLinearGlobalAveragePool": quantised_global_pooling,
        "QLinearLeakyRelu": like_input,
        "QLinearMul": quantised_broadcast,
        "QLinearSigmoid": like_input,
        "QLinearSoftmax": like_input,
        "QuantizeLinear": quantise,
        "QuickGelu": like_input,
        "RotaryEmbedding": like_input,
        "SkipLayerNormalization": skip_normalisation,
        "SkipSimplifiedLayerNormalization": skip_normalisation,
        "TransposeMatMul": matrix_product,
    }.items()
}
