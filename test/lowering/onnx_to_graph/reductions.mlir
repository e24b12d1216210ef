// RUN: ge-opt %s --split-input-file --convert-onnx-to-graph | filecheck %s

// 1. Axes are counted from the front, in order, and keep size 1; a reshape takes them away.
// CHECK:      %0 = graph.reduce mean %x axes [0, 1] : (tensor<2x3x40xf32>) -> tensor<1x1x40xf32> loc("mean")
// CHECK-NEXT: %y = graph.reshape %0 : (tensor<1x1x40xf32>) -> tensor<40xf32> loc("mean")
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<2x3x40xf32>) -> tensor<40xf32> {
  %axes = onnx.Constant dense<[-2, 0]> : tensor<2xi64>
  %y = onnx.ReduceMean(%x, %axes) {keepdims = 0} : (tensor<2x3x40xf32>, tensor<2xi64>) -> tensor<40xf32> loc("mean")
  func.return %y : tensor<40xf32>
}

// -----

// 2. No axes are all of them.
// CHECK:      graph.reduce min %x axes [0, 1] : (tensor<3x40xf32>) -> tensor<1x1xf32>
// CHECK-NOT:  graph.reshape
func.func @main(%x: tensor<3x40xf32>) -> tensor<1x1xf32> {
  %y = onnx.ReduceMin(%x) : (tensor<3x40xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// 3. Or none: then the operand is the result.
// CHECK:      func.func @main(%x
// CHECK-NEXT: func.return %x
func.func @main(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {
  %y = onnx.ReduceSum(%x) {noop_with_empty_axes = 1} : (tensor<3x40xf32>) -> tensor<3x40xf32>
  func.return %y : tensor<3x40xf32>
}

// -----

// 4. Axes of size 1 need no reduction.
// CHECK-NOT:  graph.reduce
// CHECK:      graph.reshape %x : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
func.func @main(%x: tensor<3x1x4xf32>) -> tensor<3x4xf32> {
  %axes = onnx.Constant dense<[1]> : tensor<1xi64>
  %y = onnx.ReduceMax(%x, %axes) {keepdims = 0} : (tensor<3x1x4xf32>, tensor<1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// 5. Reductions over axes that are computed, of integers, and of other kinds stay on the host.
// CHECK:      graph.host
// CHECK:        onnx.ReduceMax
// CHECK:      graph.host
// CHECK:        onnx.ReduceSum
// CHECK:      graph.host
// CHECK:        onnx.ReduceL2
func.func @main(%x: tensor<3x4xf32>, %n: tensor<3x4xi64>, %a: tensor<1xi64>) -> (tensor<?x?xf32>, tensor<1x1xi64>, tensor<1x1xf32>) {
  %u = onnx.ReduceMax(%x, %a) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %v = onnx.ReduceSum(%n) : (tensor<3x4xi64>) -> tensor<1x1xi64>
  %w = onnx.ReduceL2(%x) : (tensor<3x4xf32>) -> tensor<1x1xf32>
  func.return %u, %v, %w : tensor<?x?xf32>, tensor<1x1xi64>, tensor<1x1xf32>
}
