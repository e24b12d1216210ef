// RUN: ge-opt %s --sink-cast | filecheck %s

// 1. One cast for two, or none, across what moves elements
// CHECK-LABEL: func.func @across
// CHECK-NEXT:    %0 = onnx.Transpose(%x) {perm = [1, 0]} : (tensor<2x3xf16>) -> tensor<3x2xf16>
// CHECK-NEXT:    %c = onnx.Cast(%0) {to = 10} : (tensor<3x2xf16>) -> tensor<3x2xf16>
// CHECK-NEXT:    %first = onnx.Constant dense<[0]> : tensor<1xi64>
// CHECK-NEXT:    %1 = onnx.Gather(%i, %first) {axis = 0} : (tensor<2xi32>, tensor<1xi64>) -> tensor<1xi32>
// CHECK-NEXT:    %f = onnx.Cast(%1) {to = 1} : (tensor<1xi32>) -> tensor<1xf32>
// CHECK-NEXT:    %h = onnx.Cast(%i) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
// CHECK-NEXT:    func.return %c, %f, %h : tensor<3x2xf16>, tensor<1xf32>, tensor<2xi64>
func.func @across(%x: tensor<2x3xf16>, %i: tensor<2xi32>) -> (tensor<3x2xf16>, tensor<1xf32>, tensor<2xi64>) {
  %a = onnx.Cast(%x) {to = 1} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %b = onnx.Transpose(%a) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %c = onnx.Cast(%b) {to = 10} : (tensor<3x2xf32>) -> tensor<3x2xf16>
  %first = onnx.Constant dense<[0]> : tensor<1xi64>
  %d = onnx.Cast(%i) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
  %e = onnx.Gather(%d, %first) {axis = 0} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %f = onnx.Cast(%e) {to = 1} : (tensor<1xi64>) -> tensor<1xf32>
  %g = onnx.Cast(%i) {to = 11} : (tensor<2xi32>) -> tensor<2xf64>
  %h = onnx.Cast(%g) {to = 7} : (tensor<2xf64>) -> tensor<2xi64>
  func.return %c, %f, %h : tensor<3x2xf16>, tensor<1xf32>, tensor<2xi64>
}

