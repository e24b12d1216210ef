// RUN: ge-opt %s --plan-buffers --insert-sync | filecheck %s

// 1. One after the other: a flag for each pair of pipes that touch the same bytes, none elsewhere.
// CHECK-LABEL: cube.kernel @chain
// CHECK-NOT:     _flag
// CHECK:         cube.copy_gm_to_ub
// CHECK-NEXT:    cube.set_flag src = mte2, dst = v, event = 0
// CHECK-NEXT:    %b = cube.alloc
// CHECK-NEXT:    cube.wait_flag src = mte2, dst = v, event = 0
// CHECK-NEXT:    cube.vexp
// CHECK-NEXT:    cube.set_flag src = v, dst = mte3, event = 0
// CHECK-NEXT:    cube.wait_flag src = v, dst = mte3, event = 0
// CHECK-NEXT:    cube.copy_ub_to_gm
// CHECK-NEXT:    }
cube.kernel @chain(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 32
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 512
  cube.copy_ub_to_gm dst = %y[0], src = %b[0], length = 32
}

// 2. Must be left alone: instructions of one pipe, or of several, that touch different bytes, or only read.
// CHECK-LABEL: cube.kernel @independent
// CHECK-NOT:     _flag
// CHECK-NOT:     pipe_barrier
// CHECK:         }
cube.kernel @independent(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  %c = cube.alloc size = 1024 : !cube.buffer<l1>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 16
  cube.copy_gm_to_l1 dst = %c[0], src = %x[0], length = 32
  cube.vector_dup dst = %a[512], scalar = 1.0, dtype = f16, count = 256
  cube.vector_dup dst = %b[0], scalar = 1.0, dtype = f16, count = 256
  cube.vector_dup dst = %b[512], scalar = 1.0, dtype = f16, count = 256
}

// 3. Inside one pipe: a barrier between dependent instructions, one for all that come before it.
// CHECK-LABEL: cube.kernel @one_pipe
// CHECK:         cube.vector_dup dst = %a[0]
// CHECK-NEXT:    cube.vector_dup dst = %a[512]
// CHECK-NEXT:    cube.pipe_barrier pipe = v
// CHECK-NEXT:    cube.vexp dst = %b[0], src = %a[0]
// CHECK-NEXT:    cube.vexp dst = %b[512], src = %a[512]
// CHECK-NEXT:    }
cube.kernel @one_pipe(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vector_dup dst = %a[0], scalar = 1.0, dtype = f16, count = 256
  cube.vector_dup dst = %a[512], scalar = 1.0, dtype = f16, count = 256
  cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 256
  cube.vexp dst = %b[512], src = %a[512], dtype = f16, count = 256
}

// 4. A loop with one buffer: forward flags, and back again for the next turn. The first wait of the way back is served
// by a flag before the loop, its last flag is taken after the loop. The sums need no barrier in the loop: from one to the
// next the way leads through the transfer.
// CHECK-LABEL: cube.kernel @loop
// CHECK:         cube.set_flag src = v, dst = mte2, event = 0
// CHECK-NEXT:    cube.pipe_barrier pipe = v
// CHECK-NEXT:    scf.for
// CHECK:           cube.wait_flag src = v, dst = mte2, event = 0
// CHECK-NEXT:      cube.copy_gm_to_ub
// CHECK-NEXT:      cube.set_flag src = mte2, dst = v, event = 0
// CHECK-NEXT:      cube.wait_flag src = mte2, dst = v, event = 0
// CHECK-NEXT:      cube.vadd
// CHECK-NEXT:      cube.set_flag src = v, dst = mte2, event = 0
// CHECK-NEXT:    }
// CHECK-NEXT:    cube.wait_flag src = v, dst = mte2, event = 0
cube.kernel @loop(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %sum = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vector_dup dst = %sum[0], scalar = 0.0, dtype = f16, count = 512
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  scf.for %i = %c0 to %c4 step %c1 {
    cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 32
    cube.vadd dst = %sum[0], src0 = %sum[0], src1 = %a[0], dtype = f16, count = 512
  }
}

// 5. A loop with two copies of the buffer: events alternate with the copy, so that the transfer of one turn runs during
// the arithmetic of the turn before.
// CHECK-LABEL: cube.kernel @double_buffer
// CHECK:         cube.set_flag src = v, dst = mte2, event = 0
// CHECK-NEXT:    cube.set_flag src = v, dst = mte2, event = 1
// CHECK-NEXT:    scf.for
// CHECK:           cube.wait_flag src = v, dst = mte2, event = %slot
// CHECK-NEXT:      cube.copy_gm_to_ub
// CHECK-NEXT:      cube.set_flag src = mte2, dst = v, event = %slot
// CHECK-NEXT:      cube.wait_flag src = mte2, dst = v, event = %slot
// CHECK:           cube.vexp
// CHECK-NEXT:      cube.set_flag src = v, dst = mte2, event = %slot
// CHECK-NEXT:    }
// CHECK-NEXT:    cube.wait_flag src = v, dst = mte2, event = 0
// CHECK-NEXT:    cube.wait_flag src = v, dst = mte2, event = 1
cube.kernel @double_buffer(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  scf.for %i = %c0 to %c4 step %c1 {
    %slot = arith.remui %i, %c2 : index
    %at = arith.muli %slot, %c1024 : index
    %a = cube.alloc size = 1024, copies = 2 : !cube.buffer<ub>
    cube.copy_gm_to_ub dst = %a[%at], src = %x[0], length = 32
    cube.vexp dst = %b[0], src = %a[%at], dtype = f16, count = 512
  }
}

