// RUN: ge-opt %s --verify-diagnostics --split-input-file

func.func @missing_input(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{input 'W' is missing}}
  %0 = onnx.Conv(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return
}

// -----

func.func @absent_required_input(%x: tensor<f32>) {
  // expected-error @+1 {{input 'A' is missing}}
  %0 = onnx.Add(none, %x) : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @too_many_inputs(%x: tensor<f32>) {
  // expected-error @+1 {{2 inputs, but the operator has at most 1}}
  %0 = onnx.Relu(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @too_few_variadic() {
  // expected-error @+1 {{input 'inputs' needs at least 1 values}}
  %0 = onnx.Concat() {axis = 0} : () -> tensor<f32>
  func.return
}

// -----

func.func @unknown_attribute(%x: tensor<f32>) {
  // expected-error @+1 {{'slope' is not an attribute of Relu}}
  %0 = onnx.Relu(%x) {slope = 1.0 : f32} : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @missing_attribute(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'axis' is missing}}
  %0 = onnx.Concat(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @wrong_kind(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'axis' must be of kind int, got "one"}}
  %0 = "onnx.Concat"(%x) {axis = "one"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @wrong_type(%x: tensor<2xi32>) {
  // expected-error @+1 {{'input' cannot have type tensor<2xi32>; allowed: float}}
  %0 = onnx.Erf(%x) : (tensor<2xi32>) -> tensor<2xi32>
  func.return
}

// -----

func.func @types_differ(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @+1 {{'B' has type f16, another value of the same type has f32}}
  %0 = onnx.Add(%x, %y) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  func.return
}

// -----

func.func @result_differs(%x: tensor<2xf32>) {
  // expected-error @+1 {{'Y' has type f16, another value of the same type has f32}}
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf16>
  func.return
}

// -----

func.func @missing_region(%c: tensor<i1>) {
  // expected-error @+1 {{expected regions then_branch, else_branch, got then_branch}}
  %0 = onnx.If(%c) then_branch {
    onnx.Yield %c : tensor<i1>
  } : (tensor<i1>) -> tensor<i1>
  func.return
}

// -----

func.func @no_terminator(%c: tensor<i1>) {
  // expected-error @+1 {{region 'else_branch' must end with onnx.Yield}}
  %0 = onnx.If(%c) then_branch {
    onnx.Yield %c : tensor<i1>
  } else_branch {
    "test.termop"() : () -> ()
  } : (tensor<i1>) -> tensor<i1>
  func.return
}
