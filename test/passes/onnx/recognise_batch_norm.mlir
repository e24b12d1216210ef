// RUN: ge-opt %s --recognise-batch-norm | filecheck %s

// one number for each channel, and one for all; kept: vectors, factors for each position, a product with a second user
// CHECK-LABEL: func.func @images
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}[2.000000e+00]], {{\[\[}}3.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<5.000000e-01> : tensor<2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    %[[G:.*]] = onnx.Constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    %[[H:.*]] = onnx.BatchNormalization(%x, %[[D]], %[[E]], %[[F]], %[[G]]) {epsilon = 0.0}
// CHECK-NEXT:    %[[I:.*]] = onnx.Mul(%v, %[[B]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Add(%[[I]], %[[B]])
// CHECK-NEXT:    %[[K:.*]] = onnx.Mul(%x, %[[C]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Add(%[[K]], %[[B]])
// CHECK-NEXT:    %[[M:.*]] = onnx.Mul(%x, %[[A]])
// CHECK-NEXT:    %[[N:.*]] = onnx.Add(%[[M]], %[[B]])
// CHECK-NEXT:    "test.op"(%[[H]], %[[J]], %[[L]], %[[M]], %[[N]])
// CHECK-NEXT:    func.return
func.func @images(%x: tensor<1x2x2x2xf32>, %v: tensor<3x2xf32>) {
  %s = onnx.Constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %t = onnx.Constant dense<0.5> : tensor<f32>
  %p = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = onnx.Mul(%s, %x) : (tensor<2x1x1xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = onnx.Add(%t, %0) : (tensor<f32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = onnx.Mul(%v, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %3 = onnx.Add(%2, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %4 = onnx.Mul(%x, %p) : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %5 = onnx.Add(%4, %t) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %6 = onnx.Mul(%x, %s) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %7 = onnx.Add(%6, %t) : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  "test.op"(%1, %3, %5, %6, %7) : (tensor<1x2x2x2xf32>, tensor<3x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> ()
  func.return
}
