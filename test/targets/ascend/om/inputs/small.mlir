// A model of every kind of operator, on the host: y = relu(x + w), and the number of its positive elements.
om.model @small soc "Ascend310P3" memory 2560 io 1536 outputs ["y", "count"] {
  om.weights #ge.weights<"0x0000803F000000400000404000008040">
  om.kernel @host.add {
    func.func @host.add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.input_names = ["x0", "x1"], onnx.output_names = ["y0"]} {
      %0 = onnx.Add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add")
      %1 = onnx.Relu(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
      func.return %1 : tensor<4xf32>
    }
  }
  om.kernel @host.count {
    func.func @host.count(%a: tensor<2x2xf32>) -> tensor<2x?xi64> attributes {onnx.input_names = ["x0"], onnx.output_names = ["y0"]} {
      %0 = onnx.NonZero(%a) : (tensor<2x2xf32>) -> tensor<2x?xi64> loc("nonzero")
      func.return %0 : tensor<2x?xi64>
    }
  }
  %x = om.op "Data" "x"() at [1024] {index = 0 : i64} : () -> tensor<4xf32>
  %w = om.op "Const" "w"() at [0] : () -> tensor<4xf32>
  %add = om.op "HostCall" "add"(%x, %w) at [1536] {alpha = 1.500000e+00 : f32, flag = true, lists = [array<i64: 1, 2>, array<i64>], mode = "mode", names = ["a", "b"], pads = array<i64: 0, 1>, value = 2.000000e+00 : f32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(fused["add", "relu"])
  %view = om.op "Reshape" "view"(%add) at [1536] {_no_task = true} : (tensor<4xf32>) -> tensor<2x2xf32>
  %nonzero = om.op "NonZero" "nonzero"(%view) at [-1] : (tensor<2x2xf32>) -> tensor<2x?xi64> loc("nonzero")
  om.op "NetOutput" "NetOutput"(%add, %nonzero) : (tensor<4xf32>, tensor<2x?xi64>) -> ()
  om.task @host.add for "add" blocks 1
  om.task @host.count for "nonzero" blocks 1
}
