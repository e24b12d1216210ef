// RUN: ge-opt %s --convert-onnx-to-graph --split-input-file | filecheck %s

// Attributes that do not fit the operands: the operator is left as it is, and fails with a message where it runs.

// CHECK: graph.host
// CHECK: onnx.Conv
func.func @main(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %y = onnx.Conv(%x, %w) {pads = [0, 0, 0]} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Conv
func.func @main(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %y = onnx.Conv(%x, %w) {strides = [0, 0], auto_pad = "SAME_UPPER"} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Transpose
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) {perm = [1, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Concat
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %y = onnx.Concat(%x, %x) {axis = 5} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Split
func.func @main(%x: tensor<f32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %y, %z = onnx.Split(%x) {axis = 0, num_outputs = 2} : (tensor<f32>) -> (tensor<1xf32>, tensor<1xf32>)
  func.return %y, %z : tensor<1xf32>, tensor<1xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Softmax
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Softmax(%x) {axis = 3} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.ReduceMean
func.func @main(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x1x1xf32> {
  %axes = onnx.Constant dense<[6, 7]> : tensor<2xi64>
  %y = onnx.ReduceMean(%x, %axes) : (tensor<1x2x3x4xf32>, tensor<2xi64>) -> tensor<1x2x1x1xf32>
  func.return %y : tensor<1x2x1x1xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Pad
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %pads = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1]> : tensor<7xi64>
  %p = onnx.Pad(%x, %pads) : (tensor<1x2x3x3xf32>, tensor<7xi64>) -> tensor<1x2x5x5xf32>
  %y = onnx.Conv(%p, %w) : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: graph.host
// CHECK: onnx.Gemm
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Gemm(%x, %w, %b) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
