// RUN: ge-opt %s --recognise-group-norm | filecheck %s

// a group normalisation between reshapes, with a scale and a shift after it
// CHECK-LABEL: func.func @groups
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.GroupNormalization(%x, %[[A]], %[[B]]) {num_groups = 2}
// CHECK-NEXT:    "test.op"(%[[C]])
// CHECK-NEXT:    func.return
func.func @groups(%x: tensor<2x4x3x5xf32>) {
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %flat = onnx.Constant dense<[2, 2, -1]> : tensor<3xi64>
  %back = onnx.Constant dense<[2, 4, 3, 5]> : tensor<4xi64>
  %s = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %0 = onnx.Reshape(%x, %flat) : (tensor<2x4x3x5xf32>, tensor<3xi64>) -> tensor<2x2x30xf32>
  %1 = onnx.InstanceNormalization(%0, %one, %zero) : (tensor<2x2x30xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x30xf32>
  %2 = onnx.Reshape(%1, %back) : (tensor<2x2x30xf32>, tensor<4xi64>) -> tensor<2x4x3x5xf32>
  %3 = onnx.Mul(%2, %s) : (tensor<2x4x3x5xf32>, tensor<4x1x1xf32>) -> tensor<2x4x3x5xf32>
  %4 = onnx.Add(%3, %s) : (tensor<2x4x3x5xf32>, tensor<4x1x1xf32>) -> tensor<2x4x3x5xf32>
  "test.op"(%4) : (tensor<2x4x3x5xf32>) -> ()
  func.return
}

// an instance normalisation by its formula; kept: over other axes
// CHECK-LABEL: func.func @instances
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[1, 3]> : tensor<2xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<1.000000e-05> : tensor<f32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = onnx.InstanceNormalization(%x, %[[C]], %[[D]])
// CHECK-NEXT:    %[[F:.*]] = onnx.ReduceMean(%x, %[[A]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Sub(%x, %[[F]])
// CHECK-NEXT:    %[[H:.*]] = onnx.Mul(%[[G]], %[[G]])
// CHECK-NEXT:    %[[I:.*]] = onnx.ReduceMean(%[[H]], %[[A]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Add(%[[I]], %[[B]])
// CHECK-NEXT:    %[[K:.*]] = onnx.Sqrt(%[[J]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Div(%[[G]], %[[K]])
// CHECK-NEXT:    "test.op"(%[[E]], %[[L]])
// CHECK-NEXT:    func.return
func.func @instances(%x: tensor<2x4x3x5xf32>) {
  %axes = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %others = onnx.Constant dense<[1, 3]> : tensor<2xi64>
  %e = onnx.Constant dense<1.0e-05> : tensor<f32>
  %0 = onnx.ReduceMean(%x, %axes) : (tensor<2x4x3x5xf32>, tensor<2xi64>) -> tensor<2x4x1x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<2x4x3x5xf32>, tensor<2x4x1x1xf32>) -> tensor<2x4x3x5xf32>
  %2 = onnx.Mul(%1, %1) : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %3 = onnx.ReduceMean(%2, %axes) : (tensor<2x4x3x5xf32>, tensor<2xi64>) -> tensor<2x4x1x1xf32>
  %4 = onnx.Add(%3, %e) : (tensor<2x4x1x1xf32>, tensor<f32>) -> tensor<2x4x1x1xf32>
  %5 = onnx.Sqrt(%4) : (tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
  %6 = onnx.Div(%1, %5) : (tensor<2x4x3x5xf32>, tensor<2x4x1x1xf32>) -> tensor<2x4x3x5xf32>
  %7 = onnx.ReduceMean(%x, %others) : (tensor<2x4x3x5xf32>, tensor<2xi64>) -> tensor<2x1x3x1xf32>
  %8 = onnx.Sub(%x, %7) : (tensor<2x4x3x5xf32>, tensor<2x1x3x1xf32>) -> tensor<2x4x3x5xf32>
  %9 = onnx.Mul(%8, %8) : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %10 = onnx.ReduceMean(%9, %others) : (tensor<2x4x3x5xf32>, tensor<2xi64>) -> tensor<2x1x3x1xf32>
  %11 = onnx.Add(%10, %e) : (tensor<2x1x3x1xf32>, tensor<f32>) -> tensor<2x1x3x1xf32>
  %12 = onnx.Sqrt(%11) : (tensor<2x1x3x1xf32>) -> tensor<2x1x3x1xf32>
  %13 = onnx.Div(%8, %12) : (tensor<2x4x3x5xf32>, tensor<2x1x3x1xf32>) -> tensor<2x4x3x5xf32>
  "test.op"(%6, %13) : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> ()
  func.return
}
