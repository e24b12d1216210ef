// RUN: ge-opt %s --algebraic-simplify | filecheck %s

// x + 0 and x · 1 from either side; kept: a zero that widens the result
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<0.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Add(%w, %[[A]])
// CHECK-NEXT:    "test.op"(%x, %[[B]])
// CHECK-NEXT:    func.return
func.func @nothing(%x: tensor<2x3xf32>, %w: tensor<1x3xf32>) {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<2x3xf32>
  %wide = onnx.Constant dense<0.0> : tensor<2x1xf32>
  %0 = onnx.Add(%zero, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.Div(%0, %one) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Add(%w, %wide) : (tensor<1x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  "test.op"(%1, %2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  func.return
}

// x - x and x · 0 of integers; kept: of floats, where they may be NaN
// CHECK-LABEL: func.func @integers
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<0> : tensor<3xi64>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<0> : tensor<3xi64>
// CHECK-NEXT:    %[[D:.*]] = onnx.Sub(%f, %f)
// CHECK-NEXT:    %[[E:.*]] = onnx.Mul(%f, %[[A]])
// CHECK-NEXT:    "test.op"(%[[B]], %[[C]], %[[D]], %[[E]])
// CHECK-NEXT:    func.return
func.func @integers(%x: tensor<3xi64>, %f: tensor<3xf32>) {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %none = onnx.Constant dense<0.0> : tensor<f32>
  %0 = onnx.Sub(%x, %x) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %1 = onnx.Mul(%x, %zero) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %2 = onnx.Sub(%f, %f) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Mul(%f, %none) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  "test.op"(%0, %1, %2, %3) : (tensor<3xi64>, tensor<3xi64>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// signs, reciprocals and roots
// CHECK-LABEL: func.func @inverses
// CHECK-NEXT:    %[[A:.*]] = onnx.Sub(%y, %x)
// CHECK-NEXT:    %[[B:.*]] = onnx.Sub(%y, %x)
// CHECK-NEXT:    %[[C:.*]] = onnx.Div(%x, %y)
// CHECK-NEXT:    %[[D:.*]] = onnx.Abs(%y)
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[C]], %[[D]])
// CHECK-NEXT:    func.return
func.func @inverses(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  %0 = onnx.Neg(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Add(%0, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Sub(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Neg(%2) : (tensor<3xf32>) -> tensor<3xf32>
  %4 = onnx.Reciprocal(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.Mul(%4, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %6 = onnx.Mul(%y, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %7 = onnx.Sqrt(%6) : (tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%1, %3, %5, %7) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// kept: a negation that something else uses, a square of another value
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    %[[A:.*]] = onnx.Neg(%x)
// CHECK-NEXT:    %[[B:.*]] = onnx.Add(%y, %[[A]])
// CHECK-NEXT:    %[[C:.*]] = onnx.Mul(%x, %y)
// CHECK-NEXT:    %[[D:.*]] = onnx.Sqrt(%[[C]])
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[D]])
// CHECK-NEXT:    func.return
func.func @shared(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  %0 = onnx.Neg(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Add(%y, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Mul(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Sqrt(%2) : (tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%0, %1, %3) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// bounds: what is never negative, Max of Max, Min of Relu; the inner value may have other users
// CHECK-LABEL: func.func @bounds
// CHECK-NEXT:    %[[A:.*]] = onnx.Sigmoid(%x)
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    %[[C:.*]] = onnx.Max(%x, %[[B]])
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Clip(%x, %[[D]], %[[E]])
// CHECK-NEXT:    "test.op"(%[[A]], %[[A]], %[[C]], %[[F]])
// CHECK-NEXT:    func.return
func.func @bounds(%x: tensor<3xf32>) {
  %a = onnx.Constant dense<1.0> : tensor<f32>
  %b = onnx.Constant dense<[0.0, 2.0, -1.0]> : tensor<3xf32>
  %0 = onnx.Sigmoid(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.Relu(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.Abs(%1) : (tensor<3xf32>) -> tensor<3xf32>
  %3 = onnx.Max(%x, %a) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = onnx.Max(%b, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %5 = onnx.Relu(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %6 = onnx.Min(%5, %a) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  "test.op"(%0, %2, %4, %6) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// needs 29: Clip of Clip without a lower or an upper bound, in float64 and float16, and with an empty bound, which is kept
// CHECK-LABEL: func.func @needs_29_missing_bounds
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<5.000000e-01> : tensor<f64>
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<> : tensor<0xf32>
// CHECK-NEXT:    %[[D:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[E:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[F:.*]] = onnx.Clip(%x, %[[D]], %[[E]])
// CHECK-NEXT:    %[[G:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[H:.*]] = onnx.Clip(%x, none, %[[G]])
// CHECK-NEXT:    %[[I:.*]] = onnx.Constant dense<0.000000e+00> : tensor<f64>
// CHECK-NEXT:    %[[J:.*]] = onnx.Clip(%d, %[[I]], %[[B]])
// CHECK-NEXT:    %[[K:.*]] = onnx.Constant dense<0.000000e+00> : tensor<f16>
// CHECK-NEXT:    %[[L:.*]] = onnx.Constant dense<4.000000e+00> : tensor<f16>
// CHECK-NEXT:    %[[M:.*]] = onnx.Clip(%h, %[[K]], %[[L]])
// CHECK-NEXT:    %[[N:.*]] = onnx.Relu(%x)
// CHECK-NEXT:    %[[O:.*]] = onnx.Clip(%x, %[[C]], %[[A]])
// CHECK-NEXT:    %[[P:.*]] = onnx.Relu(%[[O]])
// CHECK-NEXT:    "test.op"(%[[F]], %[[H]], %[[J]], %[[M]], %[[N]], %[[P]])
// CHECK-NEXT:    func.return
func.func @needs_29_missing_bounds(%x: tensor<3xf32>, %d: tensor<3xf64>, %h: tensor<3xf16>) {
  %a = onnx.Constant dense<1.0> : tensor<f32>
  %b = onnx.Constant dense<2.0> : tensor<f32>
  %c = onnx.Constant dense<0.5> : tensor<f64>
  %e = onnx.Constant dense<4.0> : tensor<f16>
  %empty = onnx.Constant dense<> : tensor<0xf32>
  %0 = onnx.Clip(%x, %a) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = onnx.Clip(%0, none, %b) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = onnx.Clip(%x, none, %b) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = onnx.Clip(%2, none, %a) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = onnx.Relu(%d) : (tensor<3xf64>) -> tensor<3xf64>
  %5 = onnx.Clip(%4, none, %c) : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  %6 = onnx.Clip(%h, none, %e) : (tensor<3xf16>, tensor<f16>) -> tensor<3xf16>
  %7 = onnx.Relu(%6) : (tensor<3xf16>) -> tensor<3xf16>
  %8 = onnx.Clip(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %9 = onnx.Relu(%8) : (tensor<3xf32>) -> tensor<3xf32>
  %10 = onnx.Clip(%x, %empty, %b) : (tensor<3xf32>, tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  %11 = onnx.Relu(%10) : (tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%1, %3, %5, %7, %9, %11) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf64>, tensor<3xf16>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// conditions: double negation, comparisons of integers, choices; kept: a negated comparison of floats, a choice that
// widens what it chooses
// CHECK-LABEL: func.func @conditions
// CHECK-NEXT:    %[[A:.*]] = onnx.GreaterOrEqual(%a, %b)
// CHECK-NEXT:    %[[B:.*]] = onnx.LessOrEqual(%a, %b)
// CHECK-NEXT:    %[[C:.*]] = onnx.Where(%[[B]], %x, %y)
// CHECK-NEXT:    %[[D:.*]] = onnx.Less(%x, %y)
// CHECK-NEXT:    %[[E:.*]] = onnx.Not(%[[D]])
// CHECK-NEXT:    %[[F:.*]] = onnx.Where(%c, %x, %x)
// CHECK-NEXT:    "test.op"(%[[A]], %[[C]], %[[E]], %x, %[[F]])
// CHECK-NEXT:    func.return
func.func @conditions(%a: tensor<3xi64>, %b: tensor<3xi64>, %x: tensor<3xf32>, %y: tensor<3xf32>, %c: tensor<2x3xi1>) {
  %true = onnx.Constant dense<true> : tensor<i1>
  %0 = onnx.Less(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %1 = onnx.Not(%0) : (tensor<3xi1>) -> tensor<3xi1>
  %2 = onnx.Greater(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %3 = onnx.And(%true, %2) : (tensor<i1>, tensor<3xi1>) -> tensor<3xi1>
  %4 = onnx.Not(%3) : (tensor<3xi1>) -> tensor<3xi1>
  %5 = onnx.Where(%4, %x, %y) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %6 = onnx.Less(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %7 = onnx.Not(%6) : (tensor<3xi1>) -> tensor<3xi1>
  %8 = onnx.Where(%true, %x, %y) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %9 = onnx.Where(%c, %x, %x) : (tensor<2x3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  "test.op"(%1, %5, %7, %8, %9) : (tensor<3xi1>, tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<2x3xf32>) -> ()
  func.return
}

// kept: of unknown rank, an operand could widen the result
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}0.000000e+00]]> : tensor<1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Add(%x, %[[A]])
// CHECK-NEXT:    "test.op"(%[[B]], %y)
// CHECK-NEXT:    func.return
func.func @unknown(%x: tensor<*xf32>, %y: tensor<?xf32>) {
  %zero = onnx.Constant dense<0.0> : tensor<1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %0 = onnx.Add(%x, %zero) : (tensor<*xf32>, tensor<1x1xf32>) -> tensor<*xf32>
  %1 = onnx.Mul(%y, %one) : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  "test.op"(%0, %1) : (tensor<*xf32>, tensor<?xf32>) -> ()
  func.return
}
