// RUN: ge-opt %s --fuse-horizontal | filecheck %s

// query, key and value of one input, with their biases: one product
// CHECK-LABEL: func.func @attention
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00], [2.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00]]> : tensor<2x4xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.MatMul(%x, %[[A]])
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[1, 1, 2]> : tensor<3xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Add(%[[B]], %[[D]])
// CHECK-NEXT:    %[[F:.*]], %[[G:.*]], %[[H:.*]] = onnx.Split(%[[E]], %[[C]]) {axis = 2}
// CHECK-NEXT:    "test.op"(%[[F]], %[[G]], %[[H]])
// CHECK-NEXT:    func.return
func.func @attention(%x: tensor<1x3x2xf32>) {
  %q = onnx.Constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %k = onnx.Constant dense<2.0> : tensor<2x1xf32>
  %v = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %a = onnx.Constant dense<[1.0]> : tensor<1xf32>
  %b = onnx.Constant dense<2.0> : tensor<2xf32>
  %0 = onnx.MatMul(%x, %q) : (tensor<1x3x2xf32>, tensor<2x1xf32>) -> tensor<1x3x1xf32>
  %1 = onnx.MatMul(%x, %k) : (tensor<1x3x2xf32>, tensor<2x1xf32>) -> tensor<1x3x1xf32>
  %2 = onnx.MatMul(%x, %v) : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %3 = onnx.Add(%0, %a) : (tensor<1x3x1xf32>, tensor<1xf32>) -> tensor<1x3x1xf32>
  %4 = onnx.Add(%a, %1) : (tensor<1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
  %5 = onnx.Add(%2, %b) : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  "test.op"(%3, %4, %5) : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x2xf32>) -> ()
  func.return
}

// three branches of an inception block, of which one has no bias, with their activations
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}1.000000e+00]], {{\[\[}}1.000000e+00]]], {{\[\[}}[2.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[}}[2.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[}}[1.000000e+00]], {{\[\[}}1.000000e+00]]]]> : tensor<4x2x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[0.000000e+00, 7.000000e+00, 8.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Conv(%x, %[[A]], %[[B]])
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[1, 2, 1]> : tensor<3xi64>
// CHECK-NEXT:    %[[E:.*]] = onnx.Relu(%[[C]])
// CHECK-NEXT:    %[[F:.*]], %[[G:.*]], %[[H:.*]] = onnx.Split(%[[E]], %[[D]]) {axis = 1}
// CHECK-NEXT:    "test.op"(%[[F]], %[[G]], %[[H]])
// CHECK-NEXT:    func.return
func.func @branches(%x: tensor<1x2x4x4xf32>) {
  %u = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = onnx.Constant dense<2.0> : tensor<2x2x1x1xf32>
  %b = onnx.Constant dense<[7.0, 8.0]> : tensor<2xf32>
  %0 = onnx.Conv(%x, %u) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = onnx.Conv(%x, %v, %b) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Conv(%x, %u) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %3 = onnx.Relu(%0) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %4 = onnx.Relu(%1) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = onnx.Relu(%2) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  "test.op"(%3, %4, %5) : (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> ()
  func.return
}

// two that are joined at once
// CHECK-LABEL: func.func @joined
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[}}[2.000000e+00]], {{\[\[}}2.000000e+00]]], {{\[\[}}[1.000000e+00]], {{\[\[}}1.000000e+00]]]]> : tensor<3x2x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    "test.op"(%[[B]])
// CHECK-NEXT:    func.return
func.func @joined(%x: tensor<1x2x4x4xf32>) {
  %u = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = onnx.Constant dense<2.0> : tensor<2x2x1x1xf32>
  %0 = onnx.Conv(%x, %u) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = onnx.Conv(%x, %v) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Concat(%1, %0) {axis = 1} : (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x3x4x4xf32>
  "test.op"(%2) : (tensor<1x3x4x4xf32>) -> ()
  func.return
}

// kept: two that would need a Split; with other strides, sizes or computed weights; joined along another axis; the parts
// of a Split with different functions, and with constants of other shapes
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<1.000000e+00> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<2.000000e+00> : tensor<1x2x3x3xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%x, %[[B]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Conv(%x, %[[A]]) {strides = [2, 2]}
// CHECK-NEXT:    %[[G:.*]] = onnx.Conv(%x, %[[C]]) {pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[H:.*]] = onnx.Conv(%x, %w)
// CHECK-NEXT:    %[[I:.*]] = onnx.Concat(%[[D]], %[[E]]) {axis = 2}
// CHECK-NEXT:    %[[J:.*]], %[[K:.*]] = onnx.Split(%x) {axis = 1, num_outputs = 2}
// CHECK-NEXT:    %[[L:.*]] = onnx.Relu(%[[J]])
// CHECK-NEXT:    %[[M:.*]] = onnx.Tanh(%[[K]])
// CHECK-NEXT:    %[[N:.*]], %[[O:.*]] = onnx.Split(%x) {axis = 1, num_outputs = 2}
// CHECK-NEXT:    %[[P:.*]] = onnx.Constant dense<1.000000e+00> : tensor<1x1x4xf32>
// CHECK-NEXT:    %[[Q:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+00]]]> : tensor<1x1x1xf32>
// CHECK-NEXT:    %[[R:.*]] = onnx.Add(%[[N]], %[[P]])
// CHECK-NEXT:    %[[S:.*]] = onnx.Add(%[[O]], %[[Q]])
// CHECK-NEXT:    "test.op"(%[[F]], %[[G]], %[[H]], %[[I]], %[[L]], %[[M]], %[[R]], %[[S]])
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<1x2x4x4xf32>, %w: tensor<1x2x1x1xf32>) {
  %u = onnx.Constant dense<1.0> : tensor<1x2x1x1xf32>
  %v = onnx.Constant dense<2.0> : tensor<1x2x1x1xf32>
  %t = onnx.Constant dense<2.0> : tensor<1x2x3x3xf32>
  %0 = onnx.Conv(%x, %u) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = onnx.Conv(%x, %v) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %2 = onnx.Conv(%x, %u) {strides = [2, 2]} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %3 = onnx.Conv(%x, %t) {pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x4x4xf32>
  %4 = onnx.Conv(%x, %w) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %5 = onnx.Concat(%0, %1) {axis = 2} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x8x4xf32>
  %6, %7 = onnx.Split(%x) {axis = 1, num_outputs = 2} : (tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
  %8 = onnx.Relu(%6) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %9 = onnx.Tanh(%7) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %10, %11 = onnx.Split(%x) {axis = 1, num_outputs = 2} : (tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
  %row = onnx.Constant dense<1.0> : tensor<1x1x4xf32>
  %one = onnx.Constant dense<1.0> : tensor<1x1x1xf32>
  %12 = onnx.Add(%10, %row) : (tensor<1x1x4x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4x4xf32>
  %13 = onnx.Add(%11, %one) : (tensor<1x1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4x4xf32>
  "test.op"(%2, %3, %4, %5, %8, %9, %12, %13) : (tensor<1x1x2x2xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> ()
  func.return
}
