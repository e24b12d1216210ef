// RUN: ge-opt %s --recognise-reductions | filecheck %s

// norms and sums of exponentials; kept: a square that something else uses, x divided by its norm
// CHECK-LABEL: func.func @norms
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.ReduceL2(%x, %[[A]])
// CHECK-NEXT:    %[[C:.*]] = onnx.Div(%x, %[[B]])
// CHECK-NEXT:    %[[D:.*]] = onnx.ReduceL1(%x, %[[A]]) {keepdims = 0}
// CHECK-NEXT:    %[[E:.*]] = onnx.ReduceLogSumExp(%x, %[[A]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Mul(%x, %x)
// CHECK-NEXT:    %[[G:.*]] = onnx.ReduceSum(%[[F]], %[[A]])
// CHECK-NEXT:    "test.op"(%[[C]], %[[D]], %[[E]], %[[F]], %[[G]])
// CHECK-NEXT:    func.return
func.func @norms(%x: tensor<2x3xf32>) {
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %0 = onnx.Mul(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.ReduceSum(%0, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %2 = onnx.Sqrt(%1) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %3 = onnx.Div(%x, %2) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %4 = onnx.Abs(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = onnx.ReduceSum(%4, %axis) {keepdims = 0} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %6 = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = onnx.ReduceSum(%6, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %8 = onnx.Log(%7) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %9 = onnx.Mul(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = onnx.ReduceSum(%9, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  "test.op"(%3, %5, %8, %9, %10) : (tensor<2x3xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> ()
  func.return
}
