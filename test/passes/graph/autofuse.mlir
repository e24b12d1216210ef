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

// A reduction takes the steps on its elements, and those on its results: the mean of squares and its root.
// CHECK:       %[[F:.*]] = graph.fusion(%x, %n)
// CHECK:         graph.unary <square
// CHECK-NEXT:    graph.reduce mean {{.*}} axes [2] : (tensor<1x20x256xf16>) -> tensor<1x20x1xf16>
// CHECK-NEXT:    graph.binary add
// CHECK-NEXT:    graph.unary <sqrt>
// CHECK-NEXT:    graph.yield
// CHECK:       func.return %[[F]]
func.func @main(%x: tensor<1x20x256xf16>) -> tensor<1x20x1xf16> {
  %n = graph.constant dense<1.0e-03> : tensor<f16>
  %s = graph.unary <square, 1.0> %x : (tensor<1x20x256xf16>) -> tensor<1x20x256xf16>
  %m = graph.reduce mean %s axes [2] : (tensor<1x20x256xf16>) -> tensor<1x20x1xf16>
  %a = graph.binary add %m, %n : (tensor<1x20x1xf16>, tensor<f16>) -> tensor<1x20x1xf16>
  %r = graph.unary <sqrt> %a : (tensor<1x20x1xf16>) -> tensor<1x20x1xf16>
  func.return %r : tensor<1x20x1xf16>
}

// -----

