// RUN: ge-opt %s --unflatten-softmax | filecheck %s

// 1. As models of old opsets are imported, with sizes of one beside the axis; any operation that reshapes, on both sides
// CHECK-LABEL: func.func @old_opset
// CHECK:         %0 = onnx.Softmax(%x) {axis = 1} : (tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
// CHECK-NEXT:    %p = onnx.Flatten(%0) : (tensor<2x5x1x1xf32>) -> tensor<2x5xf32>
func.func @old_opset(%x: tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32> {
  %f = onnx.Flatten(%x) : (tensor<2x5x1x1xf32>) -> tensor<2x5xf32>
  %p = onnx.Softmax(%f) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %s = onnx.Constant dense<[2, 5, 1, 1]> : tensor<4xi64>
  %y = onnx.Reshape(%p, %s) : (tensor<2x5xf32>, tensor<4xi64>) -> tensor<2x5x1x1xf32>
  func.return %y : tensor<2x5x1x1xf32>
}

// 1. The other axes may be joined, before and after
// CHECK-LABEL: func.func @joined_beside
// CHECK:         onnx.LogSoftmax(%x) {axis = 2} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
func.func @joined_beside(%x: tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32> {
  %s = onnx.Constant dense<[6, 4, 5]> : tensor<3xi64>
  %f = onnx.Reshape(%x, %s) : (tensor<2x3x4x5xf32>, tensor<3xi64>) -> tensor<6x4x5xf32>
  %p = onnx.LogSoftmax(%f) {axis = 1} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %t = onnx.Constant dense<[3, 2, 4, 5]> : tensor<4xi64>
  %y = onnx.Reshape(%p, %t) : (tensor<6x4x5xf32>, tensor<4xi64>) -> tensor<3x2x4x5xf32>
  func.return %y : tensor<3x2x4x5xf32>
}

// Not: several axes are joined in the axis of the softmax
// CHECK-LABEL: func.func @joined
// CHECK:         onnx.Softmax(%f) : (tensor<2x12xf32>) -> tensor<2x12xf32>
func.func @joined(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %f = onnx.Flatten(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %p = onnx.Softmax(%f) : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %s = onnx.Constant dense<[2, 3, 4]> : tensor<3xi64>
  %y = onnx.Reshape(%p, %s) : (tensor<2x12xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// Not: an axis of the same size at another place: 2x6 elements, in pairs that were none before
// CHECK-LABEL: func.func @another_place
// CHECK:         onnx.Softmax(%f) : (tensor<6x2xf32>) -> tensor<6x2xf32>
func.func @another_place(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %s = onnx.Constant dense<[6, 2]> : tensor<2xi64>
  %f = onnx.Reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<6x2xf32>
  %p = onnx.Softmax(%f) : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %t = onnx.Constant dense<[2, 6]> : tensor<2xi64>
  %y = onnx.Reshape(%p, %t) : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// Not: the flat value, or the result, is used by something else, too
// CHECK-LABEL: func.func @second_user
// CHECK:         onnx.Hardmax(%f) : (tensor<2x5xf32>) -> tensor<2x5xf32>
func.func @second_user(%x: tensor<2x5x1xf32>) -> (tensor<2x5x1xf32>, tensor<2x5xf32>) {
  %f = onnx.Flatten(%x) : (tensor<2x5x1xf32>) -> tensor<2x5xf32>
  %p = onnx.Hardmax(%f) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %a = onnx.Constant dense<2> : tensor<1xi64>
  %y = onnx.Unsqueeze(%p, %a) : (tensor<2x5xf32>, tensor<1xi64>) -> tensor<2x5x1xf32>
  func.return %y, %f : tensor<2x5x1xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: func.func @returned
// CHECK:         onnx.Softmax(%f) : (tensor<2x5xf32>) -> tensor<2x5xf32>
func.func @returned(%x: tensor<2x5x1xf32>) -> (tensor<2x5x1xf32>, tensor<2x5xf32>) {
  %f = onnx.Flatten(%x) : (tensor<2x5x1xf32>) -> tensor<2x5xf32>
  %p = onnx.Softmax(%f) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %a = onnx.Constant dense<2> : tensor<1xi64>
  %y = onnx.Unsqueeze(%p, %a) : (tensor<2x5xf32>, tensor<1xi64>) -> tensor<2x5x1xf32>
  func.return %y, %p : tensor<2x5x1xf32>, tensor<2x5xf32>
}

// Not: unknown sizes
// CHECK-LABEL: func.func @unknown
// CHECK:         onnx.Softmax(%f) : (tensor<?x5xf32>) -> tensor<?x5xf32>
func.func @unknown(%x: tensor<?x5x1xf32>) -> tensor<?x5x1xf32> {
  %f = onnx.Flatten(%x) : (tensor<?x5x1xf32>) -> tensor<?x5xf32>
  %p = onnx.Softmax(%f) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %a = onnx.Constant dense<2> : tensor<1xi64>
  %y = onnx.Unsqueeze(%p, %a) : (tensor<?x5xf32>, tensor<1xi64>) -> tensor<?x5x1xf32>
  func.return %y : tensor<?x5x1xf32>
}

// kept: of a value without dimensions, which has no axis
// CHECK-LABEL: func.func @scalar
// CHECK:         onnx.Reshape(
// CHECK:         onnx.Softmax(
// CHECK:         onnx.Reshape(
func.func @scalar(%x: tensor<1xf32>) {
  %none = onnx.Constant dense<[]> : tensor<0xi64>
  %one = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %0 = onnx.Reshape(%x, %none) : (tensor<1xf32>, tensor<0xi64>) -> tensor<f32>
  %1 = onnx.Softmax(%0) : (tensor<f32>) -> tensor<f32>
  %2 = onnx.Reshape(%1, %one) : (tensor<f32>, tensor<2xi64>) -> tensor<1x1xf32>
  "test.op"(%2) : (tensor<1x1xf32>) -> ()
  func.return
}
