// 3 x 3 maximum of 13 x 15 with padding 1, in 5 tiles of 3 rows: padding at the left and right in every tile, at the top
// and bottom in the first and last one.
tile.kernel @pooling(%x: !tile.gm<13x15x16xf16>, %y: !tile.gm<13x15x16xf16>) grid(%core : 1) outputs(1) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.for %t = 0 to 5 step 1 stages(2) {
    %row = arith.muli %t, %c3 : index
    %top = arith.subi %row, %c1 : index
    %a = tile.load %x[%top, -1, 0] sizes [5, 17, 16] fill -65504 : !tile.gm<13x15x16xf16> -> !tile.tile<5x17x16xf16>
    %a0 = tile.slice %a[0, 0, 0] sizes [3, 17, 16] strides [1, 1, 1] : !tile.tile<5x17x16xf16> -> !tile.tile<3x17x16xf16>
    %a1 = tile.slice %a[1, 0, 0] sizes [3, 17, 16] strides [1, 1, 1] : !tile.tile<5x17x16xf16> -> !tile.tile<3x17x16xf16>
    %a2 = tile.slice %a[2, 0, 0] sizes [3, 17, 16] strides [1, 1, 1] : !tile.tile<5x17x16xf16> -> !tile.tile<3x17x16xf16>
    %b = tile.binary max %a0, %a1 : !tile.tile<3x17x16xf16>, !tile.tile<3x17x16xf16> -> !tile.tile<3x17x16xf16>
    %c = tile.binary max %b, %a2 : !tile.tile<3x17x16xf16>, !tile.tile<3x17x16xf16> -> !tile.tile<3x17x16xf16>
    %d0 = tile.slice %c[0, 0, 0] sizes [3, 15, 16] strides [1, 1, 1] : !tile.tile<3x17x16xf16> -> !tile.tile<3x15x16xf16>
    %d1 = tile.slice %c[0, 1, 0] sizes [3, 15, 16] strides [1, 1, 1] : !tile.tile<3x17x16xf16> -> !tile.tile<3x15x16xf16>
    %d2 = tile.slice %c[0, 2, 0] sizes [3, 15, 16] strides [1, 1, 1] : !tile.tile<3x17x16xf16> -> !tile.tile<3x15x16xf16>
    %e = tile.binary max %d0, %d1 : !tile.tile<3x15x16xf16>, !tile.tile<3x15x16xf16> -> !tile.tile<3x15x16xf16>
    %f = tile.binary max %e, %d2 : !tile.tile<3x15x16xf16>, !tile.tile<3x15x16xf16> -> !tile.tile<3x15x16xf16>
    tile.store %f, %y[%row, 0, 0] sizes [3, 15, 16] : !tile.tile<3x15x16xf16> -> !tile.gm<13x15x16xf16>
  }
}
