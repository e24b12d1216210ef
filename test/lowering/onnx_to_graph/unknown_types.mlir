// RUN: ge-opt %s --convert-onnx-to-graph | filecheck %s

// A result of which nothing is known has no form at the graph level: its operator runs on the host.
// CHECK-LABEL: func.func @main
// CHECK:         graph.host
// CHECK:           onnx.Cast
// CHECK:         graph.host
// CHECK:           onnx.QuantizeLinear
func.func @main(%x: tensor<2xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (!onnx.unknown, !onnx.unknown) {
  %y = onnx.Cast(%x) {to = 1} : (tensor<2xf32>) -> !onnx.unknown
  %z = onnx.QuantizeLinear(%x, %s, %p) : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> !onnx.unknown
  func.return %y, %z : !onnx.unknown, !onnx.unknown
}
