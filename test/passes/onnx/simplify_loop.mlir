// RUN: ge-opt %s --simplify-loop | filecheck %s

// 1. No turn: a count of zero, a condition that is false; stacks are empty
// CHECK-LABEL: func.func @no_turn
// CHECK-NEXT:    %s = onnx.Constant dense<> : tensor<0x2xf32>
// CHECK-NEXT:    "test.op"(%x, %s, %x) : (tensor<2xf32>, tensor<0x2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @no_turn(%x: tensor<2xf32>, %n: tensor<i64>) {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %no = onnx.Constant dense<false> : tensor<i1>
  %a, %s = onnx.Loop(%zero, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r, %r : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  %b = onnx.Loop(%n, %no, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %s, %b) : (tensor<2xf32>, tensor<?x2xf32>, tensor<2xf32>) -> ()
  func.return
}

// 2. One turn, whatever the condition is then
// CHECK-LABEL: func.func @one_turn
// CHECK-NEXT:    %0 = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:    %1 = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %f = onnx.Cast(%0) {to = 1} : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT:    %r = onnx.Add(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %q = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s = onnx.Unsqueeze(%q, %2) : (tensor<2xf32>, tensor<1xi64>) -> tensor<?x2xf32>
// CHECK-NEXT:    func.return %r, %s : tensor<2xf32>, tensor<?x2xf32>
func.func @one_turn(%x: tensor<2xf32>, %d: tensor<i1>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %one = onnx.Constant dense<1> : tensor<i64>
  %yes = onnx.Constant dense<true> : tensor<i1>
  %a, %s = onnx.Loop(%one, %yes, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %f = onnx.Cast(%i) {to = 1} : (tensor<i64>) -> tensor<f32>
    %r = onnx.Add(%v, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %q = onnx.Neg(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %d, %r, %q : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  func.return %a, %s : tensor<2xf32>, tensor<?x2xf32>
}

// 3. A value that does not change
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT:    %n = onnx.Constant dense<3> : tensor<i64>
// CHECK-NEXT:    %a, %b = onnx.Loop(%n, none, %x, %y) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.Add(%v, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c, %r, %w : tensor<i1>, tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    "test.op"(%a, %y) : (tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @unchanged(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  %n = onnx.Constant dense<3> : tensor<i64>
  %a, %b = onnx.Loop(%n, none, %x, %y) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
    %r = onnx.Add(%v, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r, %w : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// 4. A condition that stays true; kept: one that is false
// CHECK-LABEL: func.func @condition
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %a = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %no = onnx.Constant dense<false> : tensor<i1>
// CHECK-NEXT:    %b = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i_1: tensor<i64>, %c_1: tensor<i1>, %v_1: tensor<2xf32>):
// CHECK-NEXT:      %r_1 = onnx.Sin(%v_1) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %no, %r_1 : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @condition(%x: tensor<2xf32>, %n: tensor<i64>) {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %a = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %yes, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  %no = onnx.Constant dense<false> : tensor<i1>
  %b = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %no, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: values that are exchanged, counts that are not constant, an output that would be an input
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %two = onnx.Constant dense<2> : tensor<i64>
// CHECK-NEXT:    %zero = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:    %one = onnx.Constant dense<1> : tensor<i64>
// CHECK-NEXT:    %a, %b = onnx.Loop(%n, none, %x, %y) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
// CHECK-NEXT:      onnx.Yield %c, %w, %v : tensor<i1>, tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %e = onnx.Loop(%zero, none, %x) body {
// CHECK-NEXT:    ^bb0(%i_1: tensor<i64>, %c_1: tensor<i1>, %v_1: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.Sin(%v_1) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c_1, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %f = onnx.Loop(%one, %d, %x) body {
// CHECK-NEXT:    ^bb0(%i_2: tensor<i64>, %c_2: tensor<i1>, %v_2: tensor<2xf32>):
// CHECK-NEXT:      %r_1 = onnx.Sin(%v_2) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c_2, %r_1 : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a, %b, %e, %f : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
func.func @kept(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: tensor<i64>, %d: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %two = onnx.Constant dense<2> : tensor<i64>
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %a, %b = onnx.Loop(%n, none, %x, %y) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
    onnx.Yield %c, %w, %v : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %e = onnx.Loop(%zero, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  %f = onnx.Loop(%one, %d, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %r = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b, %e, %f : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
