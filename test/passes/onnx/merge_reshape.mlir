// RUN: ge-opt %s --merge-reshape | filecheck %s

// 1. Known sizes; a 0 in a shape is a size of its own operand
// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %0 = onnx.Constant dense<[6, 1, 4]> : tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<6x1x4xf32>
// CHECK-NEXT:    func.return %b : tensor<6x1x4xf32>
func.func @known(%x: tensor<2x3x4xf32>) -> tensor<6x1x4xf32> {
  %s = onnx.Constant dense<[6, 4]> : tensor<2xi64>
  %a = onnx.Reshape(%x, %s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Unsqueeze(%a, %axis) : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x1x4xf32>
  func.return %b : tensor<6x1x4xf32>
}

// 1. Sizes at the same place, and one other
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    %0 = onnx.Constant dense<[0, 0, 12, 64]> : tensor<4xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
// CHECK-NEXT:    func.return %b : tensor<?x?x12x64xf32>
func.func @unknown(%x: tensor<?x?x768xf32>) -> tensor<?x?x12x64xf32> {
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %a = onnx.Unsqueeze(%x, %axis) : (tensor<?x?x768xf32>, tensor<1xi64>) -> tensor<?x?x1x768xf32>
  %s = onnx.Constant dense<[0, 0, 12, 64]> : tensor<4xi64>
  %b = onnx.Reshape(%a, %s) : (tensor<?x?x1x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
  func.return %b : tensor<?x?x12x64xf32>
}

// 1. A size that moves is the one that is left; a value in between stays for another use
// CHECK-LABEL: func.func @moved
// CHECK-NEXT:    %axis = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Squeeze(%x, %axis) : (tensor<1x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
// CHECK-NEXT:    %0 = onnx.Constant dense<[-1, 4, 2]> : tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<1x?x8xf32>, tensor<3xi64>) -> tensor<?x4x2xf32>
// CHECK-NEXT:    func.return %a, %b : tensor<?x8xf32>, tensor<?x4x2xf32>
func.func @moved(%x: tensor<1x?x8xf32>) -> (tensor<?x8xf32>, tensor<?x4x2xf32>) {
  %axis = onnx.Constant dense<0> : tensor<1xi64>
  %a = onnx.Squeeze(%x, %axis) : (tensor<1x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  %s = onnx.Constant dense<[0, 4, -1]> : tensor<3xi64>
  %b = onnx.Reshape(%a, %s) : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x4x2xf32>
  func.return %a, %b : tensor<?x8xf32>, tensor<?x4x2xf32>
}

// 1. Flattened
// CHECK-LABEL: func.func @flattened
// CHECK-NEXT:    %0 = onnx.Constant dense<[2, 1, -1]> : tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<2x?x?xf32>, tensor<3xi64>) -> tensor<2x1x?xf32>
// CHECK-NEXT:    func.return %b : tensor<2x1x?xf32>
func.func @flattened(%x: tensor<2x?x?xf32>) -> tensor<2x1x?xf32> {
  %a = onnx.Flatten(%x) : (tensor<2x?x?xf32>) -> tensor<2x?xf32>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Unsqueeze(%a, %axis) : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<2x1x?xf32>
  func.return %b : tensor<2x1x?xf32>
}

// 1. A size that is copied, and the rest: nothing tells the rest of empty values, before and after
// CHECK-LABEL: func.func @rest
// CHECK-NEXT:    %0 = onnx.Constant dense<[0, 1, -1]> : tensor<3xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<?x?x?xf32>, tensor<3xi64>) -> tensor<?x1x?xf32>
// CHECK-NEXT:    func.return %b : tensor<?x1x?xf32>
func.func @rest(%x: tensor<?x?x?xf32>) -> tensor<?x1x?xf32> {
  %s = onnx.Constant dense<[0, -1]> : tensor<2xi64>
  %a = onnx.Reshape(%x, %s) : (tensor<?x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Unsqueeze(%a, %axis) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1x?xf32>
  func.return %b : tensor<?x1x?xf32>
}

// Kept: the same after an operation that can flatten empty values
// CHECK-LABEL: func.func @empty_rest
// CHECK-NEXT:    %a = onnx.Flatten(%x) : (tensor<?x?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    %axis = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Unsqueeze(%a, %axis) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1x?xf32>
// CHECK-NEXT:    func.return %b : tensor<?x1x?xf32>
func.func @empty_rest(%x: tensor<?x?x?xf32>) -> tensor<?x1x?xf32> {
  %a = onnx.Flatten(%x) : (tensor<?x?x?xf32>) -> tensor<?x?xf32>
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Unsqueeze(%a, %axis) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1x?xf32>
  func.return %b : tensor<?x1x?xf32>
}

// 2. Axes of one element exchanged, beside a reshape; kept: on its own, and other axes
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    %s = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %0 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<2x1x3xf32>, tensor<1xi64>) -> tensor<6xf32>
// CHECK-NEXT:    %c = onnx.Transpose(%x) {perm = [2, 1, 0]} : (tensor<2x1x3xf32>) -> tensor<3x1x2xf32>
// CHECK-NEXT:    %d = onnx.Transpose(%u) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %e = onnx.Reshape(%d, %s) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
// CHECK-NEXT:    func.return %b, %c, %e : tensor<6xf32>, tensor<3x1x2xf32>, tensor<6xf32>
func.func @transposed(%x: tensor<2x1x3xf32>, %u: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<3x1x2xf32>, tensor<6xf32>) {
  %s = onnx.Constant dense<[6]> : tensor<1xi64>
  %a = onnx.Transpose(%x) {perm = [1, 0, 2]} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %b = onnx.Reshape(%a, %s) : (tensor<1x2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %c = onnx.Transpose(%x) {perm = [2, 1, 0]} : (tensor<2x1x3xf32>) -> tensor<3x1x2xf32>
  %d = onnx.Transpose(%u) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %e = onnx.Reshape(%d, %s) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  func.return %b, %c, %e : tensor<6xf32>, tensor<3x1x2xf32>, tensor<6xf32>
}

// Kept: two sizes that moved
// CHECK-LABEL: func.func @two
// CHECK-NEXT:    %first = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %last = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Squeeze(%x, %first) : (tensor<1x?x?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    %b = onnx.Unsqueeze(%a, %last) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
// CHECK-NEXT:    func.return %b : tensor<?x?x1xf32>
func.func @two(%x: tensor<1x?x?xf32>) -> tensor<?x?x1xf32> {
  %first = onnx.Constant dense<0> : tensor<1xi64>
  %last = onnx.Constant dense<2> : tensor<1xi64>
  %a = onnx.Squeeze(%x, %first) : (tensor<1x?x?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %b = onnx.Unsqueeze(%a, %last) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  func.return %b : tensor<?x?x1xf32>
}

// Kept: a size that is copied, and may be zero, beside one that moved
// CHECK-LABEL: func.func @copied
// CHECK-NEXT:    %axis = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %none = onnx.Constant dense<> : tensor<0xi64>
// CHECK-NEXT:    %a = onnx.Squeeze(%x, %axis) : (tensor<?x1x?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    %b = onnx.Unsqueeze(%a, %none) : (tensor<?x?xf32>, tensor<0xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    func.return %b : tensor<?x?xf32>
func.func @copied(%x: tensor<?x1x?xf32>) -> tensor<?x?xf32> {
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %none = onnx.Constant dense<> : tensor<0xi64>
  %a = onnx.Squeeze(%x, %axis) : (tensor<?x1x?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %b = onnx.Unsqueeze(%a, %none) : (tensor<?x?xf32>, tensor<0xi64>) -> tensor<?x?xf32>
  func.return %b : tensor<?x?xf32>
}

// Kept: a shape that is not constant, empty values, zeros that are sizes
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %axis = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Reshape(%x, %s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    %b = onnx.Unsqueeze(%a, %axis) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
// CHECK-NEXT:    %first = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %c = onnx.Unsqueeze(%e, %first) : (tensor<0x4xf32>, tensor<1xi64>) -> tensor<1x0x4xf32>
// CHECK-NEXT:    %z = onnx.Constant dense<[4, 0]> : tensor<2xi64>
// CHECK-NEXT:    %d = onnx.Reshape(%c, %z) {allowzero = 1} : (tensor<1x0x4xf32>, tensor<2xi64>) -> tensor<4x0xf32>
// CHECK-NEXT:    func.return %b, %d : tensor<?x?x1xf32>, tensor<4x0xf32>
func.func @kept(%x: tensor<?x4xf32>, %s: tensor<2xi64>, %e: tensor<0x4xf32>) -> (tensor<?x?x1xf32>, tensor<4x0xf32>) {
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %a = onnx.Reshape(%x, %s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %b = onnx.Unsqueeze(%a, %axis) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %first = onnx.Constant dense<0> : tensor<1xi64>
  %c = onnx.Unsqueeze(%e, %first) : (tensor<0x4xf32>, tensor<1xi64>) -> tensor<1x0x4xf32>
  %z = onnx.Constant dense<[4, 0]> : tensor<2xi64>
  %d = onnx.Reshape(%c, %z) {allowzero = 1} : (tensor<1x0x4xf32>, tensor<2xi64>) -> tensor<4x0xf32>
  func.return %b, %d : tensor<?x?x1xf32>, tensor<4x0xf32>
}

// 2. An axis of unknown size among those of one element
// CHECK-LABEL: func.func @one_unknown
// CHECK-NEXT:    %0 = onnx.Constant dense<[-1, 1, 4]> : tensor<3xi64>
// CHECK-NEXT:    %a = onnx.Reshape(%x, %0) : (tensor<1x?x4xf32>, tensor<3xi64>) -> tensor<?x1x4xf32>
// CHECK-NEXT:    %b = onnx.Reshape(%a, %s) : (tensor<?x1x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    func.return %b : tensor<?x?xf32>
func.func @one_unknown(%x: tensor<1x?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %a = onnx.Transpose(%x) {perm = [1, 0, 2]} : (tensor<1x?x4xf32>) -> tensor<?x1x4xf32>
  %b = onnx.Reshape(%a, %s) : (tensor<?x1x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %b : tensor<?x?xf32>
}

// 1. Behind a shape that is not known
// CHECK-LABEL: func.func @behind
// CHECK-NEXT:    %0 = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
// CHECK-NEXT:    %b = onnx.Reshape(%x, %0) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    func.return %b : tensor<?x2xf32>
func.func @behind(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x2xf32> {
  %a = onnx.Reshape(%x, %s) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %t = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %b = onnx.Reshape(%a, %t) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  func.return %b : tensor<?x2xf32>
}
