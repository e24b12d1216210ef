// RUN: ge-opt %s --select-outputs='outputs="split:1;prob;conv:0"' | filecheck %s
// RUN: not ge-opt %s --select-outputs='outputs=cnv:0' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not ge-opt %s --select-outputs='outputs=split' 2>&1 | filecheck %s --check-prefix=NODE
// RUN: not ge-opt %s --select-outputs='outputs=conv:1' 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not ge-opt %s --select-outputs='outputs=x' 2>&1 | filecheck %s --check-prefix=INPUT
// RUN: not ge-opt %s --select-outputs='outputs="prob;split:0"' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not ge-opt %s --select-outputs='outputs="prob;;"' 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not ge-opt %s --select-outputs='outputs=two:0' 2>&1 | filecheck %s --check-prefix=SAME
// RUN: not ge-opt %s --select-outputs='outputs=last:0' 2>&1 | filecheck %s --check-prefix=BOTH

// Outputs in the order given, by node and number, by the name of a value and by that of an output; each has the name of
// its value, and what was noted of it. What no output needs goes, inputs stay
// CHECK-LABEL: func.func @main
// CHECK-SAME:      (%x: tensor<4x2xf32>, %unused: tensor<1xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32> {onnx.dims = ["batch", ""]}, tensor<4x2xf32>)
// CHECK-SAME:      onnx.output_names = ["split_output_1", "prob", "c"]
// CHECK-NEXT:    %c = onnx.Abs(%x)
// CHECK-NEXT:    %a, %b = onnx.Split(%c) {num_outputs = 2, onnx.outputs = ["prob", "split_output_1"]}
// CHECK-NEXT:    func.return %b, %a, %c

// UNKNOWN: 'cnv:0' is neither an output of a node nor the name of a value; near it are 'conv:0' [GE2040]
// NODE: outputs of the node are named like 'split:0' [GE2040]
// NUMBER: 'conv:1': node 'conv' (Abs) has no output 1: it has 1 [GE2040]
// INPUT: 'x' is neither an output of a node nor the name of a value [GE2040]
// TWICE: 'split:0' names the output 'prob', which is named before [GE2040]
// EMPTY: 'prob;;' has an empty name [GE2040]
// SAME: 'two:0' may be the output of any of 2 nodes called 'two' [GE2040]
// BOTH: 'last:0' is the name of a value, and of the output of another node [GE2040]
func.func @main(%x: tensor<4x2xf32>, %unused: tensor<1xf32>) -> (tensor<2x2xf32> {onnx.dims = ["batch", ""]}, tensor<2x2xf32>)
    attributes {onnx.input_names = ["x", "unused"], onnx.output_names = ["prob", "last"]} {
  %c = onnx.Abs(%x) {onnx.outputs = ["c"]} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("conv")
  %a, %b = onnx.Split(%c) {num_outputs = 2, onnx.outputs = ["prob", "split_output_1"]} : (tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) loc("split")
  %d = onnx.Neg(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("last")
  %e = onnx.Neg(%b) {onnx.outputs = ["last:0"]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("two")
  %f = onnx.Neg(%e) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("two")
  func.return %a, %d : tensor<2x2xf32>, tensor<2x2xf32>
}