// 2. Across what is exact in both types
// CHECK-LABEL: func.func @exact
// CHECK-NEXT:    %s = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NEXT:    %0 = onnx.Relu(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT:    %1 = onnx.Reshape(%0, %s) : (tensor<2x3xf16>, tensor<1xi64>) -> tensor<6xf16>
// CHECK-NEXT:    %2 = onnx.Neg(%1) : (tensor<6xf16>) -> tensor<6xf16>
// CHECK-NEXT:    %e = onnx.Cast(%2) {to = 10} : (tensor<6xf16>) -> tensor<6xf16>
// CHECK-NEXT:    func.return %e : tensor<6xf16>
func.func @exact(%x: tensor<2x3xf16>) -> tensor<6xf16> {
  %s = onnx.Constant dense<6> : tensor<1xi64>
  %a = onnx.Cast(%x) {to = 1} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %b = onnx.Relu(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Reshape(%b, %s) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %d = onnx.Neg(%c) : (tensor<6xf32>) -> tensor<6xf32>
  %e = onnx.Cast(%d) {to = 10} : (tensor<6xf32>) -> tensor<6xf16>
  func.return %e : tensor<6xf16>
}

// 3. Casts of all that is joined
// CHECK-LABEL: func.func @concat
// CHECK-NEXT:    %0 = onnx.Concat(%x, %y) {axis = 0} : (tensor<2xi64>, tensor<?xi64>) -> tensor<?xi64>
// CHECK-NEXT:    %c = onnx.Cast(%0) {to = 1} : (tensor<?xi64>) -> tensor<?xf32>
// CHECK-NEXT:    func.return %c : tensor<?xf32>
func.func @concat(%x: tensor<2xi64>, %y: tensor<?xi64>) -> tensor<?xf32> {
  %a = onnx.Cast(%x) {to = 1} : (tensor<2xi64>) -> tensor<2xf32>
  %b = onnx.Cast(%y) {to = 1} : (tensor<?xi64>) -> tensor<?xf32>
  %c = onnx.Concat(%a, %b) {axis = 0} : (tensor<2xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %c : tensor<?xf32>
}

// Kept: casts that lose something
// CHECK-LABEL: func.func @lossy
// CHECK-NEXT:    %a = onnx.Cast(%x) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
// CHECK-NEXT:    %b = onnx.Cast(%a) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
// CHECK-NEXT:    %c = onnx.Cast(%i) {to = 6} : (tensor<2xi64>) -> tensor<2xi32>
// CHECK-NEXT:    %d = onnx.Cast(%c) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
// CHECK-NEXT:    %e = onnx.Cast(%i) {to = 11} : (tensor<2xi64>) -> tensor<2xf64>
// CHECK-NEXT:    %f = onnx.Cast(%e) {to = 7} : (tensor<2xf64>) -> tensor<2xi64>
// CHECK-NEXT:    func.return %b, %d, %f : tensor<2xf32>, tensor<2xi64>, tensor<2xi64>
func.func @lossy(%x: tensor<2xf32>, %i: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) {
  %a = onnx.Cast(%x) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
  %b = onnx.Cast(%a) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %c = onnx.Cast(%i) {to = 6} : (tensor<2xi64>) -> tensor<2xi32>
  %d = onnx.Cast(%c) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
  %e = onnx.Cast(%i) {to = 11} : (tensor<2xi64>) -> tensor<2xf64>
  %f = onnx.Cast(%e) {to = 7} : (tensor<2xf64>) -> tensor<2xi64>
  func.return %b, %d, %f : tensor<2xf32>, tensor<2xi64>, tensor<2xi64>
}

// A first cast that something else uses, too, stays for that
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    %a = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
// CHECK-NEXT:    %b = onnx.Cast(%x) {to = 7} : (tensor<2xf16>) -> tensor<2xi64>
// CHECK-NEXT:    func.return %a, %b : tensor<2xf32>, tensor<2xi64>
func.func @shared(%x: tensor<2xf16>) -> (tensor<2xf32>, tensor<2xi64>) {
  %a = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %b = onnx.Cast(%a) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
  func.return %a, %b : tensor<2xf32>, tensor<2xi64>
}

// Kept: a second user in between, an operation that computes, one that integers do not have in the narrow type, other types joined
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    %a = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
// CHECK-NEXT:    %b = onnx.Identity(%a) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %c = onnx.Cast(%b) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
// CHECK-NEXT:    %d = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
// CHECK-NEXT:    %e = onnx.Exp(%d) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %f = onnx.Cast(%e) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
// CHECK-NEXT:    %g = onnx.Cast(%i) {to = 1} : (tensor<2xi8>) -> tensor<2xf32>
// CHECK-NEXT:    %h = onnx.Neg(%g) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %j = onnx.Cast(%h) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
// CHECK-NEXT:    %m = onnx.Cast(%i) {to = 7} : (tensor<2xi8>) -> tensor<2xi64>
// CHECK-NEXT:    %n = onnx.Cast(%k) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
// CHECK-NEXT:    %o = onnx.Concat(%m, %n) {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
// CHECK-NEXT:    "test.op"(%b, %c, %f, %j, %o) : (tensor<2xf32>, tensor<2xf16>, tensor<2xf16>, tensor<2xi64>, tensor<4xi64>) -> ()
// CHECK-NEXT:    func.return
func.func @kept(%x: tensor<2xf16>, %i: tensor<2xi8>, %k: tensor<2xi32>) {
  %a = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %b = onnx.Identity(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Cast(%b) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
  %d = onnx.Cast(%x) {to = 1} : (tensor<2xf16>) -> tensor<2xf32>
  %e = onnx.Exp(%d) : (tensor<2xf32>) -> tensor<2xf32>
  %f = onnx.Cast(%e) {to = 10} : (tensor<2xf32>) -> tensor<2xf16>
  %g = onnx.Cast(%i) {to = 1} : (tensor<2xi8>) -> tensor<2xf32>
  %h = onnx.Neg(%g) : (tensor<2xf32>) -> tensor<2xf32>
  %j = onnx.Cast(%h) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
  %m = onnx.Cast(%i) {to = 7} : (tensor<2xi8>) -> tensor<2xi64>
  %n = onnx.Cast(%k) {to = 7} : (tensor<2xi32>) -> tensor<2xi64>
  %o = onnx.Concat(%m, %n) {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  "test.op"(%b, %c, %f, %j, %o) : (tensor<2xf32>, tensor<2xf16>, tensor<2xf16>, tensor<2xi64>, tensor<4xi64>) -> ()
  func.return
}

// 1. bfloat16 when the casts follow each other; kept: across an operation, for which runtimes have no kernel then
// CHECK-LABEL: func.func @fails_bf16
// CHECK-NEXT:    %b = onnx.Cast(%x) {to = 10} : (tensor<2x3xbf16>) -> tensor<2x3xf16>
// CHECK-NEXT:    %c = onnx.Cast(%x) {to = 1} : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK-NEXT:    %d = onnx.Relu(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %e = onnx.Cast(%d) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
// CHECK-NEXT:    func.return %b, %e : tensor<2x3xf16>, tensor<2x3xf16>
func.func @fails_bf16(%x: tensor<2x3xbf16>) -> (tensor<2x3xf16>, tensor<2x3xf16>) {
  %a = onnx.Cast(%x) {to = 1} : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  %b = onnx.Cast(%a) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %c = onnx.Cast(%x) {to = 1} : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  %d = onnx.Relu(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = onnx.Cast(%d) {to = 10} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  func.return %b, %e : tensor<2x3xf16>, tensor<2x3xf16>
}

// Kept: an operation on a value of unknown rank, and a type that Concat does not take
// CHECK-LABEL: func.func @fails_unknown_rank
// CHECK-NEXT:    %a = onnx.Cast(%x)
// CHECK-NEXT:    %b = onnx.Expand(%a, %s)
// CHECK-NEXT:    %c = onnx.Cast(%b)
// CHECK-NEXT:    func.return %c
func.func @fails_unknown_rank(%x: tensor<*xf16>, %s: tensor<2xi64>) -> tensor<?x?xi64> {
  %a = onnx.Cast(%x) {to = 1} : (tensor<*xf16>) -> tensor<*xf32>
  %b = onnx.Expand(%a, %s) : (tensor<*xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %c = onnx.Cast(%b) {to = 7} : (tensor<?x?xf32>) -> tensor<?x?xi64>
  func.return %c : tensor<?x?xi64>
}

// CHECK-LABEL: func.func @fails_float8
// CHECK-NEXT:    %a = onnx.Cast(%x)
// CHECK-NEXT:    %b = onnx.Cast(%y)
// CHECK-NEXT:    %c = onnx.Concat(%a, %b)
// CHECK-NEXT:    func.return %c
func.func @fails_float8(%x: tensor<2xf8E4M3FN>, %y: tensor<2xf8E4M3FN>) -> tensor<4xf16> {
  %a = onnx.Cast(%x) {to = 10} : (tensor<2xf8E4M3FN>) -> tensor<2xf16>
  %b = onnx.Cast(%y) {to = 10} : (tensor<2xf8E4M3FN>) -> tensor<2xf16>
  %c = onnx.Concat(%a, %b) {axis = 0} : (tensor<2xf16>, tensor<2xf16>) -> tensor<4xf16>
  func.return %c : tensor<4xf16>
}
