// RUN: ge-opt %s --plan-memory --convert-program-to-om | filecheck %s

// A launch, work on the host, a view and a constant: each becomes an operator, and what runs becomes a task; an event
// stays between the tasks.
func.func @main(%x: tensor<1x4xf32>) -> (tensor<4xf32>, tensor<1x?xi64>) attributes {graph.input_names = ["data"], graph.output_names = ["y", "where"]} {
  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> loc("weight")
  %a = graph.launch @add(%x, %w) blocks 2 type "Add" attrs {alpha = 2.0 : f32, mode = "x", axes = [0, 1]} stream 1 : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32> loc(fused["mul1", "add1"])
  %v = graph.view %a : (tensor<1x4xf32>) -> tensor<4xf32>
  graph.record event 0 stream 1
  graph.wait event 0 stream 0
  %n = graph.host(%v) : (tensor<4xf32>) -> tensor<1x?xi64> {
  ^bb0(%t: tensor<4xf32>):
    %z = onnx.NonZero(%t) : (tensor<4xf32>) -> tensor<1x?xi64>
    graph.yield %z : tensor<1x?xi64>
  } loc("indices1")
  func.return %v, %n : tensor<4xf32>, tensor<1x?xi64>
}
cube.kernel @add(%x: !cube.buffer<gm>, %w: !cube.buffer<gm>, %y: !cube.buffer<gm>) soc("Ascend310P3") blocks(2) outputs(1) {
}

// CHECK:       om.model @model soc "Ascend310P3" memory 1024 io 1024 outputs ["y", "where"] {
// CHECK-NEXT:    om.weights #ge.weights<"0x0000803F000000400000404000008040
// CHECK-NEXT:    om.kernel @add {
// CHECK-NEXT:      cube.kernel @add
// CHECK:         om.kernel @host.indices1 {
// CHECK-NEXT:      func.func @host.indices1
// CHECK:             onnx.NonZero
// CHECK:             func.return
// CHECK:         %data = om.op "Data" "data"() at [0] {index = 0 : i64} : () -> tensor<1x4xf32>
// CHECK-NEXT:    %weight = om.op "Const" "weight"() at [0] : () -> tensor<4xf32> loc("weight")
// CHECK-NEXT:    %mul1 = om.op "Add" "mul1"(%data, %weight) at [512] {alpha = 2.000000e+00 : f32, axes = array<i64: 0, 1>, mode = "x"} : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32> loc(fused["mul1", "add1"])
// CHECK-NEXT:    %Reshape = om.op "Reshape" "Reshape"(%mul1) at [512] {_no_task = true} : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %indices1 = om.op "NonZero" "indices1"(%Reshape) at [-1] : (tensor<4xf32>) -> tensor<1x?xi64> loc("indices1")
// CHECK-NEXT:    om.op "NetOutput" "NetOutput"(%Reshape, %indices1) : (tensor<4xf32>, tensor<1x?xi64>) -> ()
// CHECK-NEXT:    om.task @add for "mul1" blocks 2 stream 1
// CHECK-NEXT:    om.record event 0 stream 1
// CHECK-NEXT:    om.wait event 0 stream 0
// CHECK-NEXT:    om.task @host.indices1 for "indices1" blocks 1
