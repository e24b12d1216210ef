// RUN: ge-opt %s --eliminate-concat-split | filecheck %s

// 1. Concat of Split; kept: another order, another axis
// CHECK-LABEL: func.func @concat_of_split
// CHECK-NEXT:    %r = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %a, %b = onnx.Split(%r) {axis = 0, num_outputs = 2} : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT:    %d = onnx.Concat(%b, %a) {axis = 0} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %e = onnx.Concat(%a, %b) {axis = 1} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    func.return %r, %d, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x8xf32>
func.func @concat_of_split(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x8xf32>) {
  %r = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a, %b = onnx.Split(%r) {axis = 0, num_outputs = 2} : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %c = onnx.Concat(%a, %b) {axis = -2} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %d = onnx.Concat(%b, %a) {axis = 0} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %e = onnx.Concat(%a, %b) {axis = 1} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  func.return %c, %d, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x8xf32>
}

// 2. Split of Concat; kept: other sizes
// CHECK-LABEL: func.func @split_of_concat
// CHECK-NEXT:    %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:    %t = onnx.Constant dense<[3, 2]> : tensor<2xi64>
// CHECK-NEXT:    %d, %e = onnx.Split(%c, %t) {axis = 0} : (tensor<5xf32>, tensor<2xi64>) -> (tensor<3xf32>, tensor<2xf32>)
// CHECK-NEXT:    "test.op"(%x, %y, %d, %e) : (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @split_of_concat(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %s = onnx.Constant dense<[2, 3]> : tensor<2xi64>
  %a, %b = onnx.Split(%c, %s) {axis = 0} : (tensor<5xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<3xf32>)
  %t = onnx.Constant dense<[3, 2]> : tensor<2xi64>
  %d, %e = onnx.Split(%c, %t) {axis = 0} : (tensor<5xf32>, tensor<2xi64>) -> (tensor<3xf32>, tensor<2xf32>)
  "test.op"(%a, %b, %d, %e) : (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> ()
  func.return
}

