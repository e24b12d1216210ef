// RUN: ge-opt %s --convert-graph-to-tile | filecheck %s

// 1. Operations with the same kernel share it, under the name of the first; a name that is no identifier is made one.
// 2. Kernels of operations without a node, and of conversions, say what kind they are.
// 3. A reshape, and a conversion that keeps the bytes, are views.
// 4. Host operations stay. Constants that nothing uses any more go.

// CHECK:      func.func @main
// CHECK-NEXT:   %a = graph.launch @block_0_relu(%x) blocks 1 type "Relu" in_place [0] : ({{.*}}) -> {{.*}} loc("/block.0/relu")
// CHECK-NEXT:   %b = graph.launch @block_0_relu(%a) blocks 1 type "Relu" in_place [0] : ({{.*}}) -> {{.*}} loc("/block.1/relu")
// CHECK-NEXT:   %c = graph.launch @add(%b) blocks 1 type "Add" attrs {value = 2.000000e+00 : f32}
// CHECK-NEXT:   %d = graph.view %c : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16>
// CHECK-NEXT:   %e = graph.view %d : (tensor<1x32x1x1xf16>) -> tensor<32x1xf16>
// CHECK-NEXT:   %f = graph.host(%e)
// CHECK-NEXT:   ^bb0
// CHECK-NEXT:     {{.*}} = onnx.Transpose
// CHECK-NEXT:     graph.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %g = graph.launch @sigmoid_16_4(%f) blocks 1 type "Sigmoid"
// CHECK-NEXT:   func.return %g
// CHECK:      tile.kernel @block_0_relu(%x: !tile.gm<2x16xf16>, %y: !tile.gm<2x16xf16>) grid(%core : 1) outputs(1) {
// CHECK-NEXT:   [[X:%.*]] = tile.load %x[0, 0] sizes [2, 16] : !tile.gm<2x16xf16> -> !tile.tile<2x16xf16>
// CHECK-NEXT:   [[Y:%.*]] = tile.unary relu [[X]] : !tile.tile<2x16xf16>
// CHECK-NEXT:   tile.store [[Y]], %y[0, 0] sizes [2, 16]
// CHECK-NEXT: } loc("/block.0/relu")
// CHECK-NEXT: tile.kernel @add(
// CHECK-NOT:  @block_1
// CHECK:      tile.kernel @sigmoid_16_4(
func.func @main(%x: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32xf16> {
  %two = graph.constant dense<2.0> : tensor<1xf16>
  %a = graph.unary <relu> %x : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>> loc("/block.0/relu")
  %b = graph.unary <relu> %a : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>> loc("/block.1/relu")
  %c = graph.binary add %b, %two : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>, tensor<1xf16>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %d = graph.trans_data %c : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16>
  %e = graph.reshape %d : (tensor<1x32x1x1xf16>) -> tensor<32x1xf16>
  %f = graph.host(%e) : (tensor<32x1xf16>) -> tensor<1x32xf16> {
  ^bb0(%0: tensor<32x1xf16>):
    %1 = onnx.Transpose(%0) {perm = [1, 0]} : (tensor<32x1xf16>) -> tensor<1x32xf16>
    graph.yield %1 : tensor<1x32xf16>
  }
  %g = graph.unary <sigmoid> %f : (tensor<1x32xf16>) -> tensor<1x32xf16> loc("16.4")
  func.return %g : tensor<1x32xf16>
}
