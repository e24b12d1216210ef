// RUN: ge-opt %s --split-input-file --channel-shuffle | filecheck %s

// Case 1.
// CHECK:       %y = graph.gather_channels %x indices [0, 3, 1, 4, 2, 5] : {{.*}} loc(fused["r1", "t", "r2"])
// CHECK-NEXT:  func.return
func.func @main(%x: tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32> {
  %a = graph.reshape %x : (tensor<1x6x2x2xf32>) -> tensor<1x2x3x2x2xf32> loc("r1")
  %b = graph.transpose %a perm [0, 2, 1, 3, 4] : (tensor<1x2x3x2x2xf32>) -> tensor<1x3x2x2x2xf32> loc("t")
  %y = graph.reshape %b : (tensor<1x3x2x2x2xf32>) -> tensor<1x6x2x2xf32> loc("r2")
  func.return %y : tensor<1x6x2x2xf32>
}

// -----

// Case 1 with the pixels as one dimension.
// CHECK:       graph.gather_channels %x indices [0, 2, 1, 3]
func.func @main(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %a = graph.reshape %x : (tensor<2x4x3x5xf32>) -> tensor<2x2x2x15xf32>
  %b = graph.transpose %a perm [0, 2, 1, 3] : (tensor<2x2x2x15xf32>) -> tensor<2x2x2x15xf32>
  %y = graph.reshape %b : (tensor<2x2x2x15xf32>) -> tensor<2x4x3x5xf32>
  func.return %y : tensor<2x4x3x5xf32>
}

// -----

// Left alone: the transpose moves pixels; the reshape goes elsewhere; the transposed value has a second user.
// CHECK:       graph.transpose
// CHECK:       graph.transpose
// CHECK:       graph.gather_channels
// CHECK-NOT:   graph.gather_channels
func.func @main(%x: tensor<1x4x2x2xf32>)
    -> (tensor<1x4x2x2xf32>, tensor<1x2x4x2xf32>, tensor<1x2x2x2x2xf32>, tensor<1x4x2x2xf32>) {
  %a = graph.reshape %x : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %b = graph.transpose %a perm [0, 1, 3, 2, 4] : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %y = graph.reshape %b : (tensor<1x2x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = graph.transpose %a perm [0, 2, 1, 3, 4] : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %z = graph.reshape %c : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x4x2xf32>
  %d = graph.transpose %a perm [0, 2, 1, 3, 4] : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %w = graph.reshape %d : (tensor<1x2x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  func.return %y, %z, %d, %w : tensor<1x4x2x2xf32>, tensor<1x2x4x2xf32>, tensor<1x2x2x2x2xf32>, tensor<1x4x2x2xf32>
}

// -----

// Cases 2 and 3: what ShuffleNet does between two units; each half reads from the operands of the concat that it needs.
// CHECK:       func.func @main
// CHECK-NEXT:    %p = graph.gather_channels %a, %b indices [0, 2]
// CHECK-NEXT:    %q = graph.gather_channels %b indices [0]
// CHECK-NEXT:    func.return
func.func @main(%a: tensor<1x2x2x2xf32>, %b: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>) {
  %c = graph.concat %a, %b axis 1 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  %s = graph.gather_channels %c indices [0, 2, 1, 3] : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %p = graph.gather_channels %s indices [0, 1] : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %q = graph.gather_channels %s indices [1] : (tensor<1x4x2x2xf32>) -> tensor<1x1x2x2xf32>
  func.return %p, %q : tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>
}

// -----

// Left alone: the concat has another user, or goes along another axis.
// CHECK:       graph.concat %a, %a axis 1
// CHECK-NEXT:  graph.gather_channels %c
// CHECK-NEXT:  graph.concat %a, %a axis 2
// CHECK-NEXT:  graph.gather_channels %d
func.func @main(%a: tensor<1x2x2x2xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x1x4x2xf32>) {
  %c = graph.concat %a, %a axis 1 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  %p = graph.gather_channels %c indices [3, 0] : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x2xf32>
  %d = graph.concat %a, %a axis 2 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x4x2xf32>
  %q = graph.gather_channels %d indices [1] : (tensor<1x2x4x2xf32>) -> tensor<1x1x4x2xf32>
  func.return %c, %p, %q : tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x1x4x2xf32>
}

// -----

// A gather stays where its users would read more blocks of 16 channels from its operands than from its result.
// CHECK:         %i = graph.gather_channels %x
// CHECK-COUNT-4: graph.gather_channels %i
func.func @main(%x: tensor<1x32x2x2xf32>) -> (tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>) {
  %i = graph.gather_channels %x indices [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %u0 = graph.gather_channels %i indices [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %u1 = graph.gather_channels %i indices [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %u2 = graph.gather_channels %i indices [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %u3 = graph.gather_channels %i indices [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : (tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  func.return %u0, %u1, %u2, %u3 : tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>, tensor<1x32x2x2xf32>
}
