// RUN: ge-opt %s --merge-reshape-into-reduce | filecheck %s

// 1. Axes that are put back
// CHECK-LABEL: func.func @put_back
// CHECK-NEXT:    %axes = onnx.Constant dense<[1, -1]> : tensor<2xi64>
// CHECK-NEXT:    %b = onnx.ReduceSum(%x, %axes) {keepdims = 1} : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
// CHECK-NEXT:    %d = onnx.ReduceMin(%s) {keepdims = 1} : (tensor<3x4xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %f = onnx.ArgMax(%s) {axis = -1, keepdims = 1, select_last_index = 1} : (tensor<3x4xf32>) -> tensor<3x1xi64>
// CHECK-NEXT:    func.return %b, %d, %f : tensor<2x1x1xf32>, tensor<1x1xf32>, tensor<3x1xi64>
func.func @put_back(%x: tensor<2x?x4xf32>, %s: tensor<3x4xf32>) -> (tensor<2x1x1xf32>, tensor<1x1xf32>, tensor<3x1xi64>) {
  %axes = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %back = onnx.Constant dense<[-1, -2]> : tensor<2xi64>
  %a = onnx.ReduceSum(%x, %axes) {keepdims = 0} : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %b = onnx.Unsqueeze(%a, %back) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
  %c = onnx.ReduceMin(%s) {keepdims = 0} : (tensor<3x4xf32>) -> tensor<f32>
  %ones = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %d = onnx.Reshape(%c, %ones) : (tensor<f32>, tensor<2xi64>) -> tensor<1x1xf32>
  %e = onnx.ArgMax(%s) {axis = -1, keepdims = 0, select_last_index = 1} : (tensor<3x4xf32>) -> tensor<3xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %f = onnx.Unsqueeze(%e, %one) : (tensor<3xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  func.return %b, %d, %f : tensor<2x1x1xf32>, tensor<1x1xf32>, tensor<3x1xi64>
}

// 2. Axes that are taken away
// CHECK-LABEL: func.func @taken_away
// CHECK-NEXT:    %axis = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %last = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.ReduceMean(%x, %axis) {keepdims = 0} : (tensor<2x?x4xf32>, tensor<1xi64>) -> tensor<2x?xf32>
// CHECK-NEXT:    %d = onnx.ReduceL2(%s, %last) {keepdims = 0} : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %b, %d : tensor<2x?xf32>, tensor<3xf32>
func.func @taken_away(%x: tensor<2x?x4xf32>, %s: tensor<3x4xf32>) -> (tensor<2x?xf32>, tensor<3xf32>) {
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %a = onnx.ReduceMean(%x, %axis) : (tensor<2x?x4xf32>, tensor<1xi64>) -> tensor<2x?x1xf32>
  %b = onnx.Squeeze(%a, %last) : (tensor<2x?x1xf32>, tensor<1xi64>) -> tensor<2x?xf32>
  %c = onnx.ReduceL2(%s, %last) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %flat = onnx.Constant dense<3> : tensor<1xi64>
  %d = onnx.Reshape(%c, %flat) : (tensor<3x1xf32>, tensor<1xi64>) -> tensor<3xf32>
  func.return %b, %d : tensor<2x?xf32>, tensor<3xf32>
}

// Kept: other axes, a second user, an output, no axes
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %axis = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %first = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.ReduceSum(%x, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    %b = onnx.Unsqueeze(%a, %first) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x2x3xf32>
// CHECK-NEXT:    %c = onnx.ReduceMax(%x, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:    %d = onnx.Unsqueeze(%c, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
// CHECK-NEXT:    %none = onnx.Constant dense<> : tensor<0xi64>
// CHECK-NEXT:    %e = onnx.ReduceSum(%one, %none) {keepdims = 0, noop_with_empty_axes = 1} : (tensor<1x2xf32>, tensor<0xi64>) -> tensor<1x2xf32>
// CHECK-NEXT:    %f = onnx.Unsqueeze(%e, %first) : (tensor<1x2xf32>, tensor<1xi64>) -> tensor<1x1x2xf32>
// CHECK-NEXT:    func.return %b, %c, %d, %f : tensor<1x2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>, tensor<1x1x2xf32>
func.func @kept(%x: tensor<2x3x4xf32>, %one: tensor<1x2xf32>) -> (tensor<1x2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>, tensor<1x1x2xf32>) {
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %first = onnx.Constant dense<0> : tensor<1xi64>
  %a = onnx.ReduceSum(%x, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %b = onnx.Unsqueeze(%a, %first) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x2x3xf32>
  %c = onnx.ReduceMax(%x, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %d = onnx.Unsqueeze(%c, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %none = onnx.Constant dense<> : tensor<0xi64>
  %e = onnx.ReduceSum(%one, %none) {keepdims = 0, noop_with_empty_axes = 1} : (tensor<1x2xf32>, tensor<0xi64>) -> tensor<1x2xf32>
  %f = onnx.Unsqueeze(%e, %first) : (tensor<1x2xf32>, tensor<1xi64>) -> tensor<1x1x2xf32>
  func.return %b, %c, %d, %f : tensor<1x2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>, tensor<1x1x2xf32>
}

// kept: of a value without dimensions, which has no axis
// CHECK-LABEL: func.func @scalar
// CHECK:         onnx.ArgMax(%x)
// CHECK:         onnx.Reshape(
func.func @scalar(%x: tensor<f32>) {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %0 = onnx.ArgMax(%x) {axis = 0} : (tensor<f32>) -> tensor<i64>
  %1 = onnx.Reshape(%0, %one) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  "test.op"(%1) : (tensor<1xi64>) -> ()
  func.return
}
