// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s
// RUN: ge-translate --mlir-to-om %s -o %t.om && ge-translate --om-to-mlir %t.om --inline-weights | filecheck %s

// A file of another compiler. Messages of a few values are on one line, others on a line for each field; numbers are
// fields that no schema knows. Zero bytes align partitions, and the end.
// CHECK:       om.file wide {model_type = 1 : i64, name = "net"} {
// CHECK-NEXT:    om.container tail 8 {
// CHECK-NEXT:      om.partition "MODEL_INOUT_INFO" #ge.weights<"0x0000">
// CHECK-NEXT:      om.partition "MODEL_DEF" gap 24 #om.message<
// CHECK-NEXT:        name = "net",
// CHECK-NEXT:        graph = <name = "g", op = <name = "网", type = "Relu", input = "x:0", input = "">>,
// CHECK-NEXT:        attr = <key = "n", value = <list = <i = [1, -2], f = [0.5, 1.0e-05], s = hex "FF00">>>,
// CHECK-NEXT:        900 = "text",
// CHECK-NEXT:        901 = fixed 4 0x7fc00001,
// CHECK-NEXT:        902 = fixed 8 0x1,
// CHECK-NEXT:        903 = -3>
// CHECK-NEXT:      om.kernel_store "TBE_KERNELS" gap 6 {
// CHECK-NEXT:        om.binary "k" <"0x7F454C46">
om.file wide {model_type = 1 : i64, name = "net"} {
  om.container tail 8 {
    om.partition "MODEL_INOUT_INFO" #ge.weights<"0x0000">
    om.partition "MODEL_DEF" gap 24 #om.message<
      name = "net", graph = <name = "g", op = <name = "网", type = "Relu", input = "x:0", input = "">>,
      attr = <key = "n", value = <list = <i = [1, -2], f = [0.5, 1.0e-05], s = hex "FF00">>>,
      900 = "text", 901 = fixed 4 0x7fc00001, 902 = fixed 8 0x1, 903 = -3>
    om.kernel_store "TBE_KERNELS" gap 6 {
      om.binary "k" <"0x7F454C46">
    }
  }
}