// Movements take steps while the data is on its way: a slice and a transposition before and after, a concatenation after.
// CHECK:       %{{.*}} = graph.fusion(%x, %n)
// CHECK:         graph.slice {{.*}} axis 0 start 16 size 16
// CHECK-NEXT:    graph.binary mul
// CHECK:       %{{.*}} = graph.fusion(%x, %z)
// CHECK:         graph.unary <relu>
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.binary add
// CHECK:       %{{.*}} = graph.fusion(%x, %v)
// CHECK:         graph.concat
// CHECK-NEXT:    graph.unary <tanh>
func.func @main(%x: tensor<48x32xf16>, %z: tensor<32x48xf16>) -> (tensor<16x32xf16>, tensor<32x48xf16>, tensor<96x32xf16>) {
  %n = graph.constant dense<0.125> : tensor<f16>
  %s = graph.slice %x axis 0 start 16 size 16 : (tensor<48x32xf16>) -> tensor<16x32xf16>
  %a = graph.binary mul %s, %n : (tensor<16x32xf16>, tensor<f16>) -> tensor<16x32xf16>
  %r = graph.unary <relu> %x : (tensor<48x32xf16>) -> tensor<48x32xf16>
  %t = graph.transpose %r perm [1, 0] : (tensor<48x32xf16>) -> tensor<32x48xf16>
  %b = graph.binary add %t, %z : (tensor<32x48xf16>, tensor<32x48xf16>) -> tensor<32x48xf16>
  %v = graph.reshape %z : (tensor<32x48xf16>) -> tensor<48x32xf16>
  %c = graph.concat %x, %v axis 0 : (tensor<48x32xf16>, tensor<48x32xf16>) -> tensor<96x32xf16>
  %d = graph.unary <tanh> %c : (tensor<96x32xf16>) -> tensor<96x32xf16>
  func.return %a, %b, %d : tensor<16x32xf16>, tensor<32x48xf16>, tensor<96x32xf16>
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

// -----

// Rows take what comes before them and what follows, in the order of the kernel: the step of the mask, too.
// CHECK:       func.func @main(%x: tensor<2x3x20x24xf16
// CHECK:         %y = graph.fusion(%x, %n, %m, %v) : {{.*}} {
// CHECK:           %s{{(_1)?}} = graph.binary mul %x{{(_1)?}}, %n{{(_1)?}}
// CHECK-NEXT:      %t{{(_1)?}} = graph.binary add %s{{(_1)?}}, %m{{(_1)?}}
// CHECK-NEXT:      %p{{(_1)?}} = graph.softmax %t{{(_1)?}} axis 3
// CHECK-NEXT:      %r{{(_1)?}} = graph.unary <relu> %v{{(_1)?}}
// CHECK-NEXT:      %y{{(_1)?}} = graph.binary sub %p{{(_1)?}}, %r{{(_1)?}}
// CHECK-NEXT:      graph.yield %y{{(_1)?}}
// CHECK-NEXT:    } loc(fused["scale", "mask", "softmax", "relu", "sub"])
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>, %m: tensor<1x1x20x24xf16, #ge.layout<FRACTAL_NZ>>, %v: tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> {
  %n = graph.constant dense<0.125> : tensor<f16>
  %r = graph.unary <relu> %v : (tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> loc("relu")
  %s = graph.binary mul %x, %n : (tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>, tensor<f16>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> loc("scale")
  %t = graph.binary add %s, %m : (tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>, tensor<1x1x20x24xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> loc("mask")
  %p = graph.softmax %t axis 3 : (tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> loc("softmax")
  %y = graph.binary sub %p, %r : (tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>, tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>> loc("sub")
  func.return %y : tensor<2x3x20x24xf16, #ge.layout<FRACTAL_NZ>>
}

// -----

// A sum that only the normalisation reads joins it. The next one is read again by what is computed from the
// normalisation, in the same kernel.
// CHECK:       %y = graph.fusion(%x, %r, %g, %h)
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    %s{{(_1)?}} = graph.binary add
// CHECK-NEXT:    %y{{(_1)?}} = graph.layer_norm
// CHECK-NEXT:    graph.yield
// CHECK:       %z = graph.fusion(%y, %r, %g, %h)
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    %t{{(_1)?}} = graph.binary add
// CHECK-NEXT:    %u{{(_1)?}} = graph.layer_norm
// CHECK-NEXT:    %z{{(_1)?}} = graph.binary mul %t{{(_1)?}}, %u{{(_1)?}}
// CHECK-NEXT:    graph.yield
// CHECK:       func.return %y, %z
func.func @main(%x: tensor<40x64xf16>, %r: tensor<40x64xf16>) -> (tensor<40x64xf16>, tensor<40x64xf16>) {
  %g = graph.constant dense<1.0> : tensor<64xf32>
  %h = graph.constant dense<0.5> : tensor<64xf32>
  %s = graph.binary add %x, %r : (tensor<40x64xf16>, tensor<40x64xf16>) -> tensor<40x64xf16>
  %y = graph.layer_norm %s, %g, %h epsilon 1.0e-05 : (tensor<40x64xf16>, tensor<64xf32>, tensor<64xf32>) -> tensor<40x64xf16>
  %t = graph.binary add %y, %r : (tensor<40x64xf16>, tensor<40x64xf16>) -> tensor<40x64xf16>
  %u = graph.layer_norm %t, %g, %h epsilon 1.0e-05 : (tensor<40x64xf16>, tensor<64xf32>, tensor<64xf32>) -> tensor<40x64xf16>
  %z = graph.binary mul %t, %u : (tensor<40x64xf16>, tensor<40x64xf16>) -> tensor<40x64xf16>
  func.return %y, %z : tensor<40x64xf16>, tensor<40x64xf16>
}

// -----

// A step between a product and rows goes to the product, whose kernel has the vector unit to spare.
// CHECK:       graph.fusion
// CHECK:         graph.matmul
// CHECK-NEXT:    graph.binary mul
// CHECK-NEXT:    graph.yield
// CHECK:       %y = graph.softmax
// CHECK-NOT:   graph.fusion
func.func @main(%a: tensor<2x20x32xf16, #ge.layout<FRACTAL_NZ>>, %b: tensor<2x32x48xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>> {
  %n = graph.constant dense<0.125> : tensor<f16>
  %c = graph.matmul %a, %b : (tensor<2x20x32xf16, #ge.layout<FRACTAL_NZ>>, tensor<2x32x48xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>
  %s = graph.binary mul %c, %n : (tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>, tensor<f16>) -> tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>
  %y = graph.softmax %s axis 2 : (tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>
  func.return %y : tensor<2x20x48xf16, #ge.layout<FRACTAL_NZ>>
}

// -----

// Left alone: a sum with a user outside; a logarithm before rows that do not fill blocks, which beyond their end could
// be that of nothing; rows of which 16 are there alone, but not with the function; two softmaxes; the computed scale of
// a softmax of other rows.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<40x64xf16>, %l: tensor<40x33xf16>, %w: tensor<40x768xf16>, %o: tensor<64xf16>) -> (tensor<40x64xf16>, tensor<40x64xf16>, tensor<40x33xf16>, tensor<40x768xf16>, tensor<40x64xf16>) {
  %s = graph.binary add %x, %x : (tensor<40x64xf16>, tensor<40x64xf16>) -> tensor<40x64xf16>
  %y = graph.softmax %s axis 1 : (tensor<40x64xf16>) -> tensor<40x64xf16>
  %y2 = graph.softmax %y axis 1 : (tensor<40x64xf16>) -> tensor<40x64xf16>
  %t = graph.unary <log> %l : (tensor<40x33xf16>) -> tensor<40x33xf16>
  %z = graph.softmax %t axis 1 : (tensor<40x33xf16>) -> tensor<40x33xf16>
  %p = graph.softmax %w axis 1 : (tensor<40x768xf16>) -> tensor<40x768xf16>
  %q = graph.unary <gelu> %p : (tensor<40x768xf16>) -> tensor<40x768xf16>
  %v = graph.softmax %o axis 0 : (tensor<64xf16>) -> tensor<64xf16>
  %u = graph.binary mul %x, %v : (tensor<40x64xf16>, tensor<64xf16>) -> tensor<40x64xf16>
  func.return %s, %y2, %z, %q, %u : tensor<40x64xf16>, tensor<40x64xf16>, tensor<40x33xf16>, tensor<40x768xf16>, tensor<40x64xf16>
}

// -----

// Left alone: what is combined is used again, by steps on other shapes; rows that do not fill blocks, before they are
// combined; a row that spreads over what is combined.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<20x32xf16>, %r: tensor<20x33xf16>, %v: tensor<32xf16>) -> (tensor<20x32xf16>, tensor<20x1xf16>, tensor<20x1xf16>) {
  %m = graph.reduce max %x axes [0] : (tensor<20x32xf16>) -> tensor<1x32xf16>
  %d = graph.binary sub %x, %m : (tensor<20x32xf16>, tensor<1x32xf16>) -> tensor<20x32xf16>
  %s = graph.unary <abs> %r : (tensor<20x33xf16>) -> tensor<20x33xf16>
  %n = graph.reduce max %s axes [1] : (tensor<20x33xf16>) -> tensor<20x1xf16>
  %t = graph.binary add %x, %v : (tensor<20x32xf16>, tensor<32xf16>) -> tensor<20x32xf16>
  %u = graph.reduce sum %t axes [1] : (tensor<20x32xf16>) -> tensor<20x1xf16>
  func.return %d, %n, %u : tensor<20x32xf16>, tensor<20x1xf16>, tensor<20x1xf16>
}

// -----

// Left alone: what is moved and read as it lies, too; a step that spreads a row.
// CHECK-NOT:   graph.fusion
func.func @main(%x: tensor<32x32xf16>, %w: tensor<32xf16>) -> (tensor<32x32xf16>, tensor<32x32xf16>) {
  %t = graph.transpose %x perm [1, 0] : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %a = graph.binary add %t, %x : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x32xf16>
  %u = graph.transpose %x perm [1, 0] : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %b = graph.binary add %u, %w : (tensor<32x32xf16>, tensor<32xf16>) -> tensor<32x32xf16>
  func.return %a, %b : tensor<32x32xf16>, tensor<32x32xf16>
}
