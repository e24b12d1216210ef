// RUN: ge-opt %s --recognise-softmax | filecheck %s

// the difference of a value and the logarithm of its exponentials; kept: over another axis than the result keeps
// CHECK-LABEL: func.func @logarithms
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Softmax(%x) {axis = 1}
// CHECK-NEXT:    %[[C:.*]] = onnx.ReduceLogSumExp(%x, %[[A]])
// CHECK-NEXT:    %[[D:.*]] = onnx.Sub(%x, %[[C]])
// CHECK-NEXT:    "test.op"(%[[B]], %[[D]])
// CHECK-NEXT:    func.return
func.func @logarithms(%x: tensor<2x3xf32>) {
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %both = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %0 = onnx.ReduceLogSumExp(%x, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = onnx.Exp(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.ReduceLogSumExp(%x, %both) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %4 = onnx.Sub(%x, %3) : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  "test.op"(%2, %4) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  func.return
}

// the softmax of a channel vector that is flattened and brought back; kept: of more than one position
// CHECK-LABEL: func.func @flattened
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[2, 3, 4, 1]> : tensor<4xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Softmax(%x) {axis = 1}
// CHECK-NEXT:    %[[C:.*]] = onnx.Flatten(%z)
// CHECK-NEXT:    %[[D:.*]] = onnx.Softmax(%[[C]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Reshape(%[[D]], %[[A]])
// CHECK-NEXT:    "test.op"(%[[B]], %[[E]])
// CHECK-NEXT:    func.return
func.func @flattened(%x: tensor<2x3x1x1xf32>, %z: tensor<2x3x4x1xf32>) {
  %back = onnx.Constant dense<[2, 3, 1, 1]> : tensor<4xi64>
  %other = onnx.Constant dense<[2, 3, 4, 1]> : tensor<4xi64>
  %0 = onnx.Flatten(%x) : (tensor<2x3x1x1xf32>) -> tensor<2x3xf32>
  %1 = onnx.Softmax(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Reshape(%1, %back) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3x1x1xf32>
  %3 = onnx.Flatten(%z) : (tensor<2x3x4x1xf32>) -> tensor<2x12xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %5 = onnx.Reshape(%4, %other) : (tensor<2x12xf32>, tensor<4xi64>) -> tensor<2x3x4x1xf32>
  "test.op"(%2, %5) : (tensor<2x3x1x1xf32>, tensor<2x3x4x1xf32>) -> ()
  func.return
}
