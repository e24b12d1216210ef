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

// Left alone: rows that do not fill blocks (5), the last axis kept (4), a left operand, a second user in case 2 (6).
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

// -----

// Case 3: keys that are scaled after they are transposed.
// CHECK:       %[[S:.*]] = graph.binary mul %b, %s : {{.*}} loc("scale")
// CHECK-NEXT:  graph.matmul %a, %[[S]] transpose_b
// CHECK-NOT:   graph.transpose
// CHECK:       func.return
func.func @main(%a: tensor<2x3x32xf32>, %b: tensor<2x5x32xf32>) -> tensor<2x3x5xf32> {
  %t = graph.transpose %b perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32> loc("keys")
  %s = graph.constant dense<0.5> : tensor<1xf32>
  %m = graph.binary mul %t, %s : (tensor<2x32x5xf32>, tensor<1xf32>) -> tensor<2x32x5xf32> loc("scale")
  %y = graph.matmul %a, %m : (tensor<2x3x32xf32>, tensor<2x32x5xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// -----

// Case 3: of a left operand, and of a product that is returned, too: its transposition stays.
// CHECK:       %[[K:.*]] = graph.binary mul %b, %s : {{.*}} loc("left")
// CHECK-NEXT:  %[[L:.*]] = graph.transpose %[[K]] perm [0, 2, 1]
// CHECK:       %p = graph.matmul %[[L]], %e
// CHECK-NEXT:  %[[M:.*]] = graph.binary mul %c, %s : {{.*}} loc("right")
// CHECK-NEXT:  %[[T:.*]] = graph.transpose %[[M]] perm [0, 2, 1]
// CHECK-NEXT:  %y = graph.matmul %a, %[[M]] transpose_b
// CHECK-NEXT:  func.return %p, %y, %[[T]]
func.func @main(%a: tensor<2x3x32xf32>, %b: tensor<2x5x32xf32>, %c: tensor<2x5x32xf32>) -> (tensor<2x32x3xf32>, tensor<2x3x5xf32>, tensor<2x32x5xf32>) {
  %s = graph.constant dense<0.5> : tensor<1xf32>
  %l = graph.transpose %b perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32>
  %k = graph.binary mul %l, %s : (tensor<2x32x5xf32>, tensor<1xf32>) -> tensor<2x32x5xf32> loc("left")
  %e = graph.constant dense<1.0> : tensor<2x5x3xf32>
  %p = graph.matmul %k, %e : (tensor<2x32x5xf32>, tensor<2x5x3xf32>) -> tensor<2x32x3xf32>
  %t = graph.transpose %c perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32>
  %m = graph.binary mul %t, %s : (tensor<2x32x5xf32>, tensor<1xf32>) -> tensor<2x32x5xf32> loc("right")
  %y = graph.matmul %a, %m : (tensor<2x3x32xf32>, tensor<2x32x5xf32>) -> tensor<2x3x5xf32>
  func.return %p, %y, %m : tensor<2x32x3xf32>, tensor<2x3x5xf32>, tensor<2x32x5xf32>
}

// -----

// Not where the transposition has a second user, nor with a tensor, nor with a number that gives the result more
// dimensions.
// CHECK-COUNT-3: graph.transpose
// CHECK-NOT:     transpose_b
func.func @main(%a: tensor<2x3x32xf32>, %b: tensor<2x5x32xf32>, %v: tensor<2x32x5xf32>, %c: tensor<5x32xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x32x5xf32>, tensor<2x3x5xf32>) {
  %s = graph.constant dense<0.5> : tensor<1xf32>
  %i = graph.constant dense<0.5> : tensor<1x1x1xf32>
  %t = graph.transpose %b perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32>
  %u = graph.transpose %b perm [0, 2, 1] : (tensor<2x5x32xf32>) -> tensor<2x32x5xf32>
  %w = graph.transpose %c perm [1, 0] : (tensor<5x32xf32>) -> tensor<32x5xf32>
  %m = graph.binary mul %t, %s : (tensor<2x32x5xf32>, tensor<1xf32>) -> tensor<2x32x5xf32>
  %y = graph.matmul %a, %m : (tensor<2x3x32xf32>, tensor<2x32x5xf32>) -> tensor<2x3x5xf32>
  %n = graph.binary mul %u, %v : (tensor<2x32x5xf32>, tensor<2x32x5xf32>) -> tensor<2x32x5xf32>
  %z = graph.matmul %a, %n : (tensor<2x3x32xf32>, tensor<2x32x5xf32>) -> tensor<2x3x5xf32>
  %o = graph.binary mul %w, %i : (tensor<32x5xf32>, tensor<1x1x1xf32>) -> tensor<1x32x5xf32>
  %q = graph.matmul %a, %o : (tensor<2x3x32xf32>, tensor<1x32x5xf32>) -> tensor<2x3x5xf32>
  func.return %y, %z, %t, %q : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x32x5xf32>, tensor<2x3x5xf32>
}

// -----

// Case 3, with heads: the number goes before the reshape that splits them, which is a view then.
// CHECK:       %[[S:.*]] = graph.binary mul %k, {{.*}} -> tensor<8x32xf32>
// CHECK-NEXT:  %[[R:.*]] = graph.reshape %[[S]] : (tensor<8x32xf32>) -> tensor<8x2x16xf32>
// CHECK-NEXT:  %[[T:.*]] = graph.transpose %[[R]] perm [1, 0, 2]
// CHECK-NEXT:  graph.matmul %q, %[[T]] transpose_b
func.func @main(%q: tensor<2x4x16xf32>, %k: tensor<8x32xf32>) -> tensor<2x4x8xf32> {
  %r = graph.reshape %k : (tensor<8x32xf32>) -> tensor<8x2x16xf32>
  %t = graph.transpose %r perm [1, 2, 0] : (tensor<8x2x16xf32>) -> tensor<2x16x8xf32>
  %s = graph.constant dense<0.5> : tensor<f32>
  %m = graph.binary mul %t, %s : (tensor<2x16x8xf32>, tensor<f32>) -> tensor<2x16x8xf32>
  %y = graph.matmul %q, %m : (tensor<2x4x16xf32>, tensor<2x16x8xf32>) -> tensor<2x4x8xf32>
  func.return %y : tensor<2x4x8xf32>
}
