// RUN: ge-opt %s --conv-to-fc | filecheck %s

// kept: a window that is smaller than the image
// CHECK-LABEL: func.func @flattened
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<1.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Flatten(%x)
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<2x4xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Gemm(%[[B]], %[[C]]) {transB = 1}
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Flatten(%[[E]])
// CHECK-NEXT:    "test.op"(%[[D]], %[[F]])
// CHECK-NEXT:    func.return
func.func @flattened(%x: tensor<1x1x2x2xf32>) {
  %w = onnx.Constant dense<[[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]]]> : tensor<2x1x2x2xf32>
  %v = onnx.Constant dense<1.0> : tensor<2x1x1x1xf32>
  %0 = onnx.Conv(%x, %w) : (tensor<1x1x2x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x2x1x1xf32>
  %1 = onnx.Flatten(%0) : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32>
  %2 = onnx.Conv(%x, %v) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = onnx.Flatten(%2) : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  "test.op"(%1, %3) : (tensor<1x2xf32>, tensor<1x8xf32>) -> ()
  func.return
}
