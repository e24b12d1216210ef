// Every operation prints and parses back, in its own form and in the generic one.
// RUN: ge-opt %s > %t.once.mlir && ge-opt %t.once.mlir > %t.twice.mlir && diff %t.once.mlir %t.twice.mlir
// RUN: ge-opt %s --print-op-generic | ge-opt | diff %t.once.mlir -
// RUN: filecheck %s < %t.once.mlir

// CHECK: cube.kernel @instructions(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(8) outputs(1) {
cube.kernel @instructions(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(8) outputs(1) {
  // CHECK-NEXT: %core = cube.block_idx
  %core = cube.block_idx
  // CHECK-NEXT: %l1 = cube.alloc size = 65536 : !cube.buffer<l1>
  %l1 = cube.alloc size = 65536 : !cube.buffer<l1>
  // CHECK-NEXT: %l0a = cube.alloc size = 32768, copies = 2, address = 0 : !cube.buffer<l0a>
  %l0a = cube.alloc size = 32768, copies = 2, address = 0 : !cube.buffer<l0a>
  %l0b = cube.alloc size = 32768, copies = 2 : !cube.buffer<l0b>
  %l0c = cube.alloc size = 65536 : !cube.buffer<l0c>
  // CHECK: %ub = cube.alloc size = 131072, address = 4096 : !cube.buffer<ub>
  %ub = cube.alloc size = 131072, address = 4096 : !cube.buffer<ub>
  %i = arith.constant 512 : index
  %yes = arith.constant true
  %half = arith.constant 0.5 : f32

  // Fields at their defaults are left out, whether the text had them or not.
  // CHECK: cube.copy_gm_to_l1 dst = %l1[0], src = %x[%i], bursts = 4, length = 56, src_gap = 8
  cube.copy_gm_to_l1 dst = %l1[0], src = %x[%i], bursts = 4, length = 56, src_gap = 8, dst_gap = 0
  // CHECK-NEXT: cube.copy_gm_to_ub dst = %ub[0], src = %x[2], length = 16
  cube.copy_gm_to_ub dst = %ub[0], src = %x[2], bursts = 1, length = 16
  // CHECK-NEXT: cube.copy_ub_to_gm dst = %y[0], src = %ub[32], length = 1
  cube.copy_ub_to_gm dst = %y[0], src = %ub[32], length = 1
  // CHECK-NEXT: cube.copy_ub_to_l1 dst = %l1[0], src = %ub[0], length = %i
  cube.copy_ub_to_l1 dst = %l1[0], src = %ub[0], length = %i
  // CHECK-NEXT: cube.copy_l1_to_ub dst = %ub[0], src = %l1[0], bursts = 2, length = 1, dst_gap = 1
  cube.copy_l1_to_ub dst = %ub[0], src = %l1[0], bursts = 2, length = 1, dst_gap = 1
  // CHECK-NEXT: cube.copy_ub_to_ub dst = %ub[0], src = %ub[512], length = 16
  cube.copy_ub_to_ub dst = %ub[0], src = %ub[512], length = 16

  // CHECK-NEXT: cube.load2d dst = %l0b[0], src = %l1[0], repeat = 36
  cube.load2d dst = %l0b[0], src = %l1[0], repeat = 36
  // CHECK-NEXT: cube.load2d dst = %l0a[%i], src = %l1[0], repeat = 4, src_stride = 0, dst_gap = 2, transpose = true
  cube.load2d dst = %l0a[%i], src = %l1[0], repeat = 4, src_stride = 0, dst_gap = 2, transpose = true
  // CHECK-NEXT: cube.load3d dst = %l0a[0], src = %l1[0], height = 4, width = 56, channels = 16, k_extent = 144, m_start = 16, m_extent = 96, kernel_h = 3, kernel_w = 3, pad_left = 1, pad_right = 1
  cube.load3d dst = %l0a[0], src = %l1[0], height = 4, width = 56, channels = 16, k_start = 0, k_extent = 144, m_start = 16, m_extent = 96, kernel_h = 3, kernel_w = 3, pad_left = 1, pad_right = 1

  // CHECK-NEXT: cube.mmad dst = %l0c[0], a = %l0a[%i], b = %l0b[512], m = 112, k = 144, n = 64, init = %yes
  cube.mmad dst = %l0c[0], a = %l0a[%i], b = %l0b[512], m = 112, k = 144, n = 64, init = %yes
  // CHECK-NEXT: cube.mmad dst = %l0c[0], a = %l0a[0], b = %l0b[0], m = 112, k = 16, n = 64
  cube.mmad dst = %l0c[0], a = %l0a[0], b = %l0b[0], m = 112, k = 16, n = 64, init = false
  // CHECK-NEXT: cube.broadcast_ub_to_l0c dst = %l0c[0], src = %ub[0], n1 = 4, m1 = 7
  cube.broadcast_ub_to_l0c dst = %l0c[0], src = %ub[0], n1 = 4, m1 = 7
  // CHECK-NEXT: cube.copy_l0c_to_ub dst = %ub[0], src = %l0c[0], bursts = 4, length = 7, mode = f16_relu
  cube.copy_l0c_to_ub dst = %ub[0], src = %l0c[0], bursts = 4, length = 7, mode = f16_relu

  // CHECK-NEXT: cube.vadd dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = 256, src1_blk = 0, src1_rep = 0
  cube.vadd dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = 256, src1_blk = 0, src1_rep = 0
  cube.vsub dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = 256
  cube.vmul dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f32, count = 64
  cube.vdiv dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = 256
  cube.vmax dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = %i
  cube.vmin dst = %ub[0], src0 = %ub[512], src1 = %ub[1024], dtype = f16, count = 256
  // CHECK: cube.vadds dst = %ub[0], src = %ub[512], scalar = %half, dtype = f16, count = 256
  cube.vadds dst = %ub[0], src = %ub[512], scalar = %half, dtype = f16, count = 256
  // Scalars keep their bits: not finite, negative zero, a third.
  // CHECK-NEXT: scalar = 0.1, dtype
  cube.vmuls dst = %ub[0], src = %ub[512], scalar = 0.1, dtype = f16, count = 256
  // CHECK-NEXT: scalar = -inf, dtype
  cube.vmaxs dst = %ub[0], src = %ub[512], scalar = -inf, dtype = f16, count = 256
  // CHECK-NEXT: scalar = 0.33333334, dtype
  cube.vmaxs dst = %ub[0], src = %ub[512], scalar = 0.333333333333, dtype = f16, count = 256
  // CHECK-NEXT: scalar = 1.0e+30, dtype
  cube.vmins dst = %ub[0], src = %ub[512], scalar = 1.0e30, dtype = f32, count = 64
  cube.vexp dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vln dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vabs dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vrelu dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vrec dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vsqrt dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  cube.vrsqrt dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  // CHECK: cube.vconv dst = %ub[0], src = %ub[4096], kind = f32_f16, count = 128, dst_rep = 4, src_rep = 8
  cube.vconv dst = %ub[0], src = %ub[4096], kind = f32_f16, count = 128, dst_rep = 4, src_rep = 8
  // CHECK-NEXT: cube.vector_dup dst = %ub[0], scalar = -0.0, dtype = f16, count = 100
  cube.vector_dup dst = %ub[0], scalar = -0.0, dtype = f16, count = 100
  // CHECK-NEXT: cube.vector_dup_masked dst = %ub[0], scalar = nan, dtype = f16, mask_low = 18446744073709551615, mask_high = 1
  cube.vector_dup_masked dst = %ub[0], scalar = nan, dtype = f16, mask_low = 18446744073709551615, mask_high = 1
  // CHECK-NEXT: cube.vcadd dst = %ub[2], src = %ub[512], dtype = f16, count = 256, dst_rep = 16
  cube.vcadd dst = %ub[2], src = %ub[512], dtype = f16, count = 256, dst_rep = 16
  cube.vcmax dst = %ub[0], src = %ub[512], dtype = f32, count = 256
  cube.vcmin dst = %ub[0], src = %ub[512], dtype = f16, count = 256
  // CHECK: cube.vnchwconv dst = %ub[0], src = %ub[512], repeat = 2, src_row = 64, src_rep = 1
  cube.vnchwconv dst = %ub[0], src = %ub[512], repeat = 2, src_row = 64, dst_row = 32, src_rep = 1
  // CHECK-NEXT: %s = cube.scalar_load src = %ub[6], dtype = f16
  %s = cube.scalar_load src = %ub[6], dtype = f16

  // CHECK-NEXT: cube.set_flag src = mte2, dst = v, event = 3
  cube.set_flag src = mte2, dst = v, event = 3
  // CHECK-NEXT: cube.wait_flag src = mte2, dst = v, event = %core
  cube.wait_flag src = mte2, dst = v, event = %core
  // CHECK-NEXT: cube.pipe_barrier pipe = v
  cube.pipe_barrier pipe = v
  // CHECK-NEXT: cube.pipe_barrier pipe = all
  cube.pipe_barrier pipe = all
}

// CHECK: cube.kernel @empty() soc("Ascend310P3") blocks(1) outputs(0) {
// CHECK-NEXT: }
cube.kernel @empty() soc("Ascend310P3") blocks(1) outputs(0) {}

// CHECK: cube.kernel @extra() soc("x") blocks(1) outputs(0) {
// CHECK-NEXT: } attributes {note = 1 : i64}
cube.kernel @extra() soc("x") blocks(1) outputs(0) {} attributes {note = 1 : i64}
