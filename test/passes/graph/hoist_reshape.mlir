// RUN: ge-opt %s --split-input-file --hoist-reshape | filecheck %s
// RUN: ge-opt %s --split-input-file --hoist-reshape --hoist-reshape | filecheck %s

// Cases 1 and 2: dimensions of 1 are added, and the reshape before goes; bias, activation and names stay.
// CHECK:       func.func @main
// CHECK-NEXT:    %w = graph.constant
// CHECK-NEXT:    %c = graph.constant
// CHECK-NEXT:    %z = graph.matmul %x, %w, %c activation <relu> : (tensor<1x4x32xf32>, tensor<32x8xf32>, tensor<8xf32>) -> tensor<1x4x8xf32> loc("gemm")
// CHECK-NEXT:    func.return %z
func.func @main(%x: tensor<1x4x32xf32>) -> tensor<1x4x8xf32> {
  %w = graph.constant dense<1.0> : tensor<32x8xf32>
  %c = graph.constant dense<2.0> : tensor<8xf32>
  %r = graph.reshape %x : (tensor<1x4x32xf32>) -> tensor<4x32xf32>
  %y = graph.matmul %r, %w, %c activation <relu> : (tensor<4x32xf32>, tensor<32x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("gemm")
  %z = graph.reshape %y : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  func.return %z : tensor<1x4x8xf32>
}

// -----

// Case 1: without a reshape before; dimensions of 1 are taken away, from a product with a transposed right operand.
// CHECK:         %[[R:.*]] = graph.reshape %x : (tensor<1x1x4x32xf32>) -> tensor<4x32xf32>
// CHECK-NEXT:    %z = graph.matmul %[[R]], %w transpose_b : (tensor<4x32xf32>, tensor<8x32xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %z
func.func @main(%x: tensor<1x1x4x32xf32>, %w: tensor<8x32xf32>) -> tensor<4x8xf32> {
  %y = graph.matmul %x, %w transpose_b : (tensor<1x1x4x32xf32>, tensor<8x32xf32>) -> tensor<1x1x4x8xf32>
  %z = graph.reshape %y : (tensor<1x1x4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// -----

// The reshape before is a part of heads that are joined; another user keeps it.
// CHECK:         %r = graph.reshape %x : (tensor<4x2x16xf32>) -> tensor<4x32xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.reshape %x : (tensor<4x2x16xf32>) -> tensor<1x4x32xf32>
// CHECK-NEXT:    %z = graph.matmul %[[R]], %w
// CHECK-NEXT:    func.return %z, %r
func.func @main(%x: tensor<4x2x16xf32>, %w: tensor<32x8xf32>) -> (tensor<1x4x8xf32>, tensor<4x32xf32>) {
  %r = graph.reshape %x : (tensor<4x2x16xf32>) -> tensor<4x32xf32>
  %y = graph.matmul %r, %w : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %z = graph.reshape %y : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  func.return %z, %r : tensor<1x4x8xf32>, tensor<4x32xf32>
}

// -----

// Left alone: 3. batches, and a row that becomes a matrix of another height; 4. another user; 5. a right operand of
// several matrices.
// CHECK:       func.func @main(%x: tensor<4x32xf32>, %w: tensor<32x8xf32>, %v
// CHECK-NEXT:    graph.matmul
// CHECK-NEXT:    graph.reshape
// CHECK-NEXT:    graph.matmul
// CHECK-NEXT:    graph.reshape
// CHECK-NEXT:    graph.matmul
// CHECK-NEXT:    graph.reshape
// CHECK-NEXT:    graph.matmul
// CHECK-NEXT:    graph.reshape
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<4x32xf32>, %w: tensor<32x8xf32>, %v: tensor<1x1x32xf32>, %u: tensor<1x32x8xf32>, %t: tensor<1x4x32xf32>) -> (tensor<2x2x8xf32>, tensor<1x8x1xf32>, tensor<4x8xf32>, tensor<1x4x8xf32>, tensor<4x8xf32>) {
  %a = graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %b = graph.reshape %a : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  %c = graph.matmul %v, %w : (tensor<1x1x32xf32>, tensor<32x8xf32>) -> tensor<1x1x8xf32>
  %d = graph.reshape %c : (tensor<1x1x8xf32>) -> tensor<1x8x1xf32>
  %e = graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %f = graph.reshape %e : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %g = graph.matmul %t, %u : (tensor<1x4x32xf32>, tensor<1x32x8xf32>) -> tensor<1x4x8xf32>
  %h = graph.reshape %g : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  func.return %b, %d, %e, %f, %h : tensor<2x2x8xf32>, tensor<1x8x1xf32>, tensor<4x8xf32>, tensor<1x4x8xf32>, tensor<4x8xf32>
}
