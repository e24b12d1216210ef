// RUN: ge-opt %s --convert-tile-to-cube | filecheck %s

// 1. A convolution. Each turn of the inner loop is a transfer of input rows and one of weights, load2d, load3d and mmad, on
// buffers whose copies alternate. The rows outside of the image are padding of the load3d. The bias starts the
// accumulator; a relu and the rounding are part of the move out of L0C.
// CHECK-LABEL: cube.kernel @convolution(%x: !cube.buffer<gm>, %w: !cube.buffer<gm>, %b: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(8) outputs(1)
// CHECK:         %core = cube.block_idx
// CHECK:         scf.for %t = %core to %c28 step %c8 {
// CHECK:           [[TILE:%.+]] = arith.remui
// CHECK:           %bias_ub = cube.alloc size = 256, copies = 2 : !cube.buffer<ub>
// CHECK:           cube.copy_gm_to_ub dst = %bias_ub[%{{.*}}], src = %b[0], length = 8
// CHECK:           %acc_l0c = cube.alloc size = 28672, copies = 2 : !cube.buffer<l0c>
// CHECK:           [[ACC:%.+]] = arith.muli [[TILE]], %c28672
// CHECK:           cube.broadcast_ub_to_l0c dst = %acc_l0c[[[ACC]]], src = %bias_ub[%{{.*}}], n1 = 4, m1 = 7
// CHECK:           [[TOP:%.+]] = arith.maxsi
// CHECK:           [[BOTTOM:%.+]] = arith.maxsi
// CHECK:           [[ROWS:%.+]] = arith.subi
// CHECK:           [[HEIGHT:%.+]] = arith.subi [[ROWS]], [[BOTTOM]]
// CHECK:           [[LENGTH:%.+]] = arith.muli [[HEIGHT]], %c56
// CHECK:           scf.for %i = %c0 to %c4 step %c1 {
// CHECK:             [[SLOT:%.+]] = arith.remui %i, %c2
// CHECK:             %slab_l1 = cube.alloc size = 7168, copies = 2 : !cube.buffer<l1>
// CHECK:             [[SLAB:%.+]] = arith.muli [[SLOT]], %c7168
// CHECK:             cube.copy_gm_to_l1 dst = %slab_l1[[[SLAB]]], src = %x[%{{.*}}], length = [[LENGTH]]
// CHECK:             %wt_l1 = cube.alloc size = 18432, copies = 2 : !cube.buffer<l1>
// CHECK:             cube.copy_gm_to_l1 dst = %wt_l1[%{{.*}}], src = %w[%{{.*}}], length = 576
// CHECK:             %wt_l0b = cube.alloc size = 18432, copies = 2 : !cube.buffer<l0b>
// CHECK-NEXT:        cube.load2d dst = %wt_l0b[%{{.*}}], src = %wt_l1[%{{.*}}], repeat = 36
// CHECK:             %a_l0a = cube.alloc size = 32256, copies = 2 : !cube.buffer<l0a>
// CHECK:             cube.load3d dst = %a_l0a[%{{.*}}], src = %slab_l1[[[SLAB]]], height = [[HEIGHT]], width = 56, channels = 16, k_extent = 144, m_extent = 112, kernel_h = 3, kernel_w = 3, pad_top = [[TOP]], pad_bottom = [[BOTTOM]], pad_left = 1, pad_right = 1
// CHECK-NEXT:        cube.mmad dst = %acc_l0c[[[ACC]]], a = %a_l0a[%{{.*}}], b = %wt_l0b[%{{.*}}], m = 112, k = 144, n = 64
// CHECK-NEXT:      }
// CHECK:           %h_ub = cube.alloc size = 14336, copies = 2 : !cube.buffer<ub>
// CHECK:           cube.copy_l0c_to_ub dst = %h_ub[%{{.*}}], src = %acc_l0c[[[ACC]]], length = 28, mode = f16_relu
// CHECK:           cube.copy_ub_to_gm dst = %y[%{{.*}}], src = %h_ub[%{{.*}}], bursts = 4, length = 112, dst_gap = 3024
tile.kernel @convolution(%x: !tile.gm<1x4x56x56x16xf16>, %w: !tile.gm<36x4x16x16xf16>, %b: !tile.gm<4x1x16xf32>, %y: !tile.gm<1x4x3136x16xf16>) grid(%core : 8) outputs(1) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c112 = arith.constant 112 : index
  tile.for %t = %core to 28 step 8 stages(2) {
    %bias = tile.load %b[0, 0, 0] sizes [4, 1, 16] : !tile.gm<4x1x16xf32> -> !tile.tile<4x1x16xf32>
    %init = tile.broadcast %bias : !tile.tile<4x1x16xf32> -> !tile.tile<4x112x16xf32>
    %below = arith.muli %t, %c2 : index
    %top = arith.subi %below, %c1 : index
    %m = arith.muli %t, %c112 : index
    %sum = tile.for %i = 0 to 4 step 1 iter_args(%acc = %init : !tile.tile<4x112x16xf32>) stages(2) {
      %slab = tile.load %x[0, %i, %top, 0, 0] sizes [1, 1, 4, 56, 16] fill 0 : !tile.gm<1x4x56x56x16xf16> -> !tile.tile<1x4x56x16xf16>
      %k = arith.muli %i, %c9 : index
      %wt = tile.load %w[%k, 0, 0, 0] sizes [9, 4, 16, 16] : !tile.gm<36x4x16x16xf16> -> !tile.tile<9x4x16x16xf16>
      %a = tile.im2col %slab[0, 0] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 56 : !tile.tile<1x4x56x16xf16> -> !tile.tile<9x112x16xf16>
      %next = tile.matmul %a, %wt, %acc : !tile.tile<9x112x16xf16>, !tile.tile<9x4x16x16xf16> -> !tile.tile<4x112x16xf32>
      tile.yield %next : !tile.tile<4x112x16xf32>
    }
    %relu = tile.unary relu %sum : !tile.tile<4x112x16xf32>
    %h = tile.cast %relu : !tile.tile<4x112x16xf32> -> !tile.tile<4x112x16xf16>
    tile.store %h, %y[0, 0, %m, 0] sizes [1, 4, 112, 16] : !tile.tile<4x112x16xf16> -> !tile.gm<1x4x3136x16xf16>
  }
}

