// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s

// CHECK:       om.model @m soc "Ascend310P3" memory 1536 io 1024 outputs ["y"] {
// CHECK-NEXT:    om.weights #ge.weights<"0x0000803F00000040">
// CHECK-NEXT:    om.kernel @k {
// CHECK-NEXT:      func.func @k(%a: tensor<2xf32>) -> tensor<2xf32> {
// CHECK:         %x = om.op "Data" "x"() at [512] {index = 0 : i64} : () -> tensor<2xf32>
// CHECK-NEXT:    %w = om.op "Const" "w/0"() at [0] : () -> tensor<1x2x1x1xf16, #ge.layout<NC1HWC0>>
// CHECK-NEXT:    %y = om.op "Mul" "网"(%x, %w) at [-1] {alpha = 5.000000e-01 : f32, list = array<i64: 1>, lists = [array<i64: 1>], names = ["a", "b"], on = true, text = "t"} : (tensor<2xf32>, tensor<1x2x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<?xf32> loc("网")
// CHECK-NEXT:    om.op "NetOutput" "end"(%y) : (tensor<?xf32>) -> ()
// CHECK-NEXT:    om.task @k for "网" blocks 8 stream 1
// CHECK-NEXT:    om.record event 0 stream 1
// CHECK-NEXT:    om.wait event 0 stream 0
om.model @m soc "Ascend310P3" memory 1536 io 1024 outputs ["y"] {
  om.weights #ge.weights<"0x0000803F00000040">
  om.kernel @k {
    func.func @k(%a: tensor<2xf32>) -> tensor<2xf32> {
      func.return %a : tensor<2xf32>
    }
  }
  %x = om.op "Data" "x"() at [512] {index = 0 : i64} : () -> tensor<2xf32>
  %w = om.op "Const" "w/0"() at [0] : () -> tensor<1x2x1x1xf16, #ge.layout<NC1HWC0>>
  %y = om.op "Mul" "网"(%x, %w) at [-1] {alpha = 0.5 : f32, list = array<i64: 1>, lists = [array<i64: 1>], names = ["a", "b"], on = true, text = "t"} : (tensor<2xf32>, tensor<1x2x1x1xf16, #ge.layout<NC1HWC0>>) -> tensor<?xf32> loc("网")
  om.op "NetOutput" "end"(%y) : (tensor<?xf32>) -> ()
  om.task @k for "网" blocks 8 stream 1
  om.record event 0 stream 1
  om.wait event 0 stream 0
}
