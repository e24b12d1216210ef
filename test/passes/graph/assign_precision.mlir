// RUN: ge-opt %s --split-input-file --assign-precision | filecheck %s
// RUN: ge-opt %s --split-input-file --assign-precision='keep=conv' | filecheck %s --check-prefix=KEEP
// RUN: ge-opt %s --split-input-file --assign-precision --assign-precision | filecheck %s

// Activations and weights in float16, the bias in float32; inputs and outputs keep their types.
// CHECK:       func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:    %[[B:.*]] = graph.constant dense<{{.*}}> : tensor<2xf32>
// CHECK-DAG:     %[[X:.*]] = graph.cast %x : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf16>
// CHECK-DAG:     %[[W:.*]] = graph.constant dense<{{.*}}6.550400e+04{{.*}}> : tensor<2x1x1x1xf16>
// CHECK:         %[[C:.*]] = graph.conv2d %[[X]], %[[W]], %[[B]] activation <relu>
// CHECK-SAME:      (tensor<1x1x4x4xf16>, tensor<2x1x1x1xf16>, tensor<2xf32>) -> tensor<1x2x4x4xf16> loc("conv")
// CHECK-NEXT:    %[[Y:.*]] = graph.cast %[[C]] : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:    func.return %[[Y]]
// KEEP:        func.func @main
// KEEP-NEXT:     graph.host(%x) : (tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
// KEEP:            onnx.Conv
// KEEP-NEXT:       onnx.Relu
// KEEP-NEXT:       graph.yield
// KEEP-NEXT:     }
// KEEP-NEXT:     func.return
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]]], [[[1.0e12]]]]> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = graph.conv2d %x, %w, %b activation <relu>
     : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  func.return %y : tensor<1x2x4x4xf32>
}
