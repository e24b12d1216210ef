// RUN: ge-opt %s --unroll-loop='max_ops=12' | filecheck %s

// 1. Three turns; a stack of what they give
// CHECK-LABEL: func.func @unrolled
// CHECK-NEXT:    %0 = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:    %1 = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %f = onnx.Cast(%0) {to = 1} : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT:    %r = onnx.Add(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %go = onnx.Identity(%1) : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    %2 = onnx.Constant dense<1> : tensor<i64>
// CHECK-NEXT:    %3 = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %f_1 = onnx.Cast(%2) {to = 1} : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = onnx.Add(%r, %f_1) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %go_1 = onnx.Identity(%3) : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    %4 = onnx.Constant dense<2> : tensor<i64>
// CHECK-NEXT:    %5 = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %f_2 = onnx.Cast(%4) {to = 1} : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT:    %r_2 = onnx.Add(%r_1, %f_2) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %go_2 = onnx.Identity(%5) : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    %6 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %7 = onnx.Unsqueeze(%x, %6) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
// CHECK-NEXT:    %8 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %9 = onnx.Unsqueeze(%r, %8) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
// CHECK-NEXT:    %10 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %11 = onnx.Unsqueeze(%r_1, %10) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
// CHECK-NEXT:    %s = onnx.Concat(%7, %9, %11) {axis = 0} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    func.return %r_2, %s : tensor<2xf32>, tensor<3x2xf32>
func.func @unrolled(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %n = onnx.Constant dense<3> : tensor<i64>
  %a, %s = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %f = onnx.Cast(%i) {to = 1} : (tensor<i64>) -> tensor<f32>
    %r = onnx.Add(%v, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %go = onnx.Identity(%c) : (tensor<i1>) -> tensor<i1>
    onnx.Yield %go, %r, %v : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
  func.return %a, %s : tensor<2xf32>, tensor<3x2xf32>
}

// Kept: a loop that may end before, too many copies
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %n = onnx.Constant dense<3> : tensor<i64>
// CHECK-NEXT:    %a = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %d, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %m = onnx.Constant dense<13> : tensor<i64>
// CHECK-NEXT:    %b = onnx.Loop(%m, none, %x) body {
// CHECK-NEXT:    ^bb0(%i_1: tensor<i64>, %c_1: tensor<i1>, %v_1: tensor<2xf32>):
// CHECK-NEXT:      %r_1 = onnx.Sin(%v_1) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c_1, %r_1 : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a, %b : tensor<2xf32>, tensor<2xf32>
func.func @kept(%x: tensor<2xf32>, %d: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = onnx.Constant dense<3> : tensor<i64>
  %a = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %d, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  %m = onnx.Constant dense<13> : tensor<i64>
  %b = onnx.Loop(%m, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}
