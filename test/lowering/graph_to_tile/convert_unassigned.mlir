// RUN: ge-opt %s --convert-graph-to-tile | filecheck %s

// Without storage formats the pass first assigns precision and propagates layouts: the input is converted, the weights are
// packed, the result is converted back, and what has no kernel moves to the host.

// CHECK:      func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x8x8x16xf32>
// CHECK:        graph.launch @conv_trans_data(%x) blocks {{.*}} type "TransData" attrs {src_format = "NCHW", dst_format = "NC1HWC0"}
// CHECK-SAME:   (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK:        graph.launch @conv({{.*}}) blocks {{.*}} type "Conv2D"
// CHECK:        graph.launch @conv_trans_data_1({{.*}}) blocks {{.*}} type "TransData" attrs {src_format = "NC1HWC0", dst_format = "NCHW"}
// CHECK:        graph.host
// CHECK:          onnx.Transpose
// CHECK:        func.return
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x8x8x16xf32> {
  %w = graph.constant dense<0.5> : tensor<16x3x1x1xf32>
  %y = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x8x8xf32> loc("conv")
  %t = graph.transpose %y perm [0, 3, 2, 1] : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32> loc("nhwc")
  func.return %t : tensor<1x8x8x16xf32>
}
