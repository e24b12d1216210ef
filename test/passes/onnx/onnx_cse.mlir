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
// CHECK-LABEL: func.func @random_ones
// CHECK:         "test.op"(%a, %b, %c, %d, %e, %f)
func.func @random_ones(%x: tensor<2xf32>, %t: tensor<i1>) {
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

// An output gives way to an equal value that is none
// CHECK-LABEL: func.func @one_output
// CHECK-NEXT:    %a = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %c = onnx.Neg(%a) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a, %c : tensor<2xf32>, tensor<2xf32>
func.func @one_output(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Neg(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %b, %c : tensor<2xf32>, tensor<2xf32>
}

// Merged within a region, and with what is outside; kept: a value that only another branch has
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    %a = onnx.Relu(%x)
// CHECK-NEXT:    onnx.If(%c) then_branch {
// CHECK-NEXT:      %b = onnx.Neg(%x)
// CHECK-NEXT:      %e = onnx.Add(%b, %b)
// CHECK-NEXT:      onnx.Yield %e
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %f = onnx.Neg(%x)
// CHECK-NEXT:      %h = onnx.Mul(%a, %f)
// CHECK-NEXT:      onnx.Yield %h
func.func @regions(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %a = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %r = onnx.If(%c) then_branch {
    %b = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %d = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %e = onnx.Add(%b, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %e : tensor<2xf32>
  } else_branch {
    %f = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %g = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %h = onnx.Mul(%g, %f) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %h : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %y = onnx.Add(%a, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Kept: a value inside does not stand for one behind it
// CHECK-LABEL: func.func @behind
// CHECK:         onnx.Yield %b
// CHECK:         %d = onnx.Relu(%x)
// CHECK-NEXT:    "test.op"(%r, %d)
func.func @behind(%x: tensor<2xf32>, %c: tensor<i1>) {
  %r = onnx.If(%c) then_branch {
    %b = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %b : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %d = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%r, %d) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// 3. Control flow that does the same; kept: another order of operands inside
// CHECK-LABEL: func.func @control_flow
// CHECK:         "test.op"(%a, %a, %d)
func.func @control_flow(%x: tensor<2xf32>, %y: tensor<2xf32>, %c: tensor<i1>) {
  %a = onnx.If(%c) then_branch {
    %s = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %t = onnx.Sub(%s, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %t : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %b = onnx.If(%c) then_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %v = onnx.Sub(%u, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %v : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %d = onnx.If(%c) then_branch {
    %u = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %v = onnx.Sub(%y, %u) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %v : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  "test.op"(%a, %b, %d) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: control flow with random numbers, or operators of other domains, in it
// CHECK-LABEL: func.func @random_control_flow
// CHECK:         "test.op"(%a, %b, %d, %e)
func.func @random_control_flow(%x: tensor<2xf32>, %c: tensor<i1>) {
  %a = onnx.If(%c) then_branch {
    %r = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %b = onnx.If(%c) then_branch {
    %r = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %d = onnx.If(%c) then_branch {
    %r = onnx.Custom "com.example" "Dice"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  %e = onnx.If(%c) then_branch {
    %r = onnx.Custom "com.example" "Dice"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  "test.op"(%a, %b, %d, %e) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
