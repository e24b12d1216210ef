// RUN: ge-opt %s --drop-unused-results | filecheck %s

// 1. Results that a model need not ask for; kept: those that are used
// CHECK-LABEL: func.func @optional
// CHECK-NEXT:    %a = onnx.MaxPool(%x) {kernel_shape = [2]} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
// CHECK-NEXT:    %y, %h = onnx.LSTM(%s, %w, %r) {hidden_size = 2} : (tensor<3x1x2xf32>, tensor<1x8x2xf32>, tensor<1x8x2xf32>) -> (none, tensor<1x1x2xf32>)
// CHECK-NEXT:    %b, %j = onnx.MaxPool(%x) {kernel_shape = [2]} : (tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xi64>)
// CHECK-NEXT:    "test.op"(%a, %h, %b, %j) : (tensor<1x1x3xf32>, tensor<1x1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xi64>) -> ()
// CHECK-NEXT:    func.return
func.func @optional(%x: tensor<1x1x4xf32>, %s: tensor<3x1x2xf32>, %w: tensor<1x8x2xf32>, %r: tensor<1x8x2xf32>) {
  %a, %i = onnx.MaxPool(%x) {kernel_shape = [2]} : (tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xi64>)
  %y, %h, %c = onnx.LSTM(%s, %w, %r) {hidden_size = 2} : (tensor<3x1x2xf32>, tensor<1x8x2xf32>, tensor<1x8x2xf32>) -> (tensor<3x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  %b, %j = onnx.MaxPool(%x) {kernel_shape = [2]} : (tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xi64>)
  "test.op"(%a, %h, %b, %j) : (tensor<1x1x3xf32>, tensor<1x1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xi64>) -> ()
  func.return
}

// 2. A result of both branches
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %b = onnx.If(%c) {onnx.outputs = ["b"]} then_branch {
// CHECK-NEXT:      %n = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %r = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %n : tensor<4xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %e = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      onnx.Yield %e : tensor<4xf32>
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @branches(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %a, %b, %d = onnx.If(%c) {onnx.outputs = ["a", "b", "d"]} then_branch {
    %n = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %r = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %x, %n, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else_branch {
    %e = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %e, %e, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %b : tensor<4xf32>
}

// 3. Values that are collected, and 4. one that only itself needs; kept: one that another needs
// CHECK-LABEL: func.func @loop
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %r, %s = onnx.Loop(%n, %yes, %x, %x) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>):
// CHECK-NEXT:      %ra = onnx.Add(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %rb = onnx.Sin(%b) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      onnx.Yield %c, %ra, %rb : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @loop(%x: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %r, %s, %t, %u = onnx.Loop(%n, %yes, %x, %x, %x) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>):
    %ra = onnx.Add(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %rb = onnx.Sin(%b) : (tensor<f32>) -> tensor<f32>
    %rd = onnx.Mul(%d, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    onnx.Yield %c, %ra, %rb, %rd, %rd : tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  } : (tensor<i64>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<?xf32>)
  func.return %r : tensor<f32>
}

// Kept: a carried value that decides when the loop ends
// CHECK-LABEL: func.func @condition
// CHECK-NEXT:    %n = onnx.Constant dense<7> : tensor<i64>
// CHECK-NEXT:    %two = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %zero = onnx.Constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %one = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %r, %s = onnx.Loop(%n, %yes, %x, %zero) body {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>):
// CHECK-NEXT:      %ra = onnx.Sin(%a) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %rb = onnx.Add(%b, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %go = onnx.Less(%rb, %two) : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      onnx.Yield %go, %ra, %rb : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK-NEXT:    } : (tensor<i64>, tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @condition(%x: tensor<f32>) -> tensor<f32> {
  %n = onnx.Constant dense<7> : tensor<i64>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %yes = onnx.Constant dense<true> : tensor<i1>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %r, %s = onnx.Loop(%n, %yes, %x, %zero) body {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>):
    %ra = onnx.Sin(%a) : (tensor<f32>) -> tensor<f32>
    %rb = onnx.Add(%b, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %go = onnx.Less(%rb, %two) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    onnx.Yield %go, %ra, %rb : tensor<i1>, tensor<f32>, tensor<f32>
  } : (tensor<i64>, tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  func.return %r : tensor<f32>
}

// 3. Of a scan; kept: all results in use
// CHECK-LABEL: func.func @scan
// CHECK-NEXT:    %a, %c = onnx.Scan(%s, %x) {num_scan_inputs = 1} body {
// CHECK-NEXT:    ^bb0(%p: tensor<2xf32>, %q: tensor<2xf32>):
// CHECK-NEXT:      %r = onnx.Add(%p, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %n = onnx.Neg(%q) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %r, %r : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:    } : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
// CHECK-NEXT:    "test.op"(%a, %c) : (tensor<2xf32>, tensor<3x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @scan(%x: tensor<3x2xf32>, %s: tensor<2xf32>) {
  %a, %b, %c = onnx.Scan(%s, %x) {num_scan_inputs = 1} body {
  ^bb0(%p: tensor<2xf32>, %q: tensor<2xf32>):
    %r = onnx.Add(%p, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %n = onnx.Neg(%q) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %r, %n, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
  "test.op"(%a, %c) : (tensor<2xf32>, tensor<3x2xf32>) -> ()
  func.return
}
