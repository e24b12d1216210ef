// RUN: ge-opt %s --recognise-attention | filecheck %s

// the scale on q and k, as vision transformers have it
// CHECK-LABEL: func.func @both_scaled
// CHECK-NEXT:    %[[A:.*]] = onnx.Attention(%q, %k, %v) {scale = 0.25}
// CHECK-NEXT:    "test.op"(%[[A]])
// CHECK-NEXT:    func.return
func.func @both_scaled(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x6xf32>) {
  %s = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Mul(%q, %s) : (tensor<2x4x5x8xf32>, tensor<f32>) -> tensor<2x4x5x8xf32>
  %1 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x7x8xf32>) -> tensor<2x4x8x7xf32>
  %2 = onnx.Mul(%1, %s) : (tensor<2x4x8x7xf32>, tensor<f32>) -> tensor<2x4x8x7xf32>
  %3 = onnx.MatMul(%0, %2) : (tensor<2x4x5x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x5x7xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %5 = onnx.MatMul(%4, %v) : (tensor<2x4x5x7xf32>, tensor<2x4x7x6xf32>) -> tensor<2x4x5x6xf32>
  "test.op"(%5) : (tensor<2x4x5x6xf32>) -> ()
  func.return
}

// heads out of [batch, length, heads · size] and back, with a divisor and a mask
// CHECK-LABEL: func.func @packed
// CHECK:         %[[M:.*]] = onnx.Where(%m, %{{.*}}, %{{.*}})
// CHECK-NEXT:    %[[A:.*]] = onnx.Attention(%q, %k, %v, %[[M]]) {scale = 0.5, q_num_heads = 4, kv_num_heads = 4}
// CHECK-NEXT:    "test.op"(%[[A]])
// CHECK-NEXT:    func.return
func.func @packed(%q: tensor<2x5x32xf32>, %k: tensor<2x7x32xf32>, %v: tensor<2x7x24xf32>, %m: tensor<2x1x5x7xi1>) {
  %y = onnx.Constant dense<0.0> : tensor<f32>
  %n = onnx.Constant dense<-1.0e+09> : tensor<f32>
  %mask = onnx.Where(%m, %y, %n) : (tensor<2x1x5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x5x7xf32>
  %s = onnx.Constant dense<2.0> : tensor<f32>
  %a = onnx.Constant dense<[2, 5, 4, 8]> : tensor<4xi64>
  %b = onnx.Constant dense<[2, 7, 4, 8]> : tensor<4xi64>
  %c = onnx.Constant dense<[2, 7, 4, 6]> : tensor<4xi64>
  %d = onnx.Constant dense<[2, 5, 24]> : tensor<3xi64>
  %0 = onnx.Reshape(%q, %a) : (tensor<2x5x32xf32>, tensor<4xi64>) -> tensor<2x5x4x8xf32>
  %1 = onnx.Transpose(%0) {perm = [0, 2, 1, 3]} : (tensor<2x5x4x8xf32>) -> tensor<2x4x5x8xf32>
  %2 = onnx.Reshape(%k, %b) : (tensor<2x7x32xf32>, tensor<4xi64>) -> tensor<2x7x4x8xf32>
  %3 = onnx.Transpose(%2) {perm = [0, 2, 3, 1]} : (tensor<2x7x4x8xf32>) -> tensor<2x4x8x7xf32>
  %4 = onnx.Reshape(%v, %c) : (tensor<2x7x24xf32>, tensor<4xi64>) -> tensor<2x7x4x6xf32>
  %5 = onnx.Transpose(%4) {perm = [0, 2, 1, 3]} : (tensor<2x7x4x6xf32>) -> tensor<2x4x7x6xf32>
  %6 = onnx.MatMul(%1, %3) : (tensor<2x4x5x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x5x7xf32>
  %7 = onnx.Div(%6, %s) : (tensor<2x4x5x7xf32>, tensor<f32>) -> tensor<2x4x5x7xf32>
  %8 = onnx.Add(%7, %mask) : (tensor<2x4x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x4x5x7xf32>
  %9 = onnx.Softmax(%8) {axis = 3} : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %10 = onnx.MatMul(%9, %5) : (tensor<2x4x5x7xf32>, tensor<2x4x7x6xf32>) -> tensor<2x4x5x6xf32>
  %11 = onnx.Transpose(%10) {perm = [0, 2, 1, 3]} : (tensor<2x4x5x6xf32>) -> tensor<2x5x4x6xf32>
  %12 = onnx.Reshape(%11, %d) : (tensor<2x5x4x6xf32>, tensor<3xi64>) -> tensor<2x5x24xf32>
  "test.op"(%12) : (tensor<2x5x24xf32>) -> ()
  func.return
}

// brought back to another shape, which stays a Reshape
// CHECK-LABEL: func.func @flat
// CHECK-NEXT:    %[[A:.*]] = onnx.Attention(%x, %x, %x) {scale = 1.0, q_num_heads = 4, kv_num_heads = 4}
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<[10, 32]> : tensor<2xi64>
// CHECK-NEXT:    %[[C:.*]] = onnx.Reshape(%[[A]], %[[B]])
// CHECK-NEXT:    "test.op"(%[[C]])
// CHECK-NEXT:    func.return
func.func @flat(%x: tensor<2x5x32xf32>) {
  %a = onnx.Constant dense<[2, 5, 4, 8]> : tensor<4xi64>
  %d = onnx.Constant dense<[-1, 32]> : tensor<2xi64>
  %0 = onnx.Reshape(%x, %a) : (tensor<2x5x32xf32>, tensor<4xi64>) -> tensor<2x5x4x8xf32>
  %1 = onnx.Transpose(%0) {perm = [0, 2, 1, 3]} : (tensor<2x5x4x8xf32>) -> tensor<2x4x5x8xf32>
  %2 = onnx.Transpose(%1) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
  %3 = onnx.MatMul(%1, %2) : (tensor<2x4x5x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x5x5xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %5 = onnx.MatMul(%4, %1) : (tensor<2x4x5x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %6 = onnx.Transpose(%5) {perm = [0, 2, 1, 3]} : (tensor<2x4x5x8xf32>) -> tensor<2x5x4x8xf32>
  %7 = onnx.Reshape(%6, %d) : (tensor<2x5x4x8xf32>, tensor<2xi64>) -> tensor<10x32xf32>
  "test.op"(%7) : (tensor<10x32xf32>) -> ()
  func.return
}

// heads of k and v that serve two heads of q each
// CHECK-LABEL: func.func @repeated
// CHECK-NEXT:    %[[A:.*]] = onnx.Attention(%q, %k, %v) {scale = 1.0}
// CHECK-NEXT:    "test.op"(%[[A]])
// CHECK-NEXT:    func.return
func.func @repeated(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x8xf32>) {
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %to = onnx.Constant dense<[2, 2, 2, 7, 8]> : tensor<5xi64>
  %heads = onnx.Constant dense<[2, 4, 7, 8]> : tensor<4xi64>
  %0 = onnx.Unsqueeze(%k, %two) : (tensor<2x2x7x8xf32>, tensor<1xi64>) -> tensor<2x2x1x7x8xf32>
  %1 = onnx.Expand(%0, %to) : (tensor<2x2x1x7x8xf32>, tensor<5xi64>) -> tensor<2x2x2x7x8xf32>
  %2 = onnx.Reshape(%1, %heads) : (tensor<2x2x2x7x8xf32>, tensor<4xi64>) -> tensor<2x4x7x8xf32>
  %3 = onnx.Unsqueeze(%v, %two) : (tensor<2x2x7x8xf32>, tensor<1xi64>) -> tensor<2x2x1x7x8xf32>
  %4 = onnx.Expand(%3, %to) : (tensor<2x2x1x7x8xf32>, tensor<5xi64>) -> tensor<2x2x2x7x8xf32>
  %5 = onnx.Reshape(%4, %heads) : (tensor<2x2x2x7x8xf32>, tensor<4xi64>) -> tensor<2x4x7x8xf32>
  %6 = onnx.Transpose(%2) {perm = [0, 1, 3, 2]} : (tensor<2x4x7x8xf32>) -> tensor<2x4x8x7xf32>
  %7 = onnx.MatMul(%q, %6) : (tensor<2x4x5x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x5x7xf32>
  %8 = onnx.Softmax(%7) : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %9 = onnx.MatMul(%8, %5) : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  "test.op"(%9) : (tensor<2x4x5x8xf32>) -> ()
  func.return
}

// kept: a mask that is broadcast along the last axis or along the rows, a scale for each head, probabilities that something
// else uses, another axis, an unknown batch
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<{{\[\[}}[1.000000e+00]], {{\[\[}}2.000000e+00]], {{\[\[}}3.000000e+00]], {{\[\[}}4.000000e+00]]]> : tensor<4x1x1xf32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Transpose(%k) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[C:.*]] = onnx.MatMul(%q, %[[B]])
// CHECK-NEXT:    %[[D:.*]] = onnx.Add(%[[C]], %m)
// CHECK-NEXT:    %[[E:.*]] = onnx.Softmax(%[[D]])
// CHECK-NEXT:    %[[F:.*]] = onnx.MatMul(%[[E]], %k)
// CHECK-NEXT:    %[[G:.*]] = onnx.Transpose(%k) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[H:.*]] = onnx.MatMul(%q, %[[G]])
// CHECK-NEXT:    %[[I:.*]] = onnx.Add(%[[H]], %r)
// CHECK-NEXT:    %[[J:.*]] = onnx.Softmax(%[[I]])
// CHECK-NEXT:    %[[K:.*]] = onnx.MatMul(%[[J]], %k)
// CHECK-NEXT:    %[[L:.*]] = onnx.Transpose(%k) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[M:.*]] = onnx.MatMul(%q, %[[L]])
// CHECK-NEXT:    %[[N:.*]] = onnx.Mul(%[[M]], %[[A]])
// CHECK-NEXT:    %[[O:.*]] = onnx.Softmax(%[[N]])
// CHECK-NEXT:    %[[P:.*]] = onnx.MatMul(%[[O]], %k)
// CHECK-NEXT:    %[[Q:.*]] = onnx.Transpose(%k) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[R:.*]] = onnx.MatMul(%q, %[[Q]])
// CHECK-NEXT:    %[[S:.*]] = onnx.Softmax(%[[R]])
// CHECK-NEXT:    %[[T:.*]] = onnx.MatMul(%[[S]], %k)
// CHECK-NEXT:    %[[U:.*]] = onnx.Transpose(%k) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[V:.*]] = onnx.MatMul(%q, %[[U]])
// CHECK-NEXT:    %[[W:.*]] = onnx.Softmax(%[[V]]) {axis = 2}
// CHECK-NEXT:    %[[X:.*]] = onnx.MatMul(%[[W]], %k)
// CHECK-NEXT:    %[[Y:.*]] = onnx.Transpose(%d) {perm = [0, 1, 3, 2]}
// CHECK-NEXT:    %[[Z:.*]] = onnx.MatMul(%d, %[[Y]])
// CHECK-NEXT:    %[[V26:.*]] = onnx.Softmax(%[[Z]])
// CHECK-NEXT:    %[[V27:.*]] = onnx.MatMul(%[[V26]], %d)
// CHECK-NEXT:    "test.op"(%[[F]], %[[K]], %[[P]], %[[S]], %[[T]], %[[X]], %[[V27]])
// CHECK-NEXT:    func.return
func.func @kept(%q: tensor<2x4x5x5xf32>, %k: tensor<2x4x5x5xf32>, %m: tensor<2x1x5x1xf32>, %r: tensor<2x1x1x5xf32>, %d: tensor<?x4x5x5xf32>) {
  %s = onnx.Constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %t = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %0 = onnx.MatMul(%q, %t) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %1 = onnx.Add(%0, %m) : (tensor<2x4x5x5xf32>, tensor<2x1x5x1xf32>) -> tensor<2x4x5x5xf32>
  %2 = onnx.Softmax(%1) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = onnx.MatMul(%2, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %t4 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %4 = onnx.MatMul(%q, %t4) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %5 = onnx.Add(%4, %r) : (tensor<2x4x5x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x5x5xf32>
  %6 = onnx.Softmax(%5) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %7 = onnx.MatMul(%6, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %t8 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %8 = onnx.MatMul(%q, %t8) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %9 = onnx.Mul(%8, %s) : (tensor<2x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<2x4x5x5xf32>
  %10 = onnx.Softmax(%9) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %11 = onnx.MatMul(%10, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %t12 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %12 = onnx.MatMul(%q, %t12) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %13 = onnx.Softmax(%12) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %14 = onnx.MatMul(%13, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %t15 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %15 = onnx.MatMul(%q, %t15) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %16 = onnx.Softmax(%15) {axis = 2} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %17 = onnx.MatMul(%16, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %t18 = onnx.Transpose(%d) {perm = [0, 1, 3, 2]} : (tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %18 = onnx.MatMul(%d, %t18) : (tensor<?x4x5x5xf32>, tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %19 = onnx.Softmax(%18) : (tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  %20 = onnx.MatMul(%19, %d) : (tensor<?x4x5x5xf32>, tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  "test.op"(%3, %7, %11, %13, %14, %17, %20) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>, tensor<?x4x5x5xf32>) -> ()
  func.return
}

// a mask of lowest numbers: a row that is taken away as a whole keeps the mean of v, which runtimes would make zero
// CHECK-LABEL: func.func @lowest
// CHECK:         %[[M:.*]] = onnx.Where(%m, %{{.*}}, %{{.*}})
// CHECK-NEXT:    %[[C:.*]] = onnx.Constant dense<-3.400000e+38>
// CHECK-NEXT:    %[[N:.*]] = onnx.Max(%[[M]], %[[C]])
// CHECK-NEXT:    %[[A:.*]] = onnx.Attention(%q, %k, %k, %[[N]])
// CHECK-NEXT:    "test.op"(%[[A]])
func.func @lowest(%q: tensor<2x4x5x5xf32>, %k: tensor<2x4x5x5xf32>, %m: tensor<2x1x5x5xi1>) {
  %y = onnx.Constant dense<0.0> : tensor<f32>
  %n = onnx.Constant dense<-3.40282347e+38> : tensor<f32>
  %mask = onnx.Where(%m, %y, %n) : (tensor<2x1x5x5xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x5x5xf32>
  %1 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %2 = onnx.MatMul(%q, %1) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = onnx.Add(%2, %mask) : (tensor<2x4x5x5xf32>, tensor<2x1x5x5xf32>) -> tensor<2x4x5x5xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %5 = onnx.MatMul(%4, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  "test.op"(%5) : (tensor<2x4x5x5xf32>) -> ()
  func.return
}

// a constant mask of -inf that leaves something of each row
// CHECK-LABEL: func.func @causal
// CHECK:         %[[A:.*]] = onnx.Attention(%q, %k, %k, %{{.*}})
// CHECK-NEXT:    "test.op"(%[[A]])
func.func @causal(%q: tensor<2x4x2x2xf32>, %k: tensor<2x4x2x2xf32>) {
  %mask = onnx.Constant dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>
  %1 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  %2 = onnx.MatMul(%q, %1) : (tensor<2x4x2x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  %3 = onnx.Add(%2, %mask) : (tensor<2x4x2x2xf32>, tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  %5 = onnx.MatMul(%4, %k) : (tensor<2x4x2x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  "test.op"(%5) : (tensor<2x4x2x2xf32>) -> ()
  func.return
}

// kept: a mask that may be -inf in a whole row, and one of which nothing is known
// CHECK-LABEL: func.func @may_be_infinite
// CHECK-NOT:     onnx.Attention
func.func @may_be_infinite(%q: tensor<2x4x5x5xf32>, %k: tensor<2x4x5x5xf32>, %m: tensor<5x5xi1>, %u: tensor<5x5xf32>) {
  %y = onnx.Constant dense<0.0> : tensor<f32>
  %n = onnx.Constant dense<0xFF800000> : tensor<f32>
  %mask = onnx.Where(%m, %y, %n) : (tensor<5x5xi1>, tensor<f32>, tensor<f32>) -> tensor<5x5xf32>
  %1 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %2 = onnx.MatMul(%q, %1) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = onnx.Add(%2, %mask) : (tensor<2x4x5x5xf32>, tensor<5x5xf32>) -> tensor<2x4x5x5xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %5 = onnx.MatMul(%4, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %6 = onnx.Transpose(%k) {perm = [0, 1, 3, 2]} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %7 = onnx.MatMul(%q, %6) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %8 = onnx.Add(%7, %u) : (tensor<2x4x5x5xf32>, tensor<5x5xf32>) -> tensor<2x4x5x5xf32>
  %9 = onnx.Softmax(%8) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %10 = onnx.MatMul(%9, %k) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  "test.op"(%5, %10) : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> ()
  func.return
}

// operators of the model: one keeps its attributes; kept are one of float16, one whose sizes are not known, and one that
// takes keys and values of the past
// CHECK-LABEL: func.func @of_the_model
// CHECK:         onnx.Attention(%q, %q, %q) {is_causal = 1, softcap = 1.5, q_num_heads = 2, kv_num_heads = 2}
// CHECK:         onnx.Attention(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x2x5x4xf16>
// CHECK:         onnx.Attention(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?x2x5x4xf32>
// CHECK:         onnx.Attention(%{{.*}}, %{{.*}}, %{{.*}}, none, %p, %p)
func.func @of_the_model(%q: tensor<2x5x8xf32>, %h: tensor<2x5x8xf16>, %u: tensor<?x5x8xf32>, %p: tensor<2x2x3x4xf32>) {
  %a = onnx.Constant dense<[0, 5, 2, 4]> : tensor<4xi64>
  %b = onnx.Constant dense<[0, 5, 8]> : tensor<3xi64>
  %r0 = onnx.Reshape(%q, %a) : (tensor<2x5x8xf32>, tensor<4xi64>) -> tensor<2x5x2x4xf32>
  %t0 = onnx.Transpose(%r0) {perm = [0, 2, 1, 3]} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
  %y0 = onnx.Attention(%t0, %t0, %t0) {is_causal = 1, softcap = 1.5} : (tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>) -> tensor<2x2x5x4xf32>
  %b0 = onnx.Transpose(%y0) {perm = [0, 2, 1, 3]} : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
  %z0 = onnx.Reshape(%b0, %b) : (tensor<2x5x2x4xf32>, tensor<3xi64>) -> tensor<2x5x8xf32>
  %r1 = onnx.Reshape(%h, %a) : (tensor<2x5x8xf16>, tensor<4xi64>) -> tensor<2x5x2x4xf16>
  %t1 = onnx.Transpose(%r1) {perm = [0, 2, 1, 3]} : (tensor<2x5x2x4xf16>) -> tensor<2x2x5x4xf16>
  %y1 = onnx.Attention(%t1, %t1, %t1) : (tensor<2x2x5x4xf16>, tensor<2x2x5x4xf16>, tensor<2x2x5x4xf16>) -> tensor<2x2x5x4xf16>
  %b1 = onnx.Transpose(%y1) {perm = [0, 2, 1, 3]} : (tensor<2x2x5x4xf16>) -> tensor<2x5x2x4xf16>
  %z1 = onnx.Reshape(%b1, %b) : (tensor<2x5x2x4xf16>, tensor<3xi64>) -> tensor<2x5x8xf16>
  %r2 = onnx.Reshape(%u, %a) : (tensor<?x5x8xf32>, tensor<4xi64>) -> tensor<?x5x2x4xf32>
  %t2 = onnx.Transpose(%r2) {perm = [0, 2, 1, 3]} : (tensor<?x5x2x4xf32>) -> tensor<?x2x5x4xf32>
  %y2 = onnx.Attention(%t2, %t2, %t2) : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) -> tensor<?x2x5x4xf32>
  %b2 = onnx.Transpose(%y2) {perm = [0, 2, 1, 3]} : (tensor<?x2x5x4xf32>) -> tensor<?x5x2x4xf32>
  %z2 = onnx.Reshape(%b2, %b) : (tensor<?x5x2x4xf32>, tensor<3xi64>) -> tensor<?x5x8xf32>
  %r3 = onnx.Reshape(%q, %a) : (tensor<2x5x8xf32>, tensor<4xi64>) -> tensor<2x5x2x4xf32>
  %t3 = onnx.Transpose(%r3) {perm = [0, 2, 1, 3]} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
  %y3, %k3, %v3 = onnx.Attention(%t3, %t3, %t3, none, %p, %p) : (tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> (tensor<2x2x5x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>)
  %b3 = onnx.Transpose(%y3) {perm = [0, 2, 1, 3]} : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
  %z3 = onnx.Reshape(%b3, %b) : (tensor<2x5x2x4xf32>, tensor<3xi64>) -> tensor<2x5x8xf32>
  "test.op"(%z0, %z1, %z2, %z3, %k3) : (tensor<2x5x8xf32>, tensor<2x5x8xf16>, tensor<?x5x8xf32>, tensor<2x5x8xf32>, tensor<2x2x8x4xf32>) -> ()
  func.return
}
