// RUN: ge-opt %s --onnx-cse | filecheck %s

// Equal operators, also when the users become equal only then; equal constants; notes on names do not count
// CHECK-LABEL: func.func @merged
// CHECK-NEXT:    %w = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> loc("w")
// CHECK-NEXT:    %a = onnx.Add(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("first")
// CHECK-NEXT:    %c = onnx.LeakyRelu(%a) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    "test.op"(%a, %a, %c, %c)
func.func @merged(%x: tensor<2xf32>) {
  %w = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32> loc("w")
  %v = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32> loc("v")
  %a = onnx.Add(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("first")
  %b = onnx.Add(%x, %v) {onnx.outputs = ["b"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("second")
  %c = onnx.LeakyRelu(%a) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  %d = onnx.LeakyRelu(%b) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %b, %c, %d) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: other attributes, operands, positions of absent operands, bytes or types
// CHECK-LABEL: func.func @differing
// CHECK:         "test.op"(%a, %b, %c, %d, %e, %f, %p, %q, %i)
func.func @differing(%x: tensor<2xf32>, %y: tensor<2xf32>, %m: tensor<f32>) {
  %a = onnx.LeakyRelu(%x) {alpha = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.LeakyRelu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Sub(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = onnx.Sub(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %e = onnx.Clip(%x, %m) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %f = onnx.Clip(%x, none, %m) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %p = onnx.Constant dense<0.0> : tensor<f32>
  %q = onnx.Constant dense<-0.0> : tensor<f32>
  %i = onnx.Constant dense<0> : tensor<i32>
  "test.op"(%a, %b, %c, %d, %e, %f, %p, %q, %i) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<i32>) -> ()
  func.return
}

// Kept: random operators also with equal seeds, dropout in training, operators of other domains
// CHECK-LABEL: func.func @random
// CHECK:         "test.op"(%a, %b, %c, %d, %e, %f)
func.func @random(%x: tensor<2xf32>, %t: tensor<i1>) {
  %a = onnx.RandomNormal() {seed = 1.0, shape = [2]} : () -> tensor<2xf32>
  %b = onnx.RandomNormal() {seed = 1.0, shape = [2]} : () -> tensor<2xf32>
  %c = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %d = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %e = onnx.Custom "com.example" "Dice"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %f = onnx.Custom "com.example" "Dice"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %b, %c, %d, %e, %f) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: both outputs of the model
// CHECK-LABEL: func.func @outputs
// CHECK:         func.return %a, %b
func.func @outputs(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// Merged within a region; kept: across regions
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    %a = onnx.Relu(%x)
// CHECK-NEXT:    onnx.If(%c) then_branch {
// CHECK-NEXT:      %b = onnx.Relu(%x)
// CHECK-NEXT:      %e = onnx.Add(%b, %b)
// CHECK-NEXT:      onnx.Yield %e
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %f = onnx.Relu(%x)
func.func @regions(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %a = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %r = onnx.If(%c) then_branch {
    %b = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %d = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %e = onnx.Add(%b, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %e : tensor<2xf32>
  } else_branch {
    %f = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %f : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %y = onnx.Add(%a, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
