// RUN: ge-opt %s --split-input-file --convert-onnx-to-graph | filecheck %s

// Operators become operations with the names of the nodes; the names of inputs and outputs stay.
// CHECK:       func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32> attributes {graph.input_names = ["in"], graph.output_names = ["out"], graph.name = "net"}
// CHECK-NEXT:    %w = graph.constant dense<{{.*}}> : tensor<2x3x1x1xf32> loc("conv.weight")
// CHECK-NEXT:    %c = graph.conv2d %x, %w strides [2, 2] : {{.*}} loc("conv")
// CHECK-NEXT:    %p = graph.pool2d max %c kernel [4, 4] : {{.*}} loc("pool")
// CHECK-NEXT:    %f = graph.reshape %p : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32> loc("flat")
// CHECK:         %y = graph.matmul %f, {{.*}} : (tensor<1x2xf32>, tensor<2x4xf32>) -> tensor<1x4xf32> loc("fc")
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32>
    attributes {onnx.input_names = ["in"], onnx.output_names = ["out"], onnx.graph_name = "net"} {
  %w = onnx.Constant dense<1.0> : tensor<2x3x1x1xf32> loc("conv.weight")
  %c = onnx.Conv(%x, %w) {strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv")
  %p = onnx.GlobalMaxPool(%c) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> loc("pool")
  %f = onnx.Flatten(%p) : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32> loc("flat")
  %m = onnx.Constant dense<1.0> : tensor<4x2xf32>
  %y = onnx.Gemm(%f, %m) {transB = 1} : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<1x4xf32> loc("fc")
  func.return %y : tensor<1x4xf32>
}

// -----

// An operator without a form moves to the host with its constants; what its regions use from outside becomes an operand.
// CHECK:       %i = graph.host(%c, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:  ^bb0(%[[C:\w+]]: tensor<i1>, %[[X:\w+]]: tensor<2xf32>):
// CHECK:         %[[K:\w+]] = onnx.Constant dense<5.000000e-01> : tensor<f32>
// CHECK:         onnx.If(%[[C]]) then_branch {
// CHECK-NEXT:      %{{.*}} = onnx.Add(%[[X]], %[[K]])
// CHECK:         } else_branch {
// CHECK-NEXT:      onnx.Yield %[[X]]
// CHECK:         graph.yield
// CHECK-NEXT:  } loc("branch")
func.func @main(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %k = onnx.Constant dense<0.5> : tensor<f32>
  %i = onnx.If(%c) then_branch {
    %a = onnx.Add(%x, %k) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    onnx.Yield %a : tensor<2xf32>
  } else_branch {
    onnx.Yield %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32> loc("branch")
  func.return %i : tensor<2xf32>
}

// -----

// Shapes that are not static, integers and strings: everything runs on the host.
// CHECK:       graph.host(%x) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK:         onnx.Relu
// CHECK:       graph.host(%n) : (tensor<2xi64>) -> tensor<2xi64>
// CHECK:         onnx.Add
// CHECK:       graph.host() : () -> tensor<1x!onnx.string>
func.func @main(%x: tensor<?xf32>, %n: tensor<2xi64>) -> (tensor<?xf32>, tensor<2xi64>, tensor<1x!onnx.string>) {
  %a = onnx.Relu(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = onnx.Add(%n, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %c = onnx.Constant ["text"] : tensor<1x!onnx.string>
  func.return %a, %b, %c : tensor<?xf32>, tensor<2xi64>, tensor<1x!onnx.string>
}
