// RUN: ge-opt %s --split-input-file --autofuse | filecheck %s
// RUN: ge-opt %s --split-input-file --fuse-elementwise --fuse-conv-add --autofuse | filecheck %s

// A convolution takes what follows it: a gate per channel, the residual with its own function, and the activation.
// CHECK:       func.func @main
// CHECK:         %y = graph.fusion(%x, %w, %v, %r) : {{.*}} {
// CHECK:           %c{{(_1)?}} = graph.conv2d %x{{(_1)?}}, %w{{(_1)?}}
// CHECK-NEXT:      %g{{(_1)?}} = graph.binary mul %c{{(_1)?}}, %v{{(_1)?}}
// CHECK-NEXT:      %t{{(_1)?}} = graph.unary <tanh> %r{{(_1)?}}
// CHECK-NEXT:      %s{{(_1)?}} = graph.binary add %g{{(_1)?}}, %t{{(_1)?}}
// CHECK-NEXT:      %y{{(_1)?}} = graph.unary <relu> %s{{(_1)?}}
// CHECK-NEXT:      graph.yield %y{{(_1)?}}
// CHECK-NEXT:    } loc(fused["conv", "gate", "tanh", "add", "relu"])
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %v: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>, %r: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  %g = graph.binary mul %c, %v : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("gate")
  %t = graph.unary <tanh> %r : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("tanh")
  %s = graph.binary add %g, %t : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("add")
  %y = graph.unary <relu> %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("relu")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// A pooling is no step, and what is computed from it stays outside: the product with it would be a cycle.
// CHECK:       %c = graph.conv2d
// CHECK-NEXT:  %p = graph.pool2d
// CHECK-NEXT:  %s = graph.unary <sigmoid>
// CHECK-NEXT:  %y = graph.binary mul %c, %s
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  %p = graph.pool2d average %c kernel [8, 8] : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %s = graph.unary <sigmoid> %p : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %y = graph.binary mul %c, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: two convolutions in a row, two kernels; a value with users in two groups.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("a")
  %d = graph.conv2d %c, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("b")
  %e = graph.unary <abs> %d : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("e")
  %f = graph.unary <tanh> %d : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("f")
  func.return %e, %f : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}
