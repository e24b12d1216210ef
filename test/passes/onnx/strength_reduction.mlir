// RUN: ge-opt %s --strength-reduction | filecheck %s

// powers, reciprocals, negations and quotients by powers of two
// CHECK-LABEL: func.func @cheaper
// CHECK-NEXT:    %[[A:.*]] = onnx.Mul(%x, %x)
// CHECK-NEXT:    %[[B:.*]] = onnx.Sqrt(%x)
// CHECK-NEXT:    %[[C:.*]] = onnx.Reciprocal(%x)
// CHECK-NEXT:    %[[D:.*]] = onnx.Reciprocal(%x)
// CHECK-NEXT:    %[[E:.*]] = onnx.Neg(%x)
// CHECK-NEXT:    %[[F:.*]] = onnx.Neg(%x)
// CHECK-NEXT:    %[[G:.*]] = onnx.Constant dense<[1.250000e-01, -4.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    %[[H:.*]] = onnx.Mul(%x, %[[G]])
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]], %[[H]])
// CHECK-NEXT:    func.return
func.func @cheaper(%x: tensor<3xf32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %minus = onnx.Constant dense<-1.0> : tensor<1xf32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %c = onnx.Constant dense<[8.0, -0.25, 1.0]> : tensor<3xf32>
  %0 = onnx.Pow(%x, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = onnx.Pow(%x, %half) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = onnx.Pow(%x, %minus) : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %3 = onnx.Div(%one, %x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = onnx.Sub(%zero, %x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.Mul(%minus, %x) : (tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  %6 = onnx.Div(%x, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%0, %1, %2, %3, %4, %5, %6) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// a factor after the sum; kept: a factor below one, without which the sum could overflow, and an infinite one
// CHECK-LABEL: func.func @sums
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %[[I:.*]] = onnx.Constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.ReduceSum(%x, %[[C]]) {keepdims = 0}
// CHECK-NEXT:    %[[E:.*]] = onnx.Mul(%[[D]], %[[A]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Mul(%x, %[[B]])
// CHECK-NEXT:    %[[G:.*]] = onnx.ReduceSum(%[[F]], %[[C]]) {keepdims = 0}
// CHECK-NEXT:    %[[H:.*]] = onnx.Mul(%x, %[[I]])
// CHECK-NEXT:    %[[J:.*]] = onnx.ReduceMean(%[[H]], %[[C]]) {keepdims = 0}
// CHECK-NEXT:    "test.op"(%[[E]], %[[G]], %[[J]])
// CHECK-NEXT:    func.return
func.func @sums(%x: tensor<2x3xf32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %infinite = onnx.Constant dense<0x7F800000> : tensor<f32>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %0 = onnx.Mul(%x, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = onnx.ReduceSum(%0, %axis) {keepdims = 0} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %2 = onnx.Mul(%x, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = onnx.ReduceSum(%2, %axis) {keepdims = 0} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %4 = onnx.Mul(%x, %infinite) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = onnx.ReduceMean(%4, %axis) {keepdims = 0} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  "test.op"(%1, %3, %5) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// kept: integers, a reciprocal that float32 cannot hold, exponents for each element
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<4> : tensor<i64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<3.000000e+38> : tensor<f32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[2.000000e+00, 5.000000e-01, -1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Div(%i, %[[A]])
// CHECK-NEXT:    %[[E:.*]] = onnx.Div(%x, %[[B]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Pow(%x, %[[C]])
// CHECK-NEXT:    "test.op"(%[[D]], %[[E]], %[[F]])
// CHECK-NEXT:    func.return
func.func @kept(%i: tensor<3xi64>, %x: tensor<3xf32>) {
  %four = onnx.Constant dense<4> : tensor<i64>
  %large = onnx.Constant dense<3.0e38> : tensor<f32>
  %each = onnx.Constant dense<[2.0, 0.5, -1.0]> : tensor<3xf32>
  %0 = onnx.Div(%i, %four) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %1 = onnx.Div(%x, %large) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = onnx.Pow(%x, %each) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%0, %1, %2) : (tensor<3xi64>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}
