// RUN: ge-opt %s --fold-scale-into-conv | filecheck %s

// a factor and a shift after a convolution without a bias; weights that another convolution has are copied
// CHECK-LABEL: func.func @after
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+00]]], {{\[\[}}[3.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+01]]], {{\[\[}}[3.000000e+02]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<-5.000000e-01> : tensor<2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Conv(%x, %[[B]], %[[C]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    "test.op"(%[[D]], %[[E]])
// CHECK-NEXT:    func.return
func.func @after(%x: tensor<1x1x4x4xf32>) {
  %w = onnx.Constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %s = onnx.Constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
  %t = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Conv(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = onnx.Mul(%0, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = onnx.Sub(%1, %t) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %3 = onnx.Conv(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  "test.op"(%2, %3) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> ()
  func.return
}

// before a convolution in groups, and before a product of matrices; kept: a shift before a convolution that pads
// CHECK-LABEL: func.func @before
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+00]]], {{\[\[}}[3.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+01]], {{\[\[}}1.000000e+02]]]> : tensor<2x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+01]]], {{\[\[}}[3.000000e+02]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Conv(%x, %[[C]]) {group = 2, pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<[2.000000e+01, 3.000000e+02]> : tensor<2xf32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Conv(%x, %[[A]], %[[E]]) {group = 2}
// CHECK-NEXT:    %[[G:.*]] = onnx.Add(%x, %[[B]])
// CHECK-NEXT:    %[[H:.*]] = onnx.Conv(%[[G]], %[[A]]) {group = 2, pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[I:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+01, 2.000000e+01], [3.000000e+02, 4.000000e+02]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[J:.*]] = onnx.MatMul(%m, %[[I]])
// CHECK-NEXT:    "test.op"(%[[D]], %[[F]], %[[H]], %[[J]])
// CHECK-NEXT:    func.return
func.func @before(%x: tensor<1x2x4x4xf32>, %m: tensor<3x2xf32>) {
  %w = onnx.Constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %v = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
  %r = onnx.Constant dense<[10.0, 100.0]> : tensor<2xf32>
  %0 = onnx.Mul(%s, %x) : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %1 = onnx.Conv(%0, %w) {group = 2, pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x6x6xf32>
  %2 = onnx.Add(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = onnx.Conv(%2, %w) {group = 2} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = onnx.Add(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %5 = onnx.Conv(%4, %w) {group = 2, pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x6x6xf32>
  %6 = onnx.Mul(%m, %r) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %7 = onnx.MatMul(%6, %v) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  "test.op"(%1, %3, %5, %7) : (tensor<1x2x6x6xf32>, tensor<1x2x4x4xf32>, tensor<1x2x6x6xf32>, tensor<3x2xf32>) -> ()
  func.return
}

// transposed, in groups: weights are [I, O / group, ...]
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}2.000000e+01]]], {{\[\[}}[3.000000e+02]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.ConvTranspose(%x, %[[A]]) {group = 2}
// CHECK-NEXT:    "test.op"(%[[B]])
// CHECK-NEXT:    func.return
func.func @transposed(%x: tensor<1x2x4x4xf32>) {
  %w = onnx.Constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %s = onnx.Constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
  %0 = onnx.ConvTranspose(%x, %w) {group = 2} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = onnx.Mul(%0, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  "test.op"(%1) : (tensor<1x2x4x4xf32>) -> ()
  func.return
}

// around a batch normalisation
// CHECK-LABEL: func.func @normalised
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[3.000000e+00, 1.500000e+01]> : tensor<2xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[1.000000e+01, 2.000000e+02]> : tensor<2xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<[4.000000e+01, 5.000000e+02]> : tensor<2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.BatchNormalization(%x, %[[C]], %[[D]], %[[A]], %[[B]]) {epsilon = 1.0}
// CHECK-NEXT:    "test.op"(%[[E]])
// CHECK-NEXT:    func.return
func.func @normalised(%x: tensor<1x2x4xf32>) {
  %s = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %o = onnx.Constant dense<[3.0, 4.0]> : tensor<2xf32>
  %m = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %v = onnx.Constant dense<[3.0, 15.0]> : tensor<2xf32>
  %f = onnx.Constant dense<[[10.0], [100.0]]> : tensor<2x1xf32>
  %0 = onnx.BatchNormalization(%x, %s, %o, %m, %v) {epsilon = 1.0} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %1 = onnx.Mul(%0, %f) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %2 = onnx.Add(%f, %1) : (tensor<2x1xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  "test.op"(%2) : (tensor<1x2x4xf32>) -> ()
  func.return
}

// kept: a second user, weights that are computed, a factor for each position, and one that widens the result
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<1.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<{{\[\[}}{{\[\[}}1.000000e+00]]]]> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<2.000000e+00> : tensor<2x1x1xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Mul(%[[E]], %[[C]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Conv(%x, %w)
// CHECK-NEXT:    %[[H:.*]] = onnx.Mul(%[[G]], %[[C]])
// CHECK-NEXT:    %[[I:.*]] = onnx.Conv(%x, %[[A]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Mul(%[[I]], %[[D]])
// CHECK-NEXT:    %[[K:.*]] = onnx.Conv(%x, %[[B]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Mul(%[[K]], %[[C]])
// CHECK-NEXT:    "test.op"(%[[E]], %[[F]], %[[H]], %[[J]], %[[L]])
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<1x1x2x2xf32>, %w: tensor<2x1x1x1xf32>) {
  %v = onnx.Constant dense<1.0> : tensor<2x1x1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1x1x1x1xf32>
  %s = onnx.Constant dense<2.0> : tensor<2x1x1xf32>
  %p = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = onnx.Conv(%x, %v) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = onnx.Mul(%0, %s) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = onnx.Conv(%x, %w) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = onnx.Mul(%2, %s) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %4 = onnx.Conv(%x, %v) : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = onnx.Mul(%4, %p) : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %6 = onnx.Conv(%x, %one) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %7 = onnx.Mul(%6, %s) : (tensor<1x1x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  "test.op"(%0, %1, %3, %5, %7) : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> ()
  func.return
}
