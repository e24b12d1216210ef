// RUN: ge-opt %s --select-implementation=types=Gelu | filecheck %s
// RUN: ge-opt %s --select-implementation | filecheck %s --check-prefix=NONE
// RUN: not ge-opt %s --select-implementation=types=Gelu,Sigmoid 2>&1 | filecheck %s --check-prefix=OTHER

// Gelu alone and as an activation; other functions and operators of the host stay
// CHECK:         graph.unary <gelu_tanh> %x
// CHECK-NEXT:    graph.unary <sigmoid>
// CHECK:         graph.matmul {{.*}} activation <gelu_tanh>
// CHECK-NEXT:    graph.host
// CHECK:           onnx.Gelu
// NONE:          graph.unary <gelu> %x
// NONE:          activation <gelu>
// OTHER: 'Sigmoid' has one implementation; Gelu has two [GE2047]
func.func @main(%x: tensor<32x32xf16>) -> tensor<32x32xf16> {
  %a = graph.unary <gelu> %x : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %b = graph.unary <sigmoid> %a : (tensor<32x32xf16>) -> tensor<32x32xf16>
  %w = graph.constant dense<1.0> : tensor<32x32xf16>
  %c = graph.matmul %b, %w activation <gelu> : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x32xf16>
  %y = graph.host(%c) : (tensor<32x32xf16>) -> tensor<32x32xf16> {
  ^bb0(%z: tensor<32x32xf16>):
    %g = onnx.Gelu(%z) : (tensor<32x32xf16>) -> tensor<32x32xf16>
    graph.yield %g : tensor<32x32xf16>
  }
  func.return %y : tensor<32x32xf16>
}
