// RUN: ge-opt %s --split-input-file --fold-conv-bn | filecheck %s

// Case 1: the normalisation goes into the weights, the activation stays.
// CHECK:       %n = graph.conv2d {{[^<]*}} :
// CHECK-NEXT:  graph.unary <relu> %n
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %n = graph.batch_norm %c, %one, %one, %one, %one epsilon 1.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %y = graph.unary <relu> %n : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %y : tensor<1x1x4x4xf32>
}

// -----

// Case 2: a normalisation before a convolution, here with two groups: each filter reads the channel of its group.
// CHECK:       func.func @main
// CHECK-NEXT:    graph.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    graph.constant dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    graph.conv2d %x, {{.*}} groups 2 : {{.*}} loc(fused["bn", "conv"])
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = graph.constant dense<[4.0, 6.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %mean = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %var = graph.constant dense<[3.0, 3.0]> : tensor<2xf32>
  %n = graph.batch_norm %x, %scale, %bias, %mean, %var epsilon 1.0
     : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("bn")
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %y = graph.conv2d %n, %w groups 2 : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Left alone: a normalisation before a convolution that pads, and one with a second user.
// CHECK:       %n = graph.batch_norm
// CHECK:       graph.conv2d %n, %w pads
// CHECK:       %m = graph.batch_norm
// CHECK-NEXT:  graph.conv2d %m, %v :
func.func @main(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %n = graph.batch_norm %x, %one, %one, %one, %one epsilon 1.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %w = graph.constant dense<1.0> : tensor<1x1x3x3xf32>
  %y = graph.conv2d %n, %w pads [1, 1, 1, 1] : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %v = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %m = graph.batch_norm %x, %one, %one, %one, %one epsilon 2.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %z = graph.conv2d %m, %v : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y, %z, %m : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Left alone: weights of float16 that would be too large, after a convolution and before one.
// CHECK:       %c = graph.conv2d %x, %w
// CHECK-NEXT:  %y = graph.binary mul %c, %s
// CHECK:       %n = graph.batch_norm %x
// CHECK-NEXT:  %z = graph.conv2d %n, %w
func.func @main(%x: tensor<1x1x4x4xf16>) -> (tensor<1x1x4x4xf16>, tensor<1x1x4x4xf16>) {
  %w = graph.constant dense<2.0e3> : tensor<1x1x1x1xf16>
  %s = graph.constant dense<6.0e1> : tensor<f16>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  %y = graph.binary mul %c, %s : (tensor<1x1x4x4xf16>, tensor<f16>) -> tensor<1x1x4x4xf16>
  %g = graph.constant dense<6.0e1> : tensor<1xf16>
  %o = graph.constant dense<0.0> : tensor<1xf16>
  %v = graph.constant dense<1.0> : tensor<1xf16>
  %n = graph.batch_norm %x, %g, %o, %o, %v epsilon 0.0
     : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4x4xf16>
  %z = graph.conv2d %n, %w : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  func.return %y, %z : tensor<1x1x4x4xf16>, tensor<1x1x4x4xf16>
}
