// RUN: ge-opt %s --canonicalize --cse | filecheck %s
// RUN: ge-opt %s -p canonicalize,cse | filecheck %s
// RUN: ge-opt %s --pass-pipeline='builtin.module(canonicalize, cse)' | filecheck %s
// RUN: ge-opt %s --canonicalize -o %t.mlir && ge-opt %t.mlir | diff - %t.mlir
// RUN: cat %s | ge-opt --cse --canonicalize | filecheck %s
// RUN: ge-opt %s | filecheck %s --check-prefix=UNCHANGED

// CHECK:       func.func @main(%x: i32) -> i32 {
// CHECK-NEXT:    %twice = arith.addi %x, %x : i32 loc("double")
// CHECK-NEXT:    func.return %twice : i32
// UNCHANGED:     arith.constant 0
func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %same = arith.addi %x, %zero : i32
  %twice = arith.addi %same, %same : i32 loc("double")
  func.return %twice : i32
}
