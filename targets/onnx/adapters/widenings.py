"""Versions of operators that only widened the version before.

A widening adds element types, optional attributes whose default is the old behaviour, optional inputs and outputs at
the end, or values that an attribute may have. Every node that is legal before means the same after it, and the other
way round every node that is legal on both sides. All other boundaries have adapters; one that has neither makes a test
in ``test/targets/onnx/adapters`` fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

WIDENINGS: Mapping[int, str] = {
    # integers
    6: "Gemm",
    # an optional attribute
    7: "AveragePool",
    # broadcasting, optional outputs
    8: "Max MaxPool Mean Min Sum",
    # more element types
    9: "Cast Constant Flatten Gemm Greater Less MatMul PRelu",
    # ceil_mode and dilations
    10: "AveragePool MaxPool",
    # negative axes, optional inputs (OneHot: negative indices, which runtimes have always taken)
    11: (
        "ArgMax ArgMin AveragePool Compress Concat Constant Conv ConvTranspose DepthToSpace Equal Flatten Gather "
        "Gemm Hardmax If LogSoftmax Loop LpPool MaxPool MaxUnpool NonMaxSuppression OneHot ReduceL1 ReduceL2 "
        "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Scan "
        "Slice Softmax Split Squeeze TopK Unsqueeze"
    ),
    # integers, new attributes
    12: "ArgMax ArgMin Clip Constant GatherND Max MaxPool Min Pow ReduceMax ReduceMin",
    # bfloat16, new attributes
    13: (
        "Abs Add ArgMax ArgMin Cast Ceil Clip Concat Constant DepthToSpace DequantizeLinear Div Dropout Equal Exp "
        "Expand Flatten Floor Gather GatherElements GatherND Gemm Greater Identity If IsNaN LRN Less Log Loop "
        "MatMul Max Mean MeanVarianceNormalization Min Mod Mul Neg NegativeLogLikelihoodLoss NonZero Pad Pow "
        "QuantizeLinear Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSumSquare Relu Reshape ScatterElements ScatterND Shape Sigmoid Sign Size Slice "
        "SoftmaxCrossEntropyLoss SpaceToDepth Sqrt Sub Sum Tanh Tile Transpose"
    ),
    # small integers, sequences, allowzero, layout
    14: "Add CumSum Div GRU Identity LSTM Mul RNN Relu Reshape Sub",
    # start and end of a shape
    15: "BatchNormalization Pow Shape",
    # bfloat16, optional types, reductions
    16: "GreaterOrEqual Identity If LeakyRelu LessOrEqual Loop PRelu Scan ScatterElements ScatterND Where",
    # new attributes and optional inputs, tensors for optionals
    18: "LpPool OptionalGetElement OptionalHasElement Pad Resize ScatterElements ScatterND",
    # float8, dilations, modes
    19: (
        "AveragePool Cast CastLike Constant DequantizeLinear Equal Identity If Loop Pad QuantizeLinear Reshape "
        "Resize Scan Shape Size"
    ),
    # float8, booleans
    20: "ConstantOfShape IsInf IsNaN ReduceMax ReduceMin",
    # 4-bit integers, blocks
    21: (
        "Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad QLinearMatMul "
        "QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze"
    ),
    # bfloat16 (pooling: no window begins after the padding, as runtimes have always done)
    22: (
        "Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh DeformConv Det Dropout "
        "Elu EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample HardSigmoid HardSwish "
        "InstanceNormalization LSTM LpNormalization LpPool MaxPool MaxRoiPool MaxUnpool Mish Multinomial "
        "NegativeLogLikelihoodLoss RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike RoiAlign Round "
        "Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu"
    ),
    # float4
    23: (
        "Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad QuantizeLinear "
        "Reshape Scan Shape Size Squeeze Transpose Unsqueeze"
    ),
    # float8e8m0, new attributes
    24: (
        "Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
        "QuantizeLinear Reshape Scan Shape Size SplitToSequence Squeeze TopK Transpose Unsqueeze"
    ),
    # 2-bit integers, attention windows
    25: (
        "Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
        "QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze"
    ),
    # float16
    27: "Range",
    # float6, bfloat16, more integers
    28: (
        "BitShift Cast Celu Compress DepthToSpace DequantizeLinear Einsum Mod OneHot Optional OptionalGetElement "
        "OptionalHasElement QuantizeLinear ReverseSequence SpaceToDepth Unique"
    ),
}
"""Opset -> the operators that have a new version there which is a widening."""


NARROWINGS: Mapping[int, str] = {
    # integers are no longer taken
    28: "ReduceLogSum ReduceLogSumExp",
}
"""Opset -> the operators that have a new version there which takes less: what is legal there meant the same before."""


def is_narrowing(op_type: str, version: int) -> bool:
    """Whether the version of an operator before this one means the same for all nodes that are legal here."""
    return op_type in NARROWINGS.get(version, "").split()


def is_widening(op_type: str, version: int) -> bool:
    """Whether a version of an operator means the same as the one before for all nodes that are legal there."""
    return op_type in _widened(version)


@cache
def _widened(version: int) -> frozenset[str]:
    return frozenset(WIDENINGS.get(version, "").split())
