// RUN: ge-opt %s --dump-shapes -o %t 2>&1 | filecheck %s

// CHECK:      value    type     shape       contents       operator  rule
// CHECK-NEXT: x        f32      [batch, 6]                           input
// CHECK-NEXT: c        i1       []                                   input
// CHECK-NEXT: two      i64      [1]         [2]            Constant  constant
// CHECK-NEXT: shape    i64      [2]         [batch, 6]     Shape     shape of
// CHECK-NEXT: more     i64      [2]         [2*batch, 12]  Mul       broadcast
// CHECK-NEXT: found    i64      [2, ?0]                    NonZero   non zero
// CHECK-NEXT:   minus  f32      [batch, 6]                 Neg       like input
// CHECK-NEXT: y        f32      [batch, 6]                 If        if
// CHECK-NEXT: z        unknown                             Op        stated

func.func @main(%x: tensor<?x6xf32> {onnx.dims = ["batch", ""]}, %c: tensor<i1>) {
  %two = onnx.Constant dense<[2]> : tensor<1xi64>
  %shape = onnx.Shape(%x) : (tensor<?x6xf32>) -> tensor<2xi64>
  %more = onnx.Mul(%shape, %two) : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi64>
  %found = onnx.NonZero(%x) : (tensor<?x6xf32>) -> tensor<2x?xi64>
  %y = onnx.If(%c) then_branch {
    %minus = onnx.Neg(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
    onnx.Yield %minus : tensor<?x6xf32>
  } else_branch {
    onnx.Yield %x : tensor<?x6xf32>
  } : (tensor<i1>) -> tensor<?x6xf32>
  %z = onnx.Custom "com.example" "Op"(%x) : (tensor<?x6xf32>) -> !onnx.unknown
  func.return
}
