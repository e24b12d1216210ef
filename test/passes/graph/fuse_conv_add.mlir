// RUN: ge-opt %s --split-input-file --fuse-conv-add | filecheck %s

// A residual block: the other tensor is added, and the activation applied, before the result leaves the chip.
// CHECK:       func.func @main(%x: [[T:tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>]]) -> [[T]]
// CHECK:         %w = graph.constant
// CHECK-NEXT:    %y = graph.fusion(%x, %w) : {{.*}} -> [[T]] {
// CHECK-NEXT:    ^{{.*}}(%x{{(_1)?}}: [[T]], %w{{(_1)?}}: {{.*}}):
// CHECK-NEXT:      %c{{(_1)?}} = graph.conv2d %x{{(_1)?}}, %w{{(_1)?}} activation <relu> : {{.*}} loc("conv")
// CHECK-NEXT:      %s{{(_1)?}} = graph.binary add %x{{(_1)?}}, %c{{(_1)?}} : {{.*}} loc("add")
// CHECK-NEXT:      %y{{(_1)?}} = graph.unary <clip, {{.*}}> %s{{(_1)?}} : {{.*}} loc("clip")
// CHECK-NEXT:      graph.yield %y{{(_1)?}}
// CHECK-NEXT:    } loc(fused["conv", "add", "clip"])
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %w activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  %s = graph.binary add %x, %c : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("add")
  %y = graph.unary <clip, 0.0, 6.0> %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("clip")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Of two convolutions, the one that computes more takes the sum; the other operand order.
// CHECK:       %d = graph.conv2d %x, %w : {{.*}} loc("small")
// CHECK-NEXT:  %y = graph.fusion(%x, %v, %d) : {{.*}} {
// CHECK:         %c{{(_1)?}} = graph.conv2d %x{{(_1)?}}, %v{{(_1)?}} pads [1, 1, 1, 1] : {{.*}} loc("large")
// CHECK-NEXT:    %y{{(_1)?}} = graph.binary add %d{{(_1)?}}, %c{{(_1)?}} activation <relu>
// CHECK-NEXT:    graph.yield %y{{(_1)?}}
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %v = graph.constant dense<1.0> : tensor<32x32x3x3xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %v pads [1, 1, 1, 1] : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x3x3xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("large")
  %d = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("small")
  %y = graph.binary add %d, %c activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("add")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// A matrix product.
// CHECK:       %y = graph.fusion(%x, %w, %r) :
// CHECK:         %p{{(_1)?}} = graph.matmul %x{{(_1)?}}, %w{{(_1)?}}
// CHECK-NEXT:    %y{{(_1)?}} = graph.binary add %p{{(_1)?}}, %r{{(_1)?}}
func.func @main(%x: tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>, %r: tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<8x32xf16, #ge.layout<FRACTAL_NZ>> {
  %w = graph.constant dense<1.0> : tensor<32x32xf16, #ge.layout<FRACTAL_Z>>
  %p = graph.matmul %x, %w : (tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>, tensor<32x32xf16, #ge.layout<FRACTAL_Z>>) -> tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>
  %y = graph.binary add %p, %r : (tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>, tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>
  func.return %y : tensor<8x32xf16, #ge.layout<FRACTAL_NZ>>
}

// -----

// Left alone: a convolution with a second user, one that is returned, operands that spread, another function.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %v: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("a")
  %t = graph.unary <tanh> %c : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("tanh")
  %y0 = graph.binary add %c, %t : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("add")
  %d = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("b")
  %y1 = graph.binary add %d, %x : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("add")
  %e = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("c")
  %y2 = graph.binary add %e, %v : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %f = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("d")
  %y3 = graph.binary mul %f, %x : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y0, %y1, %d, %y2, %y3 : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: without storage formats, the device has no kernels yet.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %y = graph.binary add %c, %x : (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  func.return %y : tensor<1x32x8x8xf32>
}
