// RUN: ge-opt %s --recognise-reduce-mean | filecheck %s

// means that drop their axes; a sum divided by the number of its elements; kept: by another number, or of unknown size
// CHECK-LABEL: func.func @means
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<4.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<[2, 3]> : tensor<2xi64>
// CHECK-NEXT:    %[[F:.*]] = onnx.ReduceMean(%x, %[[E]]) {keepdims = 0}
// CHECK-NEXT:    %[[G:.*]] = onnx.ReduceMean(%x, %[[A]]) {keepdims = 0}
// CHECK-NEXT:    %[[H:.*]] = onnx.ReduceMean(%x, %[[B]])
// CHECK-NEXT:    %[[I:.*]] = onnx.ReduceSum(%x, %[[B]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Div(%[[I]], %[[D]])
// CHECK-NEXT:    %[[K:.*]] = onnx.ReduceSum(%z, %[[B]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Div(%[[K]], %[[C]])
// CHECK-NEXT:    "test.op"(%[[F]], %[[G]], %[[H]], %[[J]], %[[L]])
// CHECK-NEXT:    func.return
func.func @means(%x: tensor<2x3x4x5xf32>, %z: tensor<2x?xf32>) {
  %axes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %four = onnx.Constant dense<4.0> : tensor<f32>
  %0 = onnx.GlobalAveragePool(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = onnx.Flatten(%0) : (tensor<2x3x1x1xf32>) -> tensor<2x3xf32>
  %2 = onnx.ReduceMean(%x, %axes) : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  %3 = onnx.Squeeze(%2, %axes) : (tensor<2x3x1x1xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %4 = onnx.ReduceSum(%x, %axis) : (tensor<2x3x4x5xf32>, tensor<1xi64>) -> tensor<2x1x4x5xf32>
  %5 = onnx.Div(%4, %three) : (tensor<2x1x4x5xf32>, tensor<f32>) -> tensor<2x1x4x5xf32>
  %6 = onnx.ReduceSum(%x, %axis) : (tensor<2x3x4x5xf32>, tensor<1xi64>) -> tensor<2x1x4x5xf32>
  %7 = onnx.Div(%6, %four) : (tensor<2x1x4x5xf32>, tensor<f32>) -> tensor<2x1x4x5xf32>
  %8 = onnx.ReduceSum(%z, %axis) : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %9 = onnx.Div(%8, %three) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  "test.op"(%1, %3, %5, %7, %9) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1x4x5xf32>, tensor<2x1x4x5xf32>, tensor<2x1xf32>) -> ()
  func.return
}
