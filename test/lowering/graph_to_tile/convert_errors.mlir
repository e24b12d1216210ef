// RUN: ge-opt %s --convert-graph-to-tile --verify-diagnostics --split-input-file

// An operation that should have moved to the host is named, with its node.
func.func @main(%x: tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>, %y: tensor<4x16xf16>) -> tensor<4x16xf16> {
  %z = graph.unary <relu> %x : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  // expected-error @+1 {{'graph.lrn' may not remain at level 'tile'}}
  %t = graph.lrn %y size 3 alpha 1.0 beta 0.75 bias 2.0 : (tensor<4x16xf16>) -> tensor<4x16xf16> loc("norm")
  func.return %t : tensor<4x16xf16>
}

// -----

// A case of a known operation that no kernel covers.
func.func @main(%x: tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>> {
  %z = graph.unary <relu> %x : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  // expected-error @+1 {{the axis is not the last}}
  %s = graph.softmax %z axis 0 : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  func.return %s : tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
}

// -----

// Formats that no kernel of the operation takes.
func.func @main(%x: tensor<1x32x4x4xf16>, %y: tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<1x16x4x4xf16> {
  %u = graph.unary <relu> %y : (tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x16xf16, #ge.layout<FRACTAL_NZ>>
  // expected-error @+1 {{no kernel takes the storage formats ND, ND}}
  %z = graph.gather_channels %x indices [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : (tensor<1x32x4x4xf16>) -> tensor<1x16x4x4xf16>
  func.return %z : tensor<1x16x4x4xf16>
}

// -----

func.func @main(%x: tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>>, %w: tensor<16x16x1x1xf16, #ge.layout<FRACTAL_Z>>, %b: tensor<16xf32>) -> tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>> {
  // expected-error @+1 {{the bias is not constant}}
  %z = graph.conv2d %x, %w, %b : (tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>>, tensor<16x16x1x1xf16, #ge.layout<FRACTAL_Z>>, tensor<16xf32>) -> tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>>
  func.return %z : tensor<1x16x4x4xf16, #ge.layout<NC1HWC0>>
}
