// RUN: ge-opt %s --simplify=passes=algebraic-simplify,combine-constants,strength-reduction | filecheck %s

// add-nothing: on either side, of any shape that keeps the type; kept: a sum that widens x, a constant minus x, an input
// that would have to give an output its name
// CHECK-LABEL: func.func @add_nothing
// CHECK-NEXT:    %b = onnx.Constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = onnx.Add(%r, %b)
// CHECK-NEXT:    %{{.*}} = onnx.Sub(%b, %x)
// CHECK-NEXT:    "test.op"(%x, %x, %x, %0, %1)
// CHECK-NEXT:    %z = onnx.Constant
// CHECK-NEXT:    %{{.*}} = onnx.Add(%x, %z)
// CHECK-NEXT:    func.return %2
func.func @add_nothing(%x: tensor<2x3xf32>, %r: tensor<3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Constant dense<0.0> : tensor<f32>
  %b = onnx.Constant dense<0.0> : tensor<2x3xf32>
  %0 = onnx.Add(%x, %a) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = onnx.Add(%b, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Sub(%x, %a) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = onnx.Add(%r, %b) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = onnx.Sub(%b, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  "test.op"(%0, %1, %2, %3, %4) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  %z = onnx.Constant dense<0.0> : tensor<f32>
  %5 = onnx.Add(%x, %z) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %5 : tensor<2x3xf32>
}

// multiply-by-one, power-one; kept: another factor, a rank that grows, one divided by x
// CHECK-LABEL: func.func @one
// CHECK:         %{{.*}} = onnx.Mul(%x, %t)
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%x, %u)
// CHECK-NEXT:    %{{.*}} = onnx.Div(%a, %x)
// CHECK-NEXT:    "test.op"(%x, %x, %x, %0, %1, %2)
func.func @one(%x: tensor<3xi32>) {
  %a = onnx.Constant dense<1> : tensor<i32>
  %b = onnx.Constant dense<1> : tensor<3xi32>
  %e = onnx.Constant dense<1.0> : tensor<f32>
  %t = onnx.Constant dense<[1, 1, 2]> : tensor<3xi32>
  %u = onnx.Constant dense<1> : tensor<1x3xi32>
  %0 = onnx.Mul(%x, %a) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %1 = onnx.Div(%x, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %2 = onnx.Pow(%x, %e) : (tensor<3xi32>, tensor<f32>) -> tensor<3xi32>
  %3 = onnx.Mul(%x, %t) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %4 = onnx.Mul(%x, %u) : (tensor<3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
  %5 = onnx.Div(%a, %x) : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  "test.op"(%0, %1, %2, %3, %4, %5) : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<1x3xi32>, tensor<3xi32>) -> ()
  func.return
}

// add-constants, subtract-constant; kept: constants that cancel, a sum with two users, constants that together are
// larger, one that is lost beside the other
// CHECK-LABEL: func.func @sums
// CHECK:         %{{.*}} = onnx.Constant dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32> loc(fused["a", "b"])
// CHECK-NEXT:    %{{.*}} = onnx.Add(%x, %{{.*}}) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32> loc(fused["a", "b"])
// CHECK:         %{{.*}} = onnx.Constant dense<-4> : tensor<i64>
// CHECK-NEXT:    %{{.*}} = onnx.Add(%i, %{{.*}})
// CHECK:         %{{.*}} = onnx.Add(%x, %big)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%{{.*}}, %small)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%x, %one)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%{{.*}}, %one)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%x, %row)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%{{.*}}, %column)
// CHECK:         %{{.*}} = onnx.Sub(%x, %one)
// CHECK-NEXT:    %{{.*}} = onnx.Sub(%{{.*}}, %tiny)
func.func @sums(%x: tensor<2x2xf32>, %i: tensor<2xi64>) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %row = onnx.Constant dense<[2.0, 3.0]> : tensor<2xf32>
  %column = onnx.Constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %0 = onnx.Add(%x, %one) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("a")
  %1 = onnx.Add(%row, %0) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("b")
  %p = onnx.Constant dense<3> : tensor<i64>
  %q = onnx.Constant dense<7> : tensor<i64>
  %2 = onnx.Add(%p, %i) : (tensor<i64>, tensor<2xi64>) -> tensor<2xi64>
  %3 = onnx.Sub(%2, %q) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %big = onnx.Constant dense<1.0e8> : tensor<f32>
  %small = onnx.Constant dense<-1.0e8> : tensor<f32>
  %4 = onnx.Add(%x, %big) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %5 = onnx.Add(%4, %small) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %6 = onnx.Add(%x, %one) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %7 = onnx.Add(%6, %one) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %8 = onnx.Add(%x, %row) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %9 = onnx.Add(%8, %column) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %tiny = onnx.Constant dense<1.0e-8> : tensor<f32>
  %10 = onnx.Sub(%x, %one) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %11 = onnx.Sub(%10, %tiny) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  "test.op"(%1, %3, %5, %6, %7, %9, %11) : (tensor<2x2xf32>, tensor<2xi64>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  func.return
}

// multiply-constants, divide-by-constant, divide-divided; kept: constants whose product or reciprocal the type cannot
// hold, integer division
// CHECK-LABEL: func.func @products
// CHECK:         %{{.*}} = onnx.Constant dense<6.000000e+00> : tensor<f16>
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%h, %{{.*}})
// CHECK:         %{{.*}} = onnx.Constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf16>
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%h, %{{.*}})
// CHECK:         %{{.*}} = onnx.Constant dense<1.500000e+00> : tensor<f16>
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%h, %{{.*}})
// CHECK:         %{{.*}} = onnx.Mul(%h, %big)
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%{{.*}}, %big)
// CHECK-NEXT:    %{{.*}} = onnx.Div(%h, %big)
// CHECK-NEXT:    %{{.*}} = onnx.Div(%h, %zero)
// CHECK-NEXT:    %{{.*}} = onnx.Div(%i, %four)
func.func @products(%h: tensor<2xf16>, %i: tensor<2xi32>) {
  %two = onnx.Constant dense<2.0> : tensor<f16>
  %three = onnx.Constant dense<3.0> : tensor<f16>
  %powers = onnx.Constant dense<[2.0, 4.0]> : tensor<2xf16>
  %0 = onnx.Mul(%two, %h) : (tensor<f16>, tensor<2xf16>) -> tensor<2xf16>
  %1 = onnx.Mul(%0, %three) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %2 = onnx.Div(%h, %powers) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %3 = onnx.Mul(%h, %three) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %4 = onnx.Div(%3, %two) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %big = onnx.Constant dense<60000.0> : tensor<f16>
  %zero = onnx.Constant dense<0.0> : tensor<f16>
  %four = onnx.Constant dense<4> : tensor<i32>
  %5 = onnx.Mul(%h, %big) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %6 = onnx.Mul(%5, %big) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %7 = onnx.Div(%h, %big) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %8 = onnx.Div(%h, %zero) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %9 = onnx.Div(%i, %four) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  "test.op"(%1, %2, %4, %6, %7, %8, %9) : (tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xi32>) -> ()
  func.return
}

// negate-twice, relu-twice (also when the first has other users)
// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %{{.*}} = onnx.Relu(%x)
// CHECK-NEXT:    "test.op"(%x, %0, %0)
func.func @twice(%x: tensor<2xf32>) {
  %0 = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = onnx.Neg(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = onnx.Relu(%2) : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%1, %2, %3) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
