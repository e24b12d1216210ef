// RUN: ge-opt %s --split-input-file --fuse-quantise-conv | filecheck %s

// An input of the model that only one convolution reads.
// CHECK-LABEL: @main
// CHECK: graph.integer_conv2d %x, %w, %b, %s quantises by 2.000000e-02 to ui8 padding 3 :
// CHECK-SAME: (tensor<1x2x4x4xf32>, {{.*}}) -> tensor<1x2x3x3xui8>
// CHECK-NOT: graph.quantise
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xui8> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w = graph.constant dense<3> : tensor<2x2x2x2xi8>
  %b = graph.constant dense<[1, 2]> : tensor<2xi32>
  %s = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %q = graph.quantise %x scale 0.02 zero_point 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %y = graph.integer_conv2d %q, %w, %b, %s padding 3 : (tensor<1x2x4x4xui8>, tensor<2x2x2x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x3x3xui8>
  func.return %y : tensor<1x2x3x3xui8>
}

// -----

// Left alone: a quantised value with a second user; windows of one position; padding that is not the zero point; what an
// operation makes.
// CHECK-LABEL: @main
// CHECK-COUNT-4: graph.quantise
// CHECK-NOT: quantises by
func.func @main(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x3x3xui8>, tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>, tensor<1x2x5x5xui8>, tensor<1x2x3x3xui8>) attributes {graph.input_names = ["x"], graph.output_names = ["y", "q", "z", "v", "u"]} {
  %w = graph.constant dense<3> : tensor<2x2x2x2xi8>
  %w1 = graph.constant dense<3> : tensor<2x2x1x1xi8>
  %b = graph.constant dense<[1, 2]> : tensor<2xi32>
  %s = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %q = graph.quantise %x scale 0.02 zero_point 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %y = graph.integer_conv2d %q, %w, %b, %s padding 3 : (tensor<1x2x4x4xui8>, tensor<2x2x2x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x3x3xui8>
  %q1 = graph.quantise %x scale 0.03 zero_point 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %z = graph.integer_conv2d %q1, %w1, %b, %s padding 3 : (tensor<1x2x4x4xui8>, tensor<2x2x1x1xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x4x4xui8>
  %q2 = graph.quantise %x scale 0.04 zero_point 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %v = graph.integer_conv2d %q2, %w, %b, %s pads [1, 1, 1, 1] padding 4 : (tensor<1x2x4x4xui8>, tensor<2x2x2x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x5x5xui8>
  %r = graph.unary <relu> %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %q3 = graph.quantise %r scale 0.05 zero_point 3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %u = graph.integer_conv2d %q3, %w, %b, %s padding 3 : (tensor<1x2x4x4xui8>, tensor<2x2x2x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x3x3xui8>
  func.return %y, %q, %z, %v, %u : tensor<1x2x3x3xui8>, tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>, tensor<1x2x5x5xui8>, tensor<1x2x3x3xui8>
}
