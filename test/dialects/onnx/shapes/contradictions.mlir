// RUN: ge-opt %s --split-input-file --verify-diagnostics

// A stated type that the rule of the operator contradicts: both sides are named.
func.func @stated(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{MatMul: value 'y' is stated as f32[2, 5], but is f32[2, 4] by rule 'matrix product'}}
  %y = onnx.MatMul(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// -----

func.func @rank(%x: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  // expected-error@+1 {{Relu: value 'y' is stated as f32[?, ?, ?], but is f32[?, ?] by rule 'like input'}}
  %y = onnx.Relu(%x) : (tensor<?x?xf32>) -> tensor<?x?x?xf32>
  func.return %y : tensor<?x?x?xf32>
}

// -----

func.func @element(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{Cast: value 'y' is stated as f32[2], but is i32[2] by rule 'cast'}}
  %y = onnx.Cast(%x) {to = 6} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// Constants count: the target shape has another number of elements.
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %shape = onnx.Constant dense<[4, 2]> : tensor<2xi64>
  // expected-error@+1 {{Reshape: [2, 3] has 6 elements, [4, 2] has 8}}
  %y = onnx.Reshape(%x, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// -----

func.func @operands(%x: tensor<1x4x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{Conv: channels of input and weights times groups: 4 and 3 differ}}
  %y = onnx.Conv(%x, %w) : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// -----

func.func @broadcast(%x: tensor<2x3xf32>, %w: tensor<2x4xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{Add: shapes do not broadcast: 3 and 4}}
  %y = onnx.Add(%x, %w) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{Softmax: axis is 2, the rank is 2}}
  %y = onnx.Softmax(%x) {axis = 2} : (tensor<2x3xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// -----

// No error: unknown sizes may fit, and a branch need not run.
func.func @may_be(%x: tensor<?x3xf32>, %w: tensor<2x?xf32>, %c: tensor<i1>) -> tensor<2x3xf32> {
  %axes = onnx.Constant dense<[1]> : tensor<1xi64>
  %s = onnx.If(%c) then_branch {
    %t = onnx.Squeeze(%x, %axes) : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield %t : tensor<*xf32>
  } else_branch {
    onnx.Yield %x : tensor<?x3xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %y = onnx.Add(%x, %w) : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
