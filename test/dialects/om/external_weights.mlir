// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s
// RUN: ge-translate --mlir-to-om %s -o %t.om && ge-translate --om-to-mlir %t.om | filecheck %s --check-prefix=FILE

// CHECK:     om.weights external "some-name" #ge.weights<"0x0000803F00000040">
// FILE:      om.weights external "some-name" #ge.weights<
om.model @external_weights soc "Ascend310P3" memory 0 io 0 outputs ["y"] {
  om.weights external "some-name" #ge.weights<"0x0000803F00000040">
  %w = om.op "Const" "w"() at [0] : () -> tensor<2xf32>
  om.op "NetOutput" "end"(%w) : (tensor<2xf32>) -> ()
}
