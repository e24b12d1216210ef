// RUN: ge-opt %s --split-input-file --scale-conv-weights | filecheck %s

// The weights, as a map of 32 channels, are scaled: 2 blocks of filters are its rows.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %s = graph.unary <sigmoid> %g
// CHECK-NEXT:    %[[M:.*]] = graph.constant {{.*}} : tensor<1x32x2x16xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %[[S:.*]] = graph.binary mul %[[M]], %s : {{.*}} -> tensor<1x32x2x16xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %[[W:.*]] = graph.view %[[S]] : {{.*}} -> tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
// CHECK-NEXT:    %y = graph.conv2d %x, %[[W]] activation <relu> : {{.*}} loc(fused["gate", "conv"])
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <sigmoid> %g : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("gate")
  %y = graph.conv2d %m, %w activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: weights that lose bits when they are scaled.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
// CHECK:       graph.conv2d %m, %w
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <sigmoid> %g : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<1.000000e-02> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("gate")
  %y = graph.conv2d %m, %w activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: a product that is used otherwise, too.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
// CHECK:       graph.conv2d %m, %w
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <sigmoid> %g : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("gate")
  %z = graph.unary <tanh> %m : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  graph.host(%z) : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> () {
  ^bb0(%a: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>):
    graph.yield
  }
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: two maps.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
// CHECK:       graph.conv2d %m, %w
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %s: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w activation <relu> : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("conv")
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: a gate of each image.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
// CHECK:       graph.conv2d %m, %w
func.func @main(%x: tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<2x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <sigmoid> %g : (tensor<2x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<2x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<2x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w : (tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<2x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: groups.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
// CHECK:       graph.conv2d %m, %w
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <sigmoid> %g : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %x, %s : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> loc("gate")
  %y = graph.conv2d %m, %w groups 2 : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x16x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: a gate that may be of any size.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.unary <relu> %g : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %s, %x : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Left alone: constants that make the weights too small.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   graph.view
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.constant dense<1.000000e-03> : tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %s, %x : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}

// -----

// Constants that do not: 128 and weights of 1/2.
// CHECK-LABEL: func.func @main
// CHECK:       graph.view
func.func @main(%x: tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, %g: tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>> {
  %s = graph.constant dense<1.280000e+02> : tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>
  %w = graph.constant dense<5.000000e-01> : tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>
  %m = graph.binary mul %s, %x : (tensor<1x32x1x1xf16, #ge.layout<NC1HWC0>>, tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  %y = graph.conv2d %m, %w : (tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>, tensor<32x32x1x1xf16, #ge.layout<FRACTAL_Z>>) -> tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
  func.return %y : tensor<1x32x8x8xf16, #ge.layout<NC1HWC0>>
}
