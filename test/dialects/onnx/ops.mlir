// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt %s -o %t.mlir && ge-opt %t.mlir | diff - %t.mlir
// RUN: ge-opt %s --print-op-generic | ge-opt -o %t2.mlir && diff %t.mlir %t2.mlir
// RUN: ge-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:       func.func @operators(%x: tensor<1x3x8x8xf32>, %s: tensor<?x3xf32> {onnx.dims = ["batch", ""]}) {
// CHECK-NEXT:    %w = onnx.Constant dense<5.000000e-01> : tensor<4x3x3x3xf32> loc("conv1.weight")
// CHECK-NEXT:    %max = onnx.Constant dense<6.000000e+00> : tensor<f32>
// CHECK-NEXT:    %words = onnx.Constant ["a", "数"] : tensor<2x!onnx.string>
// CHECK-NEXT:    %y = onnx.Conv(%x, %w) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> loc("conv1")
// CHECK-NEXT:    %z = onnx.Clip(%y, none, %max) : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
// CHECK-NEXT:    %e = onnx.LeakyRelu(%z) {alpha = 1.0e-05, onnx.outputs = ["a/b"]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
// GENERIC:       "onnx.Conv"(%x, %w) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
// GENERIC:       "onnx.Clip"(%y, %max) <{absent = array<i64: 1>}>
// GENERIC:       "onnx.LeakyRelu"(%z) {alpha = 1.000000e-05 : f32, onnx.outputs = ["a/b"]}
func.func @operators(%x: tensor<1x3x8x8xf32>, %s: tensor<?x3xf32> {onnx.dims = ["batch", ""]}) {
  %w = onnx.Constant dense<0.5> : tensor<4x3x3x3xf32> loc("conv1.weight")
  %max = onnx.Constant dense<6.0> : tensor<f32>
  %words = onnx.Constant ["a", "数"] : tensor<2x!onnx.string>
  %y = onnx.Conv(%x, %w) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> loc("conv1")
  %z = onnx.Clip(%y, none, %max) : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %e = onnx.LeakyRelu(%z) {alpha = 1.0e-05, onnx.outputs = ["a/b"]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return
}

// Floats keep their bits; lists may be empty; an attribute may be a tensor, a type, or a list of strings.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT:    onnx.Elu(%x) {alpha = 0xFF800000}
// CHECK-NEXT:    onnx.Elu(%x) {alpha = -0.0}
// CHECK-NEXT:    onnx.Elu(%x) {alpha = 16777216.0}
// CHECK-NEXT:    onnx.RandomUniform() {high = 3.0, shape = []} : () -> tensor<f32>
// CHECK-NEXT:    onnx.ConstantOfShape(%n) {value = #onnx.tensor<dense<[1]> : tensor<1xi64>>}
// CHECK-NEXT:    onnx.Optional() {type = tensor<2xf32>} : () -> !onnx.optional<tensor<2xf32>>
// CHECK-NEXT:    onnx.ml.LabelEncoder(%x) {keys_floats = [1.0, 0xFF800000, -0.5], values_strings = ["a", "b\0A", "c"]}
func.func @attributes(%x: tensor<2xf32>, %n: tensor<1xi64>) {
  %0 = onnx.Elu(%x) {alpha = 0xFF800000} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = onnx.Elu(%x) {alpha = -0.0} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = onnx.Elu(%x) {alpha = 16777216} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = onnx.RandomUniform() {high = 3.0, shape = []} : () -> tensor<f32>
  %4 = onnx.ConstantOfShape(%n) {value = #onnx.tensor<dense<[1]> : tensor<1xi64>>} : (tensor<1xi64>) -> tensor<?xi64>
  %5 = onnx.Optional() {type = tensor<2xf32>} : () -> !onnx.optional<tensor<2xf32>>
  %6 = onnx.ml.LabelEncoder(%x) {keys_floats = [1.0, 0xFF800000, -0.5], values_strings = ["a", "b\0A", "c"]} : (tensor<2xf32>) -> tensor<2x!onnx.string>
  func.return
}

// Regions use outer values directly. An absent result has type none.
// CHECK-LABEL: func.func @control_flow
// CHECK:         %r = onnx.If(%c) then_branch {
// CHECK-NEXT:      onnx.Yield %x : tensor<2xf32>
// CHECK-NEXT:    } else_branch {
// CHECK-NEXT:      %n = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      onnx.Yield %n : tensor<2xf32> loc("other")
// CHECK-NEXT:    } : (tensor<i1>) -> tensor<2xf32> loc("choice")
// CHECK-NEXT:    %sum, %scan = onnx.Loop(%m, none, %x) body {
// CHECK-NEXT:    ^{{bb[0-9]+}}(%i: tensor<i64>, %cond: tensor<i1>, %a: tensor<2xf32>):
// CHECK:           onnx.Yield %cond, %b, %i : tensor<i1>, tensor<2xf32>, tensor<i64>
// CHECK-NEXT:    } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?xi64>)
// CHECK-NEXT:    %{{.*}}, %{{.*}} = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, none)
func.func @control_flow(%c: tensor<i1>, %m: tensor<i64>, %x: tensor<2xf32>) {
  %r = onnx.If(%c) else_branch {
    %n = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n : tensor<2xf32> loc("other")
  } then_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32> loc("choice")
  %sum, %scan = onnx.Loop(%m, none, %x) body {
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %a: tensor<2xf32>):
    %b = onnx.Add(%a, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %cond, %b, %i : tensor<i1>, tensor<2xf32>, tensor<i64>
  } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?xi64>)
  %y, %mask = onnx.Dropout(%x) : (tensor<2xf32>) -> (tensor<2xf32>, none)
  func.return
}

// CHECK-LABEL: func.func @types
// CHECK-NEXT:    onnx.Custom "com.microsoft" "Foo"(%q, none, %o) {axis = 1 : i64} : (!onnx.seq<tensor<?xf32>>, !onnx.optional<!onnx.seq<tensor<*xf16>>>) -> (!onnx.unknown, !onnx.map<i64, tensor<f32>>)
// CHECK-NEXT:    onnx.Custom "com.example" "Twice"(%q) body {
// CHECK:         } : (!onnx.seq<tensor<?xf32>>) -> ()
func.func @types(%q: !onnx.seq<tensor<?xf32>>, %o: !onnx.optional<!onnx.seq<tensor<*xf16>>>) {
  %0, %1 = onnx.Custom "com.microsoft" "Foo"(%q, none, %o) {axis = 1 : i64} : (!onnx.seq<tensor<?xf32>>, !onnx.optional<!onnx.seq<tensor<*xf16>>>) -> (!onnx.unknown, !onnx.map<i64, tensor<f32>>)
  onnx.Custom "com.example" "Twice"(%q) body {
    onnx.Yield
  } : (!onnx.seq<tensor<?xf32>>) -> ()
  func.return
}
