// RUN: ge-opt %s --freeze-initializers --split-input-file | filecheck %s

// The default of an input is a constant like any other.
// CHECK-LABEL: func.func @default
// CHECK-NEXT:    %w = onnx.Constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    %v = onnx.Constant {onnx.note = "kept"} dense<2.000000e+00> : tensor<2xf32>
builtin.module attributes {onnx.ir_version = 4 : i64} {
  func.func @default(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = onnx.Constant {onnx.input = {index = 1 : i64}} dense<1.0> : tensor<2xf32>
    %v = onnx.Constant {onnx.note = "kept"} dense<2.0> : tensor<2xf32>
    %y = onnx.Sum(%x, %w, %v) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}

// -----

// Kept: before IR version 4, where constants are listed among the inputs, and are constants all the same.
// CHECK-LABEL: func.func @listed
// CHECK-NEXT:    %w = onnx.Constant {onnx.input = {index = 1 : i64}} dense<1.000000e+00> : tensor<2xf32>
builtin.module attributes {onnx.ir_version = 3 : i64} {
  func.func @listed(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = onnx.Constant {onnx.input = {index = 1 : i64}} dense<1.0> : tensor<2xf32>
    %y = onnx.Add(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}
