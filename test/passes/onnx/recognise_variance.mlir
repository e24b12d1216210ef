// RUN: ge-opt %s --recognise-variance | filecheck %s
// RUN: ge-opt %s --recognise-variance --recognise-variance | filecheck %s

// CHECK-LABEL: func.func @variances
// CHECK:         %[[M:.*]] = onnx.ReduceMean(%x, %{{.*}}) {{.*}}-> tensor<2x1x4xf32>
// CHECK:         %[[D:.*]] = onnx.Sub(%x, %[[M]])
// CHECK:         %[[S:.*]] = onnx.Mul(%[[D]], %[[D]])
// CHECK:         %[[A:.*]] = onnx.ReduceMean(%[[S]], %{{.*}}) {keepdims = 0} {{.*}}-> tensor<2x4xf32>
// CHECK:         %[[N:.*]] = onnx.ReduceMean(%x, %{{.*}}) {{.*}}-> tensor<2x3x1xf32>
// CHECK:         %[[E:.*]] = onnx.Sub(%x, %[[N]])
// CHECK:         %[[T:.*]] = onnx.Mul(%[[E]], %[[E]])
// CHECK:         %[[B:.*]] = onnx.ReduceMean(%[[T]], %{{.*}}) : {{.*}}-> tensor<2x3x1xf32>
// CHECK:         "test.op"(%[[A]], %[[B]])
func.func @variances(%x: tensor<2x3x4xf32>) {
  %axis = onnx.Constant dense<[1]> : tensor<1xi64>
  %last = onnx.Constant dense<[2]> : tensor<1xi64>
  %same = onnx.Constant dense<[-1]> : tensor<1xi64>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Mul(%x, %x) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.ReduceMean(%0, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  %2 = onnx.ReduceMean(%x, %axis) {keepdims = 0} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  %3 = onnx.Mul(%2, %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = onnx.Sub(%1, %3) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = onnx.Pow(%x, %two) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %6 = onnx.ReduceMean(%5, %last) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %7 = onnx.ReduceMean(%x, %same) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %8 = onnx.Pow(%7, %two) : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %9 = onnx.Sub(%6, %8) : (tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  "test.op"(%4, %9) : (tensor<2x4xf32>, tensor<2x3x1xf32>) -> ()
  func.return
}

// Left alone: means over other axes, of another value, of which one keeps the axes, of float64; the other way round.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: onnx.Sub(%{{[0-9]+}}, %{{[0-9]+}})
// CHECK-NOT:     onnx.Sub
func.func @others(%x: tensor<3x3xf32>, %z: tensor<3x3xf32>, %w: tensor<3x3xf64>) {
  %first = onnx.Constant dense<[0]> : tensor<1xi64>
  %last = onnx.Constant dense<[1]> : tensor<1xi64>
  %0 = onnx.Mul(%x, %x) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = onnx.ReduceMean(%0, %last) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %2 = onnx.ReduceMean(%x, %first) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %3 = onnx.Mul(%2, %2) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = onnx.Sub(%1, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.ReduceMean(%z, %last) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %6 = onnx.Mul(%5, %5) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %7 = onnx.Sub(%1, %6) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %8 = onnx.ReduceMean(%x, %last) : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %9 = onnx.Mul(%8, %8) : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %10 = onnx.Sub(%1, %9) : (tensor<3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %11 = onnx.Mul(%w, %w) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %12 = onnx.ReduceMean(%11, %last) {keepdims = 0} : (tensor<3x3xf64>, tensor<1xi64>) -> tensor<3xf64>
  %13 = onnx.ReduceMean(%w, %last) {keepdims = 0} : (tensor<3x3xf64>, tensor<1xi64>) -> tensor<3xf64>
  %14 = onnx.Mul(%13, %13) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %15 = onnx.Sub(%12, %14) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %16 = onnx.ReduceMean(%x, %last) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %17 = onnx.Mul(%16, %16) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %18 = onnx.Sub(%17, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%4, %7, %10, %15, %18) : (tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3xf64>, tensor<3xf32>) -> ()
  func.return
}
