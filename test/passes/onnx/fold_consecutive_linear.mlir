// RUN: ge-opt %s --fold-consecutive-linear | filecheck %s

// products of products, of any number of rows; kept: a bottleneck, whose product is larger than both
// CHECK-LABEL: func.func @matrices
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<1.000000e+00> : tensor<3x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1x3xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [3.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.MatMul(%x, %[[C]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 6.000000e+00], [2.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Constant dense<{{\[\[}}2.000000e+01, 6.000000e+01]]> : tensor<1x2xf32>
// CHECK-NEXT:    %[[G:.*]] = onnx.Gemm(%x, %[[E]], %[[F]])
// CHECK-NEXT:    %[[H:.*]] = onnx.MatMul(%z, %[[A]])
// CHECK-NEXT:    %[[I:.*]] = onnx.MatMul(%[[H]], %[[B]])
// CHECK-NEXT:    "test.op"(%[[D]], %[[G]], %[[I]])
// CHECK-NEXT:    func.return
func.func @matrices(%x: tensor<5x2xf32>, %z: tensor<5x3xf32>) {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = onnx.Constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %c = onnx.Constant dense<[10.0, 20.0]> : tensor<2xf32>
  %down = onnx.Constant dense<1.0> : tensor<3x1xf32>
  %up = onnx.Constant dense<2.0> : tensor<1x3xf32>
  %0 = onnx.MatMul(%x, %a) : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %1 = onnx.MatMul(%0, %b) : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %2 = onnx.Gemm(%x, %a, %c) {transB = 1} : (tensor<5x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %3 = onnx.Gemm(%2, %b, %c) : (tensor<5x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %4 = onnx.MatMul(%z, %down) : (tensor<5x3xf32>, tensor<3x1xf32>) -> tensor<5x1xf32>
  %5 = onnx.MatMul(%4, %up) : (tensor<5x1xf32>, tensor<1x3xf32>) -> tensor<5x3xf32>
  "test.op"(%1, %3, %5) : (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x3xf32>) -> ()
  func.return
}

// a pointwise convolution before and after another one; kept: zeros that the second one pads are not the bias of the
// first one
// CHECK-LABEL: func.func @pointwise
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}1.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[}}[3.000000e+00]], {{\[\[}}4.000000e+00]]]]> : tensor<2x2x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<1.000000e+00> : tensor<2x2x1x2xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[1.000000e+00, 1.000000e+01]> : tensor<2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}4.000000e+00, 4.000000e+00]], {{\[\[}}6.000000e+00, 6.000000e+00]]], {{\[\[}}[4.000000e+00, 4.000000e+00]], {{\[\[}}6.000000e+00, 6.000000e+00]]]]> : tensor<2x2x1x2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<[2.300000e+01, 3.200000e+01]> : tensor<2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Conv(%x, %[[D]], %[[E]]) {strides = [2, 1]}
// CHECK-NEXT:    %[[G:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}3.000000e+00, 3.000000e+00]], {{\[\[}}3.000000e+00, 3.000000e+00]]], {{\[\[}}[7.000000e+00, 7.000000e+00]], {{\[\[}}7.000000e+00, 7.000000e+00]]]]> : tensor<2x2x1x2xf32>
// CHECK-NEXT:    %[[H:.*]] = onnx.Constant dense<[1.000000e+00, 1.000000e+01]> : tensor<2xf32>
// CHECK-NEXT:    %[[I:.*]] = onnx.Conv(%x, %[[G]], %[[H]]) {pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[J:.*]] = onnx.Conv(%x, %[[A]], %[[C]])
// CHECK-NEXT:    %[[K:.*]] = onnx.Conv(%[[J]], %[[B]]) {pads = [1, 1, 1, 1]}
// CHECK-NEXT:    "test.op"(%[[F]], %[[I]], %[[K]])
// CHECK-NEXT:    func.return
func.func @pointwise(%x: tensor<1x2x4x4xf32>) {
  %p = onnx.Constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %w = onnx.Constant dense<1.0> : tensor<2x2x1x2xf32>
  %b = onnx.Constant dense<[1.0, 10.0]> : tensor<2xf32>
  %0 = onnx.Conv(%x, %p, %b) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = onnx.Conv(%0, %w, %b) {strides = [2, 1]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x2xf32>, tensor<2xf32>) -> tensor<1x2x2x3xf32>
  %2 = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x2xf32>) -> tensor<1x2x6x5xf32>
  %3 = onnx.Conv(%2, %p, %b) : (tensor<1x2x6x5xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x6x5xf32>
  %4 = onnx.Conv(%x, %p, %b) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %5 = onnx.Conv(%4, %w) {pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x2xf32>) -> tensor<1x2x6x5xf32>
  "test.op"(%1, %3, %5) : (tensor<1x2x2x3xf32>, tensor<1x2x6x5xf32>, tensor<1x2x6x5xf32>) -> ()
  func.return
}

// convolutions of one value that are added; kept: with other strides they are of other places
// CHECK-LABEL: func.func @sums
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<1.000000e+00> : tensor<1x1x3x3xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1x1x3x3xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[5.000000e+00]> : tensor<1xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<3.000000e+00> : tensor<1x1x3x3xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<[5.000000e+00]> : tensor<1xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Conv(%x, %[[D]], %[[E]]) {pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[G:.*]] = onnx.Conv(%x, %[[A]]) {pads = [0, 0, 2, 2]}
// CHECK-NEXT:    %[[H:.*]] = onnx.Conv(%x, %[[B]], %[[C]]) {pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[I:.*]] = onnx.Add(%[[G]], %[[H]])
// CHECK-NEXT:    "test.op"(%[[F]], %[[I]])
// CHECK-NEXT:    func.return
func.func @sums(%x: tensor<1x1x4x4xf32>) {
  %v = onnx.Constant dense<1.0> : tensor<1x1x3x3xf32>
  %w = onnx.Constant dense<2.0> : tensor<1x1x3x3xf32>
  %b = onnx.Constant dense<[5.0]> : tensor<1xf32>
  %0 = onnx.Conv(%x, %v) {pads = [1, 1, 1, 1]} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %1 = onnx.Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = onnx.Add(%0, %1) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = onnx.Conv(%x, %v) {pads = [0, 0, 2, 2]} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %4 = onnx.Conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %5 = onnx.Add(%3, %4) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  "test.op"(%2, %5) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> ()
  func.return
}
