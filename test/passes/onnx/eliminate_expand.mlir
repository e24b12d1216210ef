// RUN: ge-opt %s --eliminate-expand | filecheck %s

// operators that broadcast anyway, on either side, and the condition of a Where
// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT:    %0 = onnx.Div(%x, %n) : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = onnx.Sub(%n, %0) : (tensor<2x3x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = onnx.Where(%c, %0, %1) : (tensor<4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    func.return %2
func.func @broadcast(%x: tensor<2x3x4xf32>, %n: tensor<2x3x1xf32>, %c: tensor<4xi1>) -> tensor<2x3x4xf32> {
  %s = onnx.Constant dense<[2, 3, 4]> : tensor<3xi64>
  %e = onnx.Expand(%n, %s) : (tensor<2x3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %f = onnx.Expand(%c, %s) : (tensor<4xi1>, tensor<3xi64>) -> tensor<2x3x4xi1>
  %0 = onnx.Div(%x, %e) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.Sub(%e, %0) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = onnx.Where(%f, %0, %1) : (tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %2 : tensor<2x3x4xf32>
}

// kept for a matrix product and as an output; the sum does without
// CHECK-LABEL: func.func @others
// CHECK:         %e = onnx.Expand(%n, %s)
// CHECK-NEXT:    %0 = onnx.Add(%x, %n)
// CHECK-NEXT:    %1 = onnx.MatMul(%x, %e)
// CHECK-NEXT:    func.return %0, %1, %e
func.func @others(%x: tensor<4x4xf32>, %n: tensor<1x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = onnx.Constant dense<[4, 1]> : tensor<2xi64>
  %e = onnx.Expand(%n, %s) : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  %0 = onnx.Add(%x, %e) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.MatMul(%x, %e) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// kept: the result would be smaller; sizes are not known; PRelu broadcasts one way
// CHECK-LABEL: func.func @kept
// CHECK:         %e = onnx.Expand(%n, %s)
// CHECK-NEXT:    %0 = onnx.Mul(%n, %e)
// CHECK-NEXT:    %f = onnx.Expand(%n, %t)
// CHECK-NEXT:    %1 = onnx.Add(%u, %f)
// CHECK-NEXT:    %2 = onnx.PRelu(%e, %n)
func.func @kept(%n: tensor<1x4xf32>, %u: tensor<?x4xf32>, %t: tensor<2xi64>)
    -> (tensor<3x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>) {
  %s = onnx.Constant dense<[3, 1]> : tensor<2xi64>
  %e = onnx.Expand(%n, %s) : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %0 = onnx.Mul(%n, %e) : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %f = onnx.Expand(%n, %t) : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = onnx.Add(%u, %f) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = onnx.PRelu(%e, %n) : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  func.return %0, %1, %2 : tensor<3x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>
}
