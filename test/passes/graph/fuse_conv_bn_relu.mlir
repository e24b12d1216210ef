// RUN: ge-opt %s --split-input-file --fuse-conv-bn-relu | filecheck %s

// Case 4: a whole chain becomes one convolution, and the constants that nobody uses go.
// CHECK:       func.func @main
// CHECK-NEXT:    %[[B:.*]] = graph.constant dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %w = graph.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %y = graph.conv2d %x, %w, %[[B]] activation <relu> : {{.*}} loc(fused["conv1", "bn1", "relu1"])
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %scale = graph.constant dense<[2.0, 6.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = graph.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %var = graph.constant dense<[3.0, 8.0]> : tensor<2xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv1")
  %n = graph.batch_norm %c, %scale, %bias, %mean, %var epsilon 1.0
     : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("bn1")
  %y = graph.unary <relu> %n : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("relu1")
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Case 2: a constant per channel and a scalar, in both orders; the bias of the convolution is scaled, too.
// CHECK:       func.func @main
// CHECK-NEXT:    graph.constant dense<[7.000000e+00, 9.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    graph.constant dense<{{\[\[\[\[}}-2.000000e+00]]], {{\[\[\[}}-4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    graph.conv2d
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %c = graph.conv2d %x, %w, %b : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %scaled = graph.binary mul %two, %c : (tensor<f32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %shift = graph.constant dense<[[[13.0]], [[17.0]]]> : tensor<2x1x1xf32>
  %y = graph.binary sub %shift, %scaled : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Case 3: an activation alone, and for a matrix product whose right operand is not constant.
// CHECK:       func.func @main
// CHECK-NEXT:    %[[C:.*]] = graph.conv2d %x, %w activation <clip, 0.000000e+00, 6.000000e+00>
// CHECK-NEXT:    %[[M:.*]] = graph.matmul %a, %b activation <gelu>
// CHECK-NEXT:    func.return %[[C]], %[[M]]
func.func @main(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>, %a: tensor<3x4xf32>, %b: tensor<4x5xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<3x5xf32>) {
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = graph.unary <clip, 0.0, 6.0> %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %p = graph.matmul %a, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %z = graph.unary <gelu> %p : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y, %z : tensor<1x2x4x4xf32>, tensor<3x5xf32>
}

// -----

// Case 2 of a matrix product: only a shift, so that weights that are not constant stay, and constant ones are not copied.
// CHECK:       func.func @main
// CHECK:         %[[B:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    graph.matmul %a, %b, %[[B]] : (tensor<3x3x4xf32>, tensor<3x4x2xf32>, tensor<2xf32>) -> tensor<3x3x2xf32>
// CHECK-NEXT:    func.return
func.func @main(%a: tensor<3x3x4xf32>, %b: tensor<3x4x2xf32>) -> tensor<3x3x2xf32> {
  %p = graph.matmul %a, %b : (tensor<3x3x4xf32>, tensor<3x4x2xf32>) -> tensor<3x3x2xf32>
  %shift = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = graph.binary add %p, %shift : (tensor<3x3x2xf32>, tensor<2xf32>) -> tensor<3x3x2xf32>
  func.return %y : tensor<3x3x2xf32>
}

// -----

// Weights that two convolutions share are copied for the one that is scaled.
// CHECK:       func.func @main
// CHECK-NEXT:    %w = graph.constant dense<{{.*}}1.000000e+00{{.*}}> : tensor<1x1x1x1xf32>
// CHECK:         %[[W:.*]] = graph.constant dense<{{.*}}5.000000e+00{{.*}}> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    graph.conv2d %x, %[[W]],
// CHECK-NEXT:    graph.conv2d %x, %w :
func.func @main(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %s = graph.constant dense<5.0> : tensor<1x1x1xf32>
  %y = graph.binary mul %c, %s : (tensor<1x1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %z = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y, %z : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Case 5: the result of the convolution has a second user.
// CHECK:       graph.conv2d %x, %w :
// CHECK-NEXT:  graph.unary <relu>
// CHECK-NEXT:  graph.binary add
func.func @main(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = graph.unary <relu> %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = graph.binary add %c, %r : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Case 5: the result of the convolution is returned. The same for that of the normalisation.
// CHECK:       graph.conv2d
// CHECK-NEXT:  graph.unary <relu>
func.func @main(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = graph.unary <relu> %c : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %c, %r : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// CHECK:       %n = graph.conv2d {{[^<]*}} :
// CHECK-NEXT:  graph.unary <relu> %n
func.func @main(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<3.0> : tensor<1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %n = graph.batch_norm %c, %one, %one, %one, %one epsilon 1.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %y = graph.unary <relu> %n : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %n, %y : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Case 6: statistics that are not constant; nor does the activation move before the normalisation.
// CHECK:       graph.conv2d
// CHECK-NEXT:  graph.batch_norm
// CHECK-NEXT:  graph.unary <relu>
func.func @main(%x: tensor<1x1x4x4xf32>, %mean: tensor<1xf32>) -> tensor<1x1x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %n = graph.batch_norm %c, %one, %one, %mean, %one epsilon 1.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %y = graph.unary <relu> %n : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %y : tensor<1x1x4x4xf32>
}

// -----

// Case 6: weights that are not constant, and case 7: a variance that gives an infinite scale.
// CHECK:       graph.conv2d %x, %w :
// CHECK-NEXT:  graph.batch_norm
// CHECK:       graph.conv2d %x, %v :
// CHECK-NEXT:  graph.batch_norm
func.func @main(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %zero = graph.constant dense<0.0> : tensor<1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %n = graph.batch_norm %c, %one, %one, %one, %one epsilon 1.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %v = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %d = graph.conv2d %x, %v : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %m = graph.batch_norm %d, %one, %one, %one, %zero epsilon 0.0
     : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  func.return %n, %m : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Case 8: a function that pad lanes do not stand, case 9: a second activation.
// CHECK:       graph.conv2d %x, %w :
// CHECK-NEXT:  graph.unary <exp>
// CHECK-NEXT:  graph.conv2d %x, %w activation <relu> :
// CHECK-NEXT:  graph.unary <tanh>
func.func @main(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %y = graph.unary <exp> %c : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %d = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %r = graph.unary <relu> %d : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %z = graph.unary <tanh> %r : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %y, %z : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// A constant along another dimension than the channels, and one that widens the result, are no affine function.
// CHECK:       graph.conv2d
// CHECK-NEXT:  graph.constant
// CHECK-NEXT:  graph.binary mul
// CHECK:       graph.conv2d
// CHECK-NEXT:  graph.constant
// CHECK-NEXT:  graph.binary add
func.func @main(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x1x1xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x2x2x2xf32>) {
  %c = graph.conv2d %x, %w : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %row = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %y = graph.binary mul %c, %row : (tensor<1x1x2x2xf32>, tensor<2xf32>) -> tensor<1x1x2x2xf32>
  %d = graph.conv2d %x, %w : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %two = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %z = graph.binary add %d, %two : (tensor<1x1x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  func.return %y, %z : tensor<1x1x2x2xf32>, tensor<1x2x2x2xf32>
}

// -----

// An addition with an activation of its own is no affine function.
// CHECK:       graph.conv2d
// CHECK:       graph.binary add {{.*}} activation <relu>
func.func @main(%x: tensor<1x1x1x1xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %c = graph.conv2d %x, %w : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %y = graph.binary add %c, %b activation <relu> : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  func.return %y : tensor<1x1x1x1xf32>
}