// 2. An accumulator that starts as zeros is not cleared: the first product starts from zero. The positions of a tile may
// end behind the plane: the load3d sees a shorter row, the store is clipped.
// CHECK-LABEL: cube.kernel @zeros
// CHECK:           [[COUNT:%.+]] = arith.subi %c32{{.*}}, %{{.*}}
// CHECK:           scf.for %k
// CHECK:             [[FIRST:%.+]] = arith.cmpi eq, %k, %c0
// CHECK:             cube.copy_gm_to_l1 dst = %slab_l1[%{{.*}}], src = %x[%{{.*}}], length = [[COUNT]]
// CHECK:             cube.load3d dst = %a_l0a[%{{.*}}], src = %slab_l1[%{{.*}}], height = 1, width = [[COUNT]], channels = 16, k_extent = 16, m_extent = 32
// CHECK:             cube.mmad {{.*}}, m = 32, k = 16, n = 16, init = [[FIRST]]
// CHECK-NOT:         broadcast_ub_to_l0c
// CHECK:           cube.copy_ub_to_gm dst = %y[%{{.*}}], src = %h_ub[%{{.*}}], length = [[COUNT]]
tile.kernel @zeros(%x: !tile.gm<3x1x50x16xf16>, %w: !tile.gm<3x1x16x16xf16>, %y: !tile.gm<1x50x16xf16>) grid(%core : 1) outputs(1) {
  %c32 = arith.constant 32 : index
  %zero = tile.constant 0 : !tile.tile<1x32x16xf32>
  tile.for %t = 0 to 2 step 1 stages(2) {
    %m = arith.muli %t, %c32 : index
    %sum = tile.for %k = 0 to 3 step 1 iter_args(%acc = %zero : !tile.tile<1x32x16xf32>) stages(2) {
      %slab = tile.load %x[%k, 0, %m, 0] sizes [1, 1, 32, 16] fill 0 : !tile.gm<3x1x50x16xf16> -> !tile.tile<1x1x32x16xf16>
      %wt = tile.load %w[%k, 0, 0, 0] sizes [1, 1, 16, 16] : !tile.gm<3x1x16x16xf16> -> !tile.tile<1x1x16x16xf16>
      %a = tile.im2col %slab[0, 0] kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0] out_width 32 : !tile.tile<1x1x32x16xf16> -> !tile.tile<1x32x16xf16>
      %next = tile.matmul %a, %wt, %acc : !tile.tile<1x32x16xf16>, !tile.tile<1x1x16x16xf16> -> !tile.tile<1x32x16xf32>
      tile.yield %next : !tile.tile<1x32x16xf32>
    }
    %h = tile.cast %sum : !tile.tile<1x32x16xf32> -> !tile.tile<1x32x16xf16>
    tile.store %h, %y[0, %m, 0] sizes [1, 32, 16] : !tile.tile<1x32x16xf16> -> !tile.gm<1x50x16xf16>
  }
}

