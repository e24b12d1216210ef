// RUN: ge-opt %s --merge-slice | filecheck %s

// 1. Different axes; an axis counted from the end
// CHECK-LABEL: func.func @axes
// CHECK-NEXT:    %0 = onnx.Constant dense<[1, 0]> : tensor<2xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[3, 6]> : tensor<2xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0, 2]> : tensor<2xi64>
// CHECK-NEXT:    %3 = onnx.Constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NEXT:    %z = onnx.Slice(%x, %0, %1, %2, %3) : (tensor<4x?x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x?x3xf32>
// CHECK-NEXT:    func.return %z : tensor<2x?x3xf32>
func.func @axes(%x: tensor<4x?x6xf32>) -> tensor<2x?x3xf32> {
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Constant dense<3> : tensor<1xi64>
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %last = onnx.Constant dense<-1> : tensor<1xi64>
  %y = onnx.Slice(%x, %a, %b, %s0) : (tensor<4x?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?x6xf32>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %six = onnx.Constant dense<6> : tensor<1xi64>
  %z = onnx.Slice(%y, %s0, %six, %last, %two) : (tensor<2x?x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?x3xf32>
  func.return %z : tensor<2x?x3xf32>
}

// 2. The same axis of known size: from the end, backwards, with steps
// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %0 = onnx.Constant dense<[4]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[-9223372036854775807]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %3 = onnx.Constant dense<[-2]> : tensor<1xi64>
// CHECK-NEXT:    %z = onnx.Slice(%x, %0, %1, %2, %3) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %z : tensor<3xf32>
func.func @known(%x: tensor<10xf32>) -> tensor<3xf32> {
  %a = onnx.Constant dense<-2> : tensor<1xi64>
  %b = onnx.Constant dense<-100> : tensor<1xi64>
  %s0 = onnx.Constant dense<0> : tensor<1xi64>
  %back = onnx.Constant dense<-2> : tensor<1xi64>
  %y = onnx.Slice(%x, %a, %b, %s0, %back) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
  %c = onnx.Constant dense<2> : tensor<1xi64>
  %d = onnx.Constant dense<9> : tensor<1xi64>
  %z = onnx.Slice(%y, %c, %d) : (tensor<5xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  func.return %z : tensor<3xf32>
}

// 3. The same axis of unknown size
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    %0 = onnx.Constant dense<[2]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Constant dense<[8]> : tensor<1xi64>
// CHECK-NEXT:    %2 = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %z = onnx.Slice(%x, %0, %1, %2) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    func.return %z : tensor<?xf32>
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Constant dense<8> : tensor<1xi64>
  %end = onnx.Constant dense<9223372036854775807> : tensor<1xi64>
  %y = onnx.Slice(%x, %a, %b) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %z = onnx.Slice(%y, %a, %end) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

// Kept: from the end of an axis of unknown size
// CHECK-LABEL: func.func @from_the_end
// CHECK-NEXT:    %a = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Constant dense<[-1]> : tensor<1xi64>
// CHECK-NEXT:    %y = onnx.Slice(%x, %a, %b) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %z = onnx.Slice(%y, %a, %b) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    func.return %z : tensor<?xf32>
func.func @from_the_end(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = onnx.Constant dense<0> : tensor<1xi64>
  %b = onnx.Constant dense<-1> : tensor<1xi64>
  %y = onnx.Slice(%x, %a, %b) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %z = onnx.Slice(%y, %a, %b) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

// Kept: a second user, an output, positions that are not constant, nothing left
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %a = onnx.Constant dense<[1]> : tensor<1xi64>
// CHECK-NEXT:    %b = onnx.Constant dense<[5]> : tensor<1xi64>
// CHECK-NEXT:    %y = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %z = onnx.Slice(%y, %a, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %u = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %v = onnx.Slice(%u, %p, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
// CHECK-NEXT:    %w = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %none = onnx.Slice(%w, %b, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0xf32>
// CHECK-NEXT:    func.return %y, %z, %v, %none : tensor<4xf32>, tensor<3xf32>, tensor<?xf32>, tensor<0xf32>
func.func @kept(%x: tensor<10xf32>, %p: tensor<1xi64>) -> (tensor<4xf32>, tensor<3xf32>, tensor<?xf32>, tensor<0xf32>) {
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %b = onnx.Constant dense<5> : tensor<1xi64>
  %y = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %z = onnx.Slice(%y, %a, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %u = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %v = onnx.Slice(%u, %p, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %w = onnx.Slice(%x, %a, %b) : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %none = onnx.Slice(%w, %b, %b) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0xf32>
  func.return %y, %z, %v, %none : tensor<4xf32>, tensor<3xf32>, tensor<?xf32>, tensor<0xf32>
}
