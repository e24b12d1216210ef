// RUN: ge-opt %s --split-input-file --assign-precision | filecheck %s

// A factor that float16 does not hold is two; an activation comes after both.
// CHECK:       %[[F:.*]] = graph.constant dense<2.560000e+04> : tensor<f16>
// CHECK-NEXT:  %[[A:.*]] = graph.binary mul %{{.*}}, %[[F]]
// CHECK-NEXT:  %[[G:.*]] = graph.constant dense<[4.000000e+00]> : tensor<1xf16>
// CHECK-NEXT:  %[[B:.*]] = graph.binary mul %[[A]], %[[G]]
// CHECK-NEXT:  graph.unary <relu> %[[B]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<1.024e5> : tensor<f32>
  %a = graph.binary mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = graph.unary <relu> %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Of elements each has its own power of two; those that float16 holds have none.
// CHECK:       graph.constant dense<[2.560000e+04, 1.000000e+00, 0.000000e+00, 3.200000e+04]> : tensor<4xf16>
// CHECK:       graph.constant dense<[4.000000e+00, 1.000000e+00, 1.000000e+00, 3.200000e+01]> : tensor<4xf16>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<[1.024e5, 1.0, 0.0, 1.024e6]> : tensor<4xf32>
  %a = graph.binary mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// Filters: of each output channel.
// CHECK:       graph.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}3.200000e+04]]]]> : tensor<2x1x1x1xf16>
// CHECK:       %[[C:.*]] = graph.conv2d
// CHECK-NEXT:  %[[S:.*]] = graph.constant dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}3.200000e+01]]]> : tensor<2x1x1xf16>
// CHECK-NEXT:  graph.binary mul %[[C]], %[[S]]
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[1.024e6]]]]> : tensor<2x1x1x1xf32>
  %y = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Left alone: what stands for infinity, what float16 holds, sums.
// CHECK:       graph.constant dense<-6.550400e+04> : tensor<f16>
// CHECK-NEXT:  %[[A:.*]] = graph.binary mul
// CHECK-NEXT:  %[[F:.*]] = graph.constant dense<6.000000e+04> : tensor<f16>
// CHECK-NEXT:  %[[B:.*]] = graph.binary mul %[[A]], %[[F]]
// CHECK-NEXT:  %[[G:.*]] = graph.constant dense<6.550400e+04> : tensor<f16>
// CHECK-NEXT:  %[[D:.*]] = graph.binary add %[[B]], %[[G]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = graph.constant dense<-3.4e38> : tensor<f32>
  %c = graph.constant dense<6.0e4> : tensor<f32>
  %s = graph.constant dense<1.0e5> : tensor<f32>
  %a = graph.binary mul %x, %m : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.binary mul %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = graph.binary add %b, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