// 3. Padding: the columns at the sides are the same in every tile, and are filled once, in both copies; rows above and
// below are filled where there are some.
// CHECK-LABEL: cube.kernel @padding
// CHECK:         %a_ub = cube.alloc size = 2560, copies = 2 : !cube.buffer<ub>
// CHECK-NEXT:    cube.vector_dup dst = %a_ub[0], scalar = -65504.0, dtype = f16, count = 1280
// CHECK-NEXT:    cube.vector_dup dst = %a_ub[2560], scalar = -65504.0, dtype = f16, count = 1280
// CHECK-NEXT:    scf.for
// CHECK:           [[SLOT:%.+]] = arith.remui %t
// CHECK:           [[OUTSIDE:%.+]] = arith.cmpi slt
// CHECK:           [[AT:%.+]] = arith.muli [[SLOT]], %c2560
// CHECK:           scf.if [[OUTSIDE]] {
// CHECK-NEXT:        cube.vector_dup dst = %a_ub[[[AT]]], scalar = -65504.0, dtype = f16, count = 1280
// CHECK-NEXT:      }
// CHECK:           cube.copy_gm_to_ub dst = %a_ub[%{{.*}}], src = %x[%{{.*}}], bursts = %{{.*}}, length = 14, dst_gap = 2
tile.kernel @padding(%x: !tile.gm<13x14x16xf16>, %y: !tile.gm<13x16x16xf16>) grid(%core : 1) outputs(1) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.for %t = 0 to 5 step 1 stages(2) {
    %row = arith.muli %t, %c3 : index
    %top = arith.subi %row, %c1 : index
    %a = tile.load %x[%top, -1, 0] sizes [5, 16, 16] fill -65504 : !tile.gm<13x14x16xf16> -> !tile.tile<5x16x16xf16>
    %b = tile.slice %a[1, 0, 0] sizes [3, 16, 16] strides [1, 1, 1] : !tile.tile<5x16x16xf16> -> !tile.tile<3x16x16xf16>
    tile.store %b, %y[%row, 0, 0] sizes [3, 16, 16] : !tile.tile<3x16x16xf16> -> !tile.gm<13x16x16xf16>
  }
}

