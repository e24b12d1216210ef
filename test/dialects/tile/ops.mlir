// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s

// A kernel, its loops and transfers. Positions are numbers or values; a loop without carried tiles has no yield.
// CHECK: tile.kernel @structure(%x: !tile.gm<4x56x16xf16>, %y: !tile.gm<4x56x16xf16>) grid(%core : 8) outputs(1) {
tile.kernel @structure(%x: !tile.gm<4x56x16xf16>, %y: !tile.gm<4x56x16xf16>) grid(%core : 8) outputs(1) {
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  %c2 = arith.constant 2 : index
  // CHECK-NEXT: tile.for %i = %core to 28 step 8 {
  tile.for %i = %core to 28 step 8 {
    // CHECK-NEXT: %row = arith.muli %i, %c2 : index
    %row = arith.muli %i, %c2 : index
    // CHECK-NEXT: %slice = tile.load %x[0, %row, 0] sizes [4, 2, 16] : !tile.gm<4x56x16xf16> -> !tile.tile<4x2x16xf16>
    %slice = tile.load %x[0, %row, 0] sizes [4, 2, 16] : !tile.gm<4x56x16xf16> -> !tile.tile<4x2x16xf16>
    // CHECK-NEXT: %border = tile.load %x[-1, %row, 0] sizes [4, 2, 16] fill -65504 : !tile.gm<4x56x16xf16> -> !tile.tile<8x16xf16>
    %border = tile.load %x[-1, %row, 0] sizes [4, 2, 16] fill -65504 : !tile.gm<4x56x16xf16> -> !tile.tile<8x16xf16>
    // CHECK-NEXT: %sum = tile.for %k = 0 to 4 step 1 iter_args(%acc = %slice : !tile.tile<4x2x16xf16>) stages(2) {
    %sum = tile.for %k = 0 to 4 step 1 iter_args(%acc = %slice : !tile.tile<4x2x16xf16>) stages(2) {
      // CHECK-NEXT: %next = tile.binary add %acc, %slice : !tile.tile<4x2x16xf16>, !tile.tile<4x2x16xf16> -> !tile.tile<4x2x16xf16>
      %next = tile.binary add %acc, %slice : !tile.tile<4x2x16xf16>, !tile.tile<4x2x16xf16> -> !tile.tile<4x2x16xf16>
      // CHECK-NEXT: tile.yield %next : !tile.tile<4x2x16xf16>
      tile.yield %next : !tile.tile<4x2x16xf16>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: tile.store %sum, %y[0, %row, 0] sizes [4, 2, 16] : !tile.tile<4x2x16xf16> -> !tile.gm<4x56x16xf16>
    tile.store %sum, %y[0, %row, 0] sizes [4, 2, 16] : !tile.tile<4x2x16xf16> -> !tile.gm<4x56x16xf16>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// CHECK: tile.kernel @matrices
tile.kernel @matrices(%x: !tile.gm<2x4x8x16xf16>, %w: !tile.gm<18x1x16x16xf16>, %n: !tile.gm<1x32x16xf16>, %b: !tile.gm<16xf32>, %y: !tile.gm<1x16x16xf32>) grid(%core : 1) outputs(1) {
  %slab = tile.load %x[0, 0, 0, 0] sizes [2, 4, 8, 16] : !tile.gm<2x4x8x16xf16> -> !tile.tile<2x4x8x16xf16>
  // CHECK: %a = tile.im2col %slab[%core, 2] kernel [3, 3] strides [1, 2] dilations [1, 1] pads [1, 0] out_width 4 : !tile.tile<2x4x8x16xf16> -> !tile.tile<2x16x16xf16>
  %a = tile.im2col %slab[%core, 2] kernel [3, 3] strides [1, 2] dilations [1, 1] pads [1, 0] out_width 4 : !tile.tile<2x4x8x16xf16> -> !tile.tile<2x16x16xf16>
  %bias = tile.load %b[0] sizes [16] : !tile.gm<16xf32> -> !tile.tile<1x1x16xf32>
  // CHECK: %acc = tile.broadcast %bias : !tile.tile<1x1x16xf32> -> !tile.tile<1x16x16xf32>
  %acc = tile.broadcast %bias : !tile.tile<1x1x16xf32> -> !tile.tile<1x16x16xf32>
  %weights = tile.load %w[0, 0, 0, 0] sizes [2, 1, 16, 16] : !tile.gm<18x1x16x16xf16> -> !tile.tile<2x1x16x16xf16>
  // CHECK: %z = tile.matmul %a, %weights, %acc : !tile.tile<2x16x16xf16>, !tile.tile<2x1x16x16xf16> -> !tile.tile<1x16x16xf32>
  %z = tile.matmul %a, %weights, %acc : !tile.tile<2x16x16xf16>, !tile.tile<2x1x16x16xf16> -> !tile.tile<1x16x16xf32>
  %columns = tile.load %n[0, 0, 0] sizes [1, 32, 16] : !tile.gm<1x32x16xf16> -> !tile.tile<1x32x16xf16>
  // CHECK: %nz = tile.matmul %a, %columns, %z : !tile.tile<2x16x16xf16>, !tile.tile<1x32x16xf16> -> !tile.tile<1x16x16xf32>
  %nz = tile.matmul %a, %columns, %z : !tile.tile<2x16x16xf16>, !tile.tile<1x32x16xf16> -> !tile.tile<1x16x16xf32>
  tile.store %nz, %y[0, 0, 0] sizes [1, 16, 16] : !tile.tile<1x16x16xf32> -> !tile.gm<1x16x16xf32>
}

// CHECK: tile.kernel @tiles
tile.kernel @tiles(%x: !tile.gm<32x16xf16>, %y: !tile.gm<32x16xf16>) grid(%core : 1) outputs(1) {
  %t = tile.load %x[0, 0] sizes [32, 16] : !tile.gm<32x16xf16> -> !tile.tile<32x16xf16>
  // CHECK: %wide = tile.cast %t : !tile.tile<32x16xf16> -> !tile.tile<32x16xf32>
  %wide = tile.cast %t : !tile.tile<32x16xf16> -> !tile.tile<32x16xf32>
  // CHECK-NEXT: %e = tile.unary exp %wide : !tile.tile<32x16xf32>
  %e = tile.unary exp %wide : !tile.tile<32x16xf32>
  // CHECK-NEXT: %s = tile.scalar muls %e, 0.044715 : !tile.tile<32x16xf32>
  %s = tile.scalar muls %e, 0.044715 : !tile.tile<32x16xf32>
  // CHECK-NEXT: %m = tile.reduce max %s {axis = 0 : i64} : !tile.tile<32x16xf32> -> !tile.tile<1x16xf32>
  %m = tile.reduce max %s {axis = 0} : !tile.tile<32x16xf32> -> !tile.tile<1x16xf32>
  // CHECK-NEXT: %d = tile.binary sub %s, %m : !tile.tile<32x16xf32>, !tile.tile<1x16xf32> -> !tile.tile<32x16xf32>
  %d = tile.binary sub %s, %m : !tile.tile<32x16xf32>, !tile.tile<1x16xf32> -> !tile.tile<32x16xf32>
  %h = tile.cast %d : !tile.tile<32x16xf32> -> !tile.tile<32x16xf16>
  // CHECK: %r = tile.transpose %h : !tile.tile<32x16xf16> -> !tile.tile<16x32xf16>
  %r = tile.transpose %h : !tile.tile<32x16xf16> -> !tile.tile<16x32xf16>
  // CHECK-NEXT: %p = tile.slice %r[1, %core] sizes [5, 8] strides [2, 1] : !tile.tile<16x32xf16> -> !tile.tile<5x8xf16>
  %p = tile.slice %r[1, %core] sizes [5, 8] strides [2, 1] : !tile.tile<16x32xf16> -> !tile.tile<5x8xf16>
  // CHECK-NEXT: %zero = tile.constant -0.5 : !tile.tile<3x8xf16>
  %zero = tile.constant -0.5 : !tile.tile<3x8xf16>
  // CHECK-NEXT: %c = tile.concat %p, %zero : !tile.tile<5x8xf16>, !tile.tile<3x8xf16> -> !tile.tile<8x8xf16>
  %c = tile.concat %p, %zero : !tile.tile<5x8xf16>, !tile.tile<3x8xf16> -> !tile.tile<8x8xf16>
  // CHECK-NEXT: %u = tile.concat %c, %c {axis = 1 : i64} : !tile.tile<8x8xf16>, !tile.tile<8x8xf16> -> !tile.tile<8x16xf16>
  %u = tile.concat %c, %c {axis = 1} : !tile.tile<8x8xf16>, !tile.tile<8x8xf16> -> !tile.tile<8x16xf16>
  // CHECK-NEXT: %q = tile.reshape %c : !tile.tile<8x8xf16> -> !tile.tile<4x16xf16>
  %q = tile.reshape %c : !tile.tile<8x8xf16> -> !tile.tile<4x16xf16>
  tile.store %q, %y[0, 0] sizes [4, 16] : !tile.tile<4x16xf16> -> !tile.gm<32x16xf16>
}
