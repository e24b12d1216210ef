// RUN: ge-opt %s --fusion-rules | filecheck %s

// transpose-twice: permutations given, or missing (all axes backwards); the first may have other users
// CHECK-LABEL: func.func @transposes
// CHECK-NEXT:    %{{.*}} = onnx.Transpose(%x) {perm = [1, 2, 0]}
// CHECK-NEXT:    %{{.*}} = onnx.Transpose(%x) {perm = [2, 0, 1]}
// CHECK-NEXT:    %{{.*}} = onnx.Transpose(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT:    %{{.*}} = onnx.Transpose(%x) {perm = [2, 0, 1]}
func.func @transposes(%x: tensor<2x3x4xf32>) {
  %0 = onnx.Transpose(%x) {perm = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = onnx.Transpose(%0) {perm = [1, 2, 0]} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %2 = onnx.Transpose(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %3 = onnx.Transpose(%2) {perm = [0, 2, 1]} : (tensor<4x3x2xf32>) -> tensor<4x2x3xf32>
  "test.op"(%0, %1, %2, %3) : (tensor<3x4x2xf32>, tensor<4x2x3xf32>, tensor<4x3x2xf32>, tensor<4x2x3xf32>) -> ()
  func.return
}
