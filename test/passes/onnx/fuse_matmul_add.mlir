// RUN: ge-opt %s --fuse-matmul-add | filecheck %s

// transposes, factors and constants around a product; kept: three dimensions, a product that something else uses
// CHECK-LABEL: func.func @gemm
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Gemm(%b, %a) {alpha = 2.0, transB = 1}
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<3.000000e+00> : tensor<3x4xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[1.500000e+00, 3.000000e+00, 4.500000e+00, 6.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Gemm(%a, %[[C]], %[[D]])
// CHECK-NEXT:    %[[F:.*]] = onnx.MatMul(%t, %u)
// CHECK-NEXT:    %[[G:.*]] = onnx.Add(%[[F]], %[[A]])
// CHECK-NEXT:    %[[H:.*]] = onnx.MatMul(%a, %u)
// CHECK-NEXT:    %[[I:.*]] = onnx.Add(%[[H]], %[[A]])
// CHECK-NEXT:    "test.op"(%[[B]], %[[E]], %[[G]], %[[H]], %[[I]])
// CHECK-NEXT:    func.return
func.func @gemm(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %t: tensor<5x2x3xf32>, %u: tensor<3x4xf32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %c = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = onnx.Constant dense<1.0> : tensor<3x4xf32>
  %0 = onnx.Transpose(%b) {perm = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = onnx.MatMul(%a, %0) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = onnx.Mul(%two, %1) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = onnx.Transpose(%2) : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %4 = onnx.Gemm(%a, %w, %c) {alpha = 3.0, beta = 0.5} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %5 = onnx.Add(%4, %c) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %6 = onnx.MatMul(%t, %u) : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %7 = onnx.Add(%6, %c) : (tensor<5x2x4xf32>, tensor<4xf32>) -> tensor<5x2x4xf32>
  %8 = onnx.MatMul(%a, %u) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %9 = onnx.Add(%8, %c) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  "test.op"(%3, %5, %7, %8, %9) : (tensor<4x2xf32>, tensor<2x4xf32>, tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  func.return
}

// needs 28: a bias of five dimensions, which would make the result one of five dimensions, is not a bias of a Gemm
// CHECK-LABEL: func.func @needs_28_bias
// CHECK-NEXT:    %[[A:.*]] = onnx.MatMul(%a, %b)
// CHECK-NEXT:    %[[B:.*]] = onnx.Add(%[[A]], %c)
// CHECK-NEXT:    "test.op"(%[[B]])
// CHECK-NEXT:    func.return
func.func @needs_28_bias(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<1x1x1x1x4xf32>) {
  %0 = onnx.MatMul(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = onnx.Add(%0, %c) : (tensor<2x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x1x2x4xf32>
  "test.op"(%1) : (tensor<1x1x1x2x4xf32>) -> ()
  func.return
}

// a Gemm of the last axis between reshapes; kept: one that takes other axes together
// CHECK-LABEL: func.func @flattened
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[3, 2, 2]> : tensor<3xi64>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.MatMul(%x, %[[E]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Add(%[[F]], %[[B]])
// CHECK-NEXT:    %[[H:.*]] = onnx.Reshape(%x, %[[C]])
// CHECK-NEXT:    %[[I:.*]] = onnx.Gemm(%[[H]], %[[A]], %[[B]]) {transB = 1}
// CHECK-NEXT:    %[[J:.*]] = onnx.Reshape(%[[I]], %[[D]])
// CHECK-NEXT:    "test.op"(%[[G]], %[[J]])
// CHECK-NEXT:    func.return
func.func @flattened(%x: tensor<2x3x2xf32>) {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %rows = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %back = onnx.Constant dense<[2, 3, 2]> : tensor<3xi64>
  %other = onnx.Constant dense<[3, 2, 2]> : tensor<3xi64>
  %0 = onnx.Reshape(%x, %rows) : (tensor<2x3x2xf32>, tensor<2xi64>) -> tensor<6x2xf32>
  %1 = onnx.Gemm(%0, %w, %b) {transB = 1} : (tensor<6x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<6x2xf32>
  %2 = onnx.Reshape(%1, %back) : (tensor<6x2xf32>, tensor<3xi64>) -> tensor<2x3x2xf32>
  %3 = onnx.Reshape(%x, %rows) : (tensor<2x3x2xf32>, tensor<2xi64>) -> tensor<6x2xf32>
  %4 = onnx.Gemm(%3, %w, %b) {transB = 1} : (tensor<6x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<6x2xf32>
  %5 = onnx.Reshape(%4, %other) : (tensor<6x2xf32>, tensor<3xi64>) -> tensor<3x2x2xf32>
  "test.op"(%2, %5) : (tensor<2x3x2xf32>, tensor<3x2x2xf32>) -> ()
  func.return
}

// kept: integers, which runtimes have no Gemm of; a factor of float64, since those of Gemm are float32, and one that is
// out of the range of float32
// CHECK-LABEL: func.func @element_types
// CHECK-NOT:     onnx.Gemm
func.func @element_types(%i: tensor<2x3xi32>, %x: tensor<2x3xf64>, %f: tensor<2x3xf32>) {
  %0 = onnx.Transpose(%i) {perm = [1, 0]} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = onnx.MatMul(%i, %0) : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  %2 = onnx.Transpose(%i) {perm = [1, 0]} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %3 = onnx.MatMul(%2, %i) : (tensor<3x2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32>
  %s = onnx.Constant dense<1.0e+300> : tensor<f64>
  %w = onnx.Constant dense<1.0> : tensor<3x2xf64>
  %4 = onnx.MatMul(%x, %w) : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  %5 = onnx.Mul(%4, %s) : (tensor<2x2xf64>, tensor<f64>) -> tensor<2x2xf64>
  %t = onnx.Constant dense<1.0e+38> : tensor<f32>
  %v = onnx.Constant dense<1.0> : tensor<3x2xf32>
  %6 = onnx.MatMul(%f, %v) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %7 = onnx.Mul(%6, %t) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  "test.op"(%1, %3, %5, %7) : (tensor<2x2xi32>, tensor<3x3xi32>, tensor<2x2xf64>, tensor<2x2xf32>) -> ()
  func.return
}

// a bias times nothing is none, as runtimes have it, and not infinity times zero
// CHECK-LABEL: func.func @no_bias
// CHECK:         onnx.Gemm(%x, %w) : (tensor<2x3xf32>
func.func @no_bias(%x: tensor<2x3xf32>) {
  %w = onnx.Constant dense<1.0> : tensor<3x2xf32>
  %c = onnx.Constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %0 = onnx.Gemm(%x, %w, %c) {beta = 0.0} : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  "test.op"(%0) : (tensor<2x2xf32>) -> ()
  func.return
}
