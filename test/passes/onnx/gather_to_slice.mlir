// RUN: ge-opt %s --gather-to-slice | filecheck %s

// 1. In order, backwards, from the end, one with an axis of its own
// CHECK-LABEL: func.func @gathered
// CHECK-NEXT:    %0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %3 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%x, %0, %1, %2, %3) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
// CHECK-NEXT:    %4 = onnx.Constant dense<[5]> : tensor<1xi64>
// CHECK-NEXT:    %5 = onnx.Constant dense<[-9223372036854775807]> : tensor<1xi64>
// CHECK-NEXT:    %6 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %7 = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Slice(%x, %4, %5, %6, %7) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x6xf32>
// CHECK-NEXT:    %8 = onnx.Constant dense<[4]> : tensor<1xi64>
// CHECK-NEXT:    %9 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %10 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %c = onnx.Slice(%x, %8, %9, %10) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    %11 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %12 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %13 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %d = onnx.Slice(%x, %11, %12, %13) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x1xf32>
// CHECK-NEXT:    func.return %a, %b, %c, %d : tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x1xf32>
func.func @gathered(%x: tensor<?x6xf32>) -> (tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x1xf32>) {
  %p = onnx.Constant dense<[0, 2, 4]> : tensor<3xi64>
  %a = onnx.Gather(%x, %p) {axis = 1} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  %q = onnx.Constant dense<[5, 4, 3, 2, 1, 0]> : tensor<6xi32>
  %b = onnx.Gather(%x, %q) {axis = -1} : (tensor<?x6xf32>, tensor<6xi32>) -> tensor<?x6xf32>
  %r = onnx.Constant dense<[-2, -1]> : tensor<2xi64>
  %c = onnx.Gather(%x, %r) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %s = onnx.Constant dense<[-6]> : tensor<1xi64>
  %d = onnx.Gather(%x, %s) {axis = 1} : (tensor<?x6xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  func.return %a, %b, %c, %d : tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x1xf32>
}

// 2. The one position of an axis
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    %0 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Squeeze(%x, %0) : (tensor<?x1xf32>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    func.return %a : tensor<?xf32>
func.func @one(%x: tensor<?x1xf32>) -> tensor<?xf32> {
  %last = onnx.Constant dense<-1> : tensor<i64>
  %a = onnx.Gather(%x, %last) {axis = 1} : (tensor<?x1xf32>, tensor<i64>) -> tensor<?xf32>
  func.return %a : tensor<?xf32>
}

// Kept: without an axis, twice the same, unequal steps, an axis of unknown size, not constant, a matrix
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %one = onnx.Constant dense<1> : tensor<i64>
// CHECK-NEXT:    %same = onnx.Constant dense<1> : tensor<2xi64>
// CHECK-NEXT:    %steps = onnx.Constant dense<[0, 1, 3]> : tensor<3xi64>
// CHECK-NEXT:    %order = onnx.Constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT:    %matrix = onnx.Constant dense<[[0, 1]]> : tensor<1x2xi64>
// CHECK-NEXT:    %a = onnx.Gather(%x, %one) {axis = 1} : (tensor<?x6xf32>, tensor<i64>) -> tensor<?xf32>
// CHECK-NEXT:    %b = onnx.Gather(%x, %same) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    %c = onnx.Gather(%x, %steps) {axis = 1} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3xf32>
// CHECK-NEXT:    %d = onnx.Gather(%x, %order) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<2x6xf32>
// CHECK-NEXT:    %f = onnx.Gather(%x, %i) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    %g = onnx.Gather(%x, %matrix) {axis = 1} : (tensor<?x6xf32>, tensor<1x2xi64>) -> tensor<?x1x2xf32>
// CHECK-NEXT:    "test.op"(%a, %b, %c, %d, %f, %g) : (tensor<?xf32>, tensor<?x2xf32>, tensor<?x3xf32>, tensor<2x6xf32>, tensor<?x2xf32>, tensor<?x1x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<?x6xf32>, %i: tensor<2xi64>) {
  %one = onnx.Constant dense<1> : tensor<i64>
  %same = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %steps = onnx.Constant dense<[0, 1, 3]> : tensor<3xi64>
  %order = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %matrix = onnx.Constant dense<[[0, 1]]> : tensor<1x2xi64>
  %a = onnx.Gather(%x, %one) {axis = 1} : (tensor<?x6xf32>, tensor<i64>) -> tensor<?xf32>
  %b = onnx.Gather(%x, %same) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %c = onnx.Gather(%x, %steps) {axis = 1} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  %d = onnx.Gather(%x, %order) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  %f = onnx.Gather(%x, %i) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %g = onnx.Gather(%x, %matrix) {axis = 1} : (tensor<?x6xf32>, tensor<1x2xi64>) -> tensor<?x1x2xf32>
  "test.op"(%a, %b, %c, %d, %f, %g) : (tensor<?xf32>, tensor<?x2xf32>, tensor<?x3xf32>, tensor<2x6xf32>, tensor<?x2xf32>, tensor<?x1x2xf32>) -> ()
  func.return
}

// Kept: outside, where a Gather fails and a Slice gives less
// CHECK-LABEL: func.func @fails_outside
// CHECK-NEXT:    %far = onnx.Constant dense<[5, 6]> : tensor<2xi64>
// CHECK-NEXT:    %e = onnx.Gather(%x, %far) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    func.return %e : tensor<?x2xf32>
func.func @fails_outside(%x: tensor<?x6xf32>) -> tensor<?x2xf32> {
  %far = onnx.Constant dense<[5, 6]> : tensor<2xi64>
  %e = onnx.Gather(%x, %far) {axis = 1} : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  func.return %e : tensor<?x2xf32>
}
