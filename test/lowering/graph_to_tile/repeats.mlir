// RUN: ge-opt %s --split-input-file --convert-graph-to-tile | filecheck %s

// A column: its numbers fill blocks, which rows read over and over. Rows that end inside a block are stored as whole
// blocks and a last one, so that another core may store the next row at once.
// CHECK:      tile.kernel @sub(%x0: !tile.gm<64x100xf16>, %x1: !tile.gm<64xf16>, %y: !tile.gm<64x100xf16>) grid(%core : 4) outputs(1) {
// CHECK-NEXT:   %c16 = arith.constant 16 : index
// CHECK-NEXT:   [[V0:%.*]] = arith.muli %core, %c16 : index
// CHECK-NEXT:   [[V1:%.*]] = tile.load %x0[[[V0]], 0] sizes [16, 112] fill 1
// CHECK-NEXT:   [[V2:%.*]] = tile.load %x1[[[V0]]] sizes [16]
// CHECK-NEXT:   [[V3:%.*]] = tile.broadcast [[V2]] : !tile.tile<1x16xf16> -> !tile.tile<16x16xf16>
// CHECK-NEXT:   [[V4:%.*]] = tile.transpose [[V3]] : !tile.tile<16x16xf16> -> !tile.tile<16x16xf16>
// CHECK-NEXT:   [[V5:%.*]] = tile.reshape [[V4]] : !tile.tile<16x16xf16> -> !tile.tile<16x1x16xf16>
// CHECK-NEXT:   [[V6:%.*]] = tile.binary sub [[V1]], [[V5]]
// CHECK-NEXT:   [[V7:%.*]] = tile.slice [[V6]][0, 0, 0] sizes [16, 6, 16]
// CHECK-NEXT:   tile.store [[V7]], %y[[[V0]], 0] sizes [16, 96]
// CHECK-NEXT:   [[V8:%.*]] = tile.slice [[V6]][0, 5, 0] sizes [16, 2, 16]
// CHECK-NEXT:   [[V9:%.*]] = tile.reshape [[V8]] : !tile.tile<16x2x16xf16> -> !tile.tile<16x32xf16>
// CHECK-NEXT:   [[V10:%.*]] = tile.transpose [[V9]] : !tile.tile<16x32xf16> -> !tile.tile<32x16xf16>
// CHECK-NEXT:   [[V11:%.*]] = tile.slice [[V10]][4, 0] sizes [16, 16]
// CHECK-NEXT:   [[V12:%.*]] = tile.transpose [[V11]] : !tile.tile<16x16xf16> -> !tile.tile<16x16xf16>
// CHECK-NEXT:   tile.store [[V12]], %y[[[V0]], 84] sizes [16, 16]
func.func @main(%x: tensor<64x100xf16>, %m: tensor<64x1xf16>) -> tensor<64x100xf16> {
  %y = graph.binary sub %x, %m : (tensor<64x100xf16>, tensor<64x1xf16>) -> tensor<64x100xf16>
  func.return %y : tensor<64x100xf16>
}

// -----

// A row and a column make a matrix of whole blocks: the row is loaded once.
// CHECK:      tile.kernel @mul(%x0: !tile.gm<1x64xf16>, %x1: !tile.gm<512xf16>, %y: !tile.gm<512x64xf16>) grid(%core : 8) outputs(1) {
// CHECK-NEXT:   %c64 = arith.constant 64 : index
// CHECK-NEXT:   [[V0:%.*]] = tile.load %x0[0, 0] sizes [1, 64]
// CHECK-NEXT:   [[V1:%.*]] = arith.muli %core, %c64 : index
// CHECK-NEXT:   [[V2:%.*]] = tile.load %x1[[[V1]]] sizes [64]
// CHECK-NEXT:   [[V3:%.*]] = tile.broadcast [[V2]] : !tile.tile<1x64xf16> -> !tile.tile<16x64xf16>
// CHECK-NEXT:   [[V4:%.*]] = tile.transpose [[V3]] : !tile.tile<16x64xf16> -> !tile.tile<64x16xf16>
// CHECK-NEXT:   [[V5:%.*]] = tile.reshape [[V4]] : !tile.tile<64x16xf16> -> !tile.tile<64x1x16xf16>
// CHECK-NEXT:   [[V6:%.*]] = tile.binary mul [[V0]], [[V5]]
// CHECK-NEXT:   tile.store [[V6]], %y[[[V1]], 0] sizes [64, 64]
func.func @main(%r: tensor<1x64xf16>, %c: tensor<512x1xf16>) -> tensor<512x64xf16> {
  %y = graph.binary mul %r, %c : (tensor<1x64xf16>, tensor<512x1xf16>) -> tensor<512x64xf16>
  func.return %y : tensor<512x64xf16>
}

