// RUN: ge-opt %s --onnx-dce | filecheck %s

// Chains of dead operations, constants and random operators too
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    %y = onnx.Relu(%x)
// CHECK-NEXT:    func.return %y
func.func @dead(%x: tensor<2xf32>, %unused: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = onnx.Add(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Neg(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %r = onnx.RandomNormal() {shape = [2]} : () -> tensor<2xf32>
  %c = onnx.Custom "com.example" "Foo"(%b) : (tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Kept: an operation of which one result is used, what a region uses, operations of other dialects
// CHECK-LABEL: func.func @alive
// CHECK-NEXT:    %v, %i = onnx.TopK(%x, %k)
// CHECK-NEXT:    %n = onnx.Neg(%x)
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    %r = onnx.If(%c) then_branch {
// CHECK-NEXT:      onnx.Yield %n
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      onnx.Yield %x
func.func @alive(%x: tensor<2xf32>, %k: tensor<1xi64>, %c: tensor<i1>) -> (tensor<2xf32>, tensor<2xi64>) {
  %v, %i = onnx.TopK(%x, %k) : (tensor<2xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  %n = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"() : () -> ()
  %r = onnx.If(%c) then_branch {
    %dead = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %r, %i : tensor<2xf32>, tensor<2xi64>
}
