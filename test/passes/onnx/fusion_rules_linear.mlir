// RUN: ge-opt %s --fuse-matmul-add | filecheck %s

// matmul-add: the bias on either side, of any shape that does not widen the product
// CHECK-LABEL: func.func @matmul_add
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%a, %b, %n) : {{.*}} loc(fused["fc", "bias"])
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%a, %b, %m1)
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%a, %b, %s)
func.func @matmul_add(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %n: tensor<4xf32>, %m1: tensor<2x1xf32>, %s: tensor<f32>) {
  %0 = onnx.MatMul(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("fc")
  %1 = onnx.Add(%n, %0) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("bias")
  %2 = onnx.MatMul(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %3 = onnx.Add(%2, %m1) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %4 = onnx.MatMul(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %5 = onnx.Add(%4, %s) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  "test.op"(%1, %3, %5) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  func.return
}

// Kept: a bias that widens the product, one of unknown size, products of more than matrices, a product with two users
// CHECK-LABEL: func.func @kept
// CHECK-NOT:     Gemm
// CHECK:         func.return
func.func @kept(%a: tensor<1x3xf32>, %b: tensor<3x4xf32>, %wide: tensor<2x4xf32>, %u: tensor<?xf32>, %t: tensor<2x1x3xf32>, %n: tensor<4xf32>) {
  %0 = onnx.MatMul(%a, %b) : (tensor<1x3xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>
  %1 = onnx.Add(%0, %wide) : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = onnx.MatMul(%a, %b) : (tensor<1x3xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>
  %3 = onnx.Add(%2, %u) : (tensor<1x4xf32>, tensor<?xf32>) -> tensor<1x4xf32>
  %4 = onnx.MatMul(%t, %b) : (tensor<2x1x3xf32>, tensor<3x4xf32>) -> tensor<2x1x4xf32>
  %5 = onnx.Add(%4, %n) : (tensor<2x1x4xf32>, tensor<4xf32>) -> tensor<2x1x4xf32>
  %6 = onnx.MatMul(%a, %b) : (tensor<1x3xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>
  %7 = onnx.Add(%6, %n) : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  "test.op"(%1, %3, %5, %6, %7) : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<2x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> ()
  func.return
}

// gemm-add keeps alpha and the transposes, and beta is one; kept: a Gemm that has a bias
// CHECK-LABEL: func.func @gemm_add
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%a, %b, %n) {alpha = 0.5, transB = 1}
// CHECK-NEXT:    %[[G:.*]] = onnx.Gemm(%a, %b, %n) {transB = 1}
// CHECK-NEXT:    %{{.*}} = onnx.Add(%[[G]], %n)
func.func @gemm_add(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %n: tensor<4xf32>) {
  %0 = onnx.Gemm(%a, %b) {alpha = 0.5, beta = 3.0, transB = 1} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = onnx.Add(%0, %n) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = onnx.Gemm(%a, %b, %n) {transB = 1} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = onnx.Add(%2, %n) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  "test.op"(%1, %3) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  func.return
}

// gemm-transposed-left, gemm-transposed-right: also when there is a transpose already; kept: one that moves nothing
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%a, %b, %n) {alpha = 2.0, transA = 1}
// CHECK-NEXT:    %[[T:.*]] = onnx.Transpose(%a) {perm = [0, 1]}
// CHECK-NEXT:    %{{.*}} = onnx.Gemm(%[[T]], %c)
func.func @transposed(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>, %n: tensor<4xf32>) {
  %0 = onnx.Transpose(%a) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = onnx.Transpose(%b) {perm = [1, 0]} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = onnx.Gemm(%0, %1, %n) {alpha = 2.0, transB = 1} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = onnx.Transpose(%a) {perm = [0, 1]} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %4 = onnx.Gemm(%3, %c) : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  "test.op"(%2, %4) : (tensor<2x4xf32>, tensor<3x4xf32>) -> ()
  func.return
}
