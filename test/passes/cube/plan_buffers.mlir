// RUN: ge-opt %s --plan-buffers | filecheck %s

// 1. Everything fits: every buffer has bytes of its own, the largest first. Each memory is planned on its own.
// CHECK-LABEL: cube.kernel @apart
// CHECK:         %a = cube.alloc size = 64, address = 1152 : !cube.buffer<ub>
// CHECK:         %b = cube.alloc size = 1024, address = 0 : !cube.buffer<ub>
// CHECK:         %c = cube.alloc size = 64, copies = 2, address = 1024 : !cube.buffer<ub>
// CHECK:         %d = cube.alloc size = 64, address = 0 : !cube.buffer<l1>
cube.kernel @apart(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 64 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 2
  %b = cube.alloc size = 1024 : !cube.buffer<ub>
  cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 32
  %c = cube.alloc size = 64, copies = 2 : !cube.buffer<ub>
  cube.vexp dst = %c[0], src = %b[0], dtype = f16, count = 32
  %d = cube.alloc size = 64 : !cube.buffer<l1>
  cube.copy_ub_to_l1 dst = %d[0], src = %c[0], length = 2
}

// 2. Addresses are multiples of what the memory asks for: 1024 in L0C.
// CHECK-LABEL: cube.kernel @aligned
// CHECK:         cube.alloc size = 1024, address = 2048 : !cube.buffer<l0c>
// CHECK:         cube.alloc size = 1056, address = 0 : !cube.buffer<l0c>
cube.kernel @aligned(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %u = cube.alloc size = 64 : !cube.buffer<ub>
  %a = cube.alloc size = 1024 : !cube.buffer<l0c>
  cube.broadcast_ub_to_l0c dst = %a[0], src = %u[0], n1 = 1, m1 = 1
  %b = cube.alloc size = 1056 : !cube.buffer<l0c>
  cube.broadcast_ub_to_l0c dst = %b[0], src = %u[0], n1 = 1, m1 = 1
}

// 3. Too much for all at once (262144 bytes): what is not live at the same time shares bytes.
// CHECK-LABEL: cube.kernel @shared
// CHECK:         %a = cube.alloc size = 131072, address = 0
// CHECK:         %b = cube.alloc size = 131072, address = 131072
// CHECK:         %c = cube.alloc size = 131072, address = 0
cube.kernel @shared(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 131072 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 4096
  %b = cube.alloc size = 131072 : !cube.buffer<ub>
  cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 65536
  %c = cube.alloc size = 131072 : !cube.buffer<ub>
  cube.vexp dst = %c[0], src = %b[0], dtype = f16, count = 65536
  cube.copy_ub_to_gm dst = %x[0], src = %c[0], length = 4096
}

// 4. What is used in a loop but allocated outside is live for all of the loop: %a does not share with %b.
// CHECK-LABEL: cube.kernel @around_a_loop
// CHECK:         %a = cube.alloc size = 100000, address = 0
// CHECK:           %b = cube.alloc size = 100000, address = 100000
// CHECK:         %c = cube.alloc size = 100000, address = 0
cube.kernel @around_a_loop(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = cube.alloc size = 100000 : !cube.buffer<ub>
  scf.for %i = %c0 to %c4 step %c1 {
    cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 3125
    %b = cube.alloc size = 100000 : !cube.buffer<ub>
    cube.vexp dst = %b[0], src = %a[0], dtype = f16, count = 50000
    cube.copy_ub_to_gm dst = %x[0], src = %b[0], length = 3125
  }
  %c = cube.alloc size = 100000 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %c[0], src = %x[0], length = 3125
}

// 5. Two copies do not fit: one is left, and the instructions use it in every turn.
// CHECK-LABEL: cube.kernel @one_copy
// CHECK:           %a = cube.alloc size = 200000, address = 0
// CHECK:           cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 6250
// CHECK-NEXT:      %offset = arith.muli %i, %c32 : index
// CHECK-NEXT:      cube.copy_ub_to_gm dst = %x[0], src = %a[%offset], length = 1
cube.kernel @one_copy(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %size = arith.constant 200000 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %slot = arith.remui %i, %c2 : index
    %at = arith.muli %slot, %size : index
    %a = cube.alloc size = 200000, copies = 2 : !cube.buffer<ub>
    cube.copy_gm_to_ub dst = %a[%at], src = %x[0], length = 6250
    %offset = arith.muli %i, %c32 : index
    %within = arith.addi %at, %offset : index
    cube.copy_ub_to_gm dst = %x[0], src = %a[%within], length = 1
  }
}

// 6. Buffers that have places keep them.
// CHECK-LABEL: cube.kernel @placed
// CHECK:         cube.alloc size = 64, address = 4096
cube.kernel @placed(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(1) {
  %a = cube.alloc size = 64, address = 4096 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %a[0], src = %x[0], length = 2
}
