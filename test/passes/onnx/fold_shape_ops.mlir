// RUN: ge-opt %s --split-input-file --fold-shape-ops | filecheck %s

// 1. Known sizes become constants, and a reshape to them
// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %t = onnx.Constant dense<[2, -1]> : tensor<2xi64>
// CHECK-NEXT:    %y = onnx.Reshape(%x, %t) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
// CHECK-NEXT:    func.return %y : tensor<2x12xf32>
func.func @known(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %s = onnx.Shape(%x) : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %b = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = onnx.Constant dense<[-1]> : tensor<1xi64>
  %t = onnx.Concat(%b, %rest) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.Reshape(%x, %t) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// 2. A size that is there already, also by way of a vector, of another value of the same sizes, and of arithmetic
// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %zero = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:    %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
// CHECK-NEXT:    %n = onnx.Gather(%s, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT:    %r = onnx.Relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    "test.op"(%n, %n, %n, %n, %r) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<?x4xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @equal(%x: tensor<?x4xf32>) {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %axis = onnx.Constant dense<[0]> : tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = onnx.Gather(%s, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %v = onnx.Unsqueeze(%n, %axis) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %four = onnx.Constant dense<[64]> : tensor<1xi64>
  %c = onnx.Concat(%v, %four) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %again = onnx.Gather(%c, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = onnx.Relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %u = onnx.Shape(%r) : (tensor<?x4xf32>) -> tensor<2xi64>
  %m = onnx.Gather(%u, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %twice = onnx.Add(%n, %m) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %two = onnx.Constant dense<2> : tensor<i64>
  %half = onnx.Div(%twice, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  "test.op"(%n, %again, %m, %half, %r) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<?x4xf32>) -> ()
  func.return
}

// -----

// 3. A computed shape: sizes at the same place, one other
// CHECK-LABEL: func.func @target
// CHECK-NEXT:    %0 = onnx.Constant dense<[0, 0, 12, 64]> : tensor<4xi64>
// CHECK-NEXT:    %y = onnx.Reshape(%x, %0) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
// CHECK-NEXT:    %1 = onnx.Constant dense<[-1, 768]> : tensor<2xi64>
// CHECK-NEXT:    %z = onnx.Reshape(%x, %1) : (tensor<?x?x768xf32>, tensor<2xi64>) -> tensor<?x768xf32>
// CHECK-NEXT:    func.return %y, %z : tensor<?x?x12x64xf32>, tensor<?x768xf32>
func.func @target(%x: tensor<?x?x768xf32>) -> (tensor<?x?x12x64xf32>, tensor<?x768xf32>) {
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %heads = onnx.Constant dense<[12, 64]> : tensor<2xi64>
  %width = onnx.Constant dense<[768]> : tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %b = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %n = onnx.Gather(%s, %one) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = onnx.Concat(%b, %n, %heads) {axis = 0} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
  %y = onnx.Reshape(%x, %t) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
  %m = onnx.Mul(%b, %n) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %u = onnx.Concat(%m, %width) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %z = onnx.Reshape(%x, %u) : (tensor<?x?x768xf32>, tensor<2xi64>) -> tensor<?x768xf32>
  func.return %y, %z : tensor<?x?x12x64xf32>, tensor<?x768xf32>
}

// -----

// 4. What keeps the sizes: an expansion, a slice to the end
// CHECK-LABEL: func.func @same
// CHECK-NEXT:    %r = onnx.Relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    %y = onnx.Neg(%r) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    func.return %y : tensor<?x4xf32>
func.func @same(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %r = onnx.Relu(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  %a = onnx.Expand(%r, %s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %n = onnx.Slice(%s, %zero, %one) : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %b = onnx.Slice(%a, %zero, %n, %zero) : (tensor<?x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  %y = onnx.Neg(%b) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}

// -----

// Kept: a -1 beside a size that is copied and may be zero
// CHECK-LABEL: func.func @beside
// CHECK-NEXT:    %zero = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %one = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %four = onnx.Constant dense<[4]> : tensor<1xi64>
// CHECK-NEXT:    %s = onnx.Shape(%x) : (tensor<?x?x4xf32>) -> tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    %n = onnx.Gather(%s, %one) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    %m = onnx.Mul(%n, %four) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    %t = onnx.Concat(%b, %m) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
// CHECK-NEXT:    %y = onnx.Reshape(%x, %t) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    func.return %y : tensor<?x?xf32>
func.func @beside(%x: tensor<?x?x4xf32>) -> tensor<?x?xf32> {
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %four = onnx.Constant dense<[4]> : tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x?x4xf32>) -> tensor<3xi64>
  %b = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %n = onnx.Gather(%s, %one) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %m = onnx.Mul(%n, %four) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = onnx.Concat(%b, %m) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.Reshape(%x, %t) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// 3. A shape that depends on an input, of which all sizes but one are known. Kept: a slice that may be a part
// CHECK-LABEL: func.func @unknown_target
// CHECK-NEXT:    %axis = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %v = onnx.Unsqueeze(%n, %axis) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    %0 = onnx.Constant dense<[-1, 4]> : tensor<2xi64>
// CHECK-NEXT:    %y = onnx.Reshape(%x, %0) : (tensor<?x2x6xf32>, tensor<2xi64>) -> tensor<?x4xf32>
// CHECK-NEXT:    %b = onnx.Slice(%x, %axis, %v, %axis) : (tensor<?x2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x6xf32>
// CHECK-NEXT:    "test.op"(%y, %b) : (tensor<?x4xf32>, tensor<?x2x6xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @unknown_target(%x: tensor<?x2x6xf32>, %n: tensor<i64>) {
  %axis = onnx.Constant dense<[0]> : tensor<1xi64>
  %v = onnx.Unsqueeze(%n, %axis) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %four = onnx.Constant dense<[4]> : tensor<1xi64>
  %t = onnx.Concat(%v, %four) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.Reshape(%x, %t) : (tensor<?x2x6xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %b = onnx.Slice(%x, %axis, %v, %axis) : (tensor<?x2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2x6xf32>
  "test.op"(%y, %b) : (tensor<?x4xf32>, tensor<?x2x6xf32>) -> ()
  func.return
}

// -----

// The first of two equal values went with the reshape that used it: the second one is the first then
// CHECK-LABEL: func.func @first_is_gone
// CHECK:         %a = onnx.Reshape(%x, %0) : (tensor<?x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
// CHECK-NEXT:    %n = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    "test.op"(%a, %n) : (tensor<?x?x8xf32>, tensor<1xi64>) -> ()
func.func @first_is_gone(%x: tensor<?x?x8xf32>) {
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %rest = onnx.Constant dense<[-1, 8]> : tensor<2xi64>
  %s = onnx.Shape(%x) : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %m = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = onnx.Concat(%m, %rest) {axis = 0} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %a = onnx.Reshape(%x, %t) : (tensor<?x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %n = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  "test.op"(%a, %n) : (tensor<?x?x8xf32>, tensor<1xi64>) -> ()
  func.return
}
