// 3 x 3 convolution of 64 channels in 12 x 16, 32 outputs with bias and sigmoid: 6 tiles of 2 rows on 2 cores, 4 turns
// over the input channels, each of 3 pieces.
tile.kernel @convolution(%x: !tile.gm<1x4x12x16x16xf16>, %w: !tile.gm<36x2x16x16xf16>, %bias: !tile.gm<2x1x16xf32>, %y: !tile.gm<1x2x192x16xf16>) grid(%core : 2) outputs(1) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c32 = arith.constant 32 : index
  tile.for %t = %core to 6 step 2 stages(2) {
    %rows = tile.load %bias[0, 0, 0] sizes [2, 1, 16] : !tile.gm<2x1x16xf32> -> !tile.tile<2x1x16xf32>
    %init = tile.broadcast %rows : !tile.tile<2x1x16xf32> -> !tile.tile<2x32x16xf32>
    %below = arith.muli %t, %c2 : index
    %top = arith.subi %below, %c1 : index
    %m = arith.muli %t, %c32 : index
    %sum = tile.for %i = 0 to 4 step 1 iter_args(%acc = %init : !tile.tile<2x32x16xf32>) stages(2) {
      %slab = tile.load %x[0, %i, %top, 0, 0] sizes [1, 1, 4, 16, 16] fill 0 : !tile.gm<1x4x12x16x16xf16> -> !tile.tile<1x4x16x16xf16>
      %k = arith.muli %i, %c9 : index
      %weights = tile.load %w[%k, 0, 0, 0] sizes [9, 2, 16, 16] : !tile.gm<36x2x16x16xf16> -> !tile.tile<9x2x16x16xf16>
      %part = tile.for %j = 0 to 9 step 3 iter_args(%acc_1 = %acc : !tile.tile<2x32x16xf32>) stages(2) {
        %a = tile.im2col %slab[0, %j] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 16 : !tile.tile<1x4x16x16xf16> -> !tile.tile<3x32x16xf16>
        %b = tile.slice %weights[%j, 0, 0, 0] sizes [3, 2, 16, 16] strides [1, 1, 1, 1] : !tile.tile<9x2x16x16xf16> -> !tile.tile<3x2x16x16xf16>
        %next = tile.matmul %a, %b, %acc_1 : !tile.tile<3x32x16xf16>, !tile.tile<3x2x16x16xf16> -> !tile.tile<2x32x16xf32>
        tile.yield %next : !tile.tile<2x32x16xf32>
      }
      tile.yield %part : !tile.tile<2x32x16xf32>
    }
    %minus = tile.scalar muls %sum, -1 : !tile.tile<2x32x16xf32>
    %exp = tile.unary exp %minus : !tile.tile<2x32x16xf32>
    %plus = tile.scalar adds %exp, 1 : !tile.tile<2x32x16xf32>
    %sigmoid = tile.unary rec %plus : !tile.tile<2x32x16xf32>
    %half = tile.cast %sigmoid : !tile.tile<2x32x16xf32> -> !tile.tile<2x32x16xf16>
    tile.store %half, %y[0, 0, %m, 0] sizes [1, 2, 32, 16] : !tile.tile<2x32x16xf16> -> !tile.gm<1x2x192x16xf16>
  }
}
