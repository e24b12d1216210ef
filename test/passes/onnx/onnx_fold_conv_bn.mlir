// RUN: ge-opt %s --onnx-fold-conv-bn | filecheck %s

// before a convolution, after a Gemm and after a MatMul
// CHECK-LABEL: func.func @folded
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[-7.500000e+00]> : tensor<1xf32>
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}5.000000e-01]], {{\[\[}}2.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Conv(%x, %[[A]], %[[B]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<[2.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<{{\[\[}}5.000000e-01, 1.000000e+00], [6.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Gemm(%a, %[[D]], %[[E]]) {transB = 1}
// CHECK-NEXT:    %[[G:.*]] = onnx.Constant dense<{{\[\[}}5.000000e-01, 4.000000e+00], [1.500000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[H:.*]] = onnx.Constant dense<[5.000000e-01, -8.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[I:.*]] = onnx.Gemm(%a, %[[G]], %[[H]])
// CHECK-NEXT:    "test.op"(%[[C]], %[[F]], %[[I]])
// CHECK-NEXT:    func.return
func.func @folded(%x: tensor<1x2x2x2xf32>, %a: tensor<3x2xf32>) {
  %s = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %o = onnx.Constant dense<[3.0, 4.0]> : tensor<2xf32>
  %m = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %v = onnx.Constant dense<[3.0, 0.0]> : tensor<2xf32>
  %w = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %g = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = onnx.BatchNormalization(%x, %s, %o, %m, %v) {epsilon = 1.0} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = onnx.Conv(%0, %w) : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %2 = onnx.Gemm(%a, %g, %o) {transB = 1} : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %3 = onnx.BatchNormalization(%2, %s, %o, %m, %v) {epsilon = 1.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %4 = onnx.MatMul(%a, %g) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %5 = onnx.BatchNormalization(%4, %s, %o, %m, %v) {epsilon = 1.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  "test.op"(%1, %3, %5) : (tensor<1x1x2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> ()
  func.return
}

// kept: before a convolution that pads, statistics that are computed, training, a variance that makes the factor infinite,
// an output in between
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[3.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<1.000000e+00> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.BatchNormalization(%x, %[[A]], %[[A]], %[[A]], %[[B]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%[[D]], %[[C]]) {pads = [1, 0, 0, 0]}
// CHECK-NEXT:    %[[F:.*]] = onnx.BatchNormalization(%x, %[[A]], %[[A]], %m, %[[B]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Conv(%[[F]], %[[C]])
// CHECK-NEXT:    %[[H:.*]], %[[I:.*]], %[[J:.*]] = onnx.BatchNormalization(%x, %[[A]], %[[A]], %[[A]], %[[B]]) {training_mode = 1}
// CHECK-NEXT:    %[[K:.*]] = onnx.Conv(%[[H]], %[[C]])
// CHECK-NEXT:    %[[L:.*]] = onnx.BatchNormalization(%x, %[[A]], %[[A]], %[[A]], %[[B]]) {epsilon = 0.0}
// CHECK-NEXT:    %[[M:.*]] = onnx.Conv(%[[L]], %[[C]])
// CHECK-NEXT:    %[[N:.*]] = onnx.BatchNormalization(%x, %[[A]], %[[A]], %[[A]], %[[A]])
// CHECK-NEXT:    %[[O:.*]] = onnx.Conv(%[[N]], %[[C]])
// CHECK-NEXT:    "test.op"(%[[E]], %[[G]], %[[K]], %[[M]], %[[O]])
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<1x2x2x2xf32>, %m: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %s = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = onnx.Constant dense<[3.0, 0.0]> : tensor<2xf32>
  %w = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %0 = onnx.BatchNormalization(%x, %s, %s, %s, %v) : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = onnx.Conv(%0, %w) {pads = [1, 0, 0, 0]} : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x3x2xf32>
  %2 = onnx.BatchNormalization(%x, %s, %s, %m, %v) : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %3 = onnx.Conv(%2, %w) : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %4, %5, %6 = onnx.BatchNormalization(%x, %s, %s, %s, %v) {training_mode = 1} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %7 = onnx.Conv(%4, %w) : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %8 = onnx.BatchNormalization(%x, %s, %s, %s, %v) {epsilon = 0.0} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %9 = onnx.Conv(%8, %w) : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %10 = onnx.BatchNormalization(%x, %s, %s, %s, %s) : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %11 = onnx.Conv(%10, %w) : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  "test.op"(%1, %3, %7, %9, %11) : (tensor<1x1x3x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> ()
  func.return %10 : tensor<1x2x2x2xf32>
}
