// RUN: ge-opt %s --convert-graph-to-tile --verify-diagnostics --split-input-file

// An operation that should have moved to the host is named, with its node.
func.func @main(%x: tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>, %y: tensor<4x16xf16>) -> tensor<16x4xf16> {
  %z = graph.unary <relu> %x : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  // expected-error @+1 {{'graph.transpose' may not remain at level 'tile'}}
  %t = graph.transpose %y perm [1, 0] : (tensor<4x16xf16>) -> tensor<16x4xf16> loc("turn")
  func.return %t : tensor<16x4xf16>
}

// -----

// A case of a known operation that no kernel covers.
func.func @main(%x: tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>> {
  %z = graph.unary <relu> %x : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  // expected-error @+1 {{the axis is not the last}}
  %s = graph.softmax %z axis 0 : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  func.return %s : tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
}
