// RUN: ge-opt %s --onnx-recognise-activations | filecheck %s

// Elu, LeakyRelu, PRelu, Selu, Softplus, Softsign, ThresholdedRelu; kept: a slope that is computed, a maximum with a steep
// line
// CHECK-LABEL: func.func @functions
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[1.000000e-01, 2.000000e-01, 3.000000e-01]> : tensor<3xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Selu(%x) {alpha = 0.1, gamma = 2.0}
// CHECK-NEXT:    %[[D:.*]] = onnx.LeakyRelu(%x) {alpha = 0.1}
// CHECK-NEXT:    %[[E:.*]] = onnx.PRelu(%x, %[[B]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Softplus(%x)
// CHECK-NEXT:    %[[G:.*]] = onnx.Softsign(%x)
// CHECK-NEXT:    %[[H:.*]] = onnx.ThresholdedRelu(%x) {alpha = 2.0}
// CHECK-NEXT:    "test.op"(%[[C]], %[[D]], %[[E]], %[[F]], %[[G]], %[[H]])
// CHECK-NEXT:    %[[I:.*]] = onnx.Mul(%x, %a)
// CHECK-NEXT:    %[[J:.*]] = onnx.Max(%[[I]], %x)
// CHECK-NEXT:    %[[K:.*]] = onnx.Mul(%x, %[[A]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Max(%[[K]], %x)
// CHECK-NEXT:    "test.op"(%[[J]], %[[L]])
// CHECK-NEXT:    func.return
func.func @functions(%x: tensor<3xf32>, %a: tensor<f32>) {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %e = onnx.Constant dense<[0.1, 0.2, 0.3]> : tensor<3xf32>
  %0 = onnx.Greater(%x, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %1 = onnx.Exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Sub(%1, %one) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = onnx.Mul(%2, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = onnx.Where(%0, %x, %3) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.Mul(%4, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %6 = onnx.Mul(%x, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %7 = onnx.Max(%6, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %8 = onnx.Relu(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %9 = onnx.Neg(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %10 = onnx.Relu(%9) : (tensor<3xf32>) -> tensor<3xf32>
  %11 = onnx.Mul(%e, %10) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %12 = onnx.Sub(%8, %11) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %13 = onnx.Exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %14 = onnx.Add(%one, %13) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %15 = onnx.Log(%14) : (tensor<3xf32>) -> tensor<3xf32>
  %16 = onnx.Abs(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %17 = onnx.Add(%16, %one) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %18 = onnx.Div(%x, %17) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %19 = onnx.Greater(%x, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %20 = onnx.Where(%19, %x, %zero) : (tensor<3xi1>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  "test.op"(%5, %7, %12, %15, %18, %20) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  %21 = onnx.Mul(%x, %a) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %22 = onnx.Max(%21, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %23 = onnx.Mul(%x, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %24 = onnx.Max(%23, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%22, %24) : (tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// kept: float64, for which runtimes have no kernels
// CHECK-LABEL: func.func @of_float64
// CHECK-NOT:     onnx.Softplus
// CHECK-NOT:     onnx.LeakyRelu
func.func @of_float64(%x: tensor<2xf64>) {
  %one = onnx.Constant dense<1.0> : tensor<f64>
  %a = onnx.Constant dense<0.1> : tensor<f64>
  %0 = onnx.Exp(%x) : (tensor<2xf64>) -> tensor<2xf64>
  %1 = onnx.Add(%0, %one) : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
  %2 = onnx.Log(%1) : (tensor<2xf64>) -> tensor<2xf64>
  %3 = onnx.Mul(%x, %a) : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
  %4 = onnx.Max(%x, %3) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  "test.op"(%2, %4) : (tensor<2xf64>, tensor<2xf64>) -> ()
  func.return
}
