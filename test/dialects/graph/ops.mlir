// RUN: ge-opt %s --inline-weights | filecheck %s
// RUN: ge-opt %s --inline-weights -o %t.mlir && ge-opt %t.mlir --inline-weights | diff - %t.mlir
// RUN: ge-opt %s --print-op-generic --inline-weights | ge-opt --inline-weights | filecheck %s

// Every operation of the graph level with its properties, and the text of its defaults: none.

// CHECK: func.func @compute
func.func @compute(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) {
  // CHECK-NEXT: %0 = graph.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x4xf32>
  %0 = graph.conv2d %x, %w strides [1, 1] groups 1 : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x4xf32>
  // CHECK-NEXT: %1 = graph.conv2d %x, %w, %b strides [2, 2] pads [1, 1, 1, 1] dilations [2, 1] activation <relu> :
  %1 = graph.conv2d %x, %w, %b strides [2, 2] pads [1, 1, 1, 1] dilations [2, 1] activation <relu>
     : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>) -> tensor<1x4x2x3xf32>
  // CHECK-NEXT: %2 = graph.batch_norm %x, %c, %c, %c, %c epsilon 1.000000e-05 :
  %2 = graph.batch_norm %x, %c, %c, %c, %c epsilon 1.0e-05
     : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  // CHECK-NEXT: %3 = graph.pool2d max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] ceil_mode :
  %3 = graph.pool2d max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] ceil_mode : (tensor<1x8x6x6xf32>) -> tensor<1x8x4x4xf32>
  // CHECK-NEXT: %4 = graph.pool2d average %x kernel [3, 3] count_include_pad :
  %4 = graph.pool2d average %x kernel [3, 3] count_include_pad : (tensor<1x8x6x6xf32>) -> tensor<1x8x4x4xf32>
  // CHECK-NEXT: %5 = graph.unary <clip, 0.000000e+00, 0x7F800000> %x :
  %5 = graph.unary <clip, 0.0, 0x7F800000> %x : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  // CHECK-NEXT: %6 = graph.unary <leaky_relu, 1.000000e-02> %x :
  %6 = graph.unary <leaky_relu> %x : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  // CHECK-NEXT: %7 = graph.binary add %x, %5 :
  %7 = graph.binary add %x, %5 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  // CHECK-NEXT: %8 = graph.softmax %x axis -1 log :
  %8 = graph.softmax %x axis -1 log : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  // CHECK-NEXT: %9 = graph.lrn %x size 5 alpha 1.000000e-04 beta 7.500000e-01 bias 1.000000e+00 :
  %9 = graph.lrn %x size 5 alpha 1.0e-04 beta 0.75 bias 1.0 : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  func.return
}

