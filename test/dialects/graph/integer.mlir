// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt %s | ge-opt | filecheck %s

func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<32x3x3x3xi8>, %b: tensor<32xi32>, %s: tensor<32xf32>, %m: tensor<32x8xi8>, %c: tensor<8xi32>, %t: tensor<8xf32>) -> tensor<1x32x8x8xf16> attributes {graph.input_names = ["x", "w", "b", "s", "m", "c", "t"], graph.output_names = ["y"]} {
  // CHECK: graph.quantise %x scale 5.000000e-01 zero_point 128 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xui8>
  %q = graph.quantise %x scale 0.5 zero_point 128 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xui8>
  // CHECK: graph.integer_conv2d %q, %w, %b, %s pads [1, 1, 1, 1] padding 128 zero_point 7 activation <relu> : (tensor<1x3x8x8xui8>, tensor<32x3x3x3xi8>, tensor<32xi32>, tensor<32xf32>) -> tensor<1x32x8x8xui8>
  %y = graph.integer_conv2d %q, %w, %b, %s pads [1, 1, 1, 1] padding 128 zero_point 7 activation <relu> : (tensor<1x3x8x8xui8>, tensor<32x3x3x3xi8>, tensor<32xi32>, tensor<32xf32>) -> tensor<1x32x8x8xui8>
  // CHECK: graph.integer_add %y, %y scales 5.000000e-01, 2.500000e-01, 1.000000e+00 zero_points [7, 7, -3] : (tensor<1x32x8x8xui8>, tensor<1x32x8x8xui8>) -> tensor<1x32x8x8xi8>
  %z = graph.integer_add %y, %y scales 0.5, 0.25, 1.0 zero_points [7, 7, -3] : (tensor<1x32x8x8xui8>, tensor<1x32x8x8xui8>) -> tensor<1x32x8x8xi8>
  // CHECK: graph.dequantise %z scale 1.000000e+00 zero_point -3 : (tensor<1x32x8x8xi8>) -> tensor<1x32x8x8xf16>
  %d = graph.dequantise %z scale 1.0 zero_point -3 : (tensor<1x32x8x8xi8>) -> tensor<1x32x8x8xf16>
  %r = graph.reshape %z : (tensor<1x32x8x8xi8>) -> tensor<64x32xi8>
  // CHECK: graph.integer_matmul %r, %m, %c, %t : (tensor<64x32xi8>, tensor<32x8xi8>, tensor<8xi32>, tensor<8xf32>) -> tensor<64x8xf16>
  %p = graph.integer_matmul %r, %m, %c, %t : (tensor<64x32xi8>, tensor<32x8xi8>, tensor<8xi32>, tensor<8xf32>) -> tensor<64x8xf16>
  func.return %d : tensor<1x32x8x8xf16>
}
