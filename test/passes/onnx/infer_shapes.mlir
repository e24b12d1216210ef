// RUN: ge-opt %s --infer-shapes='input-shape="x:2,3,4"' | filecheck %s
// RUN: ge-opt %s --infer-shapes | filecheck %s --check-prefix=DYNAMIC
// RUN: not ge-opt %s --infer-shapes='input-shape="z:2"' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not ge-opt %s --infer-shapes='input-shape="x:2,5,4"' 2>&1 | filecheck %s --check-prefix=CONTRADICTS
// RUN: not ge-opt %s --infer-shapes='input-shape="x:2,1.5,4"' 2>&1 | filecheck %s --check-prefix=FORM

// With a fixed input, the shape that the model computes for itself is a constant and all types are known.
// CHECK:       func.func @main(%x: tensor<2x3x4xf32>, %c: tensor<i1>) -> (tensor<2x12xf32>, tensor<2x3x4xf32>)
// CHECK:         %target = onnx.Constant dense<[2, -1]> : tensor<2xi64>
// CHECK-NEXT:    %y = onnx.Reshape(%x, %target) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
// CHECK:         %r = onnx.If(%c) then_branch {
// CHECK-NEXT:      %n = onnx.Neg(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK:         } : (tensor<i1>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    func.return %y, %r : tensor<2x12xf32>, tensor<2x3x4xf32>

// Without, the rank and what does not depend on the batch are inferred.
// DYNAMIC:     func.func @main(%x: tensor<?x3x4xf32>, %c: tensor<i1>) -> (tensor<?x12xf32>, tensor<?x3x4xf32>)
// DYNAMIC:       onnx.Shape
// DYNAMIC:       onnx.Reshape({{.*}}) : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x12xf32>

// UNKNOWN:     'z' is not an input of the model; its inputs are x[?, 3, 4], c[]
// CONTRADICTS: input 'x' cannot have shape 2,5,4: it is x[?, 3, 4]
// FORM:        'x:2,1.5,4' is no list of input shapes: expected {{.*}} a number, got '1.5,4'

func.func @main(%x: tensor<?x3x4xf32>, %c: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>) attributes {onnx.input_names = ["x", "c"]} {
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %shape = onnx.Shape(%x) : (tensor<?x3x4xf32>) -> tensor<3xi64>
  %batch = onnx.Gather(%shape, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %target = onnx.Concat(%batch, %rest) {axis = 0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.Reshape(%x, %target) : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %r = onnx.If(%c) then_branch {
    %n = onnx.Neg(%x) : (tensor<?x3x4xf32>) -> tensor<*xf32>
    onnx.Yield %n : tensor<*xf32>
  } else_branch {
    onnx.Yield %x : tensor<?x3x4xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  func.return %y, %r : tensor<*xf32>, tensor<*xf32>
}
