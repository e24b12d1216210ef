// z = x + y, float16, 8 tiles of 1024 elements dealt to 2 cores; loads and stores are double-buffered.
// Two buffers for each operand; events 0 and 1 stand for the two copies.
cube.kernel @add(%x: !cube.buffer<gm>, %y: !cube.buffer<gm>, %z: !cube.buffer<gm>) soc("Ascend310P3") blocks(2) outputs(1) {
  %core = cube.block_idx
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %bytes = arith.constant 2048 : index
  %a = cube.alloc size = 2048, copies = 2, address = 0 : !cube.buffer<ub>
  %b = cube.alloc size = 2048, copies = 2, address = 4096 : !cube.buffer<ub>
  %c = cube.alloc size = 2048, copies = 2, address = 8192 : !cube.buffer<ub>
  // The inputs are free to load into, the results free to compute into.
  cube.set_flag src = v, dst = mte2, event = 0
  cube.set_flag src = v, dst = mte2, event = 1
  cube.set_flag src = mte3, dst = v, event = 0
  cube.set_flag src = mte3, dst = v, event = 1
  scf.for %i = %c0 to %c4 step %c1 {
    %half = arith.remui %i, %c2 : index
    %slot = arith.muli %half, %bytes : index
    %twice = arith.muli %i, %c2 : index
    %tile = arith.addi %twice, %core : index
    %at = arith.muli %tile, %bytes : index
    cube.wait_flag src = v, dst = mte2, event = %half
    cube.copy_gm_to_ub dst = %a[%slot], src = %x[%at], length = 64
    cube.copy_gm_to_ub dst = %b[%slot], src = %y[%at], length = 64
    cube.set_flag src = mte2, dst = v, event = %half
    cube.wait_flag src = mte2, dst = v, event = %half
    cube.wait_flag src = mte3, dst = v, event = %half
    cube.vadd dst = %c[%slot], src0 = %a[%slot], src1 = %b[%slot], dtype = f16, count = 1024
    cube.set_flag src = v, dst = mte2, event = %half
    cube.set_flag src = v, dst = mte3, event = %half
    cube.wait_flag src = v, dst = mte3, event = %half
    cube.copy_ub_to_gm dst = %z[%at], src = %c[%slot], length = 64
    cube.set_flag src = mte3, dst = v, event = %half
  }
  cube.wait_flag src = v, dst = mte2, event = 0
  cube.wait_flag src = v, dst = mte2, event = 1
  cube.wait_flag src = mte3, dst = v, event = 0
  cube.wait_flag src = mte3, dst = v, event = 1
}
