"""Small models: each takes a second to compile, together they have something of every level."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

CNN = """
<ir_version: 8, opset_import: ["": 17], producer_name: "small">
cnn (float[1, 3, 8, 8] x) => (float[1, 5] prob)
{
   c1 = Conv <pads = [1, 1, 1, 1], strides = [1, 1]> (x, w1)
   n1 = BatchNormalization (c1, scale, shift, mean, variance)
   r1 = Relu (n1)
   p1 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r1)
   c2 = Conv <pads = [1, 1, 1, 1]> (p1, w2, b2)
   s2 = Add (c2, p1)
   r2 = HardSwish (s2)
   a = GlobalAveragePool (r2)
   f = Flatten (a)
   g = Gemm <transB = 1> (f, w3, b3)
   prob = Softmax <axis = 1> (g)
}
"""

MLP = """
<ir_version: 8, opset_import: ["": 17]>
mlp (float[2, 6] x, int64[2] chosen) => (float[2, 4] y, int64[2, z] places)
{
   h = MatMul (x, u1)
   k = Tanh (h)
   m = Mul (k, half)
   e = MatMul (m, u2)
   y = Gather <axis = 0> (e, chosen)
   places = NonZero (y)
}
"""

CONTROL = """
<ir_version: 8, opset_import: ["": 17]>
control (float[4] x, bool c, int64 n) => (float[4] y, float[4] z, string[2] t)
{
   y = If (c) <
      then_branch = then_graph () => (float[4] a) { a = Add (x, x) },
      else_branch = else_graph () => (float[4] b) { b = Neg (x) }
   >
   z = Loop (n, c, x) <
      body = body_graph (int64 i, bool more, float[4] v) => (bool again, float[4] w)
      {
         again = Identity (more)
         w = Mul (v, two)
      }
   >
   t = Constant <value_strings = ["one", "two"]> ()
}
"""

GROUPED = """
<ir_version: 8, opset_import: ["": 17]>
grouped (float16[1, 32, 6, 6] x) => (float16[1, 32, 6, 6] y)
{
   s, t = Split <axis = 1> (x)
   j = Concat <axis = 1> (t, s)
   c = Conv <group = 2, pads = [1, 1, 1, 1]> (j, wg)
   y = Clip (c, low, high)
}
"""

FUNCTIONS = """
<ir_version: 8, opset_import: ["": 17, "local": 1]>
functions (float[2, 3] x) => (float[2, 3] y)
{
   y = local.twice <factor = 2.0> (x)
}
<domain: "local", opset_import: ["": 17]>
twice <factor> (a) => (b)
{
   f = Constant <value_float: float = @factor> ()
   b = Mul (a, f)
}
"""

_RANDOM = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray[Any, Any]:
    return (_RANDOM.standard_normal(shape) * 0.3).astype(np.float32)


CONSTANTS: dict[str, dict[str, np.ndarray[Any, Any]]] = {
    CNN: {
        "w1": _normal(20, 3, 3, 3),
        **{name: _normal(20) for name in ("scale", "shift", "mean")},
        "variance": np.ones(20, np.float32),
        "w2": _normal(20, 20, 3, 3),
        "b2": _normal(20),
        "w3": _normal(5, 20),
        "b3": _normal(5),
    },
    MLP: {"u1": _normal(6, 20), "u2": _normal(20, 4), "half": np.array(0.5, np.float32)},
    CONTROL: {"two": np.array(2.0, np.float32)},
    GROUPED: {
        "wg": _normal(32, 16, 3, 3).astype(np.float16),
        "low": np.array(0.0, np.float16),
        "high": np.array(6.0, np.float16),
    },
    FUNCTIONS: {},
}
"""The initializers of each model."""


def small_models() -> dict[str, ModelProto]:
    """The models by name."""
    models: dict[str, ModelProto] = {}
    for text, constants in CONSTANTS.items():
        model = parser.parse_model(text)
        model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
        models[model.graph.name] = model
    return models


EXTERNAL_FILE = "external.bin"
"""The file that the model with external data refers to."""


def external_model() -> tuple[ModelProto, bytes]:
    """A model whose weights are in another file, and the bytes of that."""
    data = _normal(4, 300).tobytes()
    weights = TensorProto(name="w", dims=[4, 300], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", EXTERNAL_FILE), ("offset", "0"), ("length", str(len(data)))):
        weights.external_data.add(key=key, value=value)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 300])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "external", [x], [y], [weights])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), data
