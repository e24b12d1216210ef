// RUN: ge-opt %s --recognise-rotary | filecheck %s

// kept: halves that differ, a cosine that is computed
// CHECK-LABEL: func.func @rotated
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x4xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<{{\[\[}}3.000000e+00, 4.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<{{\[\[}}3.000000e+00, 4.000000e+00, 5.000000e+00, 4.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<{{\[\[}}[3.000000e+00, 4.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.RotaryEmbedding(%x, %[[D]], %[[E]])
// CHECK-NEXT:    "test.op"(%[[F]])
// CHECK-NEXT:    %[[G:.*]], %[[H:.*]] = onnx.Split(%x) {axis = 3, num_outputs = 2}
// CHECK-NEXT:    %[[I:.*]] = onnx.Neg(%[[H]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Concat(%[[I]], %[[G]]) {axis = -1}
// CHECK-NEXT:    %[[K:.*]] = onnx.Mul(%x, %[[A]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Mul(%[[J]], %[[C]])
// CHECK-NEXT:    %[[M:.*]] = onnx.Add(%[[K]], %[[L]])
// CHECK-NEXT:    %[[N:.*]], %[[O:.*]] = onnx.Split(%x) {axis = 3, num_outputs = 2}
// CHECK-NEXT:    %[[P:.*]] = onnx.Neg(%[[O]])
// CHECK-NEXT:    %[[Q:.*]] = onnx.Concat(%[[P]], %[[N]]) {axis = -1}
// CHECK-NEXT:    %[[R:.*]] = onnx.Mul(%x, %z)
// CHECK-NEXT:    %[[S:.*]] = onnx.Mul(%[[Q]], %[[B]])
// CHECK-NEXT:    %[[T:.*]] = onnx.Add(%[[R]], %[[S]])
// CHECK-NEXT:    "test.op"(%[[M]], %[[T]])
// CHECK-NEXT:    func.return
func.func @rotated(%x: tensor<1x2x1x4xf32>, %z: tensor<1x1x1x4xf32>) {
  %c = onnx.Constant dense<[[[[1.0, 2.0, 1.0, 2.0]]]]> : tensor<1x1x1x4xf32>
  %s = onnx.Constant dense<[[3.0, 4.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %d = onnx.Constant dense<[[3.0, 4.0, 5.0, 4.0]]> : tensor<1x4xf32>
  %0, %1 = onnx.Split(%x) {axis = 3, num_outputs = 2} : (tensor<1x2x1x4xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>)
  %2 = onnx.Neg(%1) : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %3 = onnx.Concat(%2, %0) {axis = -1} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
  %4 = onnx.Mul(%x, %c) : (tensor<1x2x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x2x1x4xf32>
  %5 = onnx.Mul(%3, %s) : (tensor<1x2x1x4xf32>, tensor<1x4xf32>) -> tensor<1x2x1x4xf32>
  %6 = onnx.Add(%4, %5) : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
  "test.op"(%6) : (tensor<1x2x1x4xf32>) -> ()
  %10, %11 = onnx.Split(%x) {axis = 3, num_outputs = 2} : (tensor<1x2x1x4xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>)
  %12 = onnx.Neg(%11) : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %13 = onnx.Concat(%12, %10) {axis = -1} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
  %14 = onnx.Mul(%x, %c) : (tensor<1x2x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x2x1x4xf32>
  %15 = onnx.Mul(%13, %d) : (tensor<1x2x1x4xf32>, tensor<1x4xf32>) -> tensor<1x2x1x4xf32>
  %16 = onnx.Add(%14, %15) : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
  %20, %21 = onnx.Split(%x) {axis = 3, num_outputs = 2} : (tensor<1x2x1x4xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>)
  %22 = onnx.Neg(%21) : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %23 = onnx.Concat(%22, %20) {axis = -1} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
  %24 = onnx.Mul(%x, %z) : (tensor<1x2x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x2x1x4xf32>
  %25 = onnx.Mul(%23, %s) : (tensor<1x2x1x4xf32>, tensor<1x4xf32>) -> tensor<1x2x1x4xf32>
  %26 = onnx.Add(%24, %25) : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
  "test.op"(%16, %26) : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> ()
  func.return
}
