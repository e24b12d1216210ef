// RUN: ge-opt %s --split-input-file --recognise-activations | filecheck %s

// CHECK:       %y = graph.unary <swish, 1.000000e+00> %x : {{.*}} loc(fused["sigmoid", "mul"])
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.unary <sigmoid> %x : (tensor<4xf32>) -> tensor<4xf32> loc("sigmoid")
  %y = graph.binary mul %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul")
  func.return %y : tensor<4xf32>
}

// -----

// CHECK:       %y = graph.unary <mish> %x
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = graph.unary <softplus> %x : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.unary <tanh> %p : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %x, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Clip and division alone are hard_sigmoid, times x they are hard_swish.
// CHECK:       %h = graph.unary <hard_sigmoid, 1.66666672e-01, 5.000000e-01> %x
// CHECK-NEXT:  %y = graph.unary <hard_swish> %x
// CHECK-NEXT:  %z = graph.unary <hard_swish> %x
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<1xf32>
  %a = graph.binary add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.unary <clip, 0.0, 6.0> %a : (tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary div %c, %six : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %b = graph.binary add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.unary <clip, 0.0, 6.0> %b : (tensor<4xf32>) -> tensor<4xf32>
  %p = graph.binary mul %x, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary div %p, %six : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %g = graph.unary <hard_sigmoid, 0.166666672, 0.5> %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = graph.binary mul %g, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %h, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The factors of gelu in the order of two exporters.
// CHECK:       %y = graph.unary <gelu> %x
// CHECK-NEXT:  %z = graph.unary <gelu> %x
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %a = graph.binary div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.unary <erf> %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.binary add %b, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.binary mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %d, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e = graph.binary div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = graph.unary <erf> %e : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %one, %f : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.binary mul %half, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.binary mul %h, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// A product that goes on: gelu(x) · w.
// CHECK:       %[[G:.*]] = graph.unary <gelu> %x
// CHECK-NEXT:  graph.binary mul %[[G]], %w
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %a = graph.binary div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.unary <erf> %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.binary add %b, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = graph.binary mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.binary mul %h, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary mul %d, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Left alone: a gate of another value, a gate with a second user, other constants, a division by the product.
// CHECK:       graph.unary <sigmoid> %x
// CHECK-NEXT:  graph.binary mul %s, %w
// CHECK-NEXT:  graph.unary <sigmoid> %x
// CHECK-NEXT:  graph.binary mul %x
// CHECK-NEXT:  graph.binary add %x
// CHECK-NEXT:  graph.unary <clip, 0.000000e+00, 6.000000e+00>
// CHECK-NEXT:  graph.binary div %three
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = graph.constant dense<3.0> : tensor<f32>
  %s = graph.unary <sigmoid> %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = graph.binary mul %s, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = graph.unary <sigmoid> %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.binary mul %x, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = graph.binary add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.unary <clip, 0.0, 6.0> %p : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.binary div %three, %c : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b, %t, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Left alone: clip(x + 3, 0, -6), which is -6 everywhere; a factor that gives the result a dimension more.
// CHECK:       graph.unary <clip, 0.000000e+00, -6.000000e+00>
// CHECK-NEXT:  %y = graph.binary div
// CHECK:       graph.unary <erf>
// CHECK:       %z = graph.binary mul {{.*}} -> tensor<1x4xf32>
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<-6.0> : tensor<f32>
  %a = graph.binary add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.unary <clip, 0.0, -6.0> %a : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.binary div %c, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<1x1xf32>
  %e = graph.binary div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = graph.unary <erf> %e : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.binary add %f, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.binary mul %x, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.binary mul %d, %half : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  func.return %y, %z : tensor<4xf32>, tensor<1x4xf32>
}