// Kept: a split that gives an output, which would be an input
// CHECK-LABEL: func.func @output
// CHECK-NEXT:    %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %a, %b = onnx.Split(%c) {axis = 0, num_outputs = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    func.return %a, %b : tensor<2xf32>, tensor<2xf32>
func.func @output(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %a, %b = onnx.Split(%c) {axis = 0, num_outputs = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// 3. Concat of Concat; kept: a second user, another axis
// CHECK-LABEL: func.func @concat_of_concat
// CHECK-NEXT:    %b = onnx.Concat(%x, %x, %x, %x) {axis = 0} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT:    %c = onnx.Concat(%x, %x) {axis = 1} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %d = onnx.Concat(%c, %c) {axis = 0} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %e = onnx.Concat(%x, %x) {axis = 0} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    %f = onnx.Concat(%e, %x) {axis = 0} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
// CHECK-NEXT:    "test.op"(%b, %d, %e, %f) : (tensor<8x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>, tensor<6x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @concat_of_concat(%x: tensor<2x2xf32>) {
  %a = onnx.Concat(%x, %x) {axis = 0} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %b = onnx.Concat(%x, %a, %x) {axis = 0} : (tensor<2x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %c = onnx.Concat(%x, %x) {axis = 1} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %d = onnx.Concat(%c, %c) {axis = 0} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %e = onnx.Concat(%x, %x) {axis = 0} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %f = onnx.Concat(%e, %x) {axis = 0} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  "test.op"(%b, %d, %e, %f) : (tensor<8x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>, tensor<6x2xf32>) -> ()
  func.return
}

// 4. Empty operands; kept: nothing but them
// CHECK-LABEL: func.func @empty
// CHECK-NEXT:    %a = onnx.Concat(%x, %x) {axis = 0} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    %b = onnx.Concat(%e, %e) {axis = 0} : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
// CHECK-NEXT:    "test.op"(%a, %b) : (tensor<4x2xf32>, tensor<0x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @empty(%x: tensor<2x2xf32>, %e: tensor<0x2xf32>) {
  %a = onnx.Concat(%x, %e, %x) {axis = 0} : (tensor<2x2xf32>, tensor<0x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %b = onnx.Concat(%e, %e) {axis = 0} : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  "test.op"(%a, %b) : (tensor<4x2xf32>, tensor<0x2xf32>) -> ()
  func.return
}

// 5. Slices side by side, also of an axis of unknown size; kept: a gap
// CHECK-LABEL: func.func @side_by_side
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s2 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %s3 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %s5 = onnx.Constant dense<[5]> : tensor<1xi64>
// CHECK-NEXT:    %0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[5]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %3 = onnx.Slice(%x, %0, %1, %2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
// CHECK-NEXT:    %c = onnx.Concat(%x, %3) {axis = 0} : (tensor<6xf32>, tensor<5xf32>) -> tensor<11xf32>
// CHECK-NEXT:    %4 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %5 = onnx.Constant dense<[5]> : tensor<1xi64>
// CHECK-NEXT:    %6 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %f = onnx.Slice(%u, %4, %5, %6) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %g = onnx.Slice(%x, %s0, %s2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
// CHECK-NEXT:    %h = onnx.Slice(%x, %s3, %s5) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
// CHECK-NEXT:    %i = onnx.Concat(%g, %h) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT:    "test.op"(%c, %f, %i) : (tensor<11xf32>, tensor<?xf32>, tensor<4xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @side_by_side(%x: tensor<6xf32>, %u: tensor<?xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s2 = onnx.Constant dense<2> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s5 = onnx.Constant dense<5> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s3) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %b = onnx.Slice(%x, %s3, %s5) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %c = onnx.Concat(%x, %a, %b) {axis = 0} : (tensor<6xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<11xf32>
  %d = onnx.Slice(%u, %s2, %s3) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %e = onnx.Slice(%u, %s3, %s5) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %f = onnx.Concat(%d, %e) {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %g = onnx.Slice(%x, %s0, %s2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %h = onnx.Slice(%x, %s3, %s5) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %i = onnx.Concat(%g, %h) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  "test.op"(%c, %f, %i) : (tensor<11xf32>, tensor<?xf32>, tensor<4xf32>) -> ()
  func.return
}

// 6. A slice within one operand, backwards too; kept: across two, along another axis
// CHECK-LABEL: func.func @slice_of_concat
// CHECK-NEXT:    %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s1 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %s3 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %0 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%y, %0, %1, %2) : (tensor<3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
// CHECK-NEXT:    %3 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %4 = onnx.Constant dense<[-9223372036854775807]> : tensor<1xi64>
// CHECK-NEXT:    %5 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %6 = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Slice(%x, %3, %4, %5, %6) : (tensor<2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
// CHECK-NEXT:    %d = onnx.Slice(%c, %s1, %s3, %s0) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
// CHECK-NEXT:    %e = onnx.Slice(%c, %s1, %s3, %s1) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5x2xf32>
// CHECK-NEXT:    "test.op"(%a, %b, %d, %e) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<5x2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @slice_of_concat(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  %c = onnx.Concat(%x, %y) {axis = 0} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s1 = onnx.Constant dense<1> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s5 = onnx.Constant dense<5> : tensor<1xi64>
  %n6 = onnx.Constant dense<-6> : tensor<1xi64>
  %back = onnx.Constant dense<-1> : tensor<1xi64>
  %a = onnx.Slice(%c, %s3, %s5, %s0) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
  %b = onnx.Slice(%c, %s1, %n6, %s0, %back) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
  %d = onnx.Slice(%c, %s1, %s3, %s0) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x4xf32>
  %e = onnx.Slice(%c, %s1, %s3, %s1) : (tensor<5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5x2xf32>
  "test.op"(%a, %b, %d, %e) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<5x2xf32>) -> ()
  func.return
}

// 7. One result of a split; kept: two
// CHECK-LABEL: func.func @split
// CHECK-NEXT:    %0 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[4]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Slice(%x, %0, %1, %2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
// CHECK-NEXT:    %d, %e, %f = onnx.Split(%x) {axis = 0, num_outputs = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    "test.op"(%b, %d, %f) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @split(%x: tensor<6xf32>) {
  %a, %b, %c = onnx.Split(%x) {axis = 0, num_outputs = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %d, %e, %f = onnx.Split(%x) {axis = 0, num_outputs = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  "test.op"(%b, %d, %f) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
