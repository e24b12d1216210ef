// RUN: ge-opt %s --split-input-file --infer-shapes | filecheck %s

// What an exporter writes for x.view(x.size(0), 12, -1): the name of the batch survives, the rest is a number.
// CHECK-LABEL: func.func @transformer
// CHECK-SAME:    (%x: tensor<?x?x768xf32> {onnx.dims = ["batch", "seq", ""]})
// CHECK-SAME:    -> (tensor<?x12x?x64xf32> {onnx.dims = ["batch", "", "seq", ""]})
// CHECK:         onnx.Reshape({{.*}}) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
// CHECK:         onnx.Transpose({{.*}}) {perm = [0, 2, 1, 3]} : {{.*}} -> tensor<?x12x?x64xf32>
func.func @transformer(%x: tensor<?x?x768xf32> {onnx.dims = ["batch", "seq", ""]}) -> !onnx.unknown {
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %axis = onnx.Constant dense<[0]> : tensor<1xi64>
  %heads = onnx.Constant dense<[12]> : tensor<1xi64>
  %rest = onnx.Constant dense<[-1]> : tensor<1xi64>
  %shape = onnx.Shape(%x) : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %b = onnx.Gather(%shape, %zero) : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %s = onnx.Gather(%shape, %one) : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %b1 = onnx.Unsqueeze(%b, %axis) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %s1 = onnx.Unsqueeze(%s, %axis) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %target = onnx.Concat(%b1, %s1, %heads, %rest) {axis = 0} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %y = onnx.Reshape(%x, %target) : (tensor<?x?x768xf32>, tensor<4xi64>) -> !onnx.unknown
  %z = onnx.Transpose(%y) {perm = [0, 2, 1, 3]} : (!onnx.unknown) -> !onnx.unknown
  func.return %z : !onnx.unknown
}

// -----

