// RUN: ge-opt %s --split-input-file --verify-diagnostics

// A view has no more elements in memory than its operand: here padding would come from beyond its end.
func.func @main(%x: tensor<2x3xf16>) -> tensor<2x3xf16, #ge.layout<FRACTAL_NZ>> {
  // expected-error @+1 {{the result has 32 elements in memory, the operand 6}}
  %y = graph.view %x : (tensor<2x3xf16>) -> tensor<2x3xf16, #ge.layout<FRACTAL_NZ>>
  func.return %y : tensor<2x3xf16, #ge.layout<FRACTAL_NZ>>
}

// -----

// It may leave padding out, but no elements.
func.func @main(%x: tensor<1x20xf16, #ge.layout<FRACTAL_NZ>>) -> (tensor<20xf16>, tensor<12xf16>) {
  %y = graph.view %x : (tensor<1x20xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<20xf16>
  // expected-error @+1 {{the result has 12 elements in memory, the operand 32}}
  %z = graph.view %x : (tensor<1x20xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<12xf16>
  func.return %y, %z : tensor<20xf16>, tensor<12xf16>
}
