// RUN: ge-opt %s --split-input-file --propagate-layout | filecheck %s
// RUN: ge-opt %s --split-input-file --propagate-layout --propagate-layout | filecheck %s

// A convolution net needs one conversion in and one out: the cast of the input becomes part of it, elementwise operations
// keep the format, weights are packed beforehand, and the result of a global pooling is the operand of a product as it is.
// CHECK:       func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32>
// CHECK-DAG:     %[[W:.*]] = graph.constant #ge.weights<{{.*}}> : tensor<32x3x3x3xf16, #ge.layout<FRACTAL_Z>>
// CHECK-DAG:     %[[X:.*]] = graph.trans_data %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK:         %[[C:.*]] = graph.conv2d %[[X]], %[[W]] pads [1, 1, 1, 1] : {{.*}} -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %[[R:.*]] = graph.unary <relu> %[[C]] : {{.*}} -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %[[A:.*]] = graph.binary add %[[C]], %[[R]] : {{.*}} -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %[[G:.*]] = graph.pool2d average %[[A]] kernel [8, 8] : {{.*}} -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
// CHECK:         %[[V:.*]] = graph.view %[[G]] : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:         %[[P:.*]] = graph.matmul %[[V]], {{.*}} : (tensor<1x32xf16, #ge.layout<FRACTAL_NZ>>, tensor<32x4xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x4xf16, #ge.layout<FRACTAL_NZ>>
// CHECK-NEXT:    %[[N:.*]] = graph.view %[[P]] : (tensor<1x4xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<1x4xf16>
// CHECK-NEXT:    %[[Y:.*]] = graph.cast %[[N]] : (tensor<1x4xf16>) -> tensor<1x4xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32> {
  %h = graph.cast %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16>
  %w = graph.constant dense<1.0> : tensor<32x3x3x3xf16>
  %c = graph.conv2d %h, %w pads [1, 1, 1, 1] : (tensor<1x3x8x8xf16>, tensor<32x3x3x3xf16>) -> tensor<1x32x8x8xf16>
  %r = graph.unary <relu> %c : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
  %a = graph.binary add %c, %r : (tensor<1x32x8x8xf16>, tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16>
  %g = graph.pool2d average %a kernel [8, 8] : (tensor<1x32x8x8xf16>) -> tensor<1x32x1x1xf16>
  %f = graph.reshape %g : (tensor<1x32x1x1xf16>) -> tensor<1x32xf16>
  %m = graph.constant dense<1.0> : tensor<32x4xf16>
  %p = graph.matmul %f, %m : (tensor<1x32xf16>, tensor<32x4xf16>) -> tensor<1x4xf16>
  %y = graph.cast %p : (tensor<1x4xf16>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// With more than one row the pooled feature maps are rows of the plain format: pad lanes must not come between them.
// CHECK:       %[[G:.*]] = graph.pool2d
// CHECK:       %[[N:.*]] = graph.view %[[G]] : (tensor<2x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<2x32xf16>
// CHECK-NEXT:  graph.trans_data %[[N]] : (tensor<2x32xf16>) -> tensor<2x32xf16, #ge.layout<FRACTAL_NZ>>
func.func @main(%x: tensor<2x32x8x8xf16>) -> tensor<2x4xf16> {
  %g = graph.pool2d average %x kernel [8, 8] : (tensor<2x32x8x8xf16>) -> tensor<2x32x1x1xf16>
  %f = graph.reshape %g : (tensor<2x32x1x1xf16>) -> tensor<2x32xf16>
  %m = graph.constant dense<1.0> : tensor<32x4xf16>
  %p = graph.matmul %f, %m : (tensor<2x32xf16>, tensor<32x4xf16>) -> tensor<2x4xf16>
  func.return %p : tensor<2x4xf16>
}

// -----

// A conversion is made once, and a value that the host changed comes back through one of its own.
// CHECK:       %[[X:.*]] = graph.trans_data %x
// CHECK:       graph.conv2d %[[X]]
// CHECK:       graph.pool2d max %[[X]]
// CHECK:       %[[P:.*]] = graph.trans_data {{.*}} : (tensor<1x16x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x16x8x8xf32>
// CHECK-NEXT:  %[[H:.*]] = graph.host(%[[P]])
// CHECK:       %[[B:.*]] = graph.trans_data %[[H]] : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:  graph.binary add {{.*}}, %[[B]]
func.func @main(%x: tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x16x1x1xf16>
  %c = graph.conv2d %x, %w : (tensor<1x16x8x8xf16>, tensor<16x16x1x1xf16>) -> tensor<1x16x8x8xf16>
  %p = graph.pool2d max %x kernel [3, 3] pads [1, 1, 1, 1] : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16>
  %f = graph.cast %p : (tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf32>
  %h = graph.host(%f) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  ^bb0(%a: tensor<1x16x8x8xf32>):
    %b = onnx.Sin(%a) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    graph.yield %b : tensor<1x16x8x8xf32>
  }
  %i = graph.cast %h : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf16>
  %y = graph.binary add %c, %i : (tensor<1x16x8x8xf16>, tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16>
  func.return %y : tensor<1x16x8x8xf16>
}

// -----

// An elementwise operation between plain values stays in plain format; so does a division whose pad lanes are zero.
// CHECK:       func.func @main
// CHECK-NEXT:    graph.unary <relu> %x : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK:         %[[C:.*]] = graph.conv2d
// CHECK-NEXT:    %[[N:.*]] = graph.trans_data %[[C]] : (tensor<1x3x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    graph.binary div %[[N]], %[[N]] : (tensor<1x3x8x8xf16>, tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
func.func @main(%x: tensor<1x3x8x8xf16>) -> (tensor<1x3x8x8xf16>, tensor<1x3x8x8xf16>) {
  %r = graph.unary <relu> %x : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %w = graph.constant dense<1.0> : tensor<3x3x1x1xf16>
  %c = graph.conv2d %r, %w : (tensor<1x3x8x8xf16>, tensor<3x3x1x1xf16>) -> tensor<1x3x8x8xf16>
  %d = graph.binary div %c, %c : (tensor<1x3x8x8xf16>, tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  func.return %r, %d : tensor<1x3x8x8xf16>, tensor<1x3x8x8xf16>
}

// -----

// Broadcast operands: per channel in NC1HWC0, constant or not, and a scalar as it is.
// CHECK:       %c = graph.conv2d
// CHECK:       %[[K:.*]] = graph.constant #ge.weights<{{.*}}> : tensor<1x16x1x1xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:  %a = graph.binary add %c, %[[K]]
// CHECK-NEXT:  %g = graph.pool2d average %a
// CHECK-NEXT:  %m = graph.binary mul %a, %g : (tensor<1x16x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x16x1x1xf16, #ge.layout<NC1HWC0>>)
// CHECK-NEXT:  %s = graph.constant dense<{{.*}}> : tensor<1xf16>
// CHECK-NEXT:  %y = graph.binary mul %s, %m
func.func @main(%x: tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16> {
  %w = graph.constant dense<1.0> : tensor<16x16x1x1xf16>
  %c = graph.conv2d %x, %w : (tensor<1x16x8x8xf16>, tensor<16x16x1x1xf16>) -> tensor<1x16x8x8xf16>
  %k = graph.constant dense<1.0> : tensor<16x1x1xf16>
  %a = graph.binary add %c, %k : (tensor<1x16x8x8xf16>, tensor<16x1x1xf16>) -> tensor<1x16x8x8xf16>
  %g = graph.pool2d average %a kernel [8, 8] : (tensor<1x16x8x8xf16>) -> tensor<1x16x1x1xf16>
  %m = graph.binary mul %a, %g : (tensor<1x16x8x8xf16>, tensor<1x16x1x1xf16>) -> tensor<1x16x8x8xf16>
  %s = graph.constant dense<2.0> : tensor<1xf16>
  %y = graph.binary mul %s, %m : (tensor<1xf16>, tensor<1x16x8x8xf16>) -> tensor<1x16x8x8xf16>
  func.return %y : tensor<1x16x8x8xf16>
}

// -----

// Groups: 32 of one channel are two of 16, 8 of four channels two of 16, 24 of one are two with an end that is empty,
// 3 of 4 channels are one, 2 of 16 stay.
// CHECK-DAG:   graph.conv2d {{.*}} groups 32 group_merge 16 : (tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>, tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>)
// CHECK-DAG:   graph.conv2d {{.*}} groups 8 group_merge 4 : (tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>, tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>)
// CHECK-DAG:   graph.conv2d {{.*}} groups 24 group_merge 16 : (tensor<1x24x4x4xf16, #ge.layout<NC1HWC0>>, tensor<24x16x1x1xf16, #ge.layout<FRACTAL_Z>>)
// CHECK-DAG:   graph.conv2d {{.*}} groups 3 group_merge 3 : (tensor<1x12x4x4xf16, #ge.layout<NC1HWC0>>, tensor<6x12x1x1xf16, #ge.layout<FRACTAL_Z>>)
// CHECK-DAG:   graph.conv2d {{.*}} groups 2 : (tensor<1x32x4x4xf16, #ge.layout<NC1HWC0>>, tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>)
func.func @main(%x: tensor<1x32x4x4xf16>, %z: tensor<1x24x4x4xf16>, %u: tensor<1x12x4x4xf16>)
    -> (tensor<1x32x4x4xf16>, tensor<1x32x4x4xf16>, tensor<1x24x4x4xf16>, tensor<1x6x4x4xf16>, tensor<1x32x4x4xf16>) {
  %wa = graph.constant dense<1.0> : tensor<32x1x1x1xf16>
  %a = graph.conv2d %x, %wa groups 32 : (tensor<1x32x4x4xf16>, tensor<32x1x1x1xf16>) -> tensor<1x32x4x4xf16>
  %wb = graph.constant dense<1.0> : tensor<32x4x1x1xf16>
  %b = graph.conv2d %x, %wb groups 8 : (tensor<1x32x4x4xf16>, tensor<32x4x1x1xf16>) -> tensor<1x32x4x4xf16>
  %wc = graph.constant dense<1.0> : tensor<24x1x1x1xf16>
  %c = graph.conv2d %z, %wc groups 24 : (tensor<1x24x4x4xf16>, tensor<24x1x1x1xf16>) -> tensor<1x24x4x4xf16>
  %wd = graph.constant dense<1.0> : tensor<6x4x1x1xf16>
  %d = graph.conv2d %u, %wd groups 3 : (tensor<1x12x4x4xf16>, tensor<6x4x1x1xf16>) -> tensor<1x6x4x4xf16>
  %we = graph.constant dense<1.0> : tensor<32x16x1x1xf16>
  %e = graph.conv2d %x, %we groups 2 : (tensor<1x32x4x4xf16>, tensor<32x16x1x1xf16>) -> tensor<1x32x4x4xf16>
  func.return %a, %b, %c, %d, %e
    : tensor<1x32x4x4xf16>, tensor<1x32x4x4xf16>, tensor<1x24x4x4xf16>, tensor<1x6x4x4xf16>, tensor<1x32x4x4xf16>
}

// -----

// Plain formats only: a second run finds the view and leaves the module alone.
// CHECK:       func.func @main(%x: tensor<2x3xf16>) -> tensor<6xf16> {
// CHECK-NEXT:    graph.unary <relu> %x
// CHECK-NEXT:    graph.view
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<2x3xf16>) -> tensor<6xf16> {
  %r = graph.unary <relu> %x : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %y = graph.reshape %r : (tensor<2x3xf16>) -> tensor<6xf16>
  func.return %y : tensor<6xf16>
}

// -----

// Softmax works on plain rows for a plain result; a right operand that is not constant is a feature, not a weight.
// CHECK:       %[[A:.*]] = graph.trans_data %a : (tensor<4x20xf16>) -> tensor<4x20xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       %[[B:.*]] = graph.trans_data %b : (tensor<20x8xf16>) -> tensor<20x8xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       %[[P:.*]] = graph.matmul %[[A]], %[[B]]
// CHECK:       %[[N:.*]] = graph.trans_data %[[P]] : (tensor<4x8xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x8xf16>
// CHECK:       graph.softmax %[[N]] axis -1
func.func @main(%a: tensor<4x20xf16>, %b: tensor<20x8xf16>) -> tensor<4x8xf16> {
  %p = graph.matmul %a, %b : (tensor<4x20xf16>, tensor<20x8xf16>) -> tensor<4x8xf16>
  %y = graph.softmax %p axis -1 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// -----

// Between two products softmax and the normalisation of rows stay in their format.
// CHECK:       %p = graph.matmul
// CHECK-NEXT:  %s = graph.softmax %p axis -1 : (tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK-NEXT:  %n = graph.layer_norm %s, {{.*}} -> tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK-NEXT:  graph.matmul %n
func.func @main(%a: tensor<4x32xf16>) -> tensor<4x32xf16> {
  %w = graph.constant dense<1.0> : tensor<32x32xf16>
  %c = graph.constant dense<1.0> : tensor<32xf32>
  %p = graph.matmul %a, %w : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf16>
  %s = graph.softmax %p axis -1 : (tensor<4x32xf16>) -> tensor<4x32xf16>
  %n = graph.layer_norm %s, %c, %c epsilon 1.0e-5 : (tensor<4x32xf16>, tensor<32xf32>, tensor<32xf32>) -> tensor<4x32xf16>
  %y = graph.matmul %n, %w : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf16>
  func.return %y : tensor<4x32xf16>
}

// -----

// A reduction takes the format that there is: of rows in FRACTAL_NZ it gives a plain tensor, of positions feature maps.
// CHECK:       %p = graph.matmul
// CHECK-NEXT:  %r = graph.reduce sum %p axes [1] : (tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x1xf16>
// CHECK-NEXT:  %c = graph.reduce max %p axes [0] : (tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<1x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       %m = graph.unary
// CHECK:       %h = graph.reduce sum %m axes [2] : (tensor<1x3x4x5xf16>) -> tensor<1x3x1x5xf16>
// CHECK:       %v = graph.conv2d
// CHECK-NEXT:  graph.reduce sum %v axes [2, 3] : (tensor<1x3x4x5xf16, #ge.layout<NC1HWC0>>) -> tensor<1x3x1x1xf16, #ge.layout<NC1HWC0>>
func.func @main(%a: tensor<4x32xf16>, %x: tensor<1x3x4x5xf16>) -> (tensor<4x1xf16>, tensor<1x32xf16>, tensor<1x3x1x5xf16>, tensor<1x3x1x1xf16>) {
  %w = graph.constant dense<1.0> : tensor<32x32xf16>
  %f = graph.constant dense<1.0> : tensor<3x3x1x1xf16>
  %p = graph.matmul %a, %w : (tensor<4x32xf16>, tensor<32x32xf16>) -> tensor<4x32xf16>
  %r = graph.reduce sum %p axes [1] : (tensor<4x32xf16>) -> tensor<4x1xf16>
  %c = graph.reduce max %p axes [0] : (tensor<4x32xf16>) -> tensor<1x32xf16>
  %m = graph.unary <relu> %x : (tensor<1x3x4x5xf16>) -> tensor<1x3x4x5xf16>
  %h = graph.reduce sum %m axes [2] : (tensor<1x3x4x5xf16>) -> tensor<1x3x1x5xf16>
  %v = graph.conv2d %x, %f : (tensor<1x3x4x5xf16>, tensor<3x3x1x1xf16>) -> tensor<1x3x4x5xf16>
  %s = graph.reduce sum %v axes [2, 3] : (tensor<1x3x4x5xf16>) -> tensor<1x3x1x1xf16>
  func.return %r, %c, %h, %s : tensor<4x1xf16>, tensor<1x32xf16>, tensor<1x3x1x5xf16>, tensor<1x3x1x1xf16>
}

// -----

// The heads of an attention lie in FRACTAL_NZ as they are needed: to split them and to join them again moves nothing.
// CHECK:       %p = graph.matmul
// CHECK-NEXT:  %h = graph.view %p : (tensor<1x8x64xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<1x2x8x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       %s = graph.matmul %h
// CHECK-NEXT:  %j = graph.view %s : (tensor<1x2x8x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<1x8x64xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       graph.matmul %j
// CHECK-NOT:   graph.transpose
// CHECK:       func.return
func.func @main(%x: tensor<1x8x64xf16>, %z: tensor<1x2x32x32xf16>) -> tensor<1x8x16xf16> {
  %w = graph.constant dense<1.0> : tensor<64x64xf16>
  %p = graph.matmul %x, %w : (tensor<1x8x64xf16>, tensor<64x64xf16>) -> tensor<1x8x64xf16>
  %r = graph.reshape %p : (tensor<1x8x64xf16>) -> tensor<1x8x2x32xf16>
  %h = graph.transpose %r perm [0, 2, 1, 3] : (tensor<1x8x2x32xf16>) -> tensor<1x2x8x32xf16>
  %s = graph.matmul %h, %z : (tensor<1x2x8x32xf16>, tensor<1x2x32x32xf16>) -> tensor<1x2x8x32xf16>
  %t = graph.transpose %s perm [0, 2, 1, 3] : (tensor<1x2x8x32xf16>) -> tensor<1x8x2x32xf16>
  %j = graph.reshape %t : (tensor<1x8x2x32xf16>) -> tensor<1x8x64xf16>
  %v = graph.constant dense<1.0> : tensor<64x16xf16>
  %y = graph.matmul %j, %v : (tensor<1x8x64xf16>, tensor<64x16xf16>) -> tensor<1x8x16xf16>
  func.return %y : tensor<1x8x16xf16>
}

// -----

// Heads that do not fill blocks are moved in plain format.
// CHECK:       graph.transpose {{.*}} : (tensor<8x2x24xf16>) -> tensor<2x8x24xf16>
func.func @main(%z: tensor<8x48xf16>) -> tensor<2x8x16xf16> {
  %v = graph.constant dense<1.0> : tensor<48x48xf16>
  %q = graph.matmul %z, %v : (tensor<8x48xf16>, tensor<48x48xf16>) -> tensor<8x48xf16>
  %s = graph.reshape %q : (tensor<8x48xf16>) -> tensor<8x2x24xf16>
  %t = graph.transpose %s perm [1, 0, 2] : (tensor<8x2x24xf16>) -> tensor<2x8x24xf16>
  %u = graph.constant dense<1.0> : tensor<24x16xf16>
  %y = graph.matmul %t, %u : (tensor<2x8x24xf16>, tensor<24x16xf16>) -> tensor<2x8x16xf16>
  func.return %y : tensor<2x8x16xf16>
}

// -----

// Windows of a feature map, for a product: their blocks are moved once, without a conversion before or after.
// CHECK:       %[[V:.*]] = graph.view %r : (tensor<6x20x32xf16>) -> tensor<2x3x4x5x2x16xf16>
// CHECK-NEXT:  %[[T:.*]] = graph.transpose %[[V]] perm [0, 2, 4, 1, 3, 5]
// CHECK-NEXT:  %[[W:.*]] = graph.view %[[T]] : (tensor<2x4x2x3x5x16xf16>) -> tensor<8x15x32xf16, #ge.layout<FRACTAL_NZ>>
// CHECK:       graph.matmul %[[W]]
// CHECK-NOT:   graph.trans_data
// CHECK:       func.return
func.func @main(%x: tensor<6x20x32xf16>) -> tensor<6x20x32xf16> {
  %r = graph.unary <relu> %x : (tensor<6x20x32xf16>) -> tensor<6x20x32xf16>
  %s = graph.reshape %r : (tensor<6x20x32xf16>) -> tensor<2x3x4x5x32xf16>
  %t = graph.transpose %s perm [0, 2, 1, 3, 4] : (tensor<2x3x4x5x32xf16>) -> tensor<2x4x3x5x32xf16>
  %u = graph.reshape %t : (tensor<2x4x3x5x32xf16>) -> tensor<8x15x32xf16>
  %w = graph.constant dense<1.0> : tensor<32x32xf16>
  %p = graph.matmul %u, %w : (tensor<8x15x32xf16>, tensor<32x32xf16>) -> tensor<8x15x32xf16>
  %a = graph.reshape %p : (tensor<8x15x32xf16>) -> tensor<2x4x3x5x32xf16>
  %b = graph.transpose %a perm [0, 2, 1, 3, 4] : (tensor<2x4x3x5x32xf16>) -> tensor<2x3x4x5x32xf16>
  %y = graph.reshape %b : (tensor<2x3x4x5x32xf16>) -> tensor<6x20x32xf16>
  func.return %y : tensor<6x20x32xf16>
}
