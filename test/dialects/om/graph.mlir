// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s
// RUN: ge-translate --mlir-to-om %s -o %t.om && ge-translate --om-to-mlir %t.om | filecheck %s

// The graph that kernels were made of stays with them; its weights are digests.
// CHECK:       om.graph {
// CHECK-NEXT:    func.func @main(%x: tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf16> {
// CHECK-NEXT:      %w = graph.constant #ge.weights<elided, 512, "8ce1dd">{{.*}} loc("w")
// CHECK-NEXT:      %y = graph.conv2d %x, %w
// CHECK:       om.weights
om.model @graph soc "Ascend310P3" memory 0 io 0 outputs ["y"] {
  om.graph {
    func.func @main(%x: tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf16> {
      %w = graph.constant #ge.weights<elided, 512, "8ce1dd"> : tensor<4x4x1x1xf16, #ge.layout<FRACTAL_Z>> loc("w")
      %y = graph.conv2d %x, %w : (tensor<1x4x2x2xf16>, tensor<4x4x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x4x2x2xf16> loc("conv")
      func.return %y : tensor<1x4x2x2xf16>
    }
  }
  om.weights #ge.weights<"0x0000803F00000040">
  %w = om.op "Const" "w"() at [0] : () -> tensor<2xf32>
  om.op "NetOutput" "end"(%w) : (tensor<2xf32>) -> ()
}