// -----

// One row for all rows of each image, and one number for each of these: neither has the other dimension.
// CHECK:      tile.kernel @max(%x0: !tile.gm<2x1x48xf16>, %x1: !tile.gm<2x12xf16>, %y: !tile.gm<2x12x48xf16>) grid(%core : 2) outputs(1) {
// CHECK-NEXT:   [[V0:%.*]] = tile.load %x0[%core, 0, 0] sizes [1, 1, 48]
// CHECK-NEXT:   [[V1:%.*]] = tile.load %x1[%core, 0] sizes [1, 16] fill 1
// CHECK-NEXT:   [[V2:%.*]] = tile.broadcast [[V1]] : !tile.tile<1x16xf16> -> !tile.tile<16x16xf16>
// CHECK-NEXT:   [[V3:%.*]] = tile.transpose [[V2]] : !tile.tile<16x16xf16> -> !tile.tile<16x16xf16>
// CHECK-NEXT:   [[V4:%.*]] = tile.slice [[V3]][0, 0] sizes [12, 16]
// CHECK-NEXT:   [[V5:%.*]] = tile.reshape [[V4]] : !tile.tile<12x16xf16> -> !tile.tile<12x1x16xf16>
// CHECK-NEXT:   [[V6:%.*]] = tile.binary max [[V0]], [[V5]]
// CHECK-NEXT:   tile.store [[V6]], %y[%core, 0, 0] sizes [1, 12, 48]
func.func @main(%a: tensor<2x1x1x48xf16>, %b: tensor<2x12x1x1xf16>) -> tensor<2x12x1x48xf16> {
  %y = graph.binary max %a, %b : (tensor<2x1x1x48xf16>, tensor<2x12x1x1xf16>) -> tensor<2x12x1x48xf16>
  func.return %y : tensor<2x12x1x48xf16>
}

// -----

// Rows of less than a block are stored in order, by one core.
// CHECK:      tile.kernel @div(%x0: !tile.gm<64x5xf16>, %x1: !tile.gm<64xf16>, %y: !tile.gm<64x5xf16>) grid(%core : 1) outputs(1) {
// CHECK-NEXT:   [[V0:%.*]] = tile.load %x0[0, 0] sizes [64, 16] fill 1
// CHECK-NEXT:   [[V1:%.*]] = tile.load %x1[0] sizes [64]
// CHECK-NEXT:   [[V2:%.*]] = tile.broadcast [[V1]] : !tile.tile<1x64xf16> -> !tile.tile<16x64xf16>
// CHECK-NEXT:   [[V3:%.*]] = tile.transpose [[V2]] : !tile.tile<16x64xf16> -> !tile.tile<64x16xf16>
// CHECK-NEXT:   [[V4:%.*]] = tile.reshape [[V3]] : !tile.tile<64x16xf16> -> !tile.tile<64x1x16xf16>
// CHECK-NEXT:   [[V5:%.*]] = tile.binary div [[V0]], [[V4]]
// CHECK-NEXT:   tile.store [[V5]], %y[0, 0] sizes [64, 16]
func.func @main(%x: tensor<64x5xf16>, %m: tensor<64x1xf16>) -> tensor<64x5xf16> {
  %y = graph.binary div %x, %m : (tensor<64x5xf16>, tensor<64x1xf16>) -> tensor<64x5xf16>
  func.return %y : tensor<64x5xf16>
}

// -----

// More of them run on the host.
// CHECK:      %y = graph.host(%x, %m)
// CHECK:        onnx.Div
// CHECK-NOT:  tile.kernel
func.func @main(%x: tensor<2000x5xf32>, %m: tensor<2000x1xf32>) -> tensor<2000x5xf32> {
  %y = graph.binary div %x, %m : (tensor<2000x5xf32>, tensor<2000x1xf32>) -> tensor<2000x5xf32>
  func.return %y : tensor<2000x5xf32>
}
