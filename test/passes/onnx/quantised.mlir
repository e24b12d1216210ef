// RUN: ge-opt %s --split-input-file --recognise-gelu --strength-reduction | filecheck %s

// 1. what is quantised keeps its bits: no Gelu, no product in the place of a power
// CHECK-LABEL: func.func @dynamic
// CHECK:         onnx.Erf
// CHECK-NOT:     onnx.Gelu
// CHECK:         onnx.DynamicQuantizeLinear
func.func @dynamic(%x: tensor<4xf32>) {
  %r = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Div(%x, %r) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Erf(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.Add(%1, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = onnx.Mul(%x, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = onnx.Mul(%3, %half) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5, %6, %7 = onnx.DynamicQuantizeLinear(%4) : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  "test.op"(%5, %6, %7) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> ()
  func.return
}

// -----

// 2. by way of other floats, a product of matrices among them
// CHECK-LABEL: func.func @behind
// CHECK:         onnx.Pow
// CHECK:         onnx.QuantizeLinear
func.func @behind(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %s: tensor<f32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Pow(%x, %two) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.Transpose(%1) {perm = [1, 0]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = onnx.QuantizeLinear(%2, %s) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xui8>
  "test.op"(%3) : (tensor<4x4xui8>) -> ()
  func.return
}

// -----

// 3. a quantisation that is written out, and one of another domain
// CHECK-LABEL: func.func @others
// CHECK:         onnx.Pow
// CHECK:         onnx.Round
// CHECK:         onnx.Pow
// CHECK:         QuantizeLinear
func.func @others(%x: tensor<4xf32>, %s: tensor<f32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Pow(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Round(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.Pow(%1, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = onnx.Custom "com.microsoft" "QuantizeLinear"(%2, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  "test.op"(%3) : (tensor<4xui8>) -> ()
  func.return
}

// -----

// 4. in a subgraph that captures the value, and behind a subgraph that yields it
// CHECK-LABEL: func.func @subgraphs
// CHECK:         onnx.Pow
// CHECK:         onnx.If
// CHECK:         onnx.Pow
// CHECK:         onnx.DynamicQuantizeLinear
func.func @subgraphs(%x: tensor<4xf32>, %c: tensor<i1>, %s: tensor<f32>) {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Pow(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.If(%c) then_branch {
    %3 = onnx.Pow(%0, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    onnx.Yield %3 : tensor<4xf32>
  } else_branch {
    onnx.Yield %0 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %5, %6, %7 = onnx.DynamicQuantizeLinear(%1) : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  "test.op"(%5, %6, %7) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> ()
  func.return
}

// -----

// 5. rewritten all the same: what keeps its bits, integers, and what no quantisation takes although one is there
// CHECK-LABEL: func.func @free
// CHECK-NOT:     onnx.Div
// CHECK-NOT:     onnx.Pow
// CHECK:         onnx.DynamicQuantizeLinear
// CHECK:         onnx.Mul
// CHECK-NOT:     onnx.Pow
func.func @free(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  %eight = onnx.Constant dense<8.0> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Div(%x, %eight) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Pow(%i, %two) : (tensor<4xi32>, tensor<f32>) -> tensor<4xi32>
  %2 = onnx.Cast(%1) {to = 1} : (tensor<4xi32>) -> tensor<4xf32>
  %3 = onnx.Add(%0, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5, %6, %7 = onnx.DynamicQuantizeLinear(%3) : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  %8 = onnx.Pow(%6, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "test.op"(%5, %7, %8) : (tensor<4xui8>, tensor<ui8>, tensor<f32>) -> ()
  func.return
}
