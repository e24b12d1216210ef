// RUN: ge-opt %s --split-input-file --fuse-binary-activation | filecheck %s

// CHECK:       %y = graph.binary add %a, %b activation <relu> : {{.*}} loc(fused["add", "relu"])
// CHECK-NEXT:  func.return
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.binary add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add")
  %y = graph.unary <relu> %s : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
  func.return %y : tensor<4xf32>
}

// -----

// Left alone: another function, a broadcast, a second user.
// CHECK-NOT:   activation
func.func @main(%a: tensor<4xf32>, %b: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %s = graph.binary add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %x = graph.unary <tanh> %s : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.binary add %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %y = graph.unary <relu> %t : (tensor<4xf32>) -> tensor<4xf32>
  %u = graph.binary sub %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.unary <relu> %u : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x, %y, %z, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
