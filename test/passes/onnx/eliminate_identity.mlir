// RUN: ge-opt %s --eliminate-identity | filecheck %s

// 1. Identity
// CHECK-LABEL: func.func @identity
// CHECK-NEXT:    %y = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %y : tensor<2xf32>
func.func @identity(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Identity(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.Relu(%b) : (tensor<2xf32>) -> tensor<2xf32>
  %z = onnx.Identity(%y) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// Kept: an output that would be an input, a constant, or another output
// CHECK-LABEL: func.func @outputs
// CHECK:         %a = onnx.Identity(%x)
// CHECK:         %b = onnx.Identity(%w)
// CHECK:         %c = onnx.Identity(%r)
// CHECK-NEXT:    func.return %a, %b, %r, %c
func.func @outputs(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %w = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %a = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Identity(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Identity(%r) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b, %r, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// 2. Dropout outside training; kept: in training, perhaps in training, with a mask that is used
// CHECK-LABEL: func.func @dropout
// CHECK-NEXT:    %yes = onnx.Constant
// CHECK-NEXT:    %no = onnx.Constant
// CHECK-NEXT:    %c = onnx.Dropout(%x, none, %yes)
// CHECK-NEXT:    %d = onnx.Dropout(%x, none, %t)
// CHECK-NEXT:    %e, %mask = onnx.Dropout(%x)
// CHECK-NEXT:    "test.op"(%x, %x, %c, %d, %e, %mask)
func.func @dropout(%x: tensor<2xf32>, %t: tensor<i1>) {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %no = onnx.Constant dense<false> : tensor<i1>
  %a, %unused = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)
  %b = onnx.Dropout(%x, none, %no) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %c = onnx.Dropout(%x, none, %yes) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %d = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %e, %mask = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)
  "test.op"(%a, %b, %c, %d, %e, %mask) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) -> ()
  func.return
}

// 3. To the type that the value has; kept: another shape, another element type, unknown dimensions
// CHECK-LABEL: func.func @same_type
// CHECK-NEXT:    %f = onnx.Reshape(%x, %s)
// CHECK-NEXT:    %g = onnx.Cast(%x) {to = 10}
// CHECK-NEXT:    %h = onnx.Reshape(%u, %s)
// CHECK-NEXT:    "test.op"(%x, %x, %x, %x, %f, %g, %h)
func.func @same_type(%x: tensor<2x3xf32>, %u: tensor<?x?xf32>, %s: tensor<2xi64>) {
  %a = onnx.Reshape(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %b = onnx.Expand(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %c = onnx.Flatten(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = onnx.Cast(%x) {to = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = onnx.Reshape(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %g = onnx.Cast(%x) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %h = onnx.Reshape(%u, %s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  "test.op"(%a, %b, %c, %d, %f, %g, %h) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf16>, tensor<?x?xf32>) -> ()
  func.return
}

// 4. Axes in order; kept: axes of equal size exchanged, the default order
// CHECK-LABEL: func.func @transpose
// CHECK-NEXT:    %b = onnx.Transpose(%x) {perm = [1, 0]}
// CHECK-NEXT:    %c = onnx.Transpose(%x)
// CHECK-NEXT:    "test.op"(%x, %b, %c, %v)
func.func @transpose(%x: tensor<2x2xf32>, %v: tensor<3xf32>) {
  %a = onnx.Transpose(%x) {perm = [0, 1]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = onnx.Transpose(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = onnx.Transpose(%v) : (tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%a, %b, %c, %d) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xf32>) -> ()
  func.return
}

// 5. Padding by nothing, a slice of everything; kept: what moves elements, a reversal, pads that are not known
// CHECK-LABEL: func.func @pad_and_slice
// CHECK:         %b = onnx.Pad(%x, %shift)
// CHECK-NEXT:    %c = onnx.Pad(%x, %p)
// CHECK-NEXT:    %e = onnx.Slice(%x, %last, %before, none, %back)
// CHECK-NEXT:    %f = onnx.Slice(%x, %first, %end)
// CHECK-NEXT:    "test.op"(%x, %b, %c, %x, %e, %f)
func.func @pad_and_slice(%x: tensor<3xf32>, %p: tensor<2xi64>) {
  %zero = onnx.Constant dense<0> : tensor<2xi64>
  %shift = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %start = onnx.Constant dense<0> : tensor<1xi64>
  %first = onnx.Constant dense<1> : tensor<1xi64>
  %end = onnx.Constant dense<3> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %before = onnx.Constant dense<-4> : tensor<1xi64>
  %back = onnx.Constant dense<-1> : tensor<1xi64>
  %a = onnx.Pad(%x, %zero) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %b = onnx.Pad(%x, %shift) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %c = onnx.Pad(%x, %p) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %d = onnx.Slice(%x, %start, %end) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %e = onnx.Slice(%x, %last, %before, none, %back) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %f = onnx.Slice(%x, %first, %end) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  "test.op"(%a, %b, %c, %d, %e, %f) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> ()
  func.return
}

// 6. One operand; kept: two
// CHECK-LABEL: func.func @single
// CHECK-NEXT:    %c = onnx.Sum(%x, %x)
// CHECK-NEXT:    "test.op"(%x, %x, %c)
func.func @single(%x: tensor<3xf32>) {
  %a = onnx.Concat(%x) {axis = 0} : (tensor<3xf32>) -> tensor<3xf32>
  %b = onnx.Max(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %c = onnx.Sum(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%a, %b, %c) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}
