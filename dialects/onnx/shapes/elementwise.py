"""Rules of operators that work element by element, and the broadcasting of shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ge.dialects.onnx.shapes.elements import DATA_TYPES
from ge.dialects.onnx.shapes.node import Node, Result, Rule
from ge.dialects.onnx.shapes.values import Dim, Shape, Tensor, shape_text
from ge.maths.symbols import differ

# Broadcasting


def broadcast_dim(node: Node, a: Dim, b: Dim) -> Dim:
    """The size of two that broadcast: they are equal, or one of them is 1. Fails when they certainly are neither."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a is None or b is None:
        known = b if a is None else a
        return known if known is not None and _not_one(known) else None
    if differ(a, b) and _not_one(a) and _not_one(b):
        node.fail(f"shapes do not broadcast: {a} and {b}")
    if _not_one(a):
        return b if isinstance(b, int) and _not_one(b) else a
    return b if _not_one(b) else None


def _not_one(dim: Dim) -> bool:
    return dim is not None and differ(dim, 1)


def broadcast_shapes(node: Node, shapes: Iterable[Shape | None]) -> Shape | None:
    """The shape that all shapes broadcast to; None when the rank of one is unknown."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        rank = max(len(result), len(shape))
        a, b = (1,) * (rank - len(result)) + result, (1,) * (rank - len(shape)) + shape
        result = tuple(broadcast_dim(node, x, y) for x, y in zip(a, b, strict=True))
    return result


# Rules


def like_input(node: Node) -> Sequence[Result]:
    """The shape of the first input."""
    return [node.shape(0)]


def broadcast(node: Node) -> Sequence[Result]:
    """The common shape of all inputs, by NumPy's rules."""
    return [broadcast_shapes(node, [node.shape(position) for position in range(len(node.inputs))])]


def broadcast_to_input(node: Node) -> Sequence[Result]:
    """The shape of the first input, which the second broadcasts to."""
    x, other = node.shape(0), node.shape(1)
    if x is None or other is None:
        return [x]
    if len(other) > len(x):
        node.fail(f"{node.describe(1)} has more dimensions than {shape_text(x)}")
    for a, b in zip(x[len(x) - len(other) :], other, strict=True):
        if b is not None and _not_one(b) and a is not None and differ(a, b):
            node.fail(f"{node.describe(1)} does not broadcast to {shape_text(x)}")
    return [x]


def same_shapes(node: Node) -> Sequence[Result]:
    """The shape that both inputs have."""
    return [node.same_shapes(node.shape(0), node.shape(1), "the inputs must have one shape")]


def cast(node: Node) -> Sequence[Result]:
    """The shape of the input, in the element type of attribute `to`."""
    return [Tensor(DATA_TYPES.get(node.attribute("to")), node.shape(0))]


def cast_like(node: Node) -> Sequence[Result]:
    """The shape of the first input, in the element type of the second."""
    return [Tensor(node.element(1), node.shape(0))]


def dropout(node: Node) -> Sequence[Result]:
    """The shape of the input, for the result and the mask."""
    return [node.shape(0), Tensor("i1", node.shape(0))]


def identity(node: Node) -> Sequence[Result]:
    """The input itself."""
    return [node.value(0)]


def along_axis(node: Node) -> Sequence[Result]:
    """The shape of the input, which has the axis along which the operator works."""
    rank = node.rank()
    if rank:
        node.axis(node.attribute("axis"), rank)
    return [node.shape(0)]


def with_dtype(node: Node) -> Sequence[Result]:
    """The shape of the input, in the element type of attribute `dtype`, which defaults to that of the input."""
    dtype = node.attribute("dtype")
    return [Tensor(node.element(0) if dtype is None else DATA_TYPES.get(dtype), node.shape(0))]


_LIKE_INPUT = """
Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu
HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log LRN
MeanVarianceNormalization Mish Neg Not Reciprocal RegexFullMatch Relu ReverseSequence Round RotaryEmbedding
ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
TensorScatter ThresholdedRelu Trilu
"""

_BROADCAST = """
Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul
Or Pow StringConcat Sub Sum Where Xor
"""

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_LIKE_INPUT.split(), like_input),
    **dict.fromkeys(_BROADCAST.split(), broadcast),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "LpNormalization", "Softmax"), along_axis),
    "Bernoulli": with_dtype,
    "BitCast": cast,
    "Cast": cast,
    "CastLike": cast_like,
    "Clip": like_input,
    "Dropout": dropout,
    "EyeLike": with_dtype,
    "Identity": identity,
    "PRelu": broadcast_to_input,
    "RandomNormalLike": with_dtype,
    "RandomUniformLike": with_dtype,
    "SwiGLU": same_shapes,
}
