// RUN: ge-opt %s | ge-opt | filecheck %s --check-prefix=KEPT
// RUN: ge-opt %s --inline-functions | filecheck %s
// RUN: ge-opt %s --convert-onnx-to-graph | filecheck %s --check-prefix=GRAPH

// KEPT-LABEL: func.func @main
// KEPT:         onnx.Call @"local::twice::fast"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("call")
// KEPT:         onnx.Call @"local::scaled"(%y) {slope = 5.000000e-01 : f32, onnx.name = ""} :
// KEPT:       func.func private @"local::scaled"(%v: !onnx.unknown) -> !onnx.unknown
// KEPT:         onnx.Custom "" "LeakyRelu"(%v) {alpha = #onnx.ref<float "slope">} :
// KEPT:       func.func private @"local::twice::fast"

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %a = onnx.LeakyRelu(%x) {alpha = 0.25} : (tensor<2xf32>) -> !onnx.unknown loc("call/call/relu")
// CHECK-NEXT:    %y = onnx.Add(%a, %a) {onnx.outputs = ["call_output_0"]} : (!onnx.unknown, !onnx.unknown) -> tensor<2xf32> loc("call/add")
// CHECK-NEXT:    %z = onnx.LeakyRelu(%y) {alpha = 0.5, onnx.outputs = ["z"]} : (tensor<2xf32>) -> tensor<2xf32> loc("z/relu")
// CHECK-NEXT:    func.return %z
// CHECK-NOT:   func.func

// GRAPH:       graph.unary
// GRAPH-NOT:   func.func private

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.Call @"local::twice::fast"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("call")
  %z = onnx.Call @"local::scaled"(%y) {slope = 0.5 : f32, onnx.name = ""} : (tensor<2xf32>) -> tensor<2xf32> loc("z")
  func.return %z : tensor<2xf32>
}

func.func private @"local::scaled"(%v: !onnx.unknown) -> !onnx.unknown attributes {onnx.attribute_defaults = {slope = 0.25 : f32}} {
  %w = onnx.Custom "" "LeakyRelu"(%v) {alpha = #onnx.ref<float "slope">} : (!onnx.unknown) -> !onnx.unknown loc("relu")
  func.return %w : !onnx.unknown
}

func.func private @"local::twice::fast"(%v: !onnx.unknown) -> !onnx.unknown {
  %a = onnx.Call @"local::scaled"(%v) : (!onnx.unknown) -> !onnx.unknown loc("call")
  %b = onnx.Add(%a, %a) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown loc("add")
  func.return %b : !onnx.unknown
}
