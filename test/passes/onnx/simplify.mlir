// RUN: ge-opt %s --simplify='passes=eliminate-identity' | filecheck %s
// RUN: not ge-opt %s --simplify='passes=onnx-dce' 2>&1 | filecheck %s --check-prefix WRONG
// RUN: not ge-opt %s --simplify='passes=nothing' 2>&1 | filecheck %s --check-prefix UNKNOWN

// The rules of the passes that are named are applied.
// CHECK-LABEL: @identity
// CHECK-NEXT:    %y = onnx.Relu(%x)
// CHECK-NEXT:    func.return %y
func.func @identity(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.Relu(%a) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// WRONG: 'onnx-dce' is no pass that consists of rules
// UNKNOWN: 'nothing' is no pass that consists of rules
