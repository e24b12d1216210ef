// RUN: ge-opt %s --fold-splats | filecheck %s

// 1. Element by element, with constants of one element
// CHECK-LABEL: func.func @computed
// CHECK-NEXT:    %f = onnx.ConstantOfShape(%s) {value = #onnx.tensor<dense<[true]> : tensor<1xi1>>} : (tensor<2xi64>) -> tensor<?x?xi1>
// CHECK-NEXT:    func.return %f : tensor<?x?xi1>
func.func @computed(%s: tensor<2xi64>) -> tensor<?x?xi1> {
  %a = onnx.ConstantOfShape(%s) {value = #onnx.tensor<dense<[3]> : tensor<1xi64>>} : (tensor<2xi64>) -> tensor<?x?xi64>
  %m = onnx.Constant dense<-2> : tensor<i64>
  %b = onnx.Mul(%m, %a) : (tensor<i64>, tensor<?x?xi64>) -> tensor<?x?xi64>
  %c = onnx.Sub(%b, %b) : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
  %d = onnx.Cast(%c) {to = 1} : (tensor<?x?xi64>) -> tensor<?x?xf32>
  %e = onnx.Cos(%d) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %f = onnx.Equal(%e, %one) : (tensor<?x?xf32>, tensor<1xf32>) -> tensor<?x?xi1>
  func.return %f : tensor<?x?xi1>
}

// 2. Moved into a known shape; without a value, zeros of float32
// CHECK-LABEL: func.func @moved
// CHECK-NEXT:    %0 = onnx.Constant dense<[6, 1000]> : tensor<2xi64>
// CHECK-NEXT:    %d = onnx.ConstantOfShape(%0) {value = #onnx.tensor<dense<[1.000000e+00]> : tensor<1xf32>>} : (tensor<2xi64>) -> tensor<6x1000xf32>
// CHECK-NEXT:    func.return %d : tensor<6x1000xf32>
func.func @moved(%x: tensor<f32>) -> tensor<6x1000xf32> {
  %s = onnx.Constant dense<[1000, 2, 3]> : tensor<3xi64>
  %a = onnx.ConstantOfShape(%s) : (tensor<3xi64>) -> tensor<1000x2x3xf32>
  %r = onnx.Constant dense<[-1, 6]> : tensor<2xi64>
  %b = onnx.Reshape(%a, %r) : (tensor<1000x2x3xf32>, tensor<2xi64>) -> tensor<1000x6xf32>
  %c = onnx.Transpose(%b) {perm = [1, 0]} : (tensor<1000x6xf32>) -> tensor<6x1000xf32>
  %d = onnx.Exp(%c) : (tensor<6x1000xf32>) -> tensor<6x1000xf32>
  func.return %d : tensor<6x1000xf32>
}

// Kept: operands that broadcast, other constants, an unknown shape
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %a = onnx.ConstantOfShape(%s) : (tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %b = onnx.ConstantOfShape(%t) : (tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %c = onnx.Add(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %w = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %d = onnx.Add(%a, %w) : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %more = onnx.Constant dense<[[1.000000e+00]]> : tensor<1x1xf32>
// CHECK-NEXT:    %e = onnx.Add(%a, %more) : (tensor<?xf32>, tensor<1x1xf32>) -> tensor<1x?xf32>
// CHECK-NEXT:    %axes = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %f = onnx.Unsqueeze(%a, %axes) : (tensor<?xf32>, tensor<1xi64>) -> tensor<1x?xf32>
// CHECK-NEXT:    "test.op"(%c, %d, %e, %f) : (tensor<?xf32>, tensor<2xf32>, tensor<1x?xf32>, tensor<1x?xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @kept(%s: tensor<1xi64>, %t: tensor<1xi64>) {
  %a = onnx.ConstantOfShape(%s) : (tensor<1xi64>) -> tensor<?xf32>
  %b = onnx.ConstantOfShape(%t) : (tensor<1xi64>) -> tensor<?xf32>
  %c = onnx.Add(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %w = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = onnx.Add(%a, %w) : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
  %more = onnx.Constant dense<[[1.0]]> : tensor<1x1xf32>
  %e = onnx.Add(%a, %more) : (tensor<?xf32>, tensor<1x1xf32>) -> tensor<1x?xf32>
  %axes = onnx.Constant dense<[0]> : tensor<1xi64>
  %f = onnx.Unsqueeze(%a, %axes) : (tensor<?xf32>, tensor<1xi64>) -> tensor<1x?xf32>
  "test.op"(%c, %d, %e, %f) : (tensor<?xf32>, tensor<2xf32>, tensor<1x?xf32>, tensor<1x?xf32>) -> ()
  func.return
}

// Kept: integers divided by zero
// CHECK-LABEL: func.func @fails_division
// CHECK-NEXT:    %a = onnx.ConstantOfShape(%s) {value = #onnx.tensor<dense<[3]> : tensor<1xi64>>} : (tensor<1xi64>) -> tensor<?xi64>
// CHECK-NEXT:    %zero = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:    %b = onnx.Div(%a, %zero) : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
// CHECK-NEXT:    func.return %b : tensor<?xi64>
func.func @fails_division(%s: tensor<1xi64>) -> tensor<?xi64> {
  %a = onnx.ConstantOfShape(%s) {value = #onnx.tensor<dense<[3]> : tensor<1xi64>>} : (tensor<1xi64>) -> tensor<?xi64>
  %zero = onnx.Constant dense<0> : tensor<i64>
  %b = onnx.Div(%a, %zero) : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  func.return %b : tensor<?xi64>
}

// Kept: a constant with axes, which gives the result an axis when the shape is empty; one without is no matter
// CHECK-LABEL: func.func @unknown_rank
// CHECK-NEXT:    %a = onnx.ConstantOfShape(%s) : (tensor<?xi64>) -> tensor<*xf32>
// CHECK-NEXT:    %c = onnx.Constant dense<[1.000000e+00]> : tensor<1xf32>
// CHECK-NEXT:    %b = onnx.Add(%a, %c) : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
// CHECK-NEXT:    %e = onnx.ConstantOfShape(%s) {value = #onnx.tensor<dense<[2.000000e+00]> : tensor<1xf32>>} : (tensor<?xi64>) -> tensor<*xf32>
// CHECK-NEXT:    func.return %b, %e : tensor<*xf32>, tensor<*xf32>
func.func @unknown_rank(%s: tensor<?xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.ConstantOfShape(%s) : (tensor<?xi64>) -> tensor<*xf32>
  %c = onnx.Constant dense<[1.0]> : tensor<1xf32>
  %b = onnx.Add(%a, %c) : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
  %d = onnx.Constant dense<2.0> : tensor<f32>
  %e = onnx.Add(%a, %d) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  func.return %b, %e : tensor<*xf32>, tensor<*xf32>
}
