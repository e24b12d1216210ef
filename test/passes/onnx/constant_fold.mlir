// RUN: ge-opt %s --constant-fold | filecheck %s
// RUN: ge-opt %s --constant-fold='max-growth=0' | filecheck %s --check-prefix=GROWTH
// RUN: ge-opt %s --constant-fold='max-bytes=64' | filecheck %s --check-prefix=BYTES

// 1. Operations on constants, chains of them; names and locations stay
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %c = onnx.Constant dense<[2.500000e+00, -3.500000e+00]> : tensor<2xf32> loc("neg")
// CHECK-NEXT:    %y = onnx.Add(%x, %c)
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Constant dense<[-2.0, 4.0]> : tensor<2xf32>
  %h = onnx.Constant dense<0.5> : tensor<f32>
  %b = onnx.Sub(%a, %h) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("sub")
  %c = onnx.Neg(%b) : (tensor<2xf32>) -> tensor<2xf32> loc("neg")
  %y = onnx.Add(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Integers stay integers: no detour through floats; several results
// CHECK-LABEL: func.func @types
// CHECK-NEXT:    %b = onnx.Constant dense<9223372036854775807> : tensor<i64>
// CHECK-NEXT:    %{{.*}} = onnx.Constant dense<-2> : tensor<i32>
// CHECK-NEXT:    %v = onnx.Constant dense<[9, 8]> : tensor<2xi64>
// CHECK-NEXT:    %i = onnx.Constant dense<[2, 0]> : tensor<2xi64>
// CHECK-NEXT:    "test.op"(%b, %{{.*}}, %v, %i)
func.func @types() {
  %a = onnx.Constant dense<9223372036854775806> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %b = onnx.Add(%a, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %m = onnx.Constant dense<-5> : tensor<i32>
  %n = onnx.Constant dense<2> : tensor<i32>
  %d = onnx.Div(%m, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = onnx.Constant dense<[8, 7, 9]> : tensor<3xi64>
  %k = onnx.Constant dense<2> : tensor<1xi64>
  %v, %i = onnx.TopK(%s, %k) : (tensor<3xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  "test.op"(%b, %d, %v, %i) : (tensor<i64>, tensor<i32>, tensor<2xi64>, tensor<2xi64>) -> ()
  func.return
}

// 2. Shapes; kept: unknown dimensions, an index out of range
// CHECK-LABEL: func.func @shapes
// CHECK:         %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Constant dense<[3, 4]> : tensor<2xi64>
// CHECK-NEXT:    %c = onnx.Constant dense<24> : tensor<i64>
// CHECK-NEXT:    %d = onnx.Shape(%u)
// CHECK-NEXT:    %e = onnx.Constant dense<3> : tensor<i64>
// CHECK-NEXT:    %f = onnx.Gather(%d, %zero)
// CHECK-NEXT:    %g = onnx.Gather(%d, %two)
// CHECK-NEXT:    %h = onnx.Size(%u)
func.func @shapes(%x: tensor<2x3x4xf32>, %u: tensor<?x3xf32>) {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %two = onnx.Constant dense<2> : tensor<i64>
  %a = onnx.Shape(%x) : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %b = onnx.Shape(%x) {start = -2} : (tensor<2x3x4xf32>) -> tensor<2xi64>
  %c = onnx.Size(%x) : (tensor<2x3x4xf32>) -> tensor<i64>
  %d = onnx.Shape(%u) : (tensor<?x3xf32>) -> tensor<2xi64>
  %e = onnx.Gather(%d, %one) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %f = onnx.Gather(%d, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %g = onnx.Gather(%d, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %h = onnx.Size(%u) : (tensor<?x3xf32>) -> tensor<i64>
  "test.op"(%a, %b, %c, %e, %f, %g, %h) : (tensor<3xi64>, tensor<2xi64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> ()
  func.return
}

// 3. A condition that is known; kept: one that is not
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %n = onnx.Neg(%x)
// CHECK-NEXT:    %b = onnx.If(%c)
// CHECK:         "test.op"(%n, %b)
func.func @branches(%x: tensor<2xf32>, %c: tensor<i1>) {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %a = onnx.If(%yes) then_branch {
    %n = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %b = onnx.If(%c) then_branch {
    onnx.Yield %x : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Inside regions, too
// CHECK-LABEL: func.func @inside
// CHECK:           %s = onnx.Constant dense<3.000000e+00>
// CHECK-NEXT:      onnx.Yield %s
func.func @inside(%c: tensor<i1>) -> tensor<f32> {
  %a = onnx.Constant dense<1.0> : tensor<f32>
  %b = onnx.Constant dense<2.0> : tensor<f32>
  %y = onnx.If(%c) then_branch {
    %s = onnx.Add(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    onnx.Yield %s : tensor<f32>
  } else_branch {
    onnx.Yield %a : tensor<f32>
  } : (tensor<i1>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// Kept: random operators also with a seed, other domains, what fails (the index does not exist)
// CHECK-LABEL: func.func @kept
// CHECK:         onnx.RandomUniform() {seed = 1.0, shape = [2]}
// CHECK-NEXT:    onnx.Bernoulli(%a)
// CHECK-NEXT:    onnx.Custom "com.example" "Add"(%a)
// CHECK-NEXT:    onnx.Gather(%a, %i)
func.func @kept() {
  %i = onnx.Constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %a = onnx.Constant dense<[0.5, 0.25]> : tensor<2xf32>
  %b = onnx.RandomUniform() {seed = 1.0, shape = [2]} : () -> tensor<2xf32>
  %c = onnx.Bernoulli(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %d = onnx.Custom "com.example" "Add"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %e = onnx.Gather(%a, %i) : (tensor<2xf32>, tensor<4xi64>) -> tensor<4xf32>
  "test.op"(%b, %c, %d, %e) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) -> ()
  func.return
}

// Growth: 400 bytes out of 16. A weight is folded all the same, also behind another operation on constants.
// GROWTH-LABEL: func.func @growth
// GROWTH:         onnx.ConstantOfShape
// GROWTH-NEXT:    onnx.Mul
// GROWTH-NOT:     onnx.ConstantOfShape
// GROWTH:         onnx.MatMul(%y, %{{.*}})
// BYTES-LABEL:  func.func @growth
// BYTES-COUNT-3:  onnx.ConstantOfShape
// CHECK-LABEL:  func.func @growth
// CHECK-NOT:      onnx.ConstantOfShape
// CHECK:          func.return
func.func @growth(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %s = onnx.Constant dense<10> : tensor<2xi64>
  %a = onnx.ConstantOfShape(%s) : (tensor<2xi64>) -> tensor<10x10xf32>
  %b = onnx.Mul(%x, %a) : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  %w = onnx.ConstantOfShape(%s) : (tensor<2xi64>) -> tensor<10x10xf32>
  %y = onnx.MatMul(%b, %w) : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  %v = onnx.ConstantOfShape(%s) : (tensor<2xi64>) -> tensor<10x10xf32>
  %t = onnx.Transpose(%v) : (tensor<10x10xf32>) -> tensor<10x10xf32>
  %z = onnx.MatMul(%y, %t) : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  func.return %z : tensor<10x10xf32>
}

// the size of an output that only its value tells
// CHECK-LABEL: func.func @found() -> tensor<1x2xi64>
// CHECK-NEXT:    %y = onnx.Constant dense<[[0, 2]]> : tensor<1x2xi64>
// CHECK-NEXT:    func.return %y : tensor<1x2xi64>
func.func @found() -> tensor<1x?xi64> {
  %c = onnx.Constant dense<[1, 0, 1]> : tensor<3xi64>
  %y = onnx.NonZero(%c) : (tensor<3xi64>) -> tensor<1x?xi64>
  func.return %y : tensor<1x?xi64>
}
