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

// reshape-twice; kept: a 0, which is a size of the value between, a shape that is computed, and -1 for the rest of a
// value of unknown size, where the type says less
// CHECK-LABEL: func.func @reshapes
// CHECK:         %{{.*}} = onnx.Reshape(%x, %t) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<4x3xf32>
// CHECK:         %[[A:.*]] = onnx.Reshape(%x, %s)
// CHECK-NEXT:    %{{.*}} = onnx.Reshape(%[[A]], %zero)
// CHECK-NEXT:    %[[B:.*]] = onnx.Reshape(%x, %s)
// CHECK-NEXT:    %{{.*}} = onnx.Reshape(%[[B]], %n)
func.func @reshapes(%x: tensor<2x6xf32>, %n: tensor<2xi64>) {
  %s = onnx.Constant dense<[3, 4]> : tensor<2xi64>
  %t = onnx.Constant dense<[4, -1]> : tensor<2xi64>
  %zero = onnx.Constant dense<[0, 4]> : tensor<2xi64>
  %0 = onnx.Reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %1 = onnx.Reshape(%0, %t) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  "test.op"(%1) : (tensor<4x3xf32>) -> ()
  %2 = onnx.Reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %3 = onnx.Reshape(%2, %zero) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %4 = onnx.Reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %5 = onnx.Reshape(%4, %n) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  "test.op"(%3, %5) : (tensor<3x4xf32>, tensor<?x?xf32>) -> ()
  func.return
}

// cast-twice: by way of a wider type; kept: by way of a narrower one, or from integers to floats that round them
// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    %{{.*}} = onnx.Cast(%h) {to = 7} : (tensor<2xf16>) -> tensor<2xi64>
// CHECK-NEXT:    %[[A:.*]] = onnx.Cast(%f) {to = 10}
// CHECK-NEXT:    %{{.*}} = onnx.Cast(%[[A]]) {to = 1}
// CHECK-NEXT:    %[[B:.*]] = onnx.Cast(%i) {to = 1}
// CHECK-NEXT:    %{{.*}} = onnx.Cast(%[[B]]) {to = 7}
func.func @casts(%h: tensor<2xf16>, %f: tensor<2xf32>, %i: tensor<2xi32>) {
  %0 = onnx.Cast(%h) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %1 = onnx.Cast(%0) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
  %2 = onnx.Cast(%f) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
  %3 = onnx.Cast(%2) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %4 = onnx.Cast(%i) {to = 1} : (tensor<2xi32>) -> tensor<2xf32>
  %5 = onnx.Cast(%4) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
  "test.op"(%1, %3, %5) : (tensor<2xi64>, tensor<2xf32>, tensor<2xi64>) -> ()
  func.return
}

// squeeze-unsqueezed; kept: other axes
// CHECK-LABEL: func.func @squeezes
// CHECK:         %[[A:.*]] = onnx.Unsqueeze(%x, %ab)
// CHECK-NEXT:    %[[B:.*]] = onnx.Squeeze(%[[A]], %b)
// CHECK-NEXT:    "test.op"(%x, %[[B]])
func.func @squeezes(%x: tensor<2x3xf32>) {
  %a = onnx.Constant dense<[0, 2]> : tensor<2xi64>
  %c = onnx.Constant dense<[-2, 0]> : tensor<2xi64>
  %ab = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %b = onnx.Constant dense<[0]> : tensor<1xi64>
  %0 = onnx.Unsqueeze(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x2x1x3xf32>
  %1 = onnx.Squeeze(%0, %c) : (tensor<1x2x1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %2 = onnx.Unsqueeze(%x, %ab) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x1x2x3xf32>
  %3 = onnx.Squeeze(%2, %b) : (tensor<1x1x2x3xf32>, tensor<1xi64>) -> tensor<1x2x3xf32>
  "test.op"(%1, %3) : (tensor<2x3xf32>, tensor<1x2x3xf32>) -> ()
  func.return
}
