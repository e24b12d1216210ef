// RUN: ge-opt %s --convert-graph-to-tile | filecheck %s
// RUN: ge-opt %s --convert-graph-to-tile='double-buffer=false' | filecheck %s --check-prefix SINGLE

// A 3x3 convolution with bias and relu becomes one kernel and one launch. Eight cores share 4 x 2 tiles: 64 positions
// (4 rows) by 16 output channels. The input rows come with a row of padding at either side, im2col takes the columns, the
// accumulator starts from the bias, and the loop over input channels asks for double buffering.

// CHECK:      func.func @main
// CHECK:        %y = graph.launch @conv1(%x, %w, %b) blocks 8 type "Conv2D" attrs {{.*}}strides{{.*}}pads{{.*}} loc("conv1")
// CHECK-NEXT:   func.return %y
// CHECK:      tile.kernel @conv1(%x: !tile.gm<1x2x16x16x16xf16>, %w: !tile.gm<18x2x16x16xf16>, %bias: !tile.gm<32xf32>, %y: !tile.gm<1x2x256x16xf16>) grid(%core : 8) outputs(1) {
// CHECK:        [[TILE:%.*]] = arith.remui %core, %c4 : index
// CHECK-NEXT:   %block = arith.divui %core, %c4 : index
// CHECK-NEXT:   %start = arith.muli [[TILE]], %c64 : index
// CHECK:        %bias_rows = tile.load %bias[{{.*}}] sizes [16] : !tile.gm<32xf32> -> !tile.tile<1x1x16xf32>
// CHECK-NEXT:   %init = tile.broadcast %bias_rows : !tile.tile<1x1x16xf32> -> !tile.tile<1x64x16xf32>
// CHECK-NEXT:   %acc = tile.for %i = 0 to 2 step 1 iter_args([[ACC:%.*]] = %init : !tile.tile<1x64x16xf32>) stages(2) {
// CHECK:          [[ROW:%.*]] = arith.addi {{.*}}, %minus1 : index
// CHECK-NEXT:     %slab = tile.load %x[0, %i, [[ROW]], 0, 0] sizes [1, 1, 6, 16, 16] fill 0 : !tile.gm<1x2x16x16x16xf16> -> !tile.tile<1x6x16x16xf16>
// CHECK:          %weights = tile.load %w[{{.*}}, %block, 0, 0] sizes [9, 1, 16, 16] : !tile.gm<18x2x16x16xf16> -> !tile.tile<9x1x16x16xf16>
// CHECK-NEXT:     %a = tile.im2col %slab[0, 0] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 16 : !tile.tile<1x6x16x16xf16> -> !tile.tile<9x64x16xf16>
// CHECK-NEXT:     [[NEXT:%.*]] = tile.matmul %a, %weights, [[ACC]] : !tile.tile<9x64x16xf16>, !tile.tile<9x1x16x16xf16> -> !tile.tile<1x64x16xf32>
// CHECK-NEXT:     tile.yield [[NEXT]] : !tile.tile<1x64x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   [[RELU:%.*]] = tile.unary relu %acc : !tile.tile<1x64x16xf32>
// CHECK-NEXT:   %out = tile.cast [[RELU]] : !tile.tile<1x64x16xf32> -> !tile.tile<1x64x16xf16>
// CHECK-NEXT:   tile.store %out, %y[0, %block, %start, 0] sizes [1, 1, 64, 16] : !tile.tile<1x64x16xf16> -> !tile.gm<1x2x256x16xf16>
// CHECK-NEXT: } loc("conv1")

// SINGLE:     tile.kernel @conv1
// SINGLE-NOT: stages

func.func @main(%x: tensor<1x32x16x16xf16, #ge.layout<NC1HWC0>>) -> tensor<1x32x16x16xf16, #ge.layout<NC1HWC0>> {
  %w = graph.constant dense<0.5> : tensor<32x32x3x3xf16, #ge.layout<FRACTAL_Z>>
  %b = graph.constant dense<1.0> : tensor<32xf32>
  %y = graph.conv2d %x, %w, %b pads [1, 1, 1, 1] activation <relu>
     : (tensor<1x32x16x16xf16, #ge.layout<NC1HWC0>>, tensor<32x32x3x3xf16, #ge.layout<FRACTAL_Z>>, tensor<32xf32>)
     -> tensor<1x32x16x16xf16, #ge.layout<NC1HWC0>> loc("conv1")
  func.return %y : tensor<1x32x16x16xf16, #ge.layout<NC1HWC0>>
}
