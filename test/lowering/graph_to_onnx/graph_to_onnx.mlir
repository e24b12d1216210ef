// RUN: ge-opt %s --convert-graph-to-onnx | filecheck %s

// Names of the model, types without storage formats, float32 inside; the input and output keep float16.
// CHECK:      func.func @main(%x: tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf16> attributes {onnx.input_names = ["x"], onnx.output_names = ["y"]} {
// CHECK:        %0 = onnx.Constant dense<1.000000e+00> : tensor<4x4x1x1xf32> loc("w")
// CHECK-NEXT:   %1 = onnx.Cast(%x) {to = 1} : (tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf32>
// CHECK-NEXT:   %2 = onnx.Conv(%1, %0) {{.*}} -> tensor<1x4x2x2xf32> loc("conv")
// CHECK-NEXT:   %3 = onnx.Relu(%2) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> loc("relu")
// CHECK-NEXT:   %4 = onnx.Add(%3, %3) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> loc("add")
// CHECK-NEXT:   %y = onnx.Cast(%4) {to = 10} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf16> loc("add/Cast")
// CHECK-NEXT:   func.return %y : tensor<1x4x2x2xf16>
func.func @main(%x: tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w = graph.constant dense<1.0> : tensor<4x4x1x1xf16> loc("w")
  %in = graph.trans_data %x : (tensor<1x4x2x2xf16>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>
  %conv = graph.conv2d %in, %w activation <relu> : (tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>, tensor<4x4x1x1xf16>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>> loc(fused["conv", "relu"])
  %add = graph.fusion(%conv) : (tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>> {
  ^bb0(%c: tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>):
    %sum = graph.binary add %c, %c : (tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>, tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>> loc("add")
    graph.yield %sum : tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>
  } loc("add")
  %y = graph.trans_data %add : (tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>) -> tensor<1x4x2x2xf16> loc("add")
  func.return %y : tensor<1x4x2x2xf16>
}
