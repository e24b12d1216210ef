// RUN: ge-opt %s --convert-graph-to-tile | filecheck %s

// 1. Rows of fractals get a lane each by a transpose; their results follow each other in plain format.
// 2. So do 16 rows of a plain tensor; a minimum is a maximum of negative numbers, and stays float16.
// 3. Rows that are combined one with another stay as they lie.
// 4. What is too long comes in parts: sums are float32 between them, and rounded once.

// CHECK:      %r = graph.launch @fractals(%x) blocks 1 type "ReduceMeanD" attrs {axes = array<i64: 1>, keep_dims = true}
// CHECK-NEXT: %s = graph.launch @rows(%y) blocks 3 type "ReduceMinD"
// CHECK-NEXT: %c = graph.launch @between(%y) blocks 2 type "ReduceMaxD"
// CHECK-NEXT: %a = graph.launch @all(%z) blocks 1 type "SquareSumV1" attrs {axis = array<i64: 0, 1>, keep_dims = true}

// CHECK:      tile.kernel @fractals(%x: !tile.gm<1x2x4x16xf16>, %y: !tile.gm<1x4xf16>)
// CHECK:        tile.transpose {{.*}} : !tile.tile<32x16xf16> -> !tile.tile<16x32xf16>
// CHECK-NEXT:   tile.reshape {{.*}} -> !tile.tile<32x16xf16>
// CHECK-NEXT:   tile.cast {{.*}} -> !tile.tile<32x16xf32>
// CHECK-NEXT:   tile.reduce sum {{.*}} {axis = 0 : i64} : !tile.tile<32x16xf32> -> !tile.tile<1x16xf32>
// CHECK-NEXT:   tile.scalar muls {{.*}}, 0.03125 : !tile.tile<1x16xf32>
// CHECK-NEXT:   tile.cast {{.*}} -> !tile.tile<1x16xf16>
// CHECK-NEXT:   tile.store {{.*}}, %y[0, 0] sizes [1, 16] : !tile.tile<1x16xf16> -> !tile.gm<1x4xf16>

// CHECK:      tile.kernel @rows(
// CHECK:        tile.load {{.*}} sizes [16, 48] fill 65504
// CHECK-NEXT:   tile.transpose {{.*}} -> !tile.tile<48x16xf16>
// CHECK-NEXT:   tile.unary neg
// CHECK-NEXT:   tile.reduce max {{.*}} {axis = 0 : i64} : !tile.tile<48x16xf16> -> !tile.tile<1x16xf16>
// CHECK-NEXT:   tile.unary neg
// CHECK-NEXT:   tile.store {{.*}} sizes [16] : !tile.tile<1x16xf16> -> !tile.gm<40xf16>

// CHECK:      tile.kernel @between(
// CHECK:        tile.load {{.*}} sizes [1, 40, 32] fill -65504
// CHECK-NEXT:   tile.reduce max {{.*}} {axis = 1 : i64} : !tile.tile<1x40x32xf16> -> !tile.tile<1x1x32xf16>

// CHECK:      tile.kernel @all(
// CHECK:        tile.for %i = 0 to 4 step 1 iter_args(%acc_1 = %0 : !tile.tile<1x16xf32>) stages(2) {
// CHECK:          tile.load {{.*}} fill 0 : !tile.gm<27000xf16> -> !tile.tile<422x16xf16>
// CHECK-NEXT:     tile.cast
// CHECK-NEXT:     tile.binary mul
// CHECK-NEXT:     tile.reduce sum {{.*}} {axis = 0 : i64}
// CHECK-NEXT:     tile.binary add %acc_1
// CHECK:        tile.reduce sum %acc {axis = 1 : i64} : !tile.tile<1x16xf32> -> !tile.tile<1x1xf32>
// CHECK-NEXT:   tile.cast
// CHECK-NEXT:   tile.store {{.*}} sizes [1]
func.func @main(%x: tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>, %y: tensor<40x48xf16>, %z: tensor<3x9000xf16>) -> (tensor<4x1xf16>, tensor<40x1xf16>, tensor<1x48xf16>, tensor<1x1xf16>) {
  %r = graph.reduce mean %x axes [1] : (tensor<4x32xf16, #ge.layout<FRACTAL_NZ>>) -> tensor<4x1xf16> loc("fractals")
  %s = graph.reduce min %y axes [1] : (tensor<40x48xf16>) -> tensor<40x1xf16> loc("rows")
  %c = graph.reduce max %y axes [0] : (tensor<40x48xf16>) -> tensor<1x48xf16> loc("between")
  %a = graph.reduce sum_square %z axes [0, 1] : (tensor<3x9000xf16>) -> tensor<1x1xf16> loc("all")
  func.return %r, %s, %c, %a : tensor<4x1xf16>, tensor<40x1xf16>, tensor<1x48xf16>, tensor<1x1xf16>
}
