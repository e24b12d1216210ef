// y = relu(conv3x3(x) + bias), padding 1: x is 1x8x8x16 float16, w one column of 9 fractals, bias 16 float32, y 8x8x16.
// Each of 2 cores computes 4 output rows from the 5 input rows that exist above or below them.
cube.kernel @conv(%x: !cube.buffer<gm>, %w: !cube.buffer<gm>, %bias: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(2) outputs(1) {
  %core = cube.block_idx
  %one = arith.constant 1 : index
  %row3 = arith.constant 768 : index
  %half = arith.constant 1024 : index
  %slab = cube.alloc size = 1280, address = 0 : !cube.buffer<l1>
  %ws = cube.alloc size = 4608, address = 2048 : !cube.buffer<l1>
  %a = cube.alloc size = 9216, address = 0 : !cube.buffer<l0a>
  %b = cube.alloc size = 4608, address = 0 : !cube.buffer<l0b>
  %c = cube.alloc size = 2048, address = 0 : !cube.buffer<l0c>
  %bs = cube.alloc size = 64, address = 0 : !cube.buffer<ub>
  %o = cube.alloc size = 1024, address = 64 : !cube.buffer<ub>
  %from = arith.muli %core, %row3 : index
  %to = arith.muli %core, %half : index
  %top = arith.subi %one, %core : index
  cube.copy_gm_to_l1 dst = %slab[0], src = %x[%from], length = 40
  cube.copy_gm_to_l1 dst = %ws[0], src = %w[0], length = 144
  cube.copy_gm_to_ub dst = %bs[0], src = %bias[0], length = 2
  cube.set_flag src = mte2, dst = mte1, event = 0
  cube.set_flag src = mte2, dst = v, event = 0
  cube.wait_flag src = mte2, dst = mte1, event = 0
  cube.wait_flag src = mte2, dst = v, event = 0
  cube.load3d dst = %a[0], src = %slab[0], height = 5, width = 8, channels = 16, k_extent = 144, m_extent = 32, kernel_h = 3, kernel_w = 3, pad_top = %top, pad_bottom = %core, pad_left = 1, pad_right = 1
  cube.load2d dst = %b[0], src = %ws[0], repeat = 9
  cube.broadcast_ub_to_l0c dst = %c[0], src = %bs[0], n1 = 1, m1 = 2
  cube.set_flag src = mte1, dst = m, event = 0
  cube.set_flag src = v, dst = m, event = 0
  cube.wait_flag src = mte1, dst = m, event = 0
  cube.wait_flag src = v, dst = m, event = 0
  cube.mmad dst = %c[0], a = %a[0], b = %b[0], m = 32, k = 144, n = 16
  cube.set_flag src = m, dst = v, event = 0
  cube.wait_flag src = m, dst = v, event = 0
  cube.copy_l0c_to_ub dst = %o[0], src = %c[0], length = 2, mode = f16_relu
  cube.set_flag src = v, dst = mte3, event = 0
  cube.wait_flag src = v, dst = mte3, event = 0
  cube.copy_ub_to_gm dst = %y[%to], src = %o[0], length = 32
}
