// RUN: not ge-opt %s --plan-buffers 2>&1 | filecheck %s

// CHECK: kernel 'large' needs 400000 bytes of ub, there are 262144; largest: %a (200000 bytes), %b (200000 bytes)
// CHECK: GE4021
// CHECK: smaller tiles
cube.kernel @large(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 200000 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 6250
  %b = cube.alloc size = 200000 : !cube.buffer<ub>
  cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 100000
}
