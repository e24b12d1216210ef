// RUN: ge-opt %s --merge-constants | filecheck %s

// 1. Equal bytes and types; kept: another type, another shape, minus zero
// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %a = onnx.Constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %c = onnx.Constant dense<[-0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %d = onnx.Constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf64>
// CHECK-NEXT:    %e = onnx.Constant dense<[[0.000000e+00, 1.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:    %n = onnx.Constant dense<0x7FC00000> : tensor<f32>
// CHECK-NEXT:    "test.op"(%x, %a, %a, %c, %d, %e, %n, %n) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> ()
// CHECK-NEXT:    func.return
func.func @equal(%x: tensor<2xf32>) {
  %a = onnx.Constant dense<[0.0, 1.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[0.0, 1.0]> : tensor<2xf32>
  %c = onnx.Constant dense<[-0.0, 1.0]> : tensor<2xf32>
  %d = onnx.Constant dense<[0.0, 1.0]> : tensor<2xf64>
  %e = onnx.Constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
  %n = onnx.Constant dense<0x7FC00000> : tensor<f32>
  %m = onnx.Constant dense<0x7FC00000> : tensor<f32>
  "test.op"(%x, %a, %b, %c, %d, %e, %n, %m) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> ()
  func.return
}

// 2. The graph around a branch; kept: in different branches
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %one = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %y = onnx.Add(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %r = onnx.If(%c) then_branch {
// CHECK-NEXT:      %b = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:      %d = onnx.Add(%one, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      onnx.Yield %d : tensor<f32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %b_1 = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:      %d_1 = onnx.Mul(%y, %b_1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      onnx.Yield %d_1 : tensor<f32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<f32>
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @branches(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %y = onnx.Add(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = onnx.If(%c) then_branch {
    %a = onnx.Constant dense<1.0> : tensor<f32>
    %b = onnx.Constant dense<2.0> : tensor<f32>
    %d = onnx.Add(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    onnx.Yield %d : tensor<f32>
  } else_branch {
    %b = onnx.Constant dense<2.0> : tensor<f32>
    %d = onnx.Mul(%y, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    onnx.Yield %d : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// Kept: an output
// CHECK-LABEL: func.func @output
// CHECK-NEXT:    %a = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %b = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %y = onnx.Add(%x, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    func.return %a, %b, %y : tensor<f32>, tensor<f32>, tensor<f32>
func.func @output(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %a = onnx.Constant dense<1.0> : tensor<f32>
  %b = onnx.Constant dense<1.0> : tensor<f32>
  %y = onnx.Add(%x, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %a, %b, %y : tensor<f32>, tensor<f32>, tensor<f32>
}
