// RUN: not ge-opt %s --convert-onnx-to-graph 2>&1 | filecheck %s

// Every operator that is not known is listed at once, those in regions too.
// CHECK: error: the model has operators that are not known: Gelu of domain 'com.example' (node one),
// CHECK-SAME: Fancy of domain 'org.example' (node two) [GE4001]
func.func @main(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %a = onnx.Custom "com.example" "Gelu"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("one")
  %i = onnx.If(%c) then_branch {
    %b = onnx.Custom "org.example" "Fancy"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("two")
    onnx.Yield %b : tensor<2xf32>
  } else_branch {
    onnx.Yield %a : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %i : tensor<2xf32>
}
