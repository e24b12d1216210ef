// Two streams of host work: y = relu(x) * exp(x), each factor in a stream of its own.
om.model @streams soc "Ascend310P3" memory 2560 io 1024 outputs ["y"] {
  om.kernel @host.relu {
    func.func @host.relu(%a: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.input_names = ["x0"], onnx.output_names = ["y0"]} {
      %0 = onnx.Relu(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
      func.return %0 : tensor<4xf32>
    }
  }
  om.kernel @host.exp {
    func.func @host.exp(%a: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.input_names = ["x0"], onnx.output_names = ["y0"]} {
      %0 = onnx.Exp(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
      func.return %0 : tensor<4xf32>
    }
  }
  om.kernel @host.mul {
    func.func @host.mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {onnx.input_names = ["x0", "x1"], onnx.output_names = ["y0"]} {
      %0 = onnx.Mul(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul")
      func.return %0 : tensor<4xf32>
    }
  }
  %x = om.op "Data" "x"() at [1536] {index = 0 : i64} : () -> tensor<4xf32>
  %relu = om.op "Relu" "relu"(%x) at [0] : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
  %exp = om.op "Exp" "exp"(%x) at [512] : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
  %mul = om.op "Mul" "mul"(%relu, %exp) at [2048] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul")
  om.op "NetOutput" "NetOutput"(%mul) : (tensor<4xf32>) -> ()
  om.task @host.relu for "relu" blocks 1
  om.task @host.exp for "exp" blocks 1 stream 1
  om.record event 0 stream 1
  om.wait event 0 stream 0
  om.task @host.mul for "mul" blocks 1
}
