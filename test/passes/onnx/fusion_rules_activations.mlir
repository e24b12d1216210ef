// RUN: ge-opt %s --simplify=passes=recognise-swish,recognise-hard-swish,recognise-gelu,onnx-recognise-activations,recognise-softmax,algebraic-simplify | filecheck %s

// swish, swish-scaled, mish; kept: a gate of another value, a gate that is used elsewhere, one factor for each channel
// CHECK-LABEL: func.func @gates
// CHECK-NEXT:    %[[A:.*]] = onnx.Swish(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(fused["gate", "silu"])
// CHECK-NEXT:    %[[B:.*]] = onnx.Swish(%x) {alpha = 1.702}
// CHECK-NEXT:    %[[C:.*]] = onnx.Mish(%x)
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[C]])
// CHECK-NOT:     Swish
// CHECK:         func.return
func.func @gates(%x: tensor<2xf32>, %z: tensor<2xf32>) {
  %0 = onnx.Sigmoid(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("gate")
  %1 = onnx.Mul(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("silu")
  %s = onnx.Constant dense<1.702> : tensor<1xf32>
  %2 = onnx.Mul(%s, %x) : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = onnx.Sigmoid(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = onnx.Mul(%x, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = onnx.Softplus(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %6 = onnx.Tanh(%5) : (tensor<2xf32>) -> tensor<2xf32>
  %7 = onnx.Mul(%x, %6) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%1, %4, %7) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  %8 = onnx.Sigmoid(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %9 = onnx.Mul(%z, %8) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = onnx.Sigmoid(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %11 = onnx.Mul(%x, %10) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %12 = onnx.Mul(%c, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %13 = onnx.Sigmoid(%12) : (tensor<2xf32>) -> tensor<2xf32>
  %14 = onnx.Mul(%x, %13) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%9, %10, %11, %14) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// hard-sigmoid, hard-swish, hard-swish-product; kept: a clip that does not begin at 0, a divisor that is not its bound
// CHECK-LABEL: func.func @hard
// CHECK:         %[[A:.*]] = onnx.HardSigmoid(%x) {alpha = 0.16666667}
// CHECK-NEXT:    %[[B:.*]] = onnx.HardSwish(%x)
// CHECK-NEXT:    %[[C:.*]] = onnx.HardSwish(%x)
// CHECK-NEXT:    "test.op"(%[[A]], %[[B]], %[[C]])
// CHECK-NOT:     Hard
// CHECK:         func.return
func.func @hard(%x: tensor<2xf32>) {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %sixth = onnx.Constant dense<0.16666667> : tensor<f32>
  %0 = onnx.Add(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = onnx.Clip(%0, %zero, %six) : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %2 = onnx.Div(%1, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = onnx.Add(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = onnx.Clip(%3, %zero, %six) : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %5 = onnx.Mul(%4, %sixth) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = onnx.Mul(%x, %5) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = onnx.Add(%three, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %8 = onnx.Clip(%7, %zero, %six) : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %9 = onnx.Mul(%8, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = onnx.Div(%9, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  "test.op"(%2, %6, %10) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  %11 = onnx.Add(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %12 = onnx.Clip(%11, none, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %13 = onnx.Div(%12, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %14 = onnx.Add(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %15 = onnx.Clip(%14, %zero, %six) : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %16 = onnx.Div(%15, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  "test.op"(%13, %16) : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// gelu in an order of factors, with the constants that exporters write; kept: another constant under erf
// CHECK-LABEL: func.func @gelu
// CHECK:         %{{.*}} = onnx.Gelu(%x) : {{.*}} loc(fused["div", "erf", "one", "mul", "half"])
// CHECK:         onnx.Erf
// CHECK-NOT:     Gelu
// CHECK:         func.return
func.func @gelu(%x: tensor<2xf32>) {
  %root = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Div(%x, %root) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("div")
  %1 = onnx.Erf(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("erf")
  %2 = onnx.Add(%1, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("one")
  %3 = onnx.Mul(%x, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("mul")
  %4 = onnx.Mul(%3, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("half")
  "test.op"(%4) : (tensor<2xf32>) -> ()
  %5 = onnx.Mul(%x, %root) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = onnx.Erf(%5) : (tensor<2xf32>) -> tensor<2xf32>
  %7 = onnx.Add(%6, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = onnx.Mul(%x, %7) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %9 = onnx.Mul(%8, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  "test.op"(%9) : (tensor<2xf32>) -> ()
  func.return
}

// gelu-tanh; kept: a third power of another value
// CHECK-LABEL: func.func @gelu_tanh
// CHECK:         %{{.*}} = onnx.Gelu(%x) {approximate = "tanh"}
// CHECK:         onnx.Tanh
// CHECK-NOT:     Gelu
// CHECK:         func.return
func.func @gelu_tanh(%x: tensor<2xf32>, %z: tensor<2xf32>) {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %k = onnx.Constant dense<0.044715> : tensor<f32>
  %root = onnx.Constant dense<0.797884583> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Pow(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = onnx.Mul(%k, %0) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = onnx.Add(%x, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = onnx.Mul(%root, %2) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = onnx.Tanh(%3) : (tensor<2xf32>) -> tensor<2xf32>
  %5 = onnx.Add(%one, %4) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = onnx.Mul(%half, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = onnx.Mul(%6, %5) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%7) : (tensor<2xf32>) -> ()
  %8 = onnx.Pow(%z, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %9 = onnx.Mul(%k, %8) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = onnx.Add(%x, %9) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %11 = onnx.Mul(%root, %10) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %12 = onnx.Tanh(%11) : (tensor<2xf32>) -> tensor<2xf32>
  %13 = onnx.Add(%one, %12) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %14 = onnx.Mul(%half, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %15 = onnx.Mul(%14, %13) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%15) : (tensor<2xf32>) -> ()
  func.return
}

// softmax, softmax-shift, log-softmax; kept: a sum over two axes or without keeping them, a maximum over another axis
// CHECK-LABEL: func.func @softmax
// CHECK:         %{{.*}} = onnx.LogSoftmax(%x) {axis = 1} : {{.*}} loc(fused["max", "sub", "exp", "sum", "div", "log"])
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    %both = onnx.Constant
// CHECK-NEXT:    %[[E:.*]] = onnx.Exp(%x)
// CHECK-NEXT:    %[[S:.*]] = onnx.ReduceSum(%[[E]], %both)
// CHECK-NEXT:    %{{.*}} = onnx.Div(%[[E]], %[[S]])
// CHECK:         %[[M:.*]] = onnx.ReduceMax(%x, %first)
// CHECK-NEXT:    %[[D:.*]] = onnx.Sub(%x, %[[M]])
// CHECK-NEXT:    %{{.*}} = onnx.Softmax(%[[D]])
func.func @softmax(%x: tensor<2x3xf32>) {
  %axis = onnx.Constant dense<1> : tensor<1xi64>
  %0 = onnx.ReduceMax(%x, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32> loc("max")
  %1 = onnx.Sub(%x, %0) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("sub")
  %2 = onnx.Exp(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp")
  %3 = onnx.ReduceSum(%2, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32> loc("sum")
  %4 = onnx.Div(%2, %3) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("div")
  %5 = onnx.Log(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("log")
  "test.op"(%5) : (tensor<2x3xf32>) -> ()
  %both = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %6 = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = onnx.ReduceSum(%6, %both) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %8 = onnx.Div(%6, %7) : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %first = onnx.Constant dense<0> : tensor<1xi64>
  %9 = onnx.ReduceMax(%x, %first) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  %10 = onnx.Sub(%x, %9) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %11 = onnx.Softmax(%10) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  "test.op"(%8, %11) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  func.return
}

// clip-between, relu-of-clip, clip-of-relu, clip-twice: with bounds that are missing; kept: bounds for each element,
// bounds that cross, a bound that is computed
// CHECK-LABEL: func.func @clips
// CHECK:         %each = onnx.Constant
// CHECK-NEXT:    %[[LOW:.*]] = onnx.Constant dense<-1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[HIGH:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %{{.*}} = onnx.Clip(%x, %[[LOW]], %[[HIGH]])
// CHECK-NEXT:    %{{.*}} = onnx.Relu(%x) :
// CHECK-NEXT:    %[[Z:.*]] = onnx.Constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %{{.*}} = onnx.Clip(%x, %[[Z]], %n) :
// CHECK-NEXT:    %[[A:.*]] = onnx.Constant dense<-1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %{{.*}} = onnx.Clip(%x, %[[A]], %[[B]]) :
// CHECK-NEXT:    %[[M:.*]] = onnx.Max(%x, %each)
// CHECK-NEXT:    %{{.*}} = onnx.Min(%[[M]], %two)
// CHECK-NEXT:    %[[N:.*]] = onnx.Max(%x, %two)
// CHECK-NEXT:    %{{.*}} = onnx.Min(%[[N]], %minus)
// CHECK-NEXT:    %[[C:.*]] = onnx.Clip(%x, none, %n)
// CHECK-NEXT:    %{{.*}} = onnx.Relu(%[[C]])
func.func @clips(%x: tensor<2xf32>, %n: tensor<f32>) {
  %minus = onnx.Constant dense<-1.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %each = onnx.Constant dense<[1.0, 0.0]> : tensor<2xf32>
  %0 = onnx.Max(%minus, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = onnx.Min(%0, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = onnx.Clip(%x, %minus) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = onnx.Relu(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %5 = onnx.Clip(%4, none, %n) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = onnx.Clip(%x, %minus, %two) : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %7 = onnx.Clip(%6, none, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = onnx.Max(%x, %each) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %9 = onnx.Min(%8, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %10 = onnx.Max(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %11 = onnx.Min(%10, %minus) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %12 = onnx.Clip(%x, none, %n) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %13 = onnx.Relu(%12) : (tensor<2xf32>) -> tensor<2xf32>
  "test.op"(%1, %3, %5, %7, %9, %11, %13) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}
