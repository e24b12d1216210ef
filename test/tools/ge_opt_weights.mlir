// Constants go to a side file next to the output, and are found again through it.
// RUN: ge-opt %s -o %t.mlir && filecheck %s --input-file=%t.mlir --check-prefix=SIDE
// RUN: ge-opt %t.mlir --inline-weights | filecheck %s --check-prefix=INLINE
// RUN: ge-opt %t.mlir --canonicalize -o %t.mlir && ge-opt %t.mlir --inline-weights | filecheck %s --check-prefix=INLINE
// RUN: ge-opt %t.mlir --inline-weights | ge-opt | filecheck %s --check-prefix=INLINE

// SIDE:   #ge.weights<"ge_opt_weights{{.*}}.weights", 0, 4, "054edec1d0211f624fed0cbca9d4f9400b0e491c43742af2c5b0abebf0c990d8">
// INLINE: #ge.weights<"0x00010203">
"test.op"() {value = #ge.weights<"0x00010203">} : () -> ()
