// RUN: ge-opt %s --split-input-file --assign-precision | filecheck %s
// RUN: not ge-opt %s --split-input-file --assign-precision='keep=nobody' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: no node is called nobody

// An operation without a kernel moves to the host and computes in float32 there; its neighbours convert.
// CHECK:       %[[C:.*]] = graph.conv2d
// CHECK-NEXT:  %[[F:.*]] = graph.cast %[[C]] : (tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf32>
// CHECK-NEXT:  %[[T:.*]] = graph.host(%[[F]]) : (tensor<1x1x4x4xf32>) -> tensor<1x4x4x1xf32>
// CHECK:         onnx.Transpose
// CHECK:       func.return %[[T]]
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x4x4x1xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %y = graph.transpose %c perm [0, 2, 3, 1] : (tensor<1x1x4x4xf32>) -> tensor<1x4x4x1xf32>
  func.return %y : tensor<1x4x4x1xf32>
}

// -----

// Cheap operations between host operations stay with them, in float32.
// CHECK-NOT:   f16
// CHECK:       onnx.Transpose
// CHECK:       onnx.Relu
// CHECK:       onnx.Transpose
func.func @main(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %a = graph.transpose %x perm [2, 1, 0] : (tensor<2x3x5xf32>) -> tensor<5x3x2xf32>
  %b = graph.unary <relu> %a : (tensor<5x3x2xf32>) -> tensor<5x3x2xf32>
  %y = graph.transpose %b perm [2, 1, 0] : (tensor<5x3x2xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// -----

// A reduction of which the host has the operand and wants the result moves there, through a reshape; others do not.
// CHECK:       %m = graph.matmul
// CHECK-NOT:   graph.reduce sum
// CHECK:       onnx.ReduceSum
// CHECK:       graph.reduce max %m
func.func @main(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<1x32xf32>) {
  %m = graph.matmul %x, %x : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = graph.reduce sum %m axes [1] : (tensor<32x32xf32>) -> tensor<32x1xf32>
  %f = graph.reshape %r : (tensor<32x1xf32>) -> tensor<32xf32>
  %h = graph.host(%m, %f) : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32> {
  ^bb0(%a: tensor<32x32xf32>, %b: tensor<32xf32>):
    %y = onnx.Mod(%a, %b) {fmod = 1} : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
    graph.yield %y : tensor<32x32xf32>
  }
  %c = graph.reduce max %m axes [0] : (tensor<32x32xf32>) -> tensor<1x32xf32>
  func.return %h, %c : tensor<32x32xf32>, tensor<1x32xf32>
}

// -----

// Slices of what the host has made move there, with the reshape between, where the device wants nothing but them.
// CHECK:       onnx.Mod
// CHECK:       onnx.Reshape
// CHECK:       onnx.Slice
// CHECK:       onnx.Slice
// CHECK-NOT:   graph.reshape
// CHECK-NOT:   graph.slice
// CHECK:       graph.matmul
func.func @main(%x: tensor<1x6x16xf32>, %w: tensor<16x16xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  %h = graph.host(%x) : (tensor<1x6x16xf32>) -> tensor<1x6x16xf32> {
  ^bb0(%a: tensor<1x6x16xf32>):
    %y = onnx.Mod(%a, %a) {fmod = 1} : (tensor<1x6x16xf32>, tensor<1x6x16xf32>) -> tensor<1x6x16xf32>
    graph.yield %y : tensor<1x6x16xf32>
  }
  %r = graph.reshape %h : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
  %s = graph.slice %r axis 0 start 0 size 3 : (tensor<6x16xf32>) -> tensor<3x16xf32>
  %t = graph.slice %r axis 0 start 3 size 3 : (tensor<6x16xf32>) -> tensor<3x16xf32>
  %p = graph.matmul %s, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  %q = graph.matmul %t, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  func.return %p, %q : tensor<3x16xf32>, tensor<3x16xf32>
}

// -----

// Left alone: a slice of a value that the device reads as a whole, too, of an input, and of what the device has made.
// CHECK-NOT:   onnx.Slice
// CHECK-COUNT-3: graph.slice
func.func @main(%x: tensor<6x16xf32>, %w: tensor<16x16xf32>) -> (tensor<6x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) {
  %h = graph.host(%x) : (tensor<6x16xf32>) -> tensor<6x16xf32> {
  ^bb0(%a: tensor<6x16xf32>):
    %y = onnx.Mod(%a, %a) {fmod = 1} : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    graph.yield %y : tensor<6x16xf32>
  }
  %m = graph.matmul %h, %w : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
  %s = graph.slice %h axis 0 start 0 size 3 : (tensor<6x16xf32>) -> tensor<3x16xf32>
  %p = graph.matmul %s, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  %t = graph.slice %x axis 0 start 0 size 3 : (tensor<6x16xf32>) -> tensor<3x16xf32>
  %q = graph.matmul %t, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  %u = graph.slice %m axis 0 start 0 size 3 : (tensor<6x16xf32>) -> tensor<3x16xf32>
  %r = graph.matmul %u, %w : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
  func.return %m, %p, %q, %r : tensor<6x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>
}

// -----

// Left alone: slices that together are more than the value.
// CHECK-NOT:   onnx.Slice
// CHECK:       graph.slice
// CHECK:       graph.slice
func.func @main(%x: tensor<6x16xf32>, %w: tensor<16x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %h = graph.host(%x) : (tensor<6x16xf32>) -> tensor<6x16xf32> {
  ^bb0(%a: tensor<6x16xf32>):
    %y = onnx.Mod(%a, %a) {fmod = 1} : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    graph.yield %y : tensor<6x16xf32>
  }
  %s = graph.slice %h axis 0 start 0 size 4 : (tensor<6x16xf32>) -> tensor<4x16xf32>
  %t = graph.slice %h axis 0 start 2 size 4 : (tensor<6x16xf32>) -> tensor<4x16xf32>
  %p = graph.matmul %s, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %q = graph.matmul %t, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  func.return %p, %q : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// A float16 model has nothing to convert but a bias; casts of the model between the two types go.
// CHECK:       func.func @main(%a: tensor<3x4xf16>, %z: tensor<3x2xf32>) -> (tensor<3x2xf16>, tensor<3x2xf32>)
// CHECK:         %[[B:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         %[[P:.*]] = graph.matmul %a, %b, %[[B]]
// CHECK-NEXT:    %[[F:.*]] = graph.cast %[[P]] : (tensor<3x2xf16>) -> tensor<3x2xf32>
// CHECK-NEXT:    func.return %[[P]], %[[F]]
func.func @main(%a: tensor<3x4xf16>, %z: tensor<3x2xf32>) -> (tensor<3x2xf16>, tensor<3x2xf32>) {
  %b = graph.constant dense<1.0> : tensor<4x2xf16>
  %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %p = graph.matmul %a, %b, %c : (tensor<3x4xf16>, tensor<4x2xf16>, tensor<2xf16>) -> tensor<3x2xf16>
  %q = graph.cast %p : (tensor<3x2xf16>) -> tensor<3x2xf32>
  func.return %p, %q : tensor<3x2xf16>, tensor<3x2xf32>
}

// -----

// Integers and values of the host pass untouched.
// CHECK:       func.func @main(%i: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xf32>) {
// CHECK-NEXT:    graph.host(%i)
// CHECK-NOT:   graph.cast
func.func @main(%i: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xf32>) {
  %y = graph.host(%i) : (tensor<2xi64>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xi64>):
    %b = onnx.Cast(%a) {to = 1} : (tensor<2xi64>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return %i, %y : tensor<2xi64>, tensor<2xf32>
}

// -----

// A reshape of what the device does not compute needs no conversion.
// CHECK:       func.func @main
// CHECK-NEXT:    graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %y = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----

// Sums of products of 8 bits are scaled on the host, with the product of the scales; what follows is float16 again.
// CHECK:       %[[F:.*]] = graph.host(%i)
// CHECK:       graph.host(%{{.*}}) : (tensor<f32>) -> tensor<f32>
// CHECK:       %[[S:.*]] = graph.host(%[[F]], %{{.*}}) : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
// CHECK:       %[[H:.*]] = graph.cast %[[S]] : (tensor<2x16xf32>) -> tensor<2x16xf16>
// CHECK:       graph.matmul %[[H]]
func.func @main(%i: tensor<2x16xi32>, %a: tensor<f32>) -> tensor<2x16xf32> {
  %f = graph.host(%i) : (tensor<2x16xi32>) -> tensor<2x16xf32> {
  ^bb0(%j: tensor<2x16xi32>):
    %g = onnx.Cast(%j) {to = 1} : (tensor<2x16xi32>) -> tensor<2x16xf32>
    graph.yield %g : tensor<2x16xf32>
  }
  %b = graph.constant dense<0.0001> : tensor<f32>
  %c = graph.binary mul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = graph.binary mul %f, %c : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %w = graph.constant dense<1.0> : tensor<16x16xf32>
  %y = graph.matmul %s, %w : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  func.return %y : tensor<2x16xf32>
}

// -----

// Moved, negated, added to, and scaled by two factors; the last product is the first number for the device.
// CHECK:       graph.host(%i)
// CHECK-NOT:   f16
// CHECK:       onnx.Transpose
// CHECK:       onnx.Neg
// CHECK:       onnx.Add
// CHECK:       onnx.Mul
// CHECK:       onnx.Transpose
// CHECK:       onnx.Mul
// CHECK:       %[[H:.*]] = graph.cast {{.*}} : (tensor<16x2xf32>) -> tensor<16x2xf16>
// CHECK:       %[[R:.*]] = graph.reshape %[[H]]
// CHECK:       %[[M:.*]] = graph.matmul %[[R]]
// CHECK:       graph.binary mul %[[M]]
func.func @main(%i: tensor<16x2xi32>, %a: tensor<1xf32>, %b: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %f = graph.host(%i) : (tensor<16x2xi32>) -> tensor<16x2xf32> {
  ^bb0(%j: tensor<16x2xi32>):
    %g = onnx.Cast(%j) {to = 1} : (tensor<16x2xi32>) -> tensor<16x2xf32>
    graph.yield %g : tensor<16x2xf32>
  }
  %t = graph.transpose %f perm [1, 0] : (tensor<16x2xf32>) -> tensor<2x16xf32>
  %n = graph.unary <neg> %t : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s = graph.binary add %n, %b : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %c = graph.binary mul %s, %a : (tensor<2x16xf32>, tensor<1xf32>) -> tensor<2x16xf32>
  %u = graph.transpose %c perm [1, 0] : (tensor<2x16xf32>) -> tensor<16x2xf32>
  %d = graph.binary mul %a, %u : (tensor<1xf32>, tensor<16x2xf32>) -> tensor<16x2xf32>
  %r = graph.reshape %d : (tensor<16x2xf32>) -> tensor<2x16xf32>
  %w = graph.constant dense<1.0> : tensor<16x16xf32>
  %m = graph.matmul %r, %w : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %y = graph.binary mul %m, %a : (tensor<2x16xf32>, tensor<1xf32>) -> tensor<2x16xf32>
  func.return %y : tensor<2x16xf32>
}

// -----

// Bytes and truths fit into float16, and so do sums of few of them, and what is no integer.
// CHECK:       graph.binary mul {{.*}} -> tensor<2x16xf16>
// CHECK:       graph.binary sub {{.*}} -> tensor<2x16xf16>
// CHECK:       graph.binary add {{.*}} -> tensor<2x16xf16>
// CHECK:       graph.binary max {{.*}} -> tensor<2x16xf16>
func.func @main(%i: tensor<2x16xui8>, %j: tensor<2x16xi1>, %x: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %f = graph.host(%i) : (tensor<2x16xui8>) -> tensor<2x16xf32> {
  ^bb0(%a: tensor<2x16xui8>):
    %b = onnx.Cast(%a) {to = 1} : (tensor<2x16xui8>) -> tensor<2x16xf32>
    graph.yield %b : tensor<2x16xf32>
  }
  %g = graph.host(%j) : (tensor<2x16xi1>) -> tensor<2x16xf32> {
  ^bb0(%c: tensor<2x16xi1>):
    %d = onnx.Cast(%c) {to = 1} : (tensor<2x16xi1>) -> tensor<2x16xf32>
    graph.yield %d : tensor<2x16xf32>
  }
  %w = graph.constant dense<1.0> : tensor<16x16xf32>
  %large = graph.constant dense<100001.0> : tensor<f32>
  %m = graph.binary mul %f, %x : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y = graph.matmul %m, %w : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %k = graph.binary sub %g, %f : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %n = graph.binary add %k, %x : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %o = graph.binary max %n, %large : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %z = graph.matmul %o, %w : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  func.return %y, %z : tensor<2x16xf32>, tensor<2x16xf32>
}
