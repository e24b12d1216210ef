// RUN: ge-opt %s --split-input-file --infer-shapes | filecheck %s

// A loop may stop early: five turns at most, an unknown number of rows. Rows and carried values have known shapes.
// CHECK-LABEL: func.func @stops_early
// CHECK-SAME:    -> (tensor<4xf32>, tensor<?x4xf32>)
func.func @stops_early(%x: tensor<4xf32>, %go: tensor<i1>) -> (!onnx.unknown, !onnx.unknown) {
  %turns = onnx.Constant dense<5> : tensor<i64>
  %y, %rows = onnx.Loop(%turns, %go, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: !onnx.unknown):
    %next = onnx.Relu(%v) : (!onnx.unknown) -> !onnx.unknown
    %bound = onnx.Constant dense<1> : tensor<i64>
    %more = onnx.Less(%i, %bound) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    onnx.Yield %more, %next, %next : tensor<i1>, !onnx.unknown, !onnx.unknown
  } : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown)
  func.return %y, %rows : !onnx.unknown, !onnx.unknown
}

// -----

// The condition that is passed on stays true: exactly five rows. Without turns there are no rows, of four elements.
// CHECK-LABEL: func.func @counted
// CHECK-SAME:    -> (tensor<5x4xf32>, tensor<0x4xf32>)
func.func @counted(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown) {
  %turns = onnx.Constant dense<5> : tensor<i64>
  %none = onnx.Constant dense<0> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %rows = onnx.Loop(%turns, %true) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    %same = onnx.Identity(%c) : (tensor<i1>) -> tensor<i1>
    onnx.Yield %same, %x : tensor<i1>, tensor<4xf32>
  } : (tensor<i64>, tensor<i1>) -> !onnx.unknown
  %no_rows = onnx.Loop(%none, none) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    onnx.Yield %c, %x : tensor<i1>, tensor<4xf32>
  } : (tensor<i64>) -> !onnx.unknown
  func.return %rows, %no_rows : !onnx.unknown, !onnx.unknown
}

// -----

// A carried value that grows has an unknown size, inside of the body too; what does not change keeps its size.
// CHECK-LABEL: func.func @grows
// CHECK-SAME:    -> (tensor<?x3xf32>, tensor<2xf32>)
// CHECK:         ^bb0(%i: tensor<i64>, %c: tensor<i1>, %all: tensor<?x3xf32>, %other: tensor<2xf32>):
// CHECK-NEXT:      %longer = onnx.Concat(%all, %row) {axis = 0} : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
func.func @grows(%start: tensor<1x3xf32>, %row: tensor<1x3xf32>, %fixed: tensor<2xf32>, %n: tensor<i64>) -> (!onnx.unknown, !onnx.unknown) {
  %y, %z = onnx.Loop(%n, none, %start, %fixed) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %all: !onnx.unknown, %other: !onnx.unknown):
    %longer = onnx.Concat(%all, %row) {axis = 0} : (!onnx.unknown, tensor<1x3xf32>) -> !onnx.unknown
    %neg = onnx.Neg(%other) : (!onnx.unknown) -> !onnx.unknown
    onnx.Yield %c, %longer, %neg : tensor<i1>, !onnx.unknown, !onnx.unknown
  } : (tensor<i64>, tensor<1x3xf32>, tensor<2xf32>) -> (!onnx.unknown, !onnx.unknown)
  func.return %y, %z : !onnx.unknown, !onnx.unknown
}

// -----

// Branches of other shapes: what both have. A known condition: the branch that is taken, though the other cannot run.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    -> (tensor<?x4xf32>, tensor<*xf32>, tensor<3x4xf32>)
func.func @branches(%c: tensor<i1>, %a: tensor<1x4xf32>, %b: tensor<2x4xf32>, %v: tensor<4xf32>, %x: tensor<3x4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) {
  %p = onnx.If(%c) then_branch {
    onnx.Yield %a : tensor<1x4xf32>
  } else_branch {
    onnx.Yield %b : tensor<2x4xf32>
  } : (tensor<i1>) -> !onnx.unknown
  %q = onnx.If(%c) then_branch {
    onnx.Yield %a : tensor<1x4xf32>
  } else_branch {
    onnx.Yield %v : tensor<4xf32>
  } : (tensor<i1>) -> !onnx.unknown
  %axis = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %size = onnx.Shape(%x) {end = 1} : (tensor<3x4xf32>) -> tensor<1xi64>
  %is_one = onnx.Equal(%size, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %r = onnx.If(%is_one) then_branch {
    %s = onnx.Squeeze(%x, %axis) : (tensor<3x4xf32>, tensor<1xi64>) -> !onnx.unknown
    onnx.Yield %s : !onnx.unknown
  } else_branch {
    onnx.Yield %x : tensor<3x4xf32>
  } : (tensor<1xi1>) -> !onnx.unknown
  func.return %p, %q, %r : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Scan: as many rows as the scanned axis is long, its name included. SequenceMap: one result for each entry.
// CHECK-LABEL: func.func @scan
// CHECK-SAME:    -> (tensor<2xf32>, tensor<?x2xf32> {onnx.dims = ["time", ""]}, !onnx.seq<tensor<3xf32>>)
func.func @scan(%h: tensor<2xf32>, %x: tensor<?x2xf32> {onnx.dims = ["time", ""]}, %s: !onnx.seq<tensor<3xf32>>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) {
  %last, %all = onnx.Scan(%h, %x) {num_scan_inputs = 1} body {
  ^bb0(%state: !onnx.unknown, %row: !onnx.unknown):
    %next = onnx.Add(%state, %row) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
    onnx.Yield %next, %next : !onnx.unknown, !onnx.unknown
  } : (tensor<2xf32>, tensor<?x2xf32>) -> (!onnx.unknown, !onnx.unknown)
  %mapped = onnx.SequenceMap(%s) body {
  ^bb0(%item: !onnx.unknown):
    %abs = onnx.Abs(%item) : (!onnx.unknown) -> !onnx.unknown
    onnx.Yield %abs : !onnx.unknown
  } : (!onnx.seq<tensor<3xf32>>) -> !onnx.unknown
  func.return %last, %all, %mapped : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
