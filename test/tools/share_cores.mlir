// RUN: ge-opt %s --propagate-layout --share-cores | filecheck %s
// RUN: ge-opt %s --propagate-layout --share-cores --convert-graph-to-tile | filecheck %s --check-prefix TILE
// RUN: ge-opt %s --share-cores | filecheck %s --check-prefix EARLY

// 1, 2. Two products side by side get half of the cores each; what both need, and what needs both, keep all.
// CHECK:       func.func @main
// CHECK-SAME:    graph.one_stream_cycles
// CHECK:         %a = graph.unary <relu> %x_1 :
// CHECK:         %b = graph.matmul %a, %v_1 {graph.cores = 4 : i64}
// CHECK:         %c = graph.matmul %a, %w_1 {graph.cores = 4 : i64}
// CHECK-NEXT:    %y = graph.binary add %b, %c :

// The notes are for kernels, and gone with the operations.
// TILE:          %a = graph.launch @relu(%x_1) blocks 8
// TILE:          %b = graph.launch @matmul(%a, %v_1) blocks 4
// TILE:          %c = graph.launch @matmul(%a, %w_1) blocks 4
// TILE-NEXT:     %y = graph.launch @add(%b, %c) blocks 8
// TILE:        tile.kernel @matmul
// TILE-SAME:     : 4)
// TILE-NOT:      graph.cores

// Left alone: a module without storage formats.
// EARLY:       func.func @main
// EARLY-NOT:     graph.cores
func.func @main(%x: tensor<256x1024xf16>, %v: tensor<1024x64xf16>, %w: tensor<1024x64xf16>) -> tensor<256x64xf16> attributes {graph.input_names = ["x", "v", "w"], graph.output_names = ["y"]} {
  %a = graph.unary <relu> %x : (tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %b = graph.matmul %a, %v : (tensor<256x1024xf16>, tensor<1024x64xf16>) -> tensor<256x64xf16>
  %c = graph.matmul %a, %w : (tensor<256x1024xf16>, tensor<1024x64xf16>) -> tensor<256x64xf16>
  %y = graph.binary add %b, %c : (tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<256x64xf16>
  func.return %y : tensor<256x64xf16>
}