// 6. Accumulation over K in L0C: mmad after mmad on one large accumulator needs no barrier. The flags of the inner loop
// are set before the outer loop and taken after it, so that loads go on from tile to tile.
// CHECK-LABEL: cube.kernel @accumulate
// CHECK:         cube.set_flag src = m, dst = mte1, event = 0
// CHECK-NEXT:    cube.set_flag src = v, dst = m, event = 0
// CHECK-NEXT:    scf.for %t
// CHECK-NEXT:      cube.wait_flag src = v, dst = m, event = 0
// CHECK-NEXT:      scf.for %k
// CHECK:             cube.wait_flag src = m, dst = mte1, event = 0
// CHECK-NEXT:        cube.load2d dst = %a[0]
// CHECK-NEXT:        cube.load2d dst = %b[0]
// CHECK-NEXT:        cube.set_flag src = mte1, dst = m, event = 0
// CHECK-NEXT:        cube.wait_flag src = mte1, dst = m, event = 0
// CHECK-NEXT:        cube.mmad
// CHECK-NEXT:        cube.set_flag src = m, dst = mte1, event = 0
// CHECK-NEXT:      }
// CHECK-NEXT:      cube.set_flag src = m, dst = v, event = 0
// CHECK-NEXT:      cube.wait_flag src = m, dst = v, event = 0
// CHECK:           cube.copy_l0c_to_ub
// CHECK-NEXT:      cube.set_flag src = v, dst = m, event = 0
// CHECK-NEXT:    }
// CHECK-NEXT:    cube.wait_flag src = m, dst = mte1, event = 0
// CHECK-NEXT:    cube.wait_flag src = v, dst = m, event = 0
cube.kernel @accumulate(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = cube.alloc size = 32768 : !cube.buffer<l1>
  %a = cube.alloc size = 8192 : !cube.buffer<l0a>
  %b = cube.alloc size = 8192 : !cube.buffer<l0b>
  %acc = cube.alloc size = 16384 : !cube.buffer<l0c>
  %u = cube.alloc size = 16384 : !cube.buffer<ub>
  scf.for %t = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %c4 step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      cube.load2d dst = %a[0], src = %s[0], repeat = 16
      cube.load2d dst = %b[0], src = %s[0], repeat = 16
      cube.mmad dst = %acc[0], a = %a[0], b = %b[0], m = 64, k = 64, n = 64, init = %first
    }
    cube.copy_l0c_to_ub dst = %u[0], src = %acc[0], length = 16
  }
}

// 7. The same on a small accumulator (4 fractals of the 10 that it takes): the unit is not done with one product when
// the next one comes.
// CHECK-LABEL: cube.kernel @small_accumulator
// CHECK:           cube.pipe_barrier pipe = m
// CHECK-NEXT:      cube.mmad
cube.kernel @small_accumulator(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = cube.alloc size = 8192 : !cube.buffer<l0a>
  %b = cube.alloc size = 8192 : !cube.buffer<l0b>
  %acc = cube.alloc size = 4096 : !cube.buffer<l0c>
  scf.for %k = %c0 to %c4 step %c1 {
    cube.mmad dst = %acc[0], a = %a[0], b = %b[0], m = 32, k = 16, n = 32
  }
}

// 8. Under a condition: set and wait stand together in the branch, so that flags are even on every path; back again, so
// that neither pipe can begin the next handshake before the other one has ended this one.
// CHECK-LABEL: cube.kernel @branch
// CHECK:           scf.if
// CHECK:             cube.vector_dup
// CHECK-NEXT:        cube.set_flag src = v, dst = mte2, event = [[FORTH:[0-7]]]
// CHECK-NEXT:        cube.wait_flag src = v, dst = mte2, event = [[FORTH]]
// CHECK-NEXT:        cube.set_flag src = mte2, dst = v, event = [[BACK:[0-7]]]
// CHECK-NEXT:        cube.wait_flag src = mte2, dst = v, event = [[BACK]]
// CHECK-NEXT:      }
// CHECK:           cube.copy_gm_to_ub
cube.kernel @branch(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  scf.for %i = %c0 to %c4 step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      cube.vector_dup dst = %a[0], scalar = 0.0, dtype = f16, count = 512
    }
    cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 16
    cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 512
  }
}

