"""Operations on 8-bit integers, in storage formats of 32 lanes, as an ONNX model that computes the same."""

from __future__ import annotations

import numpy as np
from onnx_models import run_pass

from ge.dialects.graph.meaning import run_module
from ge.dialects.onnx.meaning import run_module as run_onnx
from ge.ir.parser import parse_module

MODULE = """
func.func @main(%x: tensor<1x3x20x21xf32>) -> (tensor<1x40xf32>, tensor<1x32x10x11xf32>)
    attributes {graph.input_names = ["x"], graph.output_names = ["y", "d"]} {
  %w = graph.constant dense<3> : tensor<32x3x3x3xi8>
  %b = graph.constant dense<7> : tensor<32xi32>
  %s = graph.constant dense<0.01> : tensor<32xf32>
  %m = graph.constant dense<-2> : tensor<32x40xi8>
  %b2 = graph.constant dense<7> : tensor<40xi32>
  %s2 = graph.constant dense<0.01> : tensor<40xf32>
  %q = graph.quantise %x scale 0.02 zero_point 128 : (tensor<1x3x20x21xf32>) -> tensor<1x3x20x21xui8>
  %y = graph.integer_conv2d %q, %w, %b, %s strides [2, 2] pads [1, 1, 1, 1] padding 128 zero_point 7 activation <relu>
    : (tensor<1x3x20x21xui8>, tensor<32x3x3x3xi8>, tensor<32xi32>, tensor<32xf32>) -> tensor<1x32x10x11xui8>
  %z = graph.integer_add %y, %y scales 0.5, 0.25, 1.0 zero_points [7, 7, 3]
    : (tensor<1x32x10x11xui8>, tensor<1x32x10x11xui8>) -> tensor<1x32x10x11xui8>
  %d = graph.dequantise %z scale 1.0 zero_point 3 : (tensor<1x32x10x11xui8>) -> tensor<1x32x10x11xf32>
  %p = graph.pool2d average %d kernel [10, 11] : (tensor<1x32x10x11xf32>) -> tensor<1x32x1x1xf32>
  %k = graph.quantise %p scale 0.02 zero_point 128 : (tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xui8>
  %r = graph.reshape %k : (tensor<1x32x1x1xui8>) -> tensor<1x32xui8>
  %g = graph.integer_matmul %r, %m, %b2, %s2 zero_point 3
    : (tensor<1x32xui8>, tensor<32x40xi8>, tensor<40xi32>, tensor<40xf32>) -> tensor<1x40xui8>
  %o = graph.dequantise %g scale 0.1 zero_point 3 : (tensor<1x40xui8>) -> tensor<1x40xf32>
  func.return %o, %d : tensor<1x40xf32>, tensor<1x32x10x11xf32>
}
"""


def test_a_network_in_integers() -> None:
    inputs = {"x": np.random.default_rng(0).standard_normal((1, 3, 20, 21)).astype(np.float32)}
    module = parse_module(MODULE)
    for name in ("fuse-quantise-conv", "assign-precision", "propagate-layout"):
        run_pass(module, name)
    want = run_module(module, inputs)
    run_pass(module, "convert-graph-to-onnx")
    got = run_onnx(module, inputs)
    assert all(np.array_equal(got[name], expected) for name, expected in want.items())
    assert len(np.unique(want["d"])) > 15, "nearly all results saturate, the test shows little"
