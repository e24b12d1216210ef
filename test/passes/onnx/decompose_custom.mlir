// RUN: ge-opt --load-plugin=%S/inputs/custom_operators.py %s --decompose-custom | filecheck %s

// 1. A function builds the operators; a default that the model does not write counts.
// CHECK-LABEL: @function
// CHECK:         %0 = onnx.Relu(%x)
// CHECK-NEXT:    %1 = onnx.Constant dense<3.000000e+00> : tensor<f16>
// CHECK-NEXT:    %a = onnx.Mul(%0, %1) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16> loc("a")
// CHECK:         onnx.Constant dense<2.000000e+00>
func.func @function(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xf16>) {
  %a = onnx.Custom "com.example" "ScaledRelu"(%x) {factor = 3.0 : f32} : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("a")
  %b = onnx.Custom "com.example" "ScaledRelu"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("b")
  func.return %a, %b : tensor<2x3xf16>, tensor<2x3xf16>
}

// 2. Rules of a file, with and without the attribute in the model.
// CHECK-LABEL: @rules
// CHECK:         onnx.Constant dense<1.000000e+00>
// CHECK:         onnx.Add
// CHECK:         onnx.Constant dense<5.000000e-01>
// CHECK:         onnx.Add
// CHECK-NOT:     onnx.Custom
func.func @rules(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = onnx.Custom "com.example" "ShiftedRelu"(%x) {shift = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Custom "com.example" "ShiftedRelu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// Several results, variadic inputs, constants as results.
// CHECK-LABEL: @variadic
// CHECK:         %0 = onnx.Add(%x, %x)
// CHECK-NEXT:    onnx.Add(%0, %x)
// CHECK:         onnx.Constant dense<3> : tensor<i64>
func.func @variadic(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<i64>) {
  %a, %n = onnx.Custom "com.example" "SumAndCount"(%x, %x, %x) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<i64>)
  func.return %a, %n : tensor<2xi64>, tensor<i64>
}

// Optional inputs.
// CHECK-LABEL: @optional
// CHECK:         onnx.Neg(%x)
// CHECK:         onnx.Sub(%b, %x)
func.func @optional(%x: tensor<2xf32>, %b: tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.Custom "com.example" "Biased"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Custom "com.example" "Biased"(%x, %b) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %a, %c : tensor<2xf32>, tensor<2xf32>
}

// Left alone: the function says None; no decomposition; an operator that nobody registers.
// CHECK-LABEL: @left_alone
// CHECK:         "SumAndCount"
// CHECK:         "Twist"
func.func @left_alone(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a, %n = onnx.Custom "com.example" "SumAndCount"(%x, %x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i64>)
  %c = onnx.Custom "com.example" "Twist"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %c : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func private @"local::unknown"
// CHECK:         "ScaledRelu"(%x) {factor = #onnx.ref<float "f">}
func.func private @"local::unknown"(%x: !onnx.unknown) -> !onnx.unknown attributes {onnx.input_names = ["x"], onnx.output_names = ["y"], onnx.attributes = ["f"]} {
  %a = onnx.Custom "com.example" "ScaledRelu"(%x) {factor = #onnx.ref<float "f">} : (!onnx.unknown) -> !onnx.unknown
  func.return %a : !onnx.unknown
}
