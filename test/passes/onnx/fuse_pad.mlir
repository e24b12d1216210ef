// RUN: ge-opt %s --fuse-pad | filecheck %s

// zeros around a convolution are added to its own; Pad of Pad; two convolutions may read one Pad
// CHECK-LABEL: func.func @convolution
// CHECK-NEXT:    %[[A:.*]] = onnx.Conv(%x, %w) {pads = [2, 2, 3, 5]}
// CHECK-NEXT:    %[[B:.*]] = onnx.Conv(%x, %w) {pads = [1, 2, 3, 4]}
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[0, 0, 1, 3, 0, 0, 3, 4]> : tensor<8xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.Pad(%x, %[[C]])
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[D]])
// CHECK-NEXT:    func.return
func.func @convolution(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  %pads = onnx.Constant dense<[0, 0, 1, 2, 0, 0, 3, 4]> : tensor<8xi64>
  %axes = onnx.Constant dense<[3]> : tensor<1xi64>
  %more = onnx.Constant dense<[1, 0]> : tensor<2xi64>
  %0 = onnx.Pad(%x, %pads) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x8x10xf32>
  %1 = onnx.Conv(%0, %w) {pads = [1, 0, 0, 1]} : (tensor<1x1x8x10xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x7x9xf32>
  %2 = onnx.Conv(%0, %w) {auto_pad = "VALID"} : (tensor<1x1x8x10xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x8xf32>
  %3 = onnx.Pad(%x, %more, none, %axes) : (tensor<1x1x4x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<1x1x4x5xf32>
  %4 = onnx.Pad(%3, %pads) : (tensor<1x1x4x5xf32>, tensor<8xi64>) -> tensor<1x1x8x11xf32>
  "test.op"(%1, %2, %4) : (tensor<1x1x7x9xf32>, tensor<1x1x6x8xf32>, tensor<1x1x8x11xf32>) -> ()
  func.return
}

// averages that count zeros, maxima of minus infinity, maxima of what is never negative
// CHECK-LABEL: func.func @pooling
// CHECK-NEXT:    %[[A:.*]] = onnx.AveragePool(%x) {kernel_shape = [3, 3], count_include_pad = 1, pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[B:.*]] = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[C:.*]] = onnx.Relu(%x)
// CHECK-NEXT:    %[[D:.*]] = onnx.MaxPool(%[[C]]) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[D]])
// CHECK-NEXT:    func.return
func.func @pooling(%x: tensor<1x1x4x4xf32>) {
  %pads = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %low = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.Pad(%x, %pads) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x6x6xf32>
  %1 = onnx.AveragePool(%0) {kernel_shape = [3, 3]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  %2 = onnx.Pad(%x, %pads, %low) : (tensor<1x1x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x1x6x6xf32>
  %3 = onnx.MaxPool(%2) {kernel_shape = [3, 3]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  %4 = onnx.Relu(%x) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %5 = onnx.Pad(%4, %pads) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x6x6xf32>
  %6 = onnx.MaxPool(%5) {kernel_shape = [3, 3]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  "test.op"(%1, %3, %6) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> ()
  func.return
}

// kept: another number, another mode, padded channels, cropping; zeros around a maximum of anything; windows inside the
// padding; an average that pads already and does not count it, or rounds its size up
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<[0, 0, -1, 0, 0, 0, 0, 0]> : tensor<8xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Pad(%x, %[[A]], %[[D]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Conv(%[[E]], %w)
// CHECK-NEXT:    %[[G:.*]] = onnx.Pad(%x, %[[A]]) {mode = "reflect"}
// CHECK-NEXT:    %[[H:.*]] = onnx.Conv(%[[G]], %w)
// CHECK-NEXT:    %[[I:.*]] = onnx.Pad(%x, %[[B]])
// CHECK-NEXT:    %[[J:.*]] = onnx.Conv(%[[I]], %v)
// CHECK-NEXT:    %[[K:.*]] = onnx.Pad(%x, %[[C]])
// CHECK-NEXT:    %[[L:.*]] = onnx.Conv(%[[K]], %w)
// CHECK-NEXT:    "test.op"(%[[F]], %[[H]], %[[J]], %[[L]])
// CHECK-NEXT:    %[[M:.*]] = onnx.Pad(%x, %[[A]])
// CHECK-NEXT:    %[[N:.*]] = onnx.MaxPool(%[[M]]) {kernel_shape = [3, 3]}
// CHECK-NEXT:    %[[O:.*]] = onnx.AveragePool(%[[M]]) {kernel_shape = [1, 1]}
// CHECK-NEXT:    %[[P:.*]] = onnx.AveragePool(%[[M]]) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[Q:.*]] = onnx.AveragePool(%[[M]]) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]}
// CHECK-NEXT:    "test.op"(%[[N]], %[[O]], %[[P]], %[[Q]])
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>, %v: tensor<1x2x3x3xf32>) {
  %pads = onnx.Constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %channels = onnx.Constant dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %crop = onnx.Constant dense<[0, 0, -1, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = onnx.Pad(%x, %pads, %one) : (tensor<1x1x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x1x6x6xf32>
  %1 = onnx.Conv(%0, %w) : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %2 = onnx.Pad(%x, %pads) {mode = "reflect"} : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x6x6xf32>
  %3 = onnx.Conv(%2, %w) : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  %4 = onnx.Pad(%x, %channels) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x2x4x4xf32>
  %5 = onnx.Conv(%4, %v) : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x2x2xf32>
  %6 = onnx.Pad(%x, %crop) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x3x4xf32>
  %7 = onnx.Conv(%6, %w) : (tensor<1x1x3x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x2xf32>
  "test.op"(%1, %3, %5, %7) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>, tensor<1x1x1x2xf32>) -> ()
  %8 = onnx.Pad(%x, %pads) : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x6x6xf32>
  %9 = onnx.MaxPool(%8) {kernel_shape = [3, 3]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
  %10 = onnx.AveragePool(%8) {kernel_shape = [1, 1]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %11 = onnx.AveragePool(%8) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %12 = onnx.AveragePool(%8) {ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x3x3xf32>
  "test.op"(%9, %10, %11, %12) : (tensor<1x1x4x4xf32>, tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> ()
  func.return
}

// kept: a maximum that rounds its size up, since it leaves out windows that begin in its own padding
// CHECK-LABEL: func.func @rounded_up
// CHECK:         %[[P:.*]] = onnx.Pad(
// CHECK-NEXT:    %[[Y:.*]] = onnx.MaxPool(%[[P]]) {ceil_mode = 1, kernel_shape = [3], strides = [2]}
// CHECK:         %[[Q:.*]] = onnx.Pad(
// CHECK-NEXT:    %[[Z:.*]] = onnx.MaxPool(%[[Q]]) {ceil_mode = 1, kernel_shape = [3], strides = [2]}
func.func @rounded_up(%x: tensor<1x1x?xf32>) {
  %pads = onnx.Constant dense<[0, 0, 0, 0, 0, 2]> : tensor<6xi64>
  %low = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.Pad(%x, %pads, %low) : (tensor<1x1x?xf32>, tensor<6xi64>, tensor<f32>) -> tensor<1x1x?xf32>
  %1 = onnx.MaxPool(%0) {ceil_mode = 1, kernel_shape = [3], strides = [2]} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %2 = onnx.Relu(%x) : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %3 = onnx.Pad(%2, %pads) : (tensor<1x1x?xf32>, tensor<6xi64>) -> tensor<1x1x?xf32>
  %4 = onnx.MaxPool(%3) {ceil_mode = 1, kernel_shape = [3], strides = [2]} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  "test.op"(%1, %4) : (tensor<1x1x?xf32>, tensor<1x1x?xf32>) -> ()
  func.return
}
