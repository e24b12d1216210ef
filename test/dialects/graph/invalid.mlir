// RUN: ge-opt %s --verify-diagnostics --split-input-file

func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{the weights take 4 channels, a group of the input has 8}}
  %0 = graph.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32>
  func.return
}

// -----

func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error@+1 {{the result has shape [1, 4, 6, 6], but must have [1, 4, 4, 4]}}
  %0 = graph.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{a vector of shape [8] does not fit the channels of [1, 4, 4, 4]}}
  %0 = graph.conv2d %x, %w, %b : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, tensor<8xf32>) -> tensor<1x4x4x4xf32>
  func.return
}

// -----

func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf16>) {
  // expected-error@+1 {{operands have element types f32 and f16}}
  %0 = graph.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf16>) -> tensor<1x4x4x4xf32>
  func.return
}

// -----

func.func @main(%x: tensor<1x8x2x2xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error@+1 {{a window of 3 does not fit into 2 elements padded by 0 and 0}}
  %0 = graph.conv2d %x, %w : (tensor<1x8x2x2xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x0x0xf32>
  func.return
}

// -----

func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x6xf32>) {
  // expected-error@+1 {{the left operand has 4 columns, the right one 5 rows}}
  %0 = graph.matmul %a, %b : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  func.return
}

// -----

func.func @main(%a: tensor<3x4xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{shapes [3, 4] and [2] do not broadcast}}
  %0 = graph.binary add %a, %b : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @main(%a: tensor<1x4x2x2xf32>) {
  // expected-error@+1 {{a channel index is not one of 0 to 3}}
  %0 = graph.gather_channels %a indices [4] : (tensor<1x4x2x2xf32>) -> tensor<1x1x2x2xf32>
  func.return
}

// -----

func.func @main(%a: tensor<1x4x2x2xf32>) {
  // expected-error@+1 {{[0, 0, 1, 2] is not a permutation of 4 dimensions}}
  %0 = graph.transpose %a perm [0, 0, 1, 2] : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x2xf32>
  func.return
}

// -----

func.func @main(%a: tensor<3x4xf32>) {
  // expected-error@+1 {{the result has element type f16, the operand f32}}
  %0 = graph.unary <relu> %a : (tensor<3x4xf32>) -> tensor<3x4xf16>
  func.return
}

// -----

func.func @main(%a: tensor<3xf32>) {
  // expected-error@+1 {{the types of the yielded values differ from those of the results}}
  %0 = graph.host(%a) : (tensor<3xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<3xf32>):
    graph.yield %b : tensor<3xf32>
  }
  func.return
}

// -----

func.func @main(%a: tensor<3xf32>) {
  // expected-error@+1 {{the types of the region's arguments differ from those of the operands}}
  %0 = graph.host(%a) : (tensor<3xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    graph.yield %b : tensor<4xf32>
  }
  func.return
}

// -----

func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // expected-error@+1 {{a window has two sizes, strides and dilations, and four pads}}
  %y = graph.conv2d %x, %w dilations [1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %y : tensor<1x4x6x6xf32>
}

// -----

func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  // expected-error@+1 {{kernel, strides and dilations are at least 1, pads at least 0}}
  %y = graph.conv2d %x, %w pads [-1, -1, -1, -1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

// -----

func.func @main(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  // expected-error@+1 {{0 channels cannot be summed}}
  %y = graph.lrn %x size 0 alpha 1.0 beta 0.75 bias 2.0 : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// -----

func.func @main(%x: tensor<4xf16>) {
  // expected-error@+1 {{the types of the region's arguments differ from those of the operands}}
  %0 = graph.fusion(%x) : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    %y = graph.cast %a : (tensor<4xf32>) -> tensor<4xf16>
    graph.yield %y : tensor<4xf16>
  }
  func.return
}

// -----

func.func @main(%x: tensor<4xf16>) {
  // expected-error@+1 {{the region does not end with graph.yield of one value}}
  %0 = graph.fusion(%x) : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    graph.yield %a, %a : tensor<4xf16>, tensor<4xf16>
  }
  func.return
}

// -----

func.func @main(%x: tensor<4xf16>) {
  // expected-error@+1 {{the type of the yielded value differs from that of the result}}
  %0 = graph.fusion(%x) : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    %y = graph.cast %a : (tensor<4xf16>) -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  func.return
}

// -----

func.func @main(%x: tensor<4xf16>) {
  // expected-error@+1 {{graph.constant computes no tensor from tensors}}
  %0 = graph.fusion(%x) : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    %c = graph.constant dense<1.0> : tensor<4xf16>
    graph.yield %c : tensor<4xf16>
  }
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>, %s: tensor<8xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{vectors of shapes [8] and [1] do not fit the rows of [3, 8]}}
  %0 = graph.layer_norm %x, %s, %b epsilon 1.000000e-05 : (tensor<3x8xf16>, tensor<8xf32>, tensor<1xf32>) -> tensor<3x8xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{axes [1, 0] are not some of the 2 dimensions in order}}
  %0 = graph.reduce sum %x axes [1, 0] : (tensor<3x8xf16>) -> tensor<1x1xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{axes [-1] are not some of the 2 dimensions in order}}
  %0 = graph.reduce max %x axes [-1] : (tensor<3x8xf16>) -> tensor<3x1xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{axes [] are not some of the 2 dimensions in order}}
  %0 = graph.reduce max %x axes [] : (tensor<3x8xf16>) -> tensor<3x8xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{the result has shape [3], but must have [3, 1]}}
  %0 = graph.reduce mean %x axes [1] : (tensor<3x8xf16>) -> tensor<3xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{positions 6 to 9 are not inside a dimension of 8}}
  %0 = graph.slice %x axis 1 start 6 size 4 : (tensor<3x8xf16>) -> tensor<3x4xf16>
  func.return
}

// -----

func.func @main(%x: tensor<3x8xf16>) {
  // expected-error@+1 {{axis 2 is not one of the 2 dimensions}}
  %0 = graph.slice %x axis 2 start 0 size 1 : (tensor<3x8xf16>) -> tensor<3x8xf16>
  func.return
}

// -----

func.func @main(%x: tensor<4xf16>) {
  // expected-error@+1 {{stream -1 is negative}}
  %0 = graph.launch @k(%x) blocks 8 type "K" stream -1 : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

func.func @main() {
  // expected-error@+1 {{event -1 is negative}}
  graph.wait event -1 stream 0
  func.return
}

// -----

func.func @main() {
  // expected-error@+1 {{stream 64 is not below 64}}
  graph.record event 0 stream 64
  func.return
}
