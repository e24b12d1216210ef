// RUN: ge-opt %s --split-input-file --fold-transpose-matmul | filecheck %s
// RUN: ge-opt %s --split-input-file --fold-transpose-matmul --fold-transpose-matmul | filecheck %s

// Case 1: what is fused into the product stays; a transposition with another user does, too.
// CHECK:       func.func @main
// CHECK-NEXT:    %t = graph.transpose %b perm [0, 2, 1]
// CHECK-NEXT:    %c = graph.constant
// CHECK-NEXT:    %y = graph.matmul %a, %b, %c transpose_b activation <relu> : {{.*}} loc(fused["product", "keys"])
// CHECK-NEXT:    func.return %y, %t
func.func @main(%a: tensor<2x3x32xf32>, %b: tensor<2x5x32xf32>) -> (tensor<2x3x5xf32>, tensor<2x32x5xf32>) {
  %t = graph.transpose %b perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32> loc("keys")
  %c = graph.constant dense<1.0> : tensor<5xf32>
  %y = graph.matmul %a, %t, %c activation <relu> : (tensor<2x3x32xf32>, tensor<2x32x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32> loc("product")
  func.return %y, %t : tensor<2x3x5xf32>, tensor<2x32x5xf32>
}

// -----

// Case 2: heads are still split.
// CHECK:       func.func @main
// CHECK-NEXT:    %[[H:.*]] = graph.transpose %k perm [0, 2, 1, 3] : (tensor<1x8x2x16xf32>) -> tensor<1x2x8x16xf32> loc("keys")
// CHECK-NEXT:    %y = graph.matmul %q, %[[H]] transpose_b : {{.*}} -> tensor<1x2x4x8xf32>
// CHECK-NEXT:    func.return
func.func @main(%q: tensor<1x2x4x16xf32>, %k: tensor<1x8x2x16xf32>) -> tensor<1x2x4x8xf32> {
  %t = graph.transpose %k perm [0, 2, 3, 1] : (tensor<1x8x2x16xf32>) -> tensor<1x2x16x8xf32> loc("keys")
  %y = graph.matmul %q, %t : (tensor<1x2x4x16xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32>
  func.return %y : tensor<1x2x4x8xf32>
}

// -----

// Left alone: rows that do not fill blocks (4), the last axis kept (3), a left operand, a second user in case 2 (5).
// CHECK-NOT:   transpose_b
func.func @main(%a: tensor<3x20xf32>, %b: tensor<5x20xf32>, %c: tensor<1x2x4x16xf32>, %k: tensor<1x8x2x16xf32>, %v: tensor<1x8x2x16xf32>) -> (tensor<3x5xf32>, tensor<1x2x4x16xf32>, tensor<20x20xf32>, tensor<1x2x4x8xf32>, tensor<1x2x16x8xf32>) {
  %t = graph.transpose %b perm [1, 0] : (tensor<5x20xf32>) -> tensor<20x5xf32>
  %y = graph.matmul %a, %t : (tensor<3x20xf32>, tensor<20x5xf32>) -> tensor<3x5xf32>
  %h = graph.transpose %v perm [0, 2, 1, 3] : (tensor<1x8x2x16xf32>) -> tensor<1x2x8x16xf32>
  %s = graph.slice %c axis 3 start 0 size 8 : (tensor<1x2x4x16xf32>) -> tensor<1x2x4x8xf32>
  %z = graph.matmul %s, %h : (tensor<1x2x4x8xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x4x16xf32>
  %u = graph.matmul %t, %b : (tensor<20x5xf32>, tensor<5x20xf32>) -> tensor<20x20xf32>
  %r = graph.transpose %k perm [0, 2, 3, 1] : (tensor<1x8x2x16xf32>) -> tensor<1x2x16x8xf32>
  %w = graph.matmul %c, %r : (tensor<1x2x4x16xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32>
  func.return %y, %z, %u, %w, %r : tensor<3x5xf32>, tensor<1x2x4x16xf32>, tensor<20x20xf32>, tensor<1x2x4x8xf32>, tensor<1x2x16x8xf32>
}

// -----

// One head: what would be left only moves an axis of size 1, and is a reshape.
// CHECK:       %[[H:.*]] = graph.reshape %k : (tensor<1x8x1x16xf32>) -> tensor<1x1x8x16xf32> loc("keys")
// CHECK-NEXT:  graph.matmul %q, %[[H]] transpose_b
func.func @main(%q: tensor<1x1x4x16xf32>, %k: tensor<1x8x1x16xf32>) -> tensor<1x1x4x8xf32> {
  %t = graph.transpose %k perm [0, 2, 3, 1] : (tensor<1x8x1x16xf32>) -> tensor<1x1x16x8xf32> loc("keys")
  %y = graph.matmul %q, %t : (tensor<1x1x4x16xf32>, tensor<1x1x16x8xf32>) -> tensor<1x1x4x8xf32>
  func.return %y : tensor<1x1x4x8xf32>
}
