// RUN: ge-opt %s --fc-to-conv | filecheck %s

// kept: a bias for each row
// CHECK-LABEL: func.func @flattened
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00, 9.000000e+00], [1.000000e+01, 1.100000e+01, 1.200000e+01]]> : tensor<4x3xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<1.000000e+00> : tensor<3xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<1.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}1.000000e+00, 4.000000e+00], [7.000000e+00, 1.000000e+01]]], {{\[\[}}[2.000000e+00, 5.000000e+00], [8.000000e+00, 1.100000e+01]]], {{\[\[}}[3.000000e+00, 6.000000e+00], [9.000000e+00, 1.200000e+01]]]]> : tensor<3x1x2x2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%x, %[[D]], %[[B]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Flatten(%[[E]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Flatten(%x)
// CHECK-NEXT:    %[[H:.*]] = onnx.Gemm(%[[G]], %[[A]], %[[C]])
// CHECK-NEXT:    "test.op"(%[[F]], %[[H]])
// CHECK-NEXT:    func.return
func.func @flattened(%x: tensor<2x1x2x2xf32>) {
  %w = onnx.Constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf32>
  %b = onnx.Constant dense<1.0> : tensor<3xf32>
  %r = onnx.Constant dense<1.0> : tensor<2x1xf32>
  %0 = onnx.Flatten(%x) : (tensor<2x1x2x2xf32>) -> tensor<2x4xf32>
  %1 = onnx.Gemm(%0, %w, %b) : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Flatten(%x) : (tensor<2x1x2x2xf32>) -> tensor<2x4xf32>
  %3 = onnx.Gemm(%2, %w, %r) : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  "test.op"(%1, %3) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  func.return
}
