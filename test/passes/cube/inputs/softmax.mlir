// Softmax of 8 rows of 77 float16, one row at a time, each of which ends inside a block.
tile.kernel @softmax(%x: !tile.gm<8x77xf16>, %y: !tile.gm<8x77xf16>) grid(%core : 1) outputs(1) {
  tile.for %i = 0 to 8 step 1 stages(2) {
    %a = tile.load %x[%i, 0] sizes [1, 80] fill -65504 : !tile.gm<8x77xf16> -> !tile.tile<1x80xf16>
    %b = tile.cast %a : !tile.tile<1x80xf16> -> !tile.tile<1x80xf32>
    %max = tile.reduce max %b {axis = 1 : i64} : !tile.tile<1x80xf32> -> !tile.tile<1x1xf32>
    %c = tile.binary sub %b, %max : !tile.tile<1x80xf32>, !tile.tile<1x1xf32> -> !tile.tile<1x80xf32>
    %d = tile.unary exp %c : !tile.tile<1x80xf32>
    %sum = tile.reduce sum %d {axis = 1 : i64} : !tile.tile<1x80xf32> -> !tile.tile<1x1xf32>
    %e = tile.binary div %d, %sum : !tile.tile<1x80xf32>, !tile.tile<1x1xf32> -> !tile.tile<1x80xf32>
    %f = tile.cast %e : !tile.tile<1x80xf32> -> !tile.tile<1x80xf16>
    tile.store %f, %y[%i, 0] sizes [1, 80] : !tile.tile<1x80xf16> -> !tile.gm<8x77xf16>
  }
}
