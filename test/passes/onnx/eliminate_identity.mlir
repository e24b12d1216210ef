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
// CHECK-NEXT:    %w = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %r = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %a = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %b = onnx.Identity(%w) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %c = onnx.Identity(%r) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %a, %b, %r, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
func.func @outputs(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %w = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %a = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Identity(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Identity(%r) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b, %r, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// 2. Dropout outside training; kept: with a mask that is used
// CHECK-LABEL: func.func @dropout
// CHECK-NEXT:    %e, %mask = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)
// CHECK-NEXT:    "test.op"(%x, %x, %e, %mask) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) -> ()
// CHECK-NEXT:    func.return
func.func @dropout(%x: tensor<2xf32>) {
  %no = onnx.Constant dense<false> : tensor<i1>
  %a, %unused = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)
  %b = onnx.Dropout(%x, none, %no) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %e, %mask = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>)
  "test.op"(%a, %b, %e, %mask) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) -> ()
  func.return
}

// Kept: dropout in training, and perhaps in training
// CHECK-LABEL: func.func @random_dropout
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:    %c = onnx.Dropout(%x, none, %yes) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:    %d = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:    "test.op"(%c, %d) : (tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @random_dropout(%x: tensor<2xf32>, %t: tensor<i1>) {
  %yes = onnx.Constant dense<true> : tensor<i1>
  %c = onnx.Dropout(%x, none, %yes) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %d = onnx.Dropout(%x, none, %t) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  "test.op"(%c, %d) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// 3. To the type that the value has; kept: another shape, another element type, unknown dimensions
// CHECK-LABEL: func.func @same_type
// CHECK-NEXT:    %f = onnx.Reshape(%x, %t) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
// CHECK-NEXT:    %g = onnx.Cast(%x) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
// CHECK-NEXT:    %h = onnx.Reshape(%u, %s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK-NEXT:    "test.op"(%x, %x, %x, %x, %f, %g, %h) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf16>, tensor<?x?xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @same_type(%x: tensor<2x3xf32>, %u: tensor<?x?xf32>, %s: tensor<2xi64>, %t: tensor<2xi64>) {
  %a = onnx.Reshape(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %b = onnx.Expand(%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %c = onnx.Flatten(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = onnx.Cast(%x) {to = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = onnx.Reshape(%x, %t) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %g = onnx.Cast(%x) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %h = onnx.Reshape(%u, %s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  "test.op"(%a, %b, %c, %d, %f, %g, %h) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf16>, tensor<?x?xf32>) -> ()
  func.return
}

// 3. With unknown dimensions: all but one are named or copied, ones, a matrix; kept: two that are not, an axis more
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    %other = onnx.Constant dense<[-1, 2, 4]> : tensor<3xi64>
// CHECK-NEXT:    %e = onnx.Reshape(%x, %other) : (tensor<?x?x4xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
// CHECK-NEXT:    %more = onnx.Constant dense<1> : tensor<3xi64>
// CHECK-NEXT:    %f = onnx.Expand(%m, %more) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<1x?x?xf32>
// CHECK-NEXT:    %g = onnx.Flatten(%m) {axis = 0} : (tensor<?x?xf32>) -> tensor<1x?xf32>
// CHECK-NEXT:    "test.op"(%x, %x, %x, %m, %e, %f, %g, %x) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>, tensor<?x2x4xf32>, tensor<1x?x?xf32>, tensor<1x?xf32>, tensor<?x?x4xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @unknown(%x: tensor<?x?x4xf32>, %m: tensor<?x?xf32>) {
  %s = onnx.Constant dense<[0, -1, 4]> : tensor<3xi64>
  %a = onnx.Reshape(%x, %s) : (tensor<?x?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  %zeros = onnx.Constant dense<0> : tensor<3xi64>
  %b = onnx.Reshape(%x, %zeros) : (tensor<?x?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  %ones = onnx.Constant dense<1> : tensor<2xi64>
  %c = onnx.Expand(%x, %ones) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x?x4xf32>
  %d = onnx.Flatten(%m) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %other = onnx.Constant dense<[-1, 2, 4]> : tensor<3xi64>
  %e = onnx.Reshape(%x, %other) : (tensor<?x?x4xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
  %more = onnx.Constant dense<1> : tensor<3xi64>
  %f = onnx.Expand(%m, %more) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<1x?x?xf32>
  %g = onnx.Flatten(%m) {axis = 0} : (tensor<?x?xf32>) -> tensor<1x?xf32>
  %h = onnx.CastLike(%x, %m) : (tensor<?x?x4xf32>, tensor<?x?xf32>) -> tensor<?x?x4xf32>
  "test.op"(%a, %b, %c, %d, %e, %f, %g, %h) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>, tensor<?x2x4xf32>, tensor<1x?x?xf32>, tensor<1x?xf32>, tensor<?x?x4xf32>) -> ()
  func.return
}

// Kept: zeros that are sizes
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT:    %s = onnx.Constant dense<[0, 2]> : tensor<2xi64>
// CHECK-NEXT:    %a = onnx.Reshape(%x, %s) {allowzero = 1} : (tensor<?x0xf32>, tensor<2xi64>) -> tensor<0x?xf32>
// CHECK-NEXT:    func.return %a : tensor<0x?xf32>
func.func @zeros(%x: tensor<?x0xf32>) -> tensor<0x?xf32> {
  %s = onnx.Constant dense<[0, 2]> : tensor<2xi64>
  %a = onnx.Reshape(%x, %s) {allowzero = 1} : (tensor<?x0xf32>, tensor<2xi64>) -> tensor<0x?xf32>
  func.return %a : tensor<0x?xf32>
}

// 4. Axes in order; kept: axes of equal size exchanged, the default order
// CHECK-LABEL: func.func @transpose
// CHECK-NEXT:    %b = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %c = onnx.Transpose(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    "test.op"(%x, %b, %c, %v) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @transpose(%x: tensor<2x2xf32>, %v: tensor<3xf32>) {
  %a = onnx.Transpose(%x) {perm = [0, 1]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = onnx.Transpose(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = onnx.Transpose(%v) : (tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%a, %b, %c, %d) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xf32>) -> ()
  func.return
}

// 5. Padding by nothing, a slice of everything; kept: a reversal, pads that are not known
// CHECK-LABEL: func.func @pad_and_slice
// CHECK-NEXT:    %first = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %end = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %last = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %before = onnx.Constant dense<[-4]> : tensor<1xi64>
// CHECK-NEXT:    %back = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %c = onnx.Pad(%x, %p) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %e = onnx.Slice(%x, %last, %before, none, %back) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %f = onnx.Slice(%x, %first, %end) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
// CHECK-NEXT:    "test.op"(%x, %c, %x, %e, %f) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @pad_and_slice(%x: tensor<3xf32>, %p: tensor<2xi64>) {
  %zero = onnx.Constant dense<0> : tensor<2xi64>
  %start = onnx.Constant dense<0> : tensor<1xi64>
  %first = onnx.Constant dense<1> : tensor<1xi64>
  %end = onnx.Constant dense<3> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %before = onnx.Constant dense<-4> : tensor<1xi64>
  %back = onnx.Constant dense<-1> : tensor<1xi64>
  %a = onnx.Pad(%x, %zero) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %c = onnx.Pad(%x, %p) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %d = onnx.Slice(%x, %start, %end) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %e = onnx.Slice(%x, %last, %before, none, %back) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %f = onnx.Slice(%x, %first, %end) : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  "test.op"(%a, %c, %d, %e, %f) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: pads that move elements (NumPy, which is to run these functions, has no negative ones)
// CHECK-LABEL: func.func @fails_shift
// CHECK-NEXT:    %shift = onnx.Constant dense<[1, -1]> : tensor<2xi64>
// CHECK-NEXT:    %b = onnx.Pad(%x, %shift) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %b : tensor<3xf32>
func.func @fails_shift(%x: tensor<3xf32>) -> tensor<3xf32> {
  %shift = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %b = onnx.Pad(%x, %shift) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  func.return %b : tensor<3xf32>
}

// 6. One operand; kept: two
// CHECK-LABEL: func.func @single
// CHECK-NEXT:    %c = onnx.Sum(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    "test.op"(%x, %x, %c) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @single(%x: tensor<3xf32>) {
  %a = onnx.Concat(%x) {axis = 0} : (tensor<3xf32>) -> tensor<3xf32>
  %b = onnx.Max(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %c = onnx.Sum(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "test.op"(%a, %b, %c) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// 5. Repeating once, resizing by one; kept: twice, unknown factors, other factors to the same size, cropping
// CHECK-LABEL: func.func @tile_and_resize
// CHECK-NEXT:    %twos = onnx.Constant dense<2> : tensor<4xi64>
// CHECK-NEXT:    %b = onnx.Tile(%x, %twos) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<2x2x4x4xf32>
// CHECK-NEXT:    %c = onnx.Tile(%x, %r) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
// CHECK-NEXT:    %sizes = onnx.Constant dense<[1, 1, 2, 2]> : tensor<4xi64>
// CHECK-NEXT:    %near = onnx.Constant dense<[1.000000e+00, 1.000000e+00, 1.400000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    %f = onnx.Resize(%x, none, %near) {mode = "linear"} : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    %roi = onnx.Constant dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<8xf32>
// CHECK-NEXT:    %g = onnx.Resize(%x, %roi, none, %sizes) {mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x1x2x2xf32>, tensor<8xf32>, tensor<4xi64>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    "test.op"(%x, %b, %c, %x, %x, %f, %g) : (tensor<1x1x2x2xf32>, tensor<2x2x4x4xf32>, tensor<?x?x?x?xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @tile_and_resize(%x: tensor<1x1x2x2xf32>, %r: tensor<4xi64>, %u: tensor<1x1x?x2xf32>) {
  %ones = onnx.Constant dense<1> : tensor<4xi64>
  %twos = onnx.Constant dense<2> : tensor<4xi64>
  %a = onnx.Tile(%x, %ones) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<1x1x2x2xf32>
  %b = onnx.Tile(%x, %twos) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<2x2x4x4xf32>
  %c = onnx.Tile(%x, %r) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %scales = onnx.Constant dense<1.0> : tensor<4xf32>
  %d = onnx.Resize(%x, none, %scales) {mode = "linear", coordinate_transformation_mode = "align_corners"} : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<1x1x2x2xf32>
  %sizes = onnx.Constant dense<[1, 1, 2, 2]> : tensor<4xi64>
  %e = onnx.Resize(%x, none, none, %sizes) {mode = "cubic"} : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<1x1x2x2xf32>
  %near = onnx.Constant dense<[1.0, 1.0, 1.4, 1.0]> : tensor<4xf32>
  %f = onnx.Resize(%x, none, %near) {mode = "linear"} : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<1x1x2x2xf32>
  %roi = onnx.Constant dense<[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 1.0]> : tensor<8xf32>
  %g = onnx.Resize(%x, %roi, none, %sizes) {mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x1x2x2xf32>, tensor<8xf32>, tensor<4xi64>) -> tensor<1x1x2x2xf32>
  "test.op"(%a, %b, %c, %d, %e, %f, %g) : (tensor<1x1x2x2xf32>, tensor<2x2x4x4xf32>, tensor<?x?x?x?xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> ()
  func.return
}

// 5. All of an axis of unknown size; kept: less
// CHECK-LABEL: func.func @slice_unknown
// CHECK-NEXT:    %end = onnx.Constant dense<[9223372036854775807]> : tensor<1xi64>
// CHECK-NEXT:    %one = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Slice(%x, %one, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    "test.op"(%x, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @slice_unknown(%x: tensor<?xf32>) {
  %start = onnx.Constant dense<0> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %a = onnx.Slice(%x, %start, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Slice(%x, %one, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  "test.op"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// 6. One part; kept: two
// CHECK-LABEL: func.func @split
// CHECK-NEXT:    %b, %c = onnx.Split(%x) {num_outputs = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    "test.op"(%x, %b, %c) : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @split(%x: tensor<4xf32>) {
  %a = onnx.Split(%x) {num_outputs = 1} : (tensor<4xf32>) -> tensor<4xf32>
  %b, %c = onnx.Split(%x) {num_outputs = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  "test.op"(%a, %b, %c) : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// 7. Windows of one element; kept: larger ones, steps, padding, positions that are used
// CHECK-LABEL: func.func @pool
// CHECK-NEXT:    %d = onnx.AveragePool(%x) {kernel_shape = [1, 1], strides = [2, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT:    %e = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:    %f = onnx.GlobalMaxPool(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT:    %h, %i = onnx.MaxPool(%x) {kernel_shape = [1, 1]} : (tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>)
// CHECK-NEXT:    "test.op"(%x, %x, %g, %d, %e, %f, %h, %i) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<?x2x1x1xf32>, tensor<1x2x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>) -> ()
// CHECK-NEXT:    func.return
func.func @pool(%x: tensor<1x2x4x4xf32>, %g: tensor<?x2x1x1xf32>) {
  %a = onnx.AveragePool(%x) {kernel_shape = [1, 1], strides = [1, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %b = onnx.MaxPool(%x) {kernel_shape = [1, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = onnx.GlobalAveragePool(%g) : (tensor<?x2x1x1xf32>) -> tensor<?x2x1x1xf32>
  %d = onnx.AveragePool(%x) {kernel_shape = [1, 1], strides = [2, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x4xf32>
  %e = onnx.MaxPool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %f = onnx.GlobalMaxPool(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %h, %i = onnx.MaxPool(%x) {kernel_shape = [1, 1]} : (tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>)
  "test.op"(%a, %b, %c, %d, %e, %f, %h, %i) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<?x2x1x1xf32>, tensor<1x2x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>) -> ()
  func.return
}

// 8. Over axes of one element, kept or not, over none; kept: over others, over all, by another function
// CHECK-LABEL: func.func @reduction
// CHECK-NEXT:    %axes = onnx.Constant dense<[-1, 0]> : tensor<2xi64>
// CHECK-NEXT:    %0 = onnx.Constant dense<[0, 2]> : tensor<2xi64>
// CHECK-NEXT:    %b = onnx.Squeeze(%x, %0) : (tensor<1x?x1xf32>, tensor<2xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %one = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %d = onnx.ReduceProd(%x, %one) : (tensor<1x?x1xf32>, tensor<1xi64>) -> tensor<1x1x1xf32>
// CHECK-NEXT:    %e = onnx.ReduceSum(%x) : (tensor<1x?x1xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT:    %f = onnx.ReduceL2(%x, %axes) : (tensor<1x?x1xf32>, tensor<2xi64>) -> tensor<1x?x1xf32>
// CHECK-NEXT:    "test.op"(%x, %b, %x, %d, %e, %f) : (tensor<1x?x1xf32>, tensor<?xf32>, tensor<1x?x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x?x1xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @reduction(%x: tensor<1x?x1xf32>) {
  %axes = onnx.Constant dense<[-1, 0]> : tensor<2xi64>
  %a = onnx.ReduceSum(%x, %axes) : (tensor<1x?x1xf32>, tensor<2xi64>) -> tensor<1x?x1xf32>
  %b = onnx.ReduceMean(%x, %axes) {keepdims = 0} : (tensor<1x?x1xf32>, tensor<2xi64>) -> tensor<?xf32>
  %none = onnx.Constant dense<> : tensor<0xi64>
  %c = onnx.ReduceMax(%x, %none) {noop_with_empty_axes = 1} : (tensor<1x?x1xf32>, tensor<0xi64>) -> tensor<1x?x1xf32>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %d = onnx.ReduceProd(%x, %one) : (tensor<1x?x1xf32>, tensor<1xi64>) -> tensor<1x1x1xf32>
  %e = onnx.ReduceSum(%x) : (tensor<1x?x1xf32>) -> tensor<1x1x1xf32>
  %f = onnx.ReduceL2(%x, %axes) : (tensor<1x?x1xf32>, tensor<2xi64>) -> tensor<1x?x1xf32>
  "test.op"(%a, %b, %c, %d, %e, %f) : (tensor<1x?x1xf32>, tensor<?xf32>, tensor<1x?x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x?x1xf32>) -> ()
  func.return
}

// 9. A condition that is the same everywhere, equal values; kept: a mixed one, one that broadcasts
// CHECK-LABEL: func.func @where
// CHECK-NEXT:    %yes = onnx.Constant dense<true> : tensor<2xi1>
// CHECK-NEXT:    %some = onnx.Constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT:    %e = onnx.Where(%some, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %f = onnx.Where(%yes, %s, %y) : (tensor<2xi1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    "test.op"(%x, %y, %x, %e, %f) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @where(%x: tensor<2xf32>, %y: tensor<2xf32>, %c: tensor<2xi1>, %s: tensor<f32>) {
  %yes = onnx.Constant dense<true> : tensor<2xi1>
  %no = onnx.Constant dense<false> : tensor<i1>
  %a = onnx.Where(%yes, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Where(%no, %x, %y) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = onnx.Where(%c, %x, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %some = onnx.Constant dense<[true, false]> : tensor<2xi1>
  %e = onnx.Where(%some, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %f = onnx.Where(%yes, %s, %y) : (tensor<2xi1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%a, %b, %d, %e, %f) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
