// Errors are one located line with a code, then why and what to do; never a traceback.
// RUN: not ge-opt %S/nothing.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not ge-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not ge-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=TYPO
// RUN: not ge-opt %s --cse='depth=3' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not ge-opt %s --cse -p dce 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not ge-opt %s -p 'cse,,' 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: not ge-opt %s --elide-weights --inline-weights 2>&1 | filecheck %s --check-prefix=WEIGHTS
// RUN: not ge-opt %s -o %T/no/such/folder.mlir 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: echo 'func.func @f() { %0 = arith.constant 1 : i32 }' | not ge-opt 2>&1 | filecheck %s --check-prefix=STDIN
// RUN: echo 'func.fun @f() {}' | not ge-opt - 2>&1 | filecheck %s --check-prefix=HINT

// MISSING:      nothing.mlir: error: '{{.*}}nothing.mlir': No such file or directory [GE1001]
// MISSING-NEXT:   why: The file does not exist
// MISSING-NEXT:   fix: Check the path
// MISSING-NOT:  Traceback
// FOLDER:       file type '' is not one of mlir, onnx, om [GE1002]
// TYPO:         error: pass 'canonicalise' is unknown, did you mean 'canonicalize'? [GE2001]
// OPTION:       error: pass 'cse' has no option 'depth' [GE2002]
// BOTH:         error: passes are given as flags and with -p [GE2003]
// PIPELINE:     error: cannot read the pipeline from ',' [GE2002]
// WEIGHTS:      error: --elide-weights and --inline-weights are both given [GE2003]
// OUTPUT:       folder.mlir: error: '{{.*}}folder.mlir': No such file or directory [GE1003]
// STDIN:        <stdin>:1:18: error: 'func.func': a block must end with a terminator, not with 'arith.constant' [GE3002]
// HINT:         <stdin>:1:1: error: operation 'func.fun' is not registered, did you mean 'func.func'? [GE3001]
func.func @main() {
  func.return
}
