// RUN: ge-opt %s --split-input-file --fuse-requantise | filecheck %s

// Case 1: a product whose result is quantised; the scale of each channel is divided by that of the quantisation.
// CHECK-LABEL: @main
// CHECK: %[[S:.*]] = graph.constant dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK: graph.integer_conv2d %x, %w, %b, %[[S]] padding 3 zero_point 7 :
// CHECK-SAME: -> tensor<1x2x4x4xui8>
// CHECK-NOT: graph.quantise
func.func @main(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w = graph.constant dense<3> : tensor<2x2x1x1xi8>
  %b = graph.constant dense<[1, 2]> : tensor<2xi32>
  %s = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %y = graph.integer_conv2d %x, %w, %b, %s padding 3 : (tensor<1x2x4x4xui8>, tensor<2x2x1x1xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %q = graph.quantise %y scale 0.5 zero_point 7 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  func.return %q : tensor<1x2x4x4xui8>
}

// -----

// Case 2: a relu that is the lower end of the type goes away; one that is not becomes a bound, in units of the scale.
// CHECK-LABEL: @main
// CHECK: graph.integer_matmul %a, %w, %b, %{{.*}} zero_point -128 : {{.*}} -> tensor<4x2xi8>
// CHECK: graph.integer_matmul %a, %w, %b, %{{.*}} zero_point 5 activation <clip, 0.000000e+00, 0x7F800000> : {{.*}} -> tensor<4x2xi8>
// CHECK: graph.integer_matmul %a, %w, %b, %{{.*}} activation <clip, 0.000000e+00, 1.200000e+01> : {{.*}} -> tensor<4x2xui8>
func.func @main(%a: tensor<4x6xi8>) -> (tensor<4x2xi8>, tensor<4x2xi8>, tensor<4x2xui8>) attributes {graph.input_names = ["a"], graph.output_names = ["x", "y", "z"]} {
  %w = graph.constant dense<3> : tensor<6x2xi8>
  %b = graph.constant dense<[1, 2]> : tensor<2xi32>
  %s = graph.constant dense<0.25> : tensor<2xf32>
  %0 = graph.integer_matmul %a, %w, %b, %s : (tensor<4x6xi8>, tensor<6x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = graph.unary <relu> %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = graph.quantise %1 scale 0.5 zero_point -128 : (tensor<4x2xf32>) -> tensor<4x2xi8>
  %3 = graph.integer_matmul %a, %w, %b, %s : (tensor<4x6xi8>, tensor<6x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<4x2xf32>
  %4 = graph.unary <relu> %3 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = graph.quantise %4 scale 0.5 zero_point 5 : (tensor<4x2xf32>) -> tensor<4x2xi8>
  %6 = graph.integer_matmul %a, %w, %b, %s : (tensor<4x6xi8>, tensor<6x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<4x2xf32>
  %7 = graph.unary <clip, 0.0, 6.0> %6 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %8 = graph.quantise %7 scale 0.5 : (tensor<4x2xf32>) -> tensor<4x2xui8>
  func.return %2, %5, %8 : tensor<4x2xi8>, tensor<4x2xi8>, tensor<4x2xui8>
}

// -----

// Cases 3 and 4: a sum; the largest of windows and a reshape where scale and zero point stay.
// CHECK-LABEL: @main
// CHECK-NEXT: %{{.*}} = graph.integer_add %a, %b scales 5.000000e-01, 2.500000e-01, 1.000000e+00 zero_points [1, 2, 0] :
// CHECK-NEXT: %{{.*}} = graph.pool2d max %a kernel [2, 2] : (tensor<1x2x4x4xui8>) -> tensor<1x2x3x3xui8>
// CHECK-NEXT: %{{.*}} = graph.reshape %a : (tensor<1x2x4x4xui8>) -> tensor<2x16xui8>
// CHECK-NEXT: func.return
func.func @main(%a: tensor<1x2x4x4xui8>, %b: tensor<1x2x4x4xi8>) -> (tensor<1x2x4x4xui8>, tensor<1x2x3x3xui8>, tensor<2x16xui8>) attributes {graph.input_names = ["a", "b"], graph.output_names = ["x", "y", "z"]} {
  %0 = graph.dequantise %a scale 0.5 zero_point 1 : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = graph.dequantise %b scale 0.25 zero_point 2 : (tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xf32>
  %2 = graph.binary add %0, %1 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.unary <relu> %2 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %4 = graph.quantise %3 scale 1.0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
  %5 = graph.pool2d max %0 kernel [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %6 = graph.quantise %5 scale 0.5 zero_point 1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xui8>
  %7 = graph.reshape %0 : (tensor<1x2x4x4xf32>) -> tensor<2x16xf32>
  %8 = graph.quantise %7 scale 0.5 zero_point 1 : (tensor<2x16xf32>) -> tensor<2x16xui8>
  func.return %4, %6, %8 : tensor<1x2x4x4xui8>, tensor<1x2x3x3xui8>, tensor<2x16xui8>
}

// -----

// Left alone: a product with a second user; a sum with a relu inside of the type; an average; another scale, another type.
// CHECK-LABEL: @main
// CHECK: graph.integer_matmul {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: graph.quantise
// CHECK: graph.binary add
// CHECK: graph.quantise %{{.*}} zero_point 9
// CHECK: graph.pool2d average
// CHECK-NEXT: graph.quantise
// CHECK: graph.reshape %{{.*}} -> tensor<1x16xf32>
// CHECK-NEXT: graph.quantise
// CHECK: graph.reshape %{{.*}} -> tensor<16x1xf32>
// CHECK-NEXT: graph.quantise
func.func @main(%a: tensor<4x4xui8>, %c: tensor<1x1x4x4xui8>) -> (tensor<4x4xf32>, tensor<4x4xui8>, tensor<4x4xui8>, tensor<1x1x3x3xui8>, tensor<1x16xui8>, tensor<16x1xi8>) attributes {graph.input_names = ["a", "c"], graph.output_names = ["r", "s", "t", "u", "v", "w"]} {
  %w = graph.constant dense<3> : tensor<4x4xi8>
  %b = graph.constant dense<1> : tensor<4xi32>
  %s = graph.constant dense<0.25> : tensor<4xf32>
  %0 = graph.integer_matmul %a, %w, %b, %s : (tensor<4x4xui8>, tensor<4x4xi8>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = graph.quantise %0 scale 0.5 : (tensor<4x4xf32>) -> tensor<4x4xui8>
  %2 = graph.dequantise %a scale 0.5 zero_point 1 : (tensor<4x4xui8>) -> tensor<4x4xf32>
  %3 = graph.binary add %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.unary <relu> %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = graph.quantise %4 scale 0.5 zero_point 9 : (tensor<4x4xf32>) -> tensor<4x4xui8>
  %6 = graph.dequantise %c scale 0.5 zero_point 1 : (tensor<1x1x4x4xui8>) -> tensor<1x1x4x4xf32>
  %7 = graph.pool2d average %6 kernel [2, 2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32>
  %8 = graph.quantise %7 scale 0.5 zero_point 1 : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xui8>
  %9 = graph.reshape %2 : (tensor<4x4xf32>) -> tensor<1x16xf32>
  %10 = graph.quantise %9 scale 0.25 zero_point 1 : (tensor<1x16xf32>) -> tensor<1x16xui8>
  %11 = graph.reshape %2 : (tensor<4x4xf32>) -> tensor<16x1xf32>
  %12 = graph.quantise %11 scale 0.5 zero_point 1 : (tensor<16x1xf32>) -> tensor<16x1xi8>
  func.return %0, %1, %5, %8, %10, %12 : tensor<4x4xf32>, tensor<4x4xui8>, tensor<4x4xui8>, tensor<1x1x3x3xui8>, tensor<1x16xui8>, tensor<16x1xi8>
}
