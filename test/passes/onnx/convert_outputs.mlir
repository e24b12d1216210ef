// RUN: ge-opt %s --convert-outputs=types=FP16 | filecheck %s
// RUN: ge-opt %s --convert-outputs='types="abs:0:INT8;z:FP16"' | filecheck %s --check-prefix=SOME
// RUN: not ge-opt %s --convert-outputs=types=FP61 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not ge-opt %s --convert-outputs=types=inner:0:FP16 2>&1 | filecheck %s --check-prefix=INNER
// RUN: not ge-opt %s --convert-outputs='types="z:FP16;neg:0:INT8"' 2>&1 | filecheck %s --check-prefix=TWICE

// All outputs; one has the type already
// CHECK-LABEL: func.func @main
// CHECK-SAME:      -> (tensor<2xf16>, tensor<2xf16> {onnx.doc = "halves"}, tensor<?xf16>)
// CHECK-SAME:      onnx.output_names = ["y", "h", "z"]
// CHECK:         %y = onnx.Abs
// CHECK:         %z = onnx.Neg
// CHECK-NEXT:    [[Y:%\w+]] = onnx.Cast(%y) {to = 10} : (tensor<2xf32>) -> tensor<2xf16> loc("y/Cast")
// CHECK-NEXT:    [[Z:%\w+]] = onnx.Cast(%z) {to = 10} : (tensor<?xi64>) -> tensor<?xf16> loc("z/Cast")
// CHECK-NEXT:    func.return [[Y]], %h, [[Z]]

// Some of them, by node or by name
// SOME:         [[Y:%\w+]] = onnx.Cast(%y) {to = 3} : (tensor<2xf32>) -> tensor<2xi8>
// SOME-NEXT:    [[Z:%\w+]] = onnx.Cast(%z) {to = 10}
// SOME-NEXT:    func.return [[Y]], %h, [[Z]]

// TYPE: 'FP61' is no type of an output, did you mean FP16? [GE2041]
// INNER: 'inner:0' is no output of the model: these are 'y', 'h', 'z' [GE2040]
// TWICE: the output 'z' is given two types [GE2041]
func.func @main(%x: tensor<2xf32>, %i: tensor<?xi64>) -> (tensor<2xf32>, tensor<2xf16> {onnx.doc = "halves"}, tensor<?xi64>)
    attributes {onnx.output_names = ["y", "h", "z"]} {
  %inner = onnx.Exp(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("inner")
  %y = onnx.Abs(%inner) : (tensor<2xf32>) -> tensor<2xf32> loc("abs")
  %h = onnx.Cast(%x) {to = 10} : (tensor<2xf32>) -> tensor<2xf16> loc("half")
  %z = onnx.Neg(%i) : (tensor<?xi64>) -> tensor<?xi64> loc("neg")
  func.return %y, %h, %z : tensor<2xf32>, tensor<2xf16>, tensor<?xi64>
}
