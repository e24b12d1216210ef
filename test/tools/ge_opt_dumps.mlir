// RUN: ge-opt %s --canonicalize --cse --print-ir-before=cse -o %t.mlir 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: ge-opt %s --canonicalize --cse --print-ir-after=cse -o %t.mlir 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: ge-opt %s --canonicalize --cse --print-ir-before-all -o %t.mlir 2>&1 | filecheck %s --check-prefix=ALL
// RUN: ge-opt %s --canonicalize --cse --print-ir-after-all -o %t.mlir 2>&1 | filecheck %s --check-prefix=AFTER-ALL
// RUN: ge-opt %s --canonicalize --cse --timing -o %t.mlir 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: ge-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix=DEBUG
// RUN: ge-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: ge-opt %s --elide-weights | filecheck %s --check-prefix=ELIDED

// BEFORE-NOT: IR Dump Before canonicalize
// BEFORE:     // -----// IR Dump Before cse //----- //
// BEFORE:     #ge.weights<elided, 4, "{{[0-9a-f]+}}">
// AFTER:      // -----// IR Dump After cse //----- //
// AFTER-NOT:  IR Dump
// ALL:        // -----// IR Dump Before canonicalize //----- //
// ALL:        // -----// IR Dump Before cse //----- //
// AFTER-ALL:  // -----// IR Dump After canonicalize //----- //
// AFTER-ALL:  // -----// IR Dump After cse //----- //
// TIMING:      // pass timing
// TIMING-NEXT: s {{.*}}%  canonicalize
// TIMING-NEXT: s {{.*}}%  cse
// TIMING-NEXT: s  100.0 %  total
// DEBUG:      "test.op"() {{.*}} loc("sum"("{{.*}}ge_opt_dumps.mlir":{{[0-9]+}}:3))
// GENERIC:    "func.return"(%x) : (i32) -> ()
// ELIDED:     #ge.weights<elided, 4, "{{[0-9a-f]+}}">
func.func @main(%a: i32) -> i32 {
  %x = "test.op"() {value = #ge.weights<"0x00010203">} : () -> i32 loc("sum")
  func.return %x : i32
}
