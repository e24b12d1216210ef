// RUN: ge-opt %s --note-dataflow | filecheck %s
// RUN: ge-opt %s --note-dataflow --order-launches --assign-streams --plan-memory --check-memory | filecheck %s

// 1. A program gets the note, and order, streams and places leave it true.
// CHECK: func.func @main{{.*}}graph.dataflow = "{{[0-9a-f]+}}"
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %a = graph.launch @k(%x) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>
  func.return %a : tensor<8xf16>
}

// Left alone: a declaration.
// CHECK: func.func private @other(tensor<8xf16>)
// CHECK-NOT: graph.dataflow
func.func private @other(tensor<8xf16>)
