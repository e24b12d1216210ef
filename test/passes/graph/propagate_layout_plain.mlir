// RUN: ge-opt %s --propagate-layout=plain | filecheck %s

// Elementwise operations take the plain format; a convolution needs its own, so that there is a conversion around it.
// Weights are packed all the same.
// CHECK:       func.func @main(%x: tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
// CHECK:         %[[A:.*]] = graph.unary <relu> %x : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
// CHECK:         %[[B:.*]] = graph.trans_data %[[A]] : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK:         %[[C:.*]] = graph.conv2d %[[B]]
// CHECK-NEXT:    %[[D:.*]] = graph.trans_data %[[C]] : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16>
// CHECK-NEXT:    %[[R:.*]] = graph.unary <exp> %[[D]] : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
// CHECK-NEXT:    %[[S:.*]] = graph.binary add %[[D]], %[[R]] : (tensor<1x32x8x8xf16>, tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
// CHECK-NEXT:    %[[T:.*]] = graph.trans_data %[[S]]
// CHECK:         graph.conv2d %[[T]]
func.func @main(%x: tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16>
  %a = graph.unary <relu> %x : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
  %c = graph.conv2d %a, %w : (tensor<1x32x8x8xf16>, tensor<32x32x1x1xf16>) -> tensor<1x32x8x8xf16>
  %r = graph.unary <exp> %c : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
  %s = graph.binary add %c, %r : (tensor<1x32x8x8xf16>, tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
  %y = graph.conv2d %s, %w : (tensor<1x32x8x8xf16>, tensor<32x32x1x1xf16>) -> tensor<1x32x8x8xf16>
  func.return %y : tensor<1x32x8x8xf16>
}
