// RUN: ge-opt %s --split-input-file --fuse-elementwise | filecheck %s

// A tree: two branches, a number, and a row for all rows; the value that two steps read is no obstacle.
// CHECK:       func.func @main(%a: tensor<4x32xf16>, %b: tensor<4x32xf16>, %r: tensor<32xf16>)
// CHECK-NEXT:    %n = graph.constant
// CHECK-NEXT:    %y = graph.fusion(%a, %b, %n, %r) : (tensor<4x32xf16>, tensor<4x32xf16>, tensor<f16>, tensor<32xf16>) -> tensor<4x32xf16> {
// CHECK:           %s{{(_1)?}} = graph.binary add %a{{(_1)?}}, %b{{(_1)?}}
// CHECK-NEXT:      %t{{(_1)?}} = graph.unary <tanh> %s{{(_1)?}}
// CHECK-NEXT:      %h{{(_1)?}} = graph.binary mul %s{{(_1)?}}, %n{{(_1)?}}
// CHECK-NEXT:      %p{{(_1)?}} = graph.binary mul %h{{(_1)?}}, %t{{(_1)?}}
// CHECK-NEXT:      %y{{(_1)?}} = graph.binary add %p{{(_1)?}}, %r{{(_1)?}}
// CHECK-NEXT:      graph.yield %y{{(_1)?}}
// CHECK-NEXT:    } loc(fused["s", "t", "h", "p", "y"])
func.func @main(%a: tensor<4x32xf16>, %b: tensor<4x32xf16>, %r: tensor<32xf16>) -> tensor<4x32xf16> {
  %n = graph.constant dense<5.000000e-01> : tensor<f16>
  %s = graph.binary add %a, %b : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<4x32xf16> loc("s")
  %t = graph.unary <tanh> %s : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("t")
  %h = graph.binary mul %s, %n : (tensor<4x32xf16>, tensor<f16>) -> tensor<4x32xf16> loc("h")
  %p = graph.binary mul %h, %t : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<4x32xf16> loc("p")
  %y = graph.binary add %p, %r : (tensor<4x32xf16>, tensor<32xf16>) -> tensor<4x32xf16> loc("y")
  func.return %y : tensor<4x32xf16>
}

// -----

// Casts between float16 and float32 are steps, too.
// CHECK:       %y = graph.fusion(%a) : (tensor<4x32xf32>) -> tensor<4x32xf32> {
// CHECK:         graph.cast
// CHECK-NEXT:    graph.unary <sigmoid>
// CHECK-NEXT:    graph.cast
func.func @main(%a: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %h = graph.cast %a : (tensor<4x32xf32>) -> tensor<4x32xf16>
  %s = graph.unary <sigmoid> %h : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("s")
  %y = graph.cast %s : (tensor<4x32xf16>) -> tensor<4x32xf32>
  func.return %y : tensor<4x32xf32>
}

// -----

// A small tensor that spreads over a large one is computed first; a convolution is left to other passes.
// CHECK:       %g = graph.unary <sigmoid> %v
// CHECK-NEXT:  %c = graph.conv2d
// CHECK-NEXT:  %y = graph.fusion(%c, %g) : {{.*}} {
// CHECK:         graph.binary mul
// CHECK-NEXT:    graph.unary <tanh>
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %v: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<1.0> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %g = graph.unary <sigmoid> %v : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %c = graph.conv2d %x, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  %m = graph.binary mul %c, %g : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.unary <tanh> %m : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("tanh")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Operands that repeat in any way in plain formats: a column and a row make a matrix, which rows that do not fill blocks
// follow.
// CHECK-LABEL: func.func @main(%c: tensor<4x1xf16>
// CHECK-NEXT:    %y = graph.fusion(%c, %r, %v)
// CHECK-NEXT:    ^bb0(%c_1: tensor<4x1xf16>, %r_1: tensor<1x33xf16>, %v_1: tensor<33xf16>):
// CHECK-NEXT:      %d = graph.binary sub %c_1, %r_1 : (tensor<4x1xf16>, tensor<1x33xf16>) -> tensor<4x33xf16>
// CHECK-NEXT:      %p = graph.binary add %d, %v_1
// CHECK-NEXT:      %y_1 = graph.unary <tanh> %p
// CHECK-NEXT:      graph.yield %y_1
// CHECK-NEXT:    } loc(fused["d", "p", "y"])
func.func @main(%c: tensor<4x1xf16>, %r: tensor<1x33xf16>, %v: tensor<33xf16>) -> tensor<4x33xf16> {
  %d = graph.binary sub %c, %r : (tensor<4x1xf16>, tensor<1x33xf16>) -> tensor<4x33xf16> loc("d")
  %p = graph.binary add %d, %v : (tensor<4x33xf16>, tensor<33xf16>) -> tensor<4x33xf16> loc("p")
  %y = graph.unary <tanh> %p : (tensor<4x33xf16>) -> tensor<4x33xf16> loc("y")
  func.return %y : tensor<4x33xf16>
}

// -----

// Left alone: a value that is returned, one with a user outside of the tree, other shapes: a column before it spreads.
// CHECK-NOT:   graph.fusion
func.func @main(%a: tensor<4x32xf16>, %q: tensor<4x1xf16>, %r: tensor<32xf16>) -> (tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>) {
  %s = graph.unary <tanh> %a : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("s")
  %y0 = graph.unary <relu> %s : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("r")
  %t = graph.unary <abs> %a : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("t")
  %m = graph.softmax %t axis 1 : (tensor<4x32xf16>) -> tensor<4x32xf16>
  %y1 = graph.binary add %t, %m : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<4x32xf16>
  %p = graph.unary <tanh> %q : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %y2 = graph.binary add %a, %p : (tensor<4x32xf16>, tensor<4x1xf16>) -> tensor<4x32xf16>
  %e = graph.unary <relu> %r : (tensor<32xf16>) -> tensor<32xf16>
  %y3 = graph.binary add %a, %e : (tensor<4x32xf16>, tensor<32xf16>) -> tensor<4x32xf16>
  func.return %y0, %s, %y1, %y2, %y3 : tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>, tensor<4x32xf16>
}

// -----

// Left alone: float32, which is before `assign-precision`.
// CHECK-NOT:   graph.fusion
func.func @main(%a: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %t = graph.unary <tanh> %a : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("t")
  %y = graph.unary <abs> %t : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("u")
  func.return %y : tensor<4x32xf32>
}