// 9. The scalar unit: it waits for the vector unit; what follows its access needs nothing, because it issues it.
// CHECK-LABEL: cube.kernel @scalar
// CHECK:         cube.vcmax
// CHECK-NEXT:    cube.set_flag src = v, dst = s, event = 0
// CHECK-NEXT:    cube.wait_flag src = v, dst = s, event = 0
// CHECK-NEXT:    cube.scalar_load
// CHECK-NEXT:    cube.vadds
// CHECK-NEXT:    }
cube.kernel @scalar(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  %b = cube.alloc size = 32 : !cube.buffer<ub>
  cube.vcmax dst = %b[0], src = %a[0], dtype = f32, count = 64
  %s = cube.scalar_load src = %b[0], dtype = f32
  cube.vadds dst = %a[0], src = %a[0], scalar = %s, dtype = f32, count = 256
}

// 10. Buffers that share bytes by their places are as one.
// CHECK-LABEL: cube.kernel @shared
// CHECK:         cube.copy_ub_to_gm dst = %x[0], src = %a[0]
// CHECK-NEXT:    cube.set_flag src = mte3, dst = v, event = 0
// CHECK:         cube.wait_flag src = mte3, dst = v, event = 0
// CHECK-NEXT:    cube.vector_dup dst = %b[0]
cube.kernel @shared(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024, address = 0 : !cube.buffer<ub>
  cube.copy_ub_to_gm dst = %x[0], src = %a[0], length = 32
  %b = cube.alloc size = 1024, address = 512 : !cube.buffer<ub>
  cube.vector_dup dst = %b[0], scalar = 0.0, dtype = f16, count = 512
}

// 11. A value that is stored and loaded again: device memory, too, needs order. Two stores do not: a kernel keeps them
// apart.
// CHECK-LABEL: cube.kernel @memory
// CHECK:         cube.copy_ub_to_gm dst = %x[0]
// CHECK-NEXT:    cube.set_flag src = mte3, dst = mte2, event = 0
// CHECK-NEXT:    cube.copy_ub_to_gm dst = %x[4096]
// CHECK-NEXT:    cube.wait_flag src = mte3, dst = mte2, event = 0
// CHECK-NEXT:    cube.copy_gm_to_l1
cube.kernel @memory(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  %c = cube.alloc size = 1024 : !cube.buffer<l1>
  cube.copy_ub_to_gm dst = %x[0], src = %a[0], length = 32
  cube.copy_ub_to_gm dst = %x[4096], src = %a[0], length = 32
  cube.copy_gm_to_l1 dst = %c[0], src = %x[0], length = 32
}

// 12. Rows of a buffer, one in each turn: the next turn touches other bytes.
// CHECK-LABEL: cube.kernel @rows
// CHECK:         cube.pipe_barrier pipe = v
// CHECK-NEXT:    scf.for
// CHECK-NOT:       pipe_barrier
// CHECK:         }
cube.kernel @rows(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vector_dup dst = %a[0], scalar = 0.0, dtype = f16, count = 512
  scf.for %i = %c0 to %c8 step %c1 {
    %row = arith.muli %i, %c128 : index
    cube.vexp dst = %a[%row], src = %a[%row], dtype = f16, count = 64
  }
}

// 13. A kernel that has flags is left alone.
// CHECK-LABEL: cube.kernel @has_flags
// CHECK:         cube.vector_dup
// CHECK-NEXT:    cube.set_flag src = v, dst = mte3, event = 5
// CHECK-NEXT:    cube.wait_flag src = v, dst = mte3, event = 5
// CHECK-NEXT:    cube.vexp
cube.kernel @has_flags(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vector_dup dst = %a[0], scalar = 0.0, dtype = f16, count = 512
  cube.set_flag src = v, dst = mte3, event = 5
  cube.wait_flag src = v, dst = mte3, event = 5
  cube.vexp dst = %a[0], src = %a[0], dtype = f16, count = 512
}

// 14. A loop that may not run: a barrier in it orders nothing but what is in it. Here it comes between the first turn's
// reading of the one half and the writing after the loop; the other half needs one of its own.
// CHECK-LABEL: cube.kernel @may_not_run
// CHECK:         scf.for
// CHECK-NEXT:      cube.pipe_barrier pipe = v
// CHECK-NEXT:      cube.vexp dst = %b[0], src = %a[0]
// CHECK-NEXT:      cube.pipe_barrier pipe = v
// CHECK-NEXT:      cube.vexp dst = %c[0], src = %b[0]
// CHECK-NEXT:    }
// CHECK-NEXT:    cube.vector_dup dst = %a[0]
// CHECK-NEXT:    cube.pipe_barrier pipe = v
// CHECK-NEXT:    cube.vector_dup dst = %a[1024]
cube.kernel @may_not_run(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(2) outputs(1) {
  %c1 = arith.constant 1 : index
  %core = cube.block_idx
  %a = cube.alloc size = 2048 : !cube.buffer<ub>
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  %c = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vector_dup dst = %a[1024], scalar = 1.0, dtype = f16, count = 512
  scf.for %i = %core to %c1 step %c1 {
    cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 512
    cube.vexp dst = %c[0], src = %b[0], dtype = f16, count = 512
  }
  cube.vector_dup dst = %a[0], scalar = 2.0, dtype = f16, count = 512
  cube.vector_dup dst = %a[1024], scalar = 2.0, dtype = f16, count = 512
}
