// RUN: ge-opt %s --verify-diagnostics --split-input-file

func.func @main(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{the element type is one of i8, ui8, got i32}}
  %q = graph.quantise %x scale 0.5 : (tensor<1x4xf32>) -> tensor<1x4xi32>
  func.return
}

// -----

func.func @main(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{the zero point 128 is not a number of i8}}
  %q = graph.quantise %x scale 0.5 zero_point 128 : (tensor<1x4xf32>) -> tensor<1x4xi8>
  func.return
}

// -----

func.func @main(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{a scale is positive and finite, got 0.0}}
  %q = graph.quantise %x scale 0.0 : (tensor<1x4xf32>) -> tensor<1x4xi8>
  func.return
}

// -----

func.func @main(%a: tensor<2x4xi8>, %b: tensor<4x3xui8>, %c: tensor<3xi32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{the element type is one of i8, got ui8}}
  %y = graph.integer_matmul %a, %b, %c, %s : (tensor<2x4xi8>, tensor<4x3xui8>, tensor<3xi32>, tensor<3xf32>) -> tensor<2x3xi8>
  func.return
}

// -----

func.func @main(%a: tensor<2x4xi8>, %b: tensor<4x3xi8>, %c: tensor<3xi32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{the zero point 1 is not a number of f16}}
  %y = graph.integer_matmul %a, %b, %c, %s zero_point 1 : (tensor<2x4xi8>, tensor<4x3xi8>, tensor<3xi32>, tensor<3xf32>) -> tensor<2x3xf16>
  func.return
}

// -----

func.func @main(%a: tensor<2x4xi8>, %b: tensor<2x5xi8>) {
  // expected-error @+1 {{shapes [2, 4] and [2, 5] are not equal}}
  %y = graph.integer_add %a, %b scales 0.5, 0.5, 0.5 zero_points [0, 0, 0] : (tensor<2x4xi8>, tensor<2x5xi8>) -> tensor<2x4xi8>
  func.return
}

// -----

func.func @main(%x: tensor<1x2x4x4xui8>, %w: tensor<2x2x1x1xi8>, %b: tensor<2xi32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{the padding -1 is not a number of ui8}}
  %y = graph.integer_conv2d %x, %w, %b, %s padding -1 : (tensor<1x2x4x4xui8>, tensor<2x2x1x1xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x2x4x4xui8>
  func.return
}

// -----

func.func @numbers_from_integers(%x: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error @+1 {{numbers beside quantised ones are f16 or f32, got i32}}
  %y = graph.quantise %x scale 5.000000e-01 : (tensor<4xi32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

func.func @integers_to_integers(%x: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{numbers beside quantised ones are f16 or f32, got i8}}
  %y = graph.dequantise %x scale 5.000000e-01 : (tensor<4xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}
