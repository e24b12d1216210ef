// RUN: ge-opt %s --sink-transpose | filecheck %s

// 1. Two transposes that cancel, across what is in between; a constant, and one element
// CHECK-LABEL: func.func @cancel
// CHECK-NEXT:    %0 = onnx.Constant dense<[[[[1.000000e+00]], [[2.000000e+00]], [[3.000000e+00]]]]> : tensor<1x3x1x1xf32>
// CHECK-NEXT:    %1 = onnx.Mul(%x, %0) : (tensor<1x3x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT:    %2 = onnx.Add(%s, %1) : (tensor<f32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT:    %d = onnx.Relu(%2) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT:    func.return %d : tensor<1x3x4x5xf32>
func.func @cancel(%x: tensor<1x3x4x5xf32>, %s: tensor<f32>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  %a = onnx.Mul(%t, %w) : (tensor<1x4x5x3xf32>, tensor<3xf32>) -> tensor<1x4x5x3xf32>
  %b = onnx.Add(%s, %a) : (tensor<f32>, tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %c = onnx.Relu(%b) : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %d = onnx.Transpose(%c) {perm = [0, 3, 1, 2]} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  func.return %d : tensor<1x3x4x5xf32>
}

// 1. Along an axis, slices and padding, of unknown sizes
// CHECK-LABEL: func.func @axes
// CHECK-NEXT:    %0 = onnx.Softmax(%x) {axis = 2} : (tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
// CHECK-NEXT:    %1, %2 = onnx.Split(%0) {axis = 1, num_outputs = 2} : (tensor<?x6x4xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x4xf32>)
// CHECK-NEXT:    %3 = onnx.Concat(%2, %1) {axis = 0} : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
// CHECK-NEXT:    %one = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %three = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %4 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %5 = onnx.Slice(%3, %one, %three, %4) : (tensor<?x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3x2xf32>
// CHECK-NEXT:    %6 = onnx.Constant dense<[0, 2, 1, 3, 0, 0]> : tensor<6xi64>
// CHECK-NEXT:    %h = onnx.Pad(%5, %6) : (tensor<?x3x2xf32>, tensor<6xi64>) -> tensor<?x5x3xf32>
// CHECK-NEXT:    func.return %h : tensor<?x5x3xf32>
func.func @axes(%x: tensor<?x6x4xf32>) -> tensor<?x5x3xf32> {
  %t = onnx.Transpose(%x) {perm = [2, 0, 1]} : (tensor<?x6x4xf32>) -> tensor<4x?x6xf32>
  %a = onnx.Softmax(%t) {axis = 0} : (tensor<4x?x6xf32>) -> tensor<4x?x6xf32>
  %b, %d = onnx.Split(%a) {axis = -1, num_outputs = 2} : (tensor<4x?x6xf32>) -> (tensor<4x?x3xf32>, tensor<4x?x3xf32>)
  %e = onnx.Concat(%d, %b) {axis = 1} : (tensor<4x?x3xf32>, tensor<4x?x3xf32>) -> tensor<4x?x3xf32>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %three = onnx.Constant dense<3> : tensor<1xi64>
  %f = onnx.Slice(%e, %one, %three) : (tensor<4x?x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?x3xf32>
  %pads = onnx.Constant dense<[1, 0, 2, 0, 3, 0]> : tensor<6xi64>
  %g = onnx.Pad(%f, %pads) : (tensor<2x?x3xf32>, tensor<6xi64>) -> tensor<3x?x5xf32>
  %h = onnx.Transpose(%g) {perm = [1, 2, 0]} : (tensor<3x?x5xf32>) -> tensor<?x5x3xf32>
  func.return %h : tensor<?x5x3xf32>
}

// 2. Several operands, of which one is not needed behind; a transpose behind becomes one with that
// CHECK-LABEL: func.func @alike
// CHECK-NEXT:    %0 = onnx.Sub(%x, %y) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %b = onnx.Transpose(%0) {perm = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT:    func.return %b : tensor<3x4x2xf32>
func.func @alike(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %t = onnx.Transpose(%x) {perm = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %u = onnx.Transpose(%y) {perm = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %a = onnx.Sub(%t, %u) : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  %b = onnx.Transpose(%a) {perm = [2, 0, 1]} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  func.return %b : tensor<3x4x2xf32>
}

// 3. A reduction without its axes
// CHECK-LABEL: func.func @reduced
// CHECK-NEXT:    %0 = onnx.Exp(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %1 = onnx.Constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT:    %b = onnx.ReduceMax(%0, %1) {keepdims = 0} : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %b : tensor<2x3xf32>
func.func @reduced(%x: tensor<2x3x4x5xf32>) -> tensor<2x3xf32> {
  %axes = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %a = onnx.Exp(%t) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %b = onnx.ReduceMax(%a, %axes) {keepdims = 0} : (tensor<2x4x5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// A residual block in another order: four transposes become none
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %0 = onnx.Add(%x, %y) : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT:    %d = onnx.Relu(%0) : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT:    %e = onnx.Add(%d, %y) : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT:    func.return %d, %e : tensor<1x2x3xf32>, tensor<1x2x3xf32>
func.func @residual(%x: tensor<1x2x3xf32>, %y: tensor<1x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>) {
  %t = onnx.Transpose(%x) {perm = [0, 2, 1]} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  %u = onnx.Transpose(%y) {perm = [0, 2, 1]} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  %a = onnx.Add(%t, %u) : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %b = onnx.Relu(%a) : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %c = onnx.Add(%b, %u) : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %d = onnx.Transpose(%b) {perm = [0, 2, 1]} : (tensor<1x3x2xf32>) -> tensor<1x2x3xf32>
  %e = onnx.Transpose(%c) {perm = [0, 2, 1]} : (tensor<1x3x2xf32>) -> tensor<1x2x3xf32>
  func.return %d, %e : tensor<1x2x3xf32>, tensor<1x2x3xf32>
}

// Kept: nothing to meet; an operator that needs the order of axes in between
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
// CHECK-NEXT:    %a = onnx.Relu(%t) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
// CHECK-NEXT:    %b = onnx.Conv(%a, %w) : (tensor<1x4x4x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x2xf32>
// CHECK-NEXT:    %c = onnx.Transpose(%b) {perm = [0, 3, 1, 2]} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:    func.return %a, %c : tensor<1x4x4x2xf32>, tensor<1x2x4x4xf32>
func.func @kept(%x: tensor<1x2x4x4xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x2x4x4xf32>) {
  %t = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
  %a = onnx.Relu(%t) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %b = onnx.Conv(%a, %w) : (tensor<1x4x4x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x2xf32>
  %c = onnx.Transpose(%b) {perm = [0, 3, 1, 2]} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  func.return %a, %c : tensor<1x4x4x2xf32>, tensor<1x2x4x4xf32>
}

// A value in between that is an output, too: one transpose stays
// CHECK-LABEL: func.func @output
// CHECK-NEXT:    %0 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %a = onnx.Transpose(%0) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %c = onnx.Neg(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %a, %c : tensor<3x2xf32>, tensor<2x3xf32>
func.func @output(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %t = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %a = onnx.Relu(%t) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %b = onnx.Neg(%a) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %c = onnx.Transpose(%b) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %a, %c : tensor<3x2xf32>, tensor<2x3xf32>
}

// Kept: operands that broadcast with fewer axes, another order, axes that are not constant
// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT:    %t = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %a = onnx.Mul(%t, %v) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %b = onnx.Transpose(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %u = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %c = onnx.ReduceSum(%u, %axes) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    %d = onnx.Transpose(%c) {perm = [1, 0]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    "test.op"(%b, %d) : (tensor<2x3xf32>, tensor<?x?xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @broadcast(%x: tensor<2x3xf32>, %v: tensor<2xf32>, %y: tensor<3x2xf32>, %axes: tensor<1xi64>) {
  %t = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %a = onnx.Mul(%t, %v) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %b = onnx.Transpose(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %u = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %c = onnx.ReduceSum(%u, %axes) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %d = onnx.Transpose(%c) {perm = [1, 0]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  "test.op"(%b, %d) : (tensor<2x3xf32>, tensor<?x?xf32>) -> ()
  func.return
}

// Kept: a reduction over all axes behind the channels, which is a global pooling
// CHECK-LABEL: func.func @pooling
// CHECK-NEXT:    %axes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT:    %t = onnx.Transpose(%x) {perm = [0, 3, 1, 2]} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %a = onnx.ReduceMean(%t, %axes) {keepdims = 0} : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %a : tensor<2x3xf32>
func.func @pooling(%x: tensor<2x4x5x3xf32>) -> tensor<2x3xf32> {
  %axes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %t = onnx.Transpose(%x) {perm = [0, 3, 1, 2]} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  %a = onnx.ReduceMean(%t, %axes) {keepdims = 0} : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}
