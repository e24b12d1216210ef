// RUN: ge-opt %s --hoist-loop-invariants | filecheck %s

// 1. In a loop that certainly runs, with a constant; what follows from it
// CHECK-LABEL: func.func @runs
// CHECK-NEXT:    %n = onnx.Constant dense<3> : tensor<i64>
// CHECK-NEXT:    %s = onnx.Constant dense<2> : tensor<2xi64>
// CHECK-NEXT:    %t = onnx.Reshape(%y, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
// CHECK-NEXT:    %u = onnx.Exp(%t) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %a = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.MatMul(%u, %v) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a : tensor<2xf32>
func.func @runs(%x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %n = onnx.Constant dense<3> : tensor<i64>
  %a = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %s = onnx.Constant dense<[2, 2]> : tensor<2xi64>
    %t = onnx.Reshape(%y, %s) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
    %u = onnx.Exp(%t) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %r = onnx.MatMul(%u, %v) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// 2. In a loop that may not run, what cannot fail; kept: what can, what changes, constants alone
// CHECK-LABEL: func.func @may_not_run
// CHECK-NEXT:    %u = onnx.Exp(%y) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %a = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
// CHECK-NEXT:      %one = onnx.Constant dense<5.000000e-01> : tensor<2xf32>
// CHECK-NEXT:      %t = onnx.Add(%u, %one) : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %w = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %r = onnx.Mul(%w, %t) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a : tensor<2xf32>
func.func @may_not_run(%x: tensor<2xf32>, %y: tensor<?xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %a = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %u = onnx.Exp(%y) : (tensor<?xf32>) -> tensor<?xf32>
    %one = onnx.Constant dense<0.5> : tensor<2xf32>
    %t = onnx.Add(%u, %one) : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
    %w = onnx.Sin(%v) : (tensor<2xf32>) -> tensor<2xf32>
    %r = onnx.Mul(%w, %t) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// Kept: random numbers, and the branches of an If
// CHECK-LABEL: func.func @random_turns
// CHECK-NEXT:    %n = onnx.Constant dense<3> : tensor<i64>
// CHECK-NEXT:    %a = onnx.Loop(%n, none, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
// CHECK-NEXT:      %u = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %b = onnx.If(%d) then_branch {
// CHECK-NEXT:        %e = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:        onnx.Yield %e : tensor<2xf32>
// CHECK-NEXT:      } else_branch {
// CHECK-NEXT:        onnx.Yield %x : tensor<2xf32>
// CHECK-NEXT:      } : (tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:      %r = onnx.Add(%u, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a : tensor<2xf32>
func.func @random_turns(%x: tensor<2xf32>, %d: tensor<i1>) -> tensor<2xf32> {
  %n = onnx.Constant dense<3> : tensor<i64>
  %a = onnx.Loop(%n, none, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %u = onnx.RandomNormalLike(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %b = onnx.If(%d) then_branch {
      %e = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield %e : tensor<2xf32>
    } else_branch {
      onnx.Yield %x : tensor<2xf32>
    } : (tensor<i1>) -> tensor<2xf32>
    %r = onnx.Add(%u, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %r : tensor<i1>, tensor<2xf32>
  } : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}
