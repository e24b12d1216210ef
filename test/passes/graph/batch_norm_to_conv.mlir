// RUN: ge-opt %s --split-input-file --batch-norm-to-conv | filecheck %s

// DenseNet normalises what it joins: normalisation, scale, shift and activation are one depthwise convolution.
// CHECK:       func.func @main
// CHECK-NEXT:    graph.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    graph.constant dense<[1.000000e+00, -3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    graph.conv2d %x, {{.*}} groups 2 activation <relu> : {{.*}} loc(fused["bn", "mul", "add", "relu"])
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %n = graph.batch_norm %x, %three, %one, %one, %three epsilon 6.0
     : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32> loc("bn")
  %scale = graph.constant dense<[[[2.0]], [[6.0]]]> : tensor<2x1x1xf32>
  %m = graph.binary mul %n, %scale : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32> loc("mul")
  %shift = graph.constant dense<[[[1.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %a = graph.binary add %m, %shift : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32> loc("add")
  %y = graph.unary <relu> %a : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("relu")
  func.return %y : tensor<1x2x2x2xf32>
}

// -----

// Left alone: another rank, statistics that are not constant.
// CHECK-COUNT-2: graph.batch_norm
func.func @main(%x: tensor<1x2xf32>, %z: tensor<1x2x2x2xf32>, %var: tensor<2xf32>)
    -> (tensor<1x2xf32>, tensor<1x2x2x2xf32>) {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %a = graph.batch_norm %x, %one, %one, %one, %one epsilon 1.0
     : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %b = graph.batch_norm %z, %one, %one, %one, %var epsilon 1.0
     : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  func.return %a, %b : tensor<1x2xf32>, tensor<1x2x2x2xf32>
}
