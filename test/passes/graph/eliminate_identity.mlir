// RUN: ge-opt %s --split-input-file --graph-eliminate-identity | filecheck %s

// CHECK:       func.func @main
// CHECK-NEXT:    func.return %x, %x, %x, %x, %x, %x, %x, %x
func.func @main(%x: tensor<1x4x2x2xf32>)
    -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>,
        tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  %a = graph.unary <identity> %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %b = graph.unary <clip> %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = graph.cast %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %d = graph.concat %x axis 1 : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %e = graph.gather_channels %x indices [0, 1, 2, 3] : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %f = graph.pool2d max %x kernel [1, 1] : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %g0 = graph.reshape %x : (tensor<1x4x2x2xf32>) -> tensor<4x4xf32>
  %g = graph.reshape %g0 : (tensor<4x4xf32>) -> tensor<1x4x2x2xf32>
  %h0 = graph.transpose %x perm [0, 2, 3, 1] : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x4xf32>
  %h = graph.transpose %h0 perm [0, 3, 1, 2] : (tensor<1x2x2x4xf32>) -> tensor<1x4x2x2xf32>
  func.return %a, %b, %c, %d, %e, %f, %g, %h
    : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>,
      tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// -----

// CHECK:       func.func @main
// CHECK-NEXT:    func.return %x, %x, %x, %x
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = graph.constant dense<0.0> : tensor<2xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %a = graph.binary add %zero, %x : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = graph.binary sub %x, %zero : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %c = graph.binary mul %x, %one : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %d = graph.binary div %x, %one : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  func.return %a, %b, %c, %d : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Joined: two reshapes, two transposes, a clip that is relu, a function of a reshaped value.
// CHECK:       graph.reshape %x : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:  graph.transpose %x perm [2, 0, 1]
// CHECK-NEXT:  graph.unary <relu> %x
// CHECK-NEXT:  %[[T:.*]] = graph.unary <tanh> %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:  graph.reshape %[[T]]
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<6x4xf32>) {
  %a0 = graph.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %a = graph.reshape %a0 : (tensor<24xf32>) -> tensor<4x6xf32>
  %b0 = graph.transpose %x perm [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %b = graph.transpose %b0 perm [2, 1, 0] : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  %c = graph.unary <clip, 0.0> %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %d0 = graph.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %d = graph.unary <tanh> %d0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %a, %b, %c, %d : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<6x4xf32>
}

// -----

// Two values reshaped alike are added before; shapes that only agree afterwards are not.
// CHECK:       %[[S:.*]] = graph.binary add %a, %b activation <relu> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:  graph.reshape %[[S]] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT:  graph.reshape %a
// CHECK-NEXT:  graph.reshape %c
// CHECK-NEXT:  graph.binary add
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<3x2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %p = graph.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %q = graph.reshape %b : (tensor<2x3xf32>) -> tensor<6xf32>
  %y = graph.binary add %p, %q activation <relu> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %r = graph.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %s = graph.reshape %c : (tensor<3x2xf32>) -> tensor<6xf32>
  %z = graph.binary add %r, %s : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  func.return %y, %z : tensor<6xf32>, tensor<6xf32>
}

// -----

