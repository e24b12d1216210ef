// RUN: ge-opt %s --simplify=passes=recognise-layer-norm,recognise-rms-norm | filecheck %s

// layer-norm, layer-norm-scale, layer-norm-shift: scale and shift that are computed, over two axes
// CHECK-LABEL: func.func @layer_norm
// CHECK-NEXT:    %{{.*}} = onnx.LayerNormalization(%x, %g, %b) {axis = -2, epsilon = 1.0e-06} : {{.*}} loc(fused["mean", "centre", "square", "variance", "epsilon", "root", "divide", "scale", "shift"])
// CHECK-NEXT:    "test.op"
func.func @layer_norm(%x: tensor<2x3x4xf32>, %g: tensor<3x4xf32>, %b: tensor<3x4xf32>) {
  %axes = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %same = onnx.Constant dense<[-1, -2]> : tensor<2xi64>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %e = onnx.Constant dense<1.0e-6> : tensor<f32>
  %0 = onnx.ReduceMean(%x, %axes) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x1x1xf32> loc("mean")
  %1 = onnx.Sub(%x, %0) : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> loc("centre")
  %2 = onnx.Pow(%1, %two) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32> loc("square")
  %3 = onnx.ReduceMean(%2, %same) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x1x1xf32> loc("variance")
  %4 = onnx.Add(%3, %e) : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32> loc("epsilon")
  %5 = onnx.Sqrt(%4) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32> loc("root")
  %6 = onnx.Div(%1, %5) : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> loc("divide")
  %7 = onnx.Mul(%6, %g) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32> loc("scale")
  %8 = onnx.Add(%7, %b) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32> loc("shift")
  "test.op"(%8) : (tensor<2x3x4xf32>) -> ()
  func.return
}

// Kept: axes that are not the last ones, variance over other axes than the mean, without kept dimensions
// CHECK-LABEL: func.func @no_layer_norm
// CHECK-NOT:     LayerNormalization
// CHECK:         func.return
func.func @no_layer_norm(%x: tensor<3x3xf32>) {
  %first = onnx.Constant dense<0> : tensor<1xi64>
  %last = onnx.Constant dense<1> : tensor<1xi64>
  %e = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = onnx.ReduceMean(%x, %first) : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %2 = onnx.Mul(%1, %1) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = onnx.ReduceMean(%2, %first) : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  %4 = onnx.Add(%3, %e) : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %5 = onnx.Sqrt(%4) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %6 = onnx.Div(%1, %5) : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %7 = onnx.ReduceMean(%x, %last) : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %8 = onnx.Sub(%x, %7) : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %9 = onnx.Mul(%8, %8) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %10 = onnx.ReduceMean(%9, %first) : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  %11 = onnx.Add(%10, %e) : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %12 = onnx.Sqrt(%11) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %13 = onnx.Div(%8, %12) : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %14 = onnx.ReduceMean(%x, %last) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %15 = onnx.Sub(%x, %14) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %16 = onnx.Mul(%15, %15) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %17 = onnx.ReduceMean(%16, %last) {keepdims = 0} : (tensor<3x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %18 = onnx.Add(%17, %e) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %19 = onnx.Sqrt(%18) : (tensor<3xf32>) -> tensor<3xf32>
  %20 = onnx.Div(%15, %19) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  "test.op"(%6, %13, %20) : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> ()
  func.return
}

// layer-norm-scale-constant: into the scale that is there; kept: a scale of another shape, a shift of one number, a
// scale after a shift
// CHECK-LABEL: func.func @scales
// CHECK:         %[[S:.*]] = onnx.Constant dense<[2.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %{{.*}} = onnx.LayerNormalization(%x, %[[S]]) {epsilon = 0.001}
// CHECK-NEXT:    %[[N:.*]] = onnx.LayerNormalization(%x, %g, %g)
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%[[N]], %two)
// CHECK-NEXT:    %[[M:.*]] = onnx.LayerNormalization(%x, %g)
// CHECK-NEXT:    %{{.*}} = onnx.Add(%[[M]], %two)
// CHECK-NEXT:    %[[R:.*]] = onnx.LayerNormalization(%x, %g)
// CHECK-NEXT:    %{{.*}} = onnx.Mul(%[[R]], %rows)
func.func @scales(%x: tensor<3x2xf32>) {
  %g = onnx.Constant dense<[1.0, 3.0]> : tensor<2xf32>
  %two = onnx.Constant dense<2.0> : tensor<1x1xf32>
  %rows = onnx.Constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = onnx.LayerNormalization(%x, %g) {epsilon = 0.001} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %1 = onnx.Mul(%0, %two) : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %2 = onnx.LayerNormalization(%x, %g, %g) : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %3 = onnx.Mul(%2, %two) : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %4 = onnx.LayerNormalization(%x, %g) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %5 = onnx.Add(%4, %two) : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  %6 = onnx.LayerNormalization(%x, %g) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %7 = onnx.Mul(%6, %rows) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  "test.op"(%1, %3, %5, %7) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> ()
  func.return
}

// rms-norm, rms-norm-scale; kept: the mean of another square, float64
// CHECK-LABEL: func.func @rms_norm
// CHECK:         %{{.*}} = onnx.RMSNormalization(%x, %g) {epsilon = 1.0e-06}
// CHECK-NEXT:    "test.op"
// CHECK-NOT:     RMSNormalization
// CHECK:         func.return
func.func @rms_norm(%x: tensor<2x4xf32>, %z: tensor<2x4xf32>, %g: tensor<4xf32>, %d: tensor<2x4xf64>) {
  %axes = onnx.Constant dense<-1> : tensor<1xi64>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %e = onnx.Constant dense<1.0e-6> : tensor<f32>
  %0 = onnx.Pow(%x, %two) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = onnx.ReduceMean(%0, %axes) : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %2 = onnx.Add(%1, %e) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %3 = onnx.Sqrt(%2) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %4 = onnx.Reciprocal(%3) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %5 = onnx.Mul(%x, %4) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %6 = onnx.Mul(%g, %5) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  "test.op"(%6) : (tensor<2x4xf32>) -> ()
  %7 = onnx.Mul(%z, %z) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = onnx.ReduceMean(%7, %axes) : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %9 = onnx.Add(%8, %e) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %10 = onnx.Sqrt(%9) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %11 = onnx.Div(%x, %10) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %de = onnx.Constant dense<1.0e-6> : tensor<f64>
  %12 = onnx.Mul(%d, %d) : (tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  %13 = onnx.ReduceMean(%12, %axes) : (tensor<2x4xf64>, tensor<1xi64>) -> tensor<2x1xf64>
  %14 = onnx.Add(%13, %de) : (tensor<2x1xf64>, tensor<f64>) -> tensor<2x1xf64>
  %15 = onnx.Sqrt(%14) : (tensor<2x1xf64>) -> tensor<2x1xf64>
  %16 = onnx.Div(%d, %15) : (tensor<2x4xf64>, tensor<2x1xf64>) -> tensor<2x4xf64>
  "test.op"(%11, %16) : (tensor<2x4xf32>, tensor<2x4xf64>) -> ()
  func.return
}
