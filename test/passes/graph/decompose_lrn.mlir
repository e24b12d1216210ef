// RUN: ge-opt %s --split-input-file --decompose-lrn | filecheck %s

// alpha / size is 1/4, so that the scale before squaring would be 1/2: 64 times less, and 4096 times more in the band.
// CHECK:       %[[BAND:.*]] = graph.constant #ge.weights<{{.*}}> : tensor<16x16x1x1xf32>
// CHECK-NEXT:  %[[BIAS:.*]] = graph.constant dense<{{.*}}2.000000e+00{{.*}}> : tensor<16xf32>
// CHECK-NEXT:  %[[S:.*]] = graph.unary <square, 7.812500e-03> %x
// CHECK-NEXT:  %[[F:.*]] = graph.conv2d %[[S]], %[[BAND]], %[[BIAS]] activation <power, -7.500000e-01>
// CHECK-NEXT:  %y = graph.binary mul %x, %[[F]] : {{.*}} loc("norm")
func.func @main(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  %y = graph.lrn %x size 5 alpha 1.25 beta 0.75 bias 2.0 : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> loc("norm")
  func.return %y : tensor<1x16x2x2xf32>
}

// -----

// Left alone: channels that do not fill a block, another rank, a negative alpha, a bias of zero.
// CHECK-COUNT-4: graph.lrn
// CHECK-NOT: graph.conv2d
func.func @main(%x: tensor<1x15x2x2xf32>, %z: tensor<1x16x2xf32>, %w: tensor<1x16x2x2xf32>)
    -> (tensor<1x15x2x2xf32>, tensor<1x16x2xf32>, tensor<1x16x2x2xf32>, tensor<1x16x2x2xf32>) {
  %a = graph.lrn %x size 5 alpha 1.0 beta 0.75 bias 2.0 : (tensor<1x15x2x2xf32>) -> tensor<1x15x2x2xf32>
  %b = graph.lrn %z size 5 alpha 1.0 beta 0.75 bias 2.0 : (tensor<1x16x2xf32>) -> tensor<1x16x2xf32>
  %c = graph.lrn %w size 5 alpha -1.0 beta 0.75 bias 2.0 : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  %d = graph.lrn %w size 5 alpha 1.0 beta 0.75 bias 0.0 : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  func.return %a, %b, %c, %d : tensor<1x15x2x2xf32>, tensor<1x16x2xf32>, tensor<1x16x2x2xf32>, tensor<1x16x2x2xf32>
}

// -----

// Left alone: so many channels that the band would be larger than the tensor ever is.
// CHECK: graph.lrn
// CHECK-NOT: graph.conv2d
func.func @main(%x: tensor<1x2064x2x2xf32>) -> tensor<1x2064x2x2xf32> {
  %y = graph.lrn %x size 5 alpha 1.0 beta 0.75 bias 2.0 : (tensor<1x2064x2x2xf32>) -> tensor<1x2064x2x2xf32>
  func.return %y : tensor<1x2064x2x2xf32>
}

// -----

// Left alone: an alpha with which the square of 4096 is too large for float16, if that of 1 is to count beside the bias.
// CHECK: graph.lrn
// CHECK-NOT: graph.conv2d
func.func @main(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  %y = graph.lrn %x size 5 alpha 1.0e6 beta 0.75 bias 1.0 : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}