// 4. Elementwise: one instruction for a dense tile, strides for slices and repeated rows, the result of one operation in
// the place of the other. float32 channels are two blocks, so a row per channel takes two instructions.
// CHECK-LABEL: cube.kernel @elementwise
// CHECK:         cube.vadd dst = %ub[0], src0 = %a_ub[0], src1 = %a_ub[64], dtype = f32, count = 128, dst_blk = 2, src0_blk = 2, src1_blk = 0, dst_rep = 16, src0_rep = 16, src1_rep = 0
// CHECK-NEXT:    cube.vadd dst = %ub[32], src0 = %a_ub[32], src1 = %a_ub[96], dtype = f32, count = 128, dst_blk = 2, src0_blk = 2, src1_blk = 0, dst_rep = 16, src0_rep = 16, src1_rep = 0
// CHECK-NEXT:    cube.vmaxs dst = %ub[0], src = %ub[0], scalar = 0.5, dtype = f32, count = 256
// CHECK-NEXT:    [[HALF:%.+]] = cube.alloc size = 512 : !cube.buffer<ub>
// CHECK-NEXT:    cube.vconv dst = [[HALF]][0], src = %ub[0], kind = f32_f16, count = 256, dst_rep = 4, src_rep = 8
// CHECK-NEXT:    [[EVERY:%.+]] = cube.alloc size = 256 : !cube.buffer<ub>
// CHECK-NEXT:    cube.vexp dst = [[EVERY]][0], src = [[HALF]][0], dtype = f16, count = 128, src_blk = 2, src_rep = 16
tile.kernel @elementwise(%x: !tile.gm<1x16x16xf32>, %y: !tile.gm<1x8x16xf16>) grid(%core : 1) outputs(1) {
  %a = tile.load %x[0, 0, 0] sizes [1, 16, 16] : !tile.gm<1x16x16xf32> -> !tile.tile<1x16x16xf32>
  %0 = tile.slice %a[0, 1, 0] sizes [1, 1, 16] strides [1, 1, 1] : !tile.tile<1x16x16xf32> -> !tile.tile<1x1x16xf32>
  %1 = tile.binary add %a, %0 : !tile.tile<1x16x16xf32>, !tile.tile<1x1x16xf32> -> !tile.tile<1x16x16xf32>
  %2 = tile.constant 0.5 : !tile.tile<1x16x16xf32>
  %3 = tile.binary max %1, %2 : !tile.tile<1x16x16xf32>, !tile.tile<1x16x16xf32> -> !tile.tile<1x16x16xf32>
  %4 = tile.cast %3 : !tile.tile<1x16x16xf32> -> !tile.tile<1x16x16xf16>
  %5 = tile.slice %4[0, 0, 0] sizes [1, 8, 16] strides [1, 2, 1] : !tile.tile<1x16x16xf16> -> !tile.tile<1x8x16xf16>
  %6 = tile.unary exp %5 : !tile.tile<1x8x16xf16>
  tile.store %6, %y[0, 0, 0] sizes [1, 8, 16] : !tile.tile<1x8x16xf16> -> !tile.gm<1x8x16xf16>
}

// 5. Rows that end inside a block lie in whole blocks. Loads fill what the last block brought along; stores go row by
// row, in order, because the last block of one reaches into the next.
// CHECK-LABEL: cube.kernel @ragged
// CHECK:         %a_ub = cube.alloc size = 256 : !cube.buffer<ub>
// CHECK:         cube.vector_dup dst = %a_ub[0], scalar = 0.0, dtype = f16, count = 128
// CHECK-NEXT:    cube.copy_gm_to_ub dst = %a_ub[0], src = %x[0], length = 2
// CHECK-NEXT:    cube.copy_gm_to_ub dst = %a_ub[64], src = %x[40], length = 2
// CHECK-NEXT:    cube.vector_dup_masked dst = %a_ub[32], scalar = 0.0, dtype = f16, mask_low = 65520
// CHECK-NEXT:    cube.vector_dup_masked dst = %a_ub[96], scalar = 0.0, dtype = f16, mask_low = 65520
// CHECK:         cube.pipe_barrier pipe = mte3
// CHECK-NEXT:    cube.copy_ub_to_gm dst = %y[0], src = %{{.*}}[0], length = 2
// CHECK-NEXT:    cube.pipe_barrier pipe = mte3
// CHECK-NEXT:    cube.copy_ub_to_gm dst = %y[40], src = %{{.*}}[64], length = 2
tile.kernel @ragged(%x: !tile.gm<2x20xf16>, %y: !tile.gm<2x20xf16>) grid(%core : 1) outputs(1) {
  %a = tile.load %x[0, 0] sizes [4, 32] fill 0 : !tile.gm<2x20xf16> -> !tile.tile<4x32xf16>
  %b = tile.unary exp %a : !tile.tile<4x32xf16>
  tile.store %b, %y[0, 0] sizes [4, 32] : !tile.tile<4x32xf16> -> !tile.gm<2x20xf16>
}

