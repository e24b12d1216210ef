// RUN: ge-opt %s --inline-if | filecheck %s

// 1. A constant condition; an output takes the type that the branch knows
// CHECK-LABEL: func.func @constant
// CHECK-NEXT:    %a = onnx.Neg(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    func.return %a : tensor<1x4xf32>
func.func @constant(%x: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %r = onnx.If(%yes) then_branch {
    %a = onnx.Neg(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
    onnx.Yield %a : tensor<1x4xf32>
  } else_branch {
    %b = onnx.Concat(%x, %x) {axis = 0} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    onnx.Yield %b : tensor<2x4xf32>
  } : (tensor<i1>) -> tensor<?x4xf32>
  func.return %r : tensor<?x4xf32>
}

// 1. Of any shape with one element
// CHECK-LABEL: func.func @vector
// CHECK-NEXT:    %b = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @vector(%x: tensor<4xf32>) -> tensor<4xf32> {
  %no = onnx.Constant dense<false> : tensor<1xi1>
  %r = onnx.If(%no) then_branch {
    %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  } else_branch {
    %b = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %b : tensor<4xf32>
  } : (tensor<1xi1>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// 2. Branches that do the same; kept: that do not
// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %a = onnx.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %s = onnx.If(%c) then_branch {
// CHECK-NEXT:      %a_1 = onnx.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %a_1 : tensor<4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %b = onnx.Sub(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %b : tensor<4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %a, %s : tensor<4xf32>, tensor<4xf32>
func.func @equal(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = onnx.If(%c) then_branch {
    %a = onnx.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  } else_branch {
    %b = onnx.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %b : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %s = onnx.If(%c) then_branch {
    %a = onnx.Sub(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  } else_branch {
    %b = onnx.Sub(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %b : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// 3. The same condition inside a branch, and inside a branch of a branch
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    %r = onnx.If(%c) then_branch {
// CHECK-NEXT:      %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %a : tensor<4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %t = onnx.If(%d) then_branch {
// CHECK-NEXT:        %f = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:        onnx.Yield %f : tensor<4xf32>
// CHECK-NEXT:      } else_branch {
// CHECK-NEXT:        onnx.Yield %x : tensor<4xf32>
// CHECK-NEXT:      } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %t : tensor<4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @nested(%x: tensor<4xf32>, %c: tensor<i1>, %d: tensor<i1>) -> tensor<4xf32> {
  %r = onnx.If(%c) then_branch {
    %s = onnx.If(%c) then_branch {
      %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
      onnx.Yield %a : tensor<4xf32>
    } else_branch {
      %b = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      onnx.Yield %b : tensor<4xf32>
    } : (tensor<i1>) -> tensor<4xf32>
    onnx.Yield %s : tensor<4xf32>
  } else_branch {
    %t = onnx.If(%d) then_branch {
      %u = onnx.If(%c) then_branch {
        %e = onnx.Abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
        onnx.Yield %e : tensor<4xf32>
      } else_branch {
        %f = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
        onnx.Yield %f : tensor<4xf32>
      } : (tensor<i1>) -> tensor<4xf32>
      onnx.Yield %u : tensor<4xf32>
    } else_branch {
      onnx.Yield %x : tensor<4xf32>
    } : (tensor<i1>) -> tensor<4xf32>
    onnx.Yield %t : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// 4. Values from outside
// CHECK-LABEL: func.func @outside
// CHECK-NEXT:    %y = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %y : tensor<4xf32>
func.func @outside(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = onnx.If(%c) then_branch {
    onnx.Yield %y : tensor<4xf32>
  } else_branch {
    onnx.Yield %y : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Kept: an output that would be an input, a condition that is not known
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %r = onnx.If(%yes) then_branch {
// CHECK-NEXT:      onnx.Yield %x : tensor<4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %a : tensor<4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:    %s = onnx.If(%c) then_branch {
// CHECK-NEXT:      onnx.Yield %x : tensor<4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %a_1 = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %a_1 : tensor<4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r, %s : tensor<4xf32>, tensor<4xf32>
func.func @kept(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %r = onnx.If(%yes) then_branch {
    onnx.Yield %x : tensor<4xf32>
  } else_branch {
    %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %s = onnx.If(%c) then_branch {
    onnx.Yield %x : tensor<4xf32>
  } else_branch {
    %a = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Kept: an output of which the branch knows less
// CHECK-LABEL: func.func @less
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %r = onnx.If(%yes) then_branch {
// CHECK-NEXT:      %a = onnx.Neg(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:      onnx.Yield %a : tensor<?x4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %b = onnx.Exp(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:      onnx.Yield %b : tensor<?x4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<2x4xf32>
// CHECK-NEXT:    func.return %r : tensor<2x4xf32>
func.func @less(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %r = onnx.If(%yes) then_branch {
    %a = onnx.Neg(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %a : tensor<?x4xf32>
  } else_branch {
    %b = onnx.Exp(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %b : tensor<?x4xf32>
  } : (tensor<i1>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}