// CHECK: func.func @matrices
func.func @matrices(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<5xf32>) {
  // CHECK-NEXT: %0 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %0 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK-NEXT: %1 = graph.matmul %a, %b, %c activation <gelu> :
  %1 = graph.matmul %a, %b, %c activation <gelu> : (tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  func.return
}

// CHECK: func.func @movement
func.func @movement(%x: tensor<1x4x2x2xf32>, %y: tensor<1x2x2x2xf32>) {
  // CHECK-NEXT: %0 = graph.concat %x, %y axis 1 :
  %0 = graph.concat %x, %y axis 1 : (tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x6x2x2xf32>
  // CHECK-NEXT: %1 = graph.gather_channels %x, %y indices [5, 0, 4] :
  %1 = graph.gather_channels %x, %y indices [5, 0, 4] : (tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x3x2x2xf32>
  // CHECK-NEXT: %2 = graph.reshape %x : (tensor<1x4x2x2xf32>) -> tensor<1x16xf32>
  %2 = graph.reshape %x : (tensor<1x4x2x2xf32>) -> tensor<1x16xf32>
  // CHECK-NEXT: %3 = graph.transpose %x perm [0, 2, 3, 1] :
  %3 = graph.transpose %x perm [0, 2, 3, 1] : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x4xf32>
  // CHECK-NEXT: %4 = graph.cast %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf16>
  %4 = graph.cast %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf16>
  // CHECK-NEXT: %5 = graph.trans_data %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>
  %5 = graph.trans_data %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf16, #ge.layout<NC1HWC0>>
  // CHECK-NEXT: %6 = graph.view %4 offset 512 : (tensor<1x4x2x2xf16>) -> tensor<4x4xf16>
  %6 = graph.view %4 offset 512 : (tensor<1x4x2x2xf16>) -> tensor<4x4xf16>
  func.return
}

// CHECK: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<?xi64> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  // CHECK-NEXT: %0 = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK-NEXT: %1 = graph.constant offset 512 #ge.weights<"0x0000803F"> : tensor<1xf32>
  %1 = graph.constant offset 512 #ge.weights<"0x0000803F"> : tensor<1xf32>
  // CHECK-NEXT: %2 = graph.launch @relu(%x, %0) blocks 8 type "Relu" attrs {k = 1 : i64} offsets [512] : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  %2 = graph.launch @relu(%x, %0) blocks 8 type "Relu" attrs {k = 1} offsets [512] : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %y = graph.host(%2) offsets [-1] : (tensor<4xf32>) -> tensor<?xi64> {
  %y = graph.host(%2) offsets [-1] : (tensor<4xf32>) -> tensor<?xi64> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
  ^bb0(%a: tensor<4xf32>):
    %i = onnx.NonZero(%a) : (tensor<4xf32>) -> tensor<1x?xi64>
    %s = onnx.Constant dense<-1> : tensor<1xi64>
    %r = onnx.Reshape(%i, %s) : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<?xi64>
    // CHECK: graph.yield %r : tensor<?xi64>
    graph.yield %r : tensor<?xi64>
  }
  func.return %y : tensor<?xi64>
}

// CHECK: func.func @fusion
func.func @fusion(%x: tensor<4x32xf16>, %b: tensor<32xf16>) {
  // CHECK-NEXT: %0 = graph.fusion(%x, %b) : (tensor<4x32xf16>, tensor<32xf16>) -> tensor<4x32xf16> {
  %0 = graph.fusion(%x, %b) : (tensor<4x32xf16>, tensor<32xf16>) -> tensor<4x32xf16> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x32xf16>, %[[B:.*]]: tensor<32xf16>):
  ^bb0(%a: tensor<4x32xf16>, %c: tensor<32xf16>):
    // CHECK-NEXT: %[[S:.*]] = graph.binary add %[[A]], %[[B]] :
    %s = graph.binary add %a, %c : (tensor<4x32xf16>, tensor<32xf16>) -> tensor<4x32xf16>
    // CHECK-NEXT: %[[Y:.*]] = graph.unary <tanh> %[[S]] :
    %y = graph.unary <tanh> %s : (tensor<4x32xf16>) -> tensor<4x32xf16>
    // CHECK-NEXT: graph.yield %[[Y]] : tensor<4x32xf16>
    graph.yield %y : tensor<4x32xf16>
  }
  func.return
}

// CHECK: func.func @layer_norm
func.func @layer_norm(%x: tensor<3x8xf16>, %s: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK-NEXT: %0 = graph.layer_norm %x, %s, %b epsilon 1.000000e-05 : (tensor<3x8xf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<3x8xf16>
  %0 = graph.layer_norm %x, %s, %b epsilon 1.000000e-05 : (tensor<3x8xf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<3x8xf16>
  func.return
}

// CHECK: func.func @reduce
func.func @reduce(%x: tensor<2x3x8xf16>) {
  // CHECK-NEXT: %0 = graph.reduce sum_square %x axes [0, 2] : (tensor<2x3x8xf16>) -> tensor<1x3x1xf16>
  %0 = graph.reduce sum_square %x axes [0, 2] : (tensor<2x3x8xf16>) -> tensor<1x3x1xf16>
  func.return
}

// CHECK: func.func @slice
func.func @slice(%x: tensor<3x8xf16>) {
  // CHECK-NEXT: %0 = graph.slice %x axis 1 start 2 size 4 : (tensor<3x8xf16>) -> tensor<3x4xf16>
  %0 = graph.slice %x axis 1 start 2 size 4 : (tensor<3x8xf16>) -> tensor<3x4xf16>
  func.return
}

// CHECK: func.func @streams
func.func @streams(%x: tensor<4xf16>) {
  // CHECK-NEXT: %0 = graph.launch @k(%x) blocks 8 type "K" cycles 4405 stream 0 offsets [0] : (tensor<4xf16>) -> tensor<4xf16>
  %0 = graph.launch @k(%x) blocks 8 type "K" cycles 4405 stream 0 offsets [0] : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK-NEXT: graph.record event 3 stream 0
  graph.record event 3 stream 0
  // CHECK-NEXT: graph.wait event 3 stream 1
  graph.wait event 3 stream 1
  // CHECK-NEXT: %y = graph.host(%0) stream 1 : (tensor<4xf16>) -> tensor<4xf16> {
  %y = graph.host(%0) stream 1 : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    graph.yield %a : tensor<4xf16>
  }
  func.return
}