// 6. Reductions: along the last axis, all rows of one repeat with one instruction; a number for each row is a scalar.
// CHECK-LABEL: cube.kernel @rows
// CHECK:         cube.vcmax dst = %{{.*}}[0], src = %a_ub[0], dtype = f32, count = 512
// CHECK:         scf.for [[ROW:%.+]] = %c0 to %c8 step %c1 {
// CHECK:           [[NUMBER:%.+]] = cube.scalar_load src = %{{.*}}[%{{.*}}], dtype = f32
// CHECK-NEXT:      [[MINUS:%.+]] = arith.negf [[NUMBER]] : f32
// CHECK-NEXT:      cube.vadds dst = %{{.*}}, src = %a_ub[%{{.*}}], scalar = [[MINUS]], dtype = f32, count = 64
tile.kernel @rows(%x: !tile.gm<8x64xf32>, %y: !tile.gm<8x64xf32>) grid(%core : 1) outputs(1) {
  %a = tile.load %x[0, 0] sizes [8, 64] : !tile.gm<8x64xf32> -> !tile.tile<8x64xf32>
  %m = tile.reduce max %a {axis = 1 : i64} : !tile.tile<8x64xf32> -> !tile.tile<8x1xf32>
  %b = tile.binary sub %a, %m : !tile.tile<8x64xf32>, !tile.tile<8x1xf32> -> !tile.tile<8x64xf32>
  tile.store %b, %y[0, 0] sizes [8, 64] : !tile.tile<8x64xf32> -> !tile.gm<8x64xf32>
}

// 7. Rearranging: 16 x 16 squares are transposed into their place in the concatenation; a slice and a reshape are nothing.
// CHECK-LABEL: cube.kernel @order
// CHECK:         [[WHOLE:%.+]] = cube.alloc size = 2048 : !cube.buffer<ub>
// CHECK-NEXT:    cube.vnchwconv dst = [[WHOLE]][0], src = %a_ub[0], repeat = 2, src_row = 64, src_rep = 1
// CHECK-NEXT:    cube.vnchwconv dst = [[WHOLE]][1024], src = %a_ub[0], repeat = 2, src_row = 64, src_rep = 1
// CHECK-NEXT:    cube.copy_ub_to_gm dst = %y[0], src = [[WHOLE]][32], length = 63
tile.kernel @order(%x: !tile.gm<16x32xf16>, %y: !tile.gm<1008xf16>) grid(%core : 1) outputs(1) {
  %a = tile.load %x[0, 0] sizes [16, 32] : !tile.gm<16x32xf16> -> !tile.tile<16x32xf16>
  %0 = tile.transpose %a : !tile.tile<16x32xf16> -> !tile.tile<32x16xf16>
  %1 = tile.transpose %a : !tile.tile<16x32xf16> -> !tile.tile<32x16xf16>
  %2 = tile.concat %0, %1 : !tile.tile<32x16xf16>, !tile.tile<32x16xf16> -> !tile.tile<64x16xf16>
  %3 = tile.slice %2[1, 0] sizes [63, 16] strides [1, 1] : !tile.tile<64x16xf16> -> !tile.tile<63x16xf16>
  %4 = tile.reshape %3 : !tile.tile<63x16xf16> -> !tile.tile<1008xf16>
  tile.store %4, %y[0] sizes [1008] : !tile.tile<1008xf16> -> !tile.gm<1008xf16>
}
