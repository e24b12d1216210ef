"""Rules of products of matrices and tensors, and of attention."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ge.dialects.onnx.shapes.elementwise import broadcast_dim, broadcast_shapes
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor


def multiplied(node: Node, a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of a matrix product by NumPy's rules: vectors are a row on the left and a column on the right."""
    if a is None or b is None:
        return None
    if len(a) == 0 or len(b) == 0:
        node.fail("a matrix product has no scalar operands")
    node.same(a[-1], b[-2] if len(b) > 1 else b[0], "the inner sizes of a matrix product")
    batch = broadcast_shapes(node, [a[:-2], b[:-2]])
    assert batch is not None
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def matrix_product(node: Node) -> Sequence[Result]:
    """[..., M, K] by [..., K, N]: [..., M, N]."""
    return [multiplied(node, node.shape(0), node.shape(1))]


def quantised_matrix_product(node: Node) -> Sequence[Result]:
    """The same, with the right operand after scale and zero point of the left."""
    return [multiplied(node, node.shape(0), node.shape(3))]


def gemm(node: Node) -> Sequence[Result]:
    """[M, K] by [K, N], each transposed on request: [M, N], which the third operand broadcasts to."""
    a, b = node.expect_rank(0, 2) or (None, None), node.expect_rank(1, 2) or (None, None)
    a = a[::-1] if node.attribute("transA", 0) else a
    b = b[::-1] if node.attribute("transB", 0) else b
    node.same(a[1], b[0], "the inner sizes of a matrix product")
    shape = (a[0], b[1])
    if node.has(2):
        added = node.shape(2)
        if added is not None and len(added) > 2:
            node.fail(f"{node.describe(2)} does not broadcast to a matrix")
        broadcast_shapes(node, [shape, added])
    return [shape]


def determinant(node: Node) -> Sequence[Result]:
    """[..., M, M]: [...]."""
    x = node.expect_least_rank(0, 2)
    if x is None:
        return [None]
    node.same(x[-2], x[-1], "the sides of a square matrix")
    return [x[:-2]]


# Einsum


def einsum(node: Node) -> Sequence[Result]:
    """The sizes of the letters after the arrow; without an arrow, of those that are there once, in order."""
    equation = re.sub(r"\s", "", node.attribute("equation"))
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(node.inputs):
        node.fail(f"equation '{equation}' has {len(terms)} terms for {len(node.inputs)} inputs")
    sizes: dict[str, Dim] = {}
    middle: Shape | None = ()
    for position, term in enumerate(terms):
        found = _bind(node, position, term, sizes)
        if "..." in term:
            middle = broadcast_shapes(node, [middle, found])
    if not arrow:
        letters = sorted(letter for letter in sizes if left.count(letter) == 1)
        right = ("..." if "..." in left else "") + "".join(letters)
    before, dots, after = right.partition("...")
    if any(letter not in sizes for letter in before + after):
        node.fail(f"equation '{equation}' has a letter after the arrow that no input has")
    if dots and middle is None:
        return [None]
    return [(*(sizes[x] for x in before), *(middle or () if dots else ()), *(sizes[x] for x in after))]


def _bind(node: Node, position: int, term: str, sizes: dict[str, Dim]) -> Shape | None:
    """Note the sizes of the letters of a term; the dimensions under its dots."""
    before, dots, after = term.partition("...")
    shape = node.shape(position)
    if shape is not None:
        needed = len(before) + len(after)
        if len(shape) < needed or (len(shape) > needed and not dots):
            node.fail(f"{node.describe(position)} does not fit term '{term}'")
    tail = None if shape is None else shape[len(shape) - len(after) :]
    for letter, dim in [
        *zip(before, shape or (None,) * len(before), strict=False),
        *zip(after, tail or (None,) * len(after), strict=True),
    ]:
        sizes[letter] = broadcast_dim(node, sizes[letter], dim) if letter in sizes else dim
    return None if shape is None else shape[len(before) : len(shape) - len(after)]


# Attention


def attention(node: Node) -> Sequence[Result]:
    """Queries [B, heads, T, D] or [B, T, heads x D] on keys and values: the result, new caches, and the scores."""
    q, k, v = (node.expect_rank(position, 3, 4) for position in range(3))
    heads, kv_heads = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
    query, key, value = _heads(node, q, heads), _heads(node, k, kv_heads), _heads(node, v, kv_heads)
    batch = node.same(node.same(query[0], key[0], "batch of query and key"), value[0], "batch of key and value")
    steps = node.same(key[2], value[2], "length of key and value")
    past = node.expect_rank(4, 4)
    total = steps
    if node.has(4):
        before = None if past is None else past[2]
        total = None if before is None or steps is None else before + steps
    result: Shape | None = (batch, query[1], query[2], value[3])
    if q is None:
        result = None
    elif len(q) == 3:
        width = None if value[3] is None or query[1] is None else query[1] * value[3]
        result = (batch, query[2], width)
    present = [(batch, part[1], total, part[3]) for part in (key, value)]
    return [result, *present, (batch, query[1], query[2], total)]


def _heads(node: Node, shape: Shape | None, heads: int | None) -> Shape:
    """[B, heads, T, D] of a shape [B, heads, T, D] or [B, T, heads x D]."""
    if shape is None:
        return (None, heads, None, None)
    if len(shape) == 4:
        return shape
    if heads is None or heads < 1:
        node.fail("inputs of three dimensions need the number of heads")
    return (shape[0], heads, shape[1], node.divided(shape[2], heads, "width and number of heads"))


def flex_attention(node: Node) -> Sequence[Result]:
    """Queries [B, heads, T, D] on values [B, kv_heads, S, E]: [B, heads, T, E]."""
    q, v = node.expect_rank(0, 4), node.expect_rank(2, 4)
    return [(*(q[:3] if q else (None,) * 3), v[3] if v else None)]


def linear_attention(node: Node) -> Sequence[Result]:
    """Queries [B, T, heads x D] on values [B, T, kv_heads x E]: [B, T, heads x E] and a state [B, kv_heads, D, E]."""
    for position in range(3):
        node.expect_rank(position, 3)
    heads, kv_heads = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
    batch = node.same(node.dim(0, 0), node.dim(2, 0), "batch of query and value")
    steps = node.same(node.dim(0, 1), node.dim(2, 1), "length of query and value")
    depth = node.divided(node.dim(0, 2), heads, "width of the query and number of heads")
    width = node.divided(node.dim(2, 2), kv_heads, "width of the value and number of heads")
    state = Tensor(node.element(3) or node.element(0), (batch, kv_heads, depth, width))
    return [(batch, steps, None if width is None else width * heads), state]


RULES: Mapping[str, Rule] = {
    "Attention": attention,
    "Det": determinant,
    "Einsum": einsum,
    "Gemm": gemm,
    "LinearAttention": linear_attention,
    "MatMul": matrix_product,
    "MatMulInteger": matrix_product,
    "QLinearMatMul": quantised_matrix_product,
    "ai.onnx.preview.FlexAttention": flex_attention,
}
