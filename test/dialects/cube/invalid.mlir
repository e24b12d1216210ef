// RUN: ge-opt %s --verify-diagnostics --split-input-file

// A field beyond its range.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{field 'bursts' is 4096, expected 1 to 4095}}
  cube.copy_gm_to_ub dst = %ub[0], src = %x[0], bursts = 4096, length = 1
}

// -----

// An address that is not aligned.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{field 'dst' is 16, expected a byte offset that is a multiple of 32}}
  cube.copy_gm_to_ub dst = %ub[16], src = %x[0], length = 1
}

// -----

// A buffer in the wrong memory.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %l1 = cube.alloc size = 1024 : !cube.buffer<l1>
  // expected-error @+1 {{address 'dst' lies in l1, expected ub}}
  cube.copy_gm_to_ub dst = %l1[0], src = %x[0], length = 1
}

// -----

// Past the end of a buffer; two copies count.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 512, copies = 2 : !cube.buffer<ub>
  cube.copy_gm_to_ub dst = %ub[0], src = %x[0], length = 32
  // expected-error @+1 {{'dst' reaches byte 1056 of a buffer of 1024 bytes}}
  cube.copy_gm_to_ub dst = %ub[32], src = %x[0], length = 32
}

// -----

// A name that no field has.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{cube.copy_gm_to_ub has no field 'size'}}
  cube.copy_gm_to_ub dst = %ub[0], src = %x[0], size = 1
}

// -----

// A field without default left out.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{cube.copy_gm_to_ub lacks length}}
  cube.copy_gm_to_ub dst = %ub[0], src = %x[0]
}

// -----

// A value of the wrong type.
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{operand is used with type index}}
  cube.copy_gm_to_ub dst = %ub[0], src = %x[0], length = %f
}

// -----

// Enumerations take no values, and only their own names.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  // expected-error @+1 {{field 'pipe' is fix, expected one of s, v, m, mte1, mte2, mte3, all}}
  cube.pipe_barrier pipe = fix
}

// -----

// A flag from a pipe to itself.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  // expected-error @+1 {{a flag from v to itself: use cube.pipe_barrier}}
  cube.set_flag src = v, dst = v, event = 0
}

// -----

// More columns than the im2col matrix has: 16 channels, 3 x 3.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  %l1 = cube.alloc size = 8192 : !cube.buffer<l1>
  %l0a = cube.alloc size = 8192 : !cube.buffer<l0a>
  // expected-error @+1 {{columns [16, 160) of an im2col matrix of 144 columns}}
  cube.load3d dst = %l0a[0], src = %l1[0], height = 4, width = 4, channels = 16, k_start = 16, k_extent = 144, m_extent = 4, kernel_h = 3, kernel_w = 3
}

// -----

// A mask with more lanes than a repeat of f32.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{a repeat of f32 has 64 lanes: mask_high must be 0}}
  cube.vector_dup_masked dst = %ub[0], scalar = 0.0, dtype = f32, mask_low = 1, mask_high = 1
}

// -----

// An element that is not aligned to its size.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  %ub = cube.alloc size = 1024 : !cube.buffer<ub>
  // expected-error @+1 {{offset 2 is not a multiple of the 4 bytes of an element}}
  %s = cube.scalar_load src = %ub[2], dtype = f32
}

// -----

// Global memory cannot be allocated.
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  // expected-error @+1 {{global memory is not allocated by a kernel}}
  %b = cube.alloc size = 1024 : !cube.buffer<gm>
}

// -----

// expected-error @+1 {{2 outputs of 1 arguments}}
cube.kernel @k(%x: !cube.buffer<gm>) soc("Ascend310P3") blocks(1) outputs(2) {}

// -----

// expected-error @+1 {{every argument is a !cube.buffer<gm>}}
cube.kernel @k(%x: !cube.buffer<ub>) soc("Ascend310P3") blocks(1) outputs(0) {}

// -----

// What a core cannot execute.
// expected-error @+1 {{arith.index_cast is not an instruction of a core}}
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  %i = arith.constant 1 : index
  %f = arith.index_cast %i : index to i32
}

// -----

// expected-error @+1 {{cube.kernel is not an instruction of a core}}
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  cube.kernel @inner() soc("Ascend310P3") blocks(1) outputs(0) {}
}

// -----

// Loops carry no values.
// expected-error @+1 {{scf.for carries values through its iterations, which a core cannot do}}
cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  %i = arith.constant 1 : index
  %r = scf.for %j = %i to %i step %i iter_args(%a = %i) -> (index) {
    scf.yield %a : index
  }
}

// -----

// The numbers that a kernel binary holds.
// expected-error @+1 {{65536 blocks, expected 1 to 65535}}
cube.kernel @k() soc("Ascend310P3") blocks(65536) outputs(0) {
}

// -----

cube.kernel @k() soc("Ascend310P3") blocks(1) outputs(0) {
  // expected-error @+1 {{4294967296 copies of 32 bytes}}
  %b = cube.alloc size = 32, copies = 4294967296 : !cube.buffer<ub>
}