// Left alone: casts that lose bits, zero that widens, zero minus x, one divided by x, a strided pool of single elements.
// CHECK:       graph.cast
// CHECK-NEXT:  graph.cast
// CHECK:       graph.binary add
// CHECK-NEXT:  graph.binary sub
// CHECK-NEXT:  graph.binary div
// CHECK-NEXT:  graph.pool2d
func.func @main(%x: tensor<1x2x2x2xf32>)
    -> (tensor<1x2x2x2xf32>, tensor<3x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) {
  %a0 = graph.cast %x : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf16>
  %a = graph.cast %a0 : (tensor<1x2x2x2xf16>) -> tensor<1x2x2x2xf32>
  %zeros = graph.constant dense<0.0> : tensor<3x1x1x1xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %b = graph.binary add %x, %zeros : (tensor<1x2x2x2xf32>, tensor<3x1x1x1xf32>) -> tensor<3x2x2x2xf32>
  %c = graph.binary sub %zero, %x : (tensor<f32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %d = graph.binary div %one, %x : (tensor<f32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %e = graph.pool2d average %x kernel [1, 1] strides [2, 2] : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  func.return %a, %b, %c, %d, %e
    : tensor<1x2x2x2xf32>, tensor<3x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>
}

// -----

// A transpose that moves only dimensions of size 1 is a reshape; another one stays.
// CHECK:       %a = graph.reshape %x : (tensor<1x4x1x3xf32>) -> tensor<4x1x3x1xf32>
// CHECK-NEXT:  %b = graph.transpose %x
func.func @main(%x: tensor<1x4x1x3xf32>) -> (tensor<4x1x3x1xf32>, tensor<3x1x4x1xf32>) {
  %a = graph.transpose %x perm [1, 0, 3, 2] : (tensor<1x4x1x3xf32>) -> tensor<4x1x3x1xf32>
  %b = graph.transpose %x perm [3, 0, 1, 2] : (tensor<1x4x1x3xf32>) -> tensor<3x1x4x1xf32>
  func.return %a, %b : tensor<4x1x3x1xf32>, tensor<3x1x4x1xf32>
}

// -----

// A row goes before a reshape that keeps the last dimension, on its side; the activation goes with it.
// CHECK:       %[[R:.*]] = graph.constant dense<2.000000e+00> : tensor<6xf32>
// CHECK-NEXT:  %[[D:.*]] = graph.binary div %[[R]], %x activation <relu> : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:  graph.reshape %[[D]] : (tensor<4x6xf32>) -> tensor<2x1x2x6xf32>
func.func @main(%x: tensor<4x6xf32>) -> tensor<2x1x2x6xf32> {
  %r = graph.reshape %x : (tensor<4x6xf32>) -> tensor<2x1x2x6xf32>
  %c = graph.constant dense<2.0> : tensor<1x1x6xf32>
  %y = graph.binary div %c, %r activation <relu> : (tensor<1x1x6xf32>, tensor<2x1x2x6xf32>) -> tensor<2x1x2x6xf32>
  func.return %y : tensor<2x1x2x6xf32>
}

// -----

// Not where the last dimension changes, along another one, with a second user, or where the row widens the result.
// CHECK-COUNT-4: graph.reshape
// CHECK-NOT:     graph.reshape
// CHECK:         func.return
func.func @main(%x: tensor<4x6xf32>, %z: tensor<6xf32>) -> (tensor<8x3xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<1x1x6xf32>) {
  %p = graph.reshape %x : (tensor<4x6xf32>) -> tensor<8x3xf32>
  %c = graph.constant dense<2.0> : tensor<3xf32>
  %a = graph.binary add %p, %c : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %q = graph.reshape %x : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  %d = graph.constant dense<2.0> : tensor<2x1xf32>
  %b = graph.binary add %q, %d : (tensor<2x2x6xf32>, tensor<2x1xf32>) -> tensor<2x2x6xf32>
  %r = graph.reshape %x : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  %e = graph.constant dense<2.0> : tensor<6xf32>
  %f = graph.binary add %r, %e : (tensor<2x2x6xf32>, tensor<6xf32>) -> tensor<2x2x6xf32>
  %s = graph.reshape %z : (tensor<6xf32>) -> tensor<1x6xf32>
  %g = graph.constant dense<2.0> : tensor<1x1x6xf32>
  %h = graph.binary add %s, %g : (tensor<1x6xf32>, tensor<1x1x6xf32>) -> tensor<1x1x6xf32>
  func.return %a, %b, %f, %r, %h : tensor<8x3xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<1x1x6xf32>
}

// -----

// A slice without the dimensions of size 1, but for its own; one without any stays.
// CHECK:       %[[N:.*]] = graph.reshape %x : (tensor<3x1x5x1x16xf32>) -> tensor<3x5x16xf32>
// CHECK-NEXT:  %[[S:.*]] = graph.slice %[[N]] axis 1 start 2 size 1 : (tensor<3x5x16xf32>) -> tensor<3x1x16xf32>
// CHECK-NEXT:  %a = graph.reshape %[[S]] : (tensor<3x1x16xf32>) -> tensor<3x1x1x1x16xf32>
// CHECK-NEXT:  %b = graph.slice %z axis 0 start 1 size 1
func.func @main(%x: tensor<3x1x5x1x16xf32>, %z: tensor<3x16xf32>) -> (tensor<3x1x1x1x16xf32>, tensor<1x16xf32>) {
  %a = graph.slice %x axis 2 start 2 size 1 : (tensor<3x1x5x1x16xf32>) -> tensor<3x1x1x1x16xf32>
  %b = graph.slice %z axis 0 start 1 size 1 : (tensor<3x16xf32>) -> tensor<1x16xf32>
  func.return %a, %b : tensor<3x1x1x1x16xf32>, tensor<1x16xf32>
}

// -----

// A number goes before any reshape, unless it widens the result.
// CHECK:       %[[M:.*]] = graph.binary mul %x, {{.*}} : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:  graph.reshape %[[M]] : (tensor<4x6xf32>) -> tensor<8x3xf32>
// CHECK:       %[[R:.*]] = graph.reshape %z
// CHECK:       graph.binary mul %[[R]]
func.func @main(%x: tensor<4x6xf32>, %z: tensor<f32>) -> (tensor<8x3xf32>, tensor<1xf32>) {
  %r = graph.reshape %x : (tensor<4x6xf32>) -> tensor<8x3xf32>
  %c = graph.constant dense<2.0> : tensor<f32>
  %y = graph.binary mul %r, %c : (tensor<8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
  %s = graph.reshape %z : (tensor<f32>) -> tensor<1xf32>
  %w = graph.binary mul %s, %c : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  func.return %y, %w : tensor<8x3xf32>, tensor<1xf32>
}