// Arithmetic on sizes: what is a number becomes a constant, what is an expression is one in the signature.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME:    -> (tensor<?x6xf32> {onnx.dims = ["2*batch + 3", ""]}, tensor<?x7xf32> {onnx.dims = ["batch//2", ""]}, tensor<21xi64>)
// CHECK:         %less = onnx.Constant dense<[6]> : tensor<1xi64>
// CHECK-NOT:     onnx.Range
// CHECK:         %counted = onnx.Constant
func.func @arithmetic(%x: tensor<?x7xf32> {onnx.dims = ["batch", ""]}) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) {
  %first = onnx.Constant dense<[0]> : tensor<1xi64>
  %second = onnx.Constant dense<[1]> : tensor<1xi64>
  %two = onnx.Constant dense<[2]> : tensor<1xi64>
  %three = onnx.Constant dense<[3]> : tensor<1xi64>
  %shape = onnx.Shape(%x) : (tensor<?x7xf32>) -> tensor<2xi64>
  %batch = onnx.Gather(%shape, %first) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %columns = onnx.Slice(%shape, %second, %two) : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %doubled = onnx.Mul(%batch, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %more = onnx.Add(%doubled, %three) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %times = onnx.Mul(%columns, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %six = onnx.Div(%times, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %less = onnx.Sub(%six, %second) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %target = onnx.Concat(%more, %less) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %filled = onnx.ConstantOfShape(%target) : (tensor<2xi64>) -> !onnx.unknown
  %half = onnx.Div(%batch, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rows = onnx.Slice(%x, %first, %half, %first) : (tensor<?x7xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  %start = onnx.Constant dense<0> : tensor<i64>
  %step = onnx.Constant dense<1> : tensor<i64>
  %scalar = onnx.Squeeze(%columns) : (tensor<1xi64>) -> tensor<i64>
  %factor = onnx.Constant dense<3> : tensor<i64>
  %limit = onnx.Mul(%scalar, %factor) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %counted = onnx.Range(%start, %limit, %step) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !onnx.unknown
  func.return %filled, %rows, %counted : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// torch.expand: Where(Equal(target, -1), ones, target); and a resize by sizes that went through floats.
// CHECK-LABEL: func.func @expand_and_resize
// CHECK-SAME:    -> (tensor<?x4xf32> {onnx.dims = ["batch", ""]}, tensor<1x3x16x?xf32> {onnx.dims = ["", "", "", "2*width"]})
func.func @expand_and_resize(%x: tensor<?x1xf32> {onnx.dims = ["batch", ""]}, %image: tensor<1x3x8x?xf32> {onnx.dims = ["", "", "", "width"]}) -> (!onnx.unknown, !onnx.unknown) {
  %shape = onnx.Shape(%x) {end = 1} : (tensor<?x1xf32>) -> tensor<1xi64>
  %four = onnx.Constant dense<[4]> : tensor<1xi64>
  %minus = onnx.Constant dense<-1> : tensor<i64>
  %target = onnx.Concat(%shape, %four) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %length = onnx.Shape(%target) : (tensor<2xi64>) -> tensor<1xi64>
  %ones = onnx.ConstantOfShape(%length) {value = #onnx.tensor<dense<1> : tensor<1xi64>>} : (tensor<1xi64>) -> !onnx.unknown
  %keep = onnx.Equal(%target, %minus) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %sizes = onnx.Where(%keep, %ones, %target) : (tensor<2xi1>, !onnx.unknown, tensor<2xi64>) -> !onnx.unknown
  %wide = onnx.Expand(%x, %sizes) : (tensor<?x1xf32>, !onnx.unknown) -> !onnx.unknown
  %spatial = onnx.Shape(%image) {start = 2} : (tensor<1x3x8x?xf32>) -> tensor<2xi64>
  %floats = onnx.Cast(%spatial) {to = 1} : (tensor<2xi64>) -> tensor<2xf32>
  %twice = onnx.Constant dense<[2.0, 2.0]> : tensor<2xf32>
  %scaled = onnx.Mul(%floats, %twice) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %whole = onnx.Floor(%scaled) : (tensor<2xf32>) -> tensor<2xf32>
  %target2 = onnx.Cast(%whole) {to = 7} : (tensor<2xf32>) -> tensor<2xi64>
  %planes = onnx.Shape(%image) {end = 2} : (tensor<1x3x8x?xf32>) -> tensor<2xi64>
  %full = onnx.Concat(%planes, %target2) {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %large = onnx.Resize(%image, none, none, %full) : (tensor<1x3x8x?xf32>, tensor<4xi64>) -> !onnx.unknown
  func.return %wide, %large : !onnx.unknown, !onnx.unknown
}

// -----

// Names and bounds in an expression, and dimensions without a name: equal ones stay equal, none is shown.
// CHECK-LABEL: func.func @cache
// CHECK-SAME:    -> (tensor<1x8x?x64xf32> {onnx.dims = ["", "", "past + seq", ""]}, tensor<?x5xf32>, tensor<1x3xf32>)
// CHECK-SAME:    onnx.bounds = {batch = array<i64: 2, 8>}
func.func @cache(
  %past: tensor<1x8x?x64xf32> {onnx.dims = ["", "", "past", ""]}, %new: tensor<1x8x?x64xf32> {onnx.dims = ["", "", "seq", ""]},
  %a: tensor<?x5xf32>, %c: tensor<?x3xf32> {onnx.dims = ["batch", ""]}
) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {onnx.bounds = {batch = array<i64: 2, 8>}} {
  %all = onnx.Concat(%past, %new) {axis = 2} : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>) -> !onnx.unknown
  %b = onnx.Relu(%a) : (tensor<?x5xf32>) -> !onnx.unknown
  %sum = onnx.Add(%a, %b) : (tensor<?x5xf32>, !onnx.unknown) -> !onnx.unknown
  %zero = onnx.Constant dense<[0]> : tensor<1xi64>
  %one = onnx.Constant dense<[1]> : tensor<1xi64>
  %row = onnx.Slice(%c, %zero, %one) : (tensor<?x3xf32>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  func.return %all, %sum, %row : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Data decide: the rank is known, the size is not. The same unknown size is the same name elsewhere.
// CHECK-LABEL: func.func @data
// CHECK-SAME:    -> (tensor<2x?xi64>, tensor<?x2xi64>, tensor<?xf32>, tensor<?x3xi64>)
func.func @data(%x: tensor<4x5xf32>, %boxes: tensor<1x9x4xf32>, %scores: tensor<1x2x9xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) {
  %n = onnx.NonZero(%x) : (tensor<4x5xf32>) -> !onnx.unknown
  %t = onnx.Transpose(%n) : (!onnx.unknown) -> !onnx.unknown
  %g = onnx.GatherND(%x, %t) : (tensor<4x5xf32>, !onnx.unknown) -> !onnx.unknown
  %m = onnx.NonMaxSuppression(%boxes, %scores) : (tensor<1x9x4xf32>, tensor<1x2x9xf32>) -> !onnx.unknown
  func.return %n, %t, %g, %m : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
