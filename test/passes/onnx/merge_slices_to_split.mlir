// RUN: ge-opt %s --merge-slices-to-split | filecheck %s

// 1. In any order, from the end, with equal and unequal sizes
// CHECK-LABEL: func.func @halves
// CHECK-NEXT:    %a, %b = onnx.Split(%x) {axis = 1, num_outputs = 2} : (tensor<?x6xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
// CHECK-NEXT:    func.return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
func.func @halves(%x: tensor<?x6xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s1 = onnx.Constant dense<1> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %n3 = onnx.Constant dense<-3> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %b = onnx.Slice(%x, %n3, %end, %s1) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
  %a = onnx.Slice(%x, %s0, %s3, %s1, %s1) : (tensor<?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
  func.return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @unequal
// CHECK-NEXT:    %0 = onnx.Constant dense<[1, 2, 3]> : tensor<3xi64>
// CHECK-NEXT:    %a, %b, %c = onnx.Split(%x, %0) {axis = 0} : (tensor<6xf32>, tensor<3xi64>) -> (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>)
// CHECK-NEXT:    func.return %a, %b, %c : tensor<1xf32>, tensor<2xf32>, tensor<3xf32>
func.func @unequal(%x: tensor<6xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s1 = onnx.Constant dense<1> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s6 = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s1) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  %b = onnx.Slice(%x, %s1, %s3) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %c = onnx.Slice(%x, %s3, %s6) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  func.return %a, %b, %c : tensor<1xf32>, tensor<2xf32>, tensor<3xf32>
}

// Kept: a gap, an overlap, a rest, steps, several axes, unknown sizes
// CHECK-LABEL: func.func @gap
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s2 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %s3 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %s6 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%x, %s0, %s2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
// CHECK-NEXT:    %b = onnx.Slice(%x, %s3, %s6) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %c = onnx.Slice(%u, %s0, %s3) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %d = onnx.Slice(%u, %s3, %s6) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    "test.op"(%a, %b, %c, %d) : (tensor<2xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @gap(%x: tensor<6xf32>, %u: tensor<?xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s2 = onnx.Constant dense<2> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s6 = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s2) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %b = onnx.Slice(%x, %s3, %s6) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %c = onnx.Slice(%u, %s0, %s3) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %d = onnx.Slice(%u, %s3, %s6) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  "test.op"(%a, %b, %c, %d) : (tensor<2xf32>, tensor<3xf32>, tensor<?xf32>, tensor<?xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @overlap
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s3 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %s4 = onnx.Constant dense<[4]> : tensor<1xi64>
// CHECK-NEXT:    %s6 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%x, %s0, %s4) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %b = onnx.Slice(%x, %s3, %s6) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    "test.op"(%a, %b) : (tensor<4xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @overlap(%x: tensor<6xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s4 = onnx.Constant dense<4> : tensor<1xi64>
  %s6 = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s4) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %b = onnx.Slice(%x, %s3, %s6) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  "test.op"(%a, %b) : (tensor<4xf32>, tensor<3xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @steps
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s1 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %s2 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %s6 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%x, %s0, %s6, %s1, %s2) : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    %b = onnx.Slice(%x, %s1, %s6, %s1, %s2) : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    "test.op"(%a, %b) : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @steps(%x: tensor<4x6xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s1 = onnx.Constant dense<1> : tensor<1xi64>
  %s2 = onnx.Constant dense<2> : tensor<1xi64>
  %s6 = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s6, %s1, %s2) : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  %b = onnx.Slice(%x, %s1, %s6, %s1, %s2) : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  "test.op"(%a, %b) : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
  func.return
}

// Kept: a part that is sliced again
// CHECK-LABEL: func.func @again
// CHECK-NEXT:    %s0 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %s1 = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %s3 = onnx.Constant dense<[3]> : tensor<1xi64>
// CHECK-NEXT:    %s6 = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %a = onnx.Slice(%x, %s0, %s3, %s0) : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x4xf32>
// CHECK-NEXT:    %b = onnx.Slice(%x, %s3, %s6, %s0) : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x4xf32>
// CHECK-NEXT:    %c = onnx.Slice(%b, %s1, %s6, %s1) : (tensor<3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3xf32>
// CHECK-NEXT:    "test.op"(%a, %c) : (tensor<3x4xf32>, tensor<3x3xf32>) -> ()
// CHECK-NEXT:    func.return
func.func @again(%x: tensor<6x4xf32>) {
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %s1 = onnx.Constant dense<1> : tensor<1xi64>
  %s3 = onnx.Constant dense<3> : tensor<1xi64>
  %s6 = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Slice(%x, %s0, %s3, %s0) : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x4xf32>
  %b = onnx.Slice(%x, %s3, %s6, %s0) : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x4xf32>
  %c = onnx.Slice(%b, %s1, %s6, %s1) : (tensor<3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3xf32>
  "test.op"(%a, %c) : (tensor<3x4xf32>, tensor<3x3xf32>) -> ()
  func.return
}
