// RUN: ge-opt %s --convert-onnx-to-graph --split-input-file --verify-diagnostics | filecheck %s

// Attributes that do not fit the operands are an error of the model.
// CHECK: Conv: attribute 'pads' has 3 entries, 4 are needed [GE3015]
func.func @main(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %y = onnx.Conv(%x, %w) {pads = [0, 0, 0]} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: Conv: attribute 'strides' is [0, 0], its entries must be at least 1 [GE3015]
func.func @main(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %y = onnx.Conv(%x, %w) {strides = [0, 0], auto_pad = "SAME_UPPER"} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: Transpose: perm [1, 2] is no order of 2 axes [GE3015]
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) {perm = [1, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// CHECK: Concat: axis is 5, the rank is 2 [GE3015]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %y = onnx.Concat(%x, %x) {axis = 5} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// -----

// CHECK: Split: input 0 of shape [] must have at least 1 dimensions [GE3015]
func.func @main(%x: tensor<f32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %y, %z = onnx.Split(%x) {axis = 0, num_outputs = 2} : (tensor<f32>) -> (tensor<1xf32>, tensor<1xf32>)
  func.return %y, %z : tensor<1xf32>, tensor<1xf32>
}

// -----

// CHECK: Softmax: axis is 3, the rank is 2 [GE3015]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Softmax(%x) {axis = 3} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK: ReduceMean: one of axes is 6, the rank is 4 [GE3015]
func.func @main(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x1x1xf32> {
  %axes = onnx.Constant dense<[6, 7]> : tensor<2xi64>
  %y = onnx.ReduceMean(%x, %axes) : (tensor<1x2x3x4xf32>, tensor<2xi64>) -> tensor<1x2x1x1xf32>
  func.return %y : tensor<1x2x1x1xf32>
}

// -----

// CHECK: Pad: 7 entries of pads for 4 axes [GE3015]
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %pads = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1]> : tensor<7xi64>
  %p = onnx.Pad(%x, %pads) : (tensor<1x2x3x3xf32>, tensor<7xi64>) -> tensor<1x2x5x5xf32>
  %y = onnx.Conv(%p, %w) : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  func.return %y : tensor<1x3x3x3xf32>
}

// -----

// CHECK: Gemm: input 1 of shape [3] must have rank 2 [GE3015]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = onnx.Gemm(%x, %w, %b) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// What the shapes do not show is left to the host, and fails with a message where it runs.
// CHECK: graph.host
// CHECK: onnx.LRN
func.func @main(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  %y = onnx.LRN(%x) {size = 0} : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}
