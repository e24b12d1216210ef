// RUN: ge-opt %s --cse | filecheck %s

// xDSL's pass at the onnx level: pure operators that are equal become one.
// CHECK-LABEL: func.func @merged
// CHECK:         "test.op"(%a, %a)
func.func @merged(%x: tensor<2xf32>) {
  %a = onnx.LeakyRelu(%x) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.LeakyRelu(%x) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: random operators also with equal seeds, dropout, operators of other domains, constants that only look equal
// CHECK-LABEL: func.func @kept
// CHECK:         "test.op"(%a, %b, %c, %d, %e, %f, %p, %q)
func.func @kept(%x: tensor<2xf32>, %t: tensor<i1>) {
  %a = onnx.RandomNormalLike(%x) {seed = 1.0} : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.RandomNormalLike(%x) {seed = 1.0} : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %d = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %e = onnx.Custom "local" "Draw"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %f = onnx.Custom "local" "Draw"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %p = onnx.Constant dense<0.0> : tensor<2xf32>
  %q = onnx.Constant dense<-0.0> : tensor<2xf32>
  "test.op"(%a, %b, %c, %d, %e, %f, %p, %q) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: operations with regions, whatever is in them
// CHECK-LABEL: func.func @regions
// CHECK:         "test.op"(%a, %b)
func.func @regions(%x: tensor<2xf32>, %c: tensor<i1>) {
  %a = onnx.If(%c) then_branch {
    %r = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %b = onnx.If(%c) then_branch {
    %r = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
