// RUN: ge-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{elements must be f16, f32, i8, ui8 or i32, got i64}}
tile.kernel @element(%y: !tile.gm<4xi64>) grid(%core : 1) outputs(1) {}

// -----

// expected-error @+1 {{2 outputs of 1 arguments}}
tile.kernel @outputs(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(2) {}

// -----

tile.kernel @step(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  // expected-error @+1 {{the step of a loop is positive, got 0}}
  tile.for %i = 0 to 4 step 0 {}
}

// -----

tile.kernel @carried(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %a = tile.constant 0 : !tile.tile<4xf16>
  %b = tile.constant 0 : !tile.tile<4xf32>
  // expected-error @+1 {{yielded must have the types of the initial values}}
  %r = tile.for %i = 0 to 4 step 1 iter_args(%t = %a : !tile.tile<4xf16>) {
    tile.yield %b : !tile.tile<4xf32>
  }
}

// -----

tile.kernel @inside(%x: !tile.gm<4x16xf16>, %y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  // expected-error @+1 {{slice [3, 5) is outside of a dimension of size 4}}
  %t = tile.load %x[3, 0] sizes [2, 16] : !tile.gm<4x16xf16> -> !tile.tile<2x16xf16>
}

// -----

tile.kernel @rank(%x: !tile.gm<4x16xf16>, %y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  // expected-error @+1 {{a slice of a tensor of rank 2 has as many offsets and sizes}}
  %t = tile.load %x[3] sizes [16] : !tile.gm<4x16xf16> -> !tile.tile<16xf16>
}

// -----

tile.kernel @count(%x: !tile.gm<4x16xf16>, %y: !tile.gm<4x16xf16>) grid(%core : 1) outputs(1) {
  %t = tile.constant 0 : !tile.tile<16xf16>
  // expected-error @+1 {{a slice of 32 elements does not fill !tile.tile<16xf16>}}
  tile.store %t, %y[0, 0] sizes [2, 16] : !tile.tile<16xf16> -> !tile.gm<4x16xf16>
}

// -----

tile.kernel @infinite(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  // expected-error @+1 {{scalar must be finite, got inf}}
  %t = tile.constant 1.0e60 : !tile.tile<16xf16>
}

// -----

tile.kernel @windows(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %slab = tile.constant 0 : !tile.tile<1x3x8x16xf16>
  // expected-error @+1 {{the windows of a row are 6, out_width says 8}}
  %a = tile.im2col %slab[0, 0] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [0, 0] out_width 8 : !tile.tile<1x3x8x16xf16> -> !tile.tile<9x16x16xf16>
}

// -----

tile.kernel @blocks(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %slab = tile.constant 0 : !tile.tile<1x3x8x16xf16>
  // expected-error @+1 {{K blocks [4, 13) of 9}}
  %a = tile.im2col %slab[0, 4] kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1] out_width 8 : !tile.tile<1x3x8x16xf16> -> !tile.tile<9x16x16xf16>
}

// -----

tile.kernel @rows(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %a = tile.constant 0 : !tile.tile<2x16x16xf16>
  %b = tile.constant 0 : !tile.tile<3x1x16x16xf16>
  %acc = tile.constant 0 : !tile.tile<1x16x16xf32>
  // expected-error @+1 {{b is 2 x 1 x 16 x 16 or 1 x 32 x 16, got !tile.tile<3x1x16x16xf16>}}
  %z = tile.matmul %a, %b, %acc : !tile.tile<2x16x16xf16>, !tile.tile<3x1x16x16xf16> -> !tile.tile<1x16x16xf32>
}

// -----

tile.kernel @spread(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %a = tile.constant 0 : !tile.tile<3x16xf16>
  %b = tile.constant 0 : !tile.tile<2x16xf16>
  // expected-error @+1 {{do not broadcast to}}
  %z = tile.binary add %a, %b : !tile.tile<3x16xf16>, !tile.tile<2x16xf16> -> !tile.tile<3x16xf16>
}

// -----

tile.kernel @cut(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %a = tile.constant 0 : !tile.tile<8x16xf16>
  // expected-error @+1 {{4 elements from 2, 2 apart, are outside of a size of 8}}
  %z = tile.slice %a[2, 0] sizes [4, 16] strides [2, 1] : !tile.tile<8x16xf16> -> !tile.tile<4x16xf16>
}

// -----

tile.kernel @turn(%y: !tile.gm<4xf16>) grid(%core : 1) outputs(1) {
  %a = tile.constant 0 : !tile.tile<24x16xf16>
  // expected-error @+1 {{a transpose takes R x 16 or 16 x R, R a multiple of 16, got !tile.tile<24x16xf16>}}
  %z = tile.transpose %a : !tile.tile<24x16xf16> -> !tile.tile<16x24xf16>
}
