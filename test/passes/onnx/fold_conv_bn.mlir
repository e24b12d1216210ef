// RUN: ge-opt %s --split-input-file --fold-conv-bn | filecheck %s
// RUN: ge-opt %s --split-input-file --fuse-conv-bn-relu | filecheck %s

// Case 1: filters and bias are scaled; the result keeps the name that the normalised value had, the Relu stays.
// CHECK:       func.func @main
// CHECK-NEXT:    onnx.Constant dense<{{\[\[\[2.000000e\+00\]\], \[\[9.000000e\+00\]\]\]}}> : tensor<2x1x1xf32> loc("w")
// CHECK-NEXT:    onnx.Constant dense<[1.000000e+00, 4.000000e+00]> : tensor<2xf32> loc("shift")
// CHECK-NEXT:    onnx.Conv(%x, {{.*}}) {strides = [2], onnx.outputs = ["bn_output_0"]} : {{.*}} loc(fused["conv", "bn"])
// CHECK-NEXT:    onnx.Relu
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x1x4xf32>) -> tensor<1x2x2xf32> {
  %w = onnx.Constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32> loc("w")
  %scale = onnx.Constant dense<[4.0, 6.0]> : tensor<2xf32>
  %shift = onnx.Constant dense<[1.0, 1.0]> : tensor<2xf32> loc("shift")
  %mean = onnx.Constant dense<[0.0, -1.0]> : tensor<2xf32>
  %var = onnx.Constant dense<[3.0, 3.0]> : tensor<2xf32>
  %c = onnx.Conv(%x, %w) {strides = [2]} : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2xf32> loc("conv")
  %n = onnx.BatchNormalization(%c, %scale, %shift, %mean, %var) {epsilon = 1.0} : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32> loc("bn")
  %y = onnx.Relu(%n) : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  func.return %y : tensor<1x2x2xf32>
}

// -----

// Case 2: the output channels of a transposed convolution, here of two groups, are along the second axis.
// CHECK:       func.func @main
// CHECK-NEXT:    onnx.Constant dense<{{\[\[\[2.000000e\+00\]\], \[\[9.000000e\+00\]\]\]}}> : tensor<2x1x1xf32>
// CHECK-NEXT:    onnx.Constant dense<[3.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    onnx.ConvTranspose(%x, {{.*}}) {group = 2,
func.func @main(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %w = onnx.Constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %b = onnx.Constant dense<[1.0, 0.0]> : tensor<2xf32>
  %scale = onnx.Constant dense<[4.0, 6.0]> : tensor<2xf32>
  %shift = onnx.Constant dense<[1.0, 0.0]> : tensor<2xf32>
  %mean = onnx.Constant dense<0.0> : tensor<2xf32>
  %var = onnx.Constant dense<3.0> : tensor<2xf32>
  %c = onnx.ConvTranspose(%x, %w, %b) {group = 2} : (tensor<1x2x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %n = onnx.BatchNormalization(%c, %scale, %shift, %mean, %var) {epsilon = 1.0} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  func.return %n : tensor<1x2x4xf32>
}

// -----

// Case 3: the value between them has a second user, or is an output. Shared weights alone do no harm: they are copied.
// CHECK:       func.func @main
// CHECK:         onnx.BatchNormalization(%a,
// CHECK:         onnx.BatchNormalization(%b,
// CHECK-NOT:     onnx.BatchNormalization
// CHECK:         onnx.Conv(%x, %w) :
func.func @main(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = onnx.Constant dense<5.0> : tensor<1x1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %a = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %n = onnx.BatchNormalization(%a, %one, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %s = onnx.Add(%a, %n) : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %b = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %m = onnx.BatchNormalization(%b, %one, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %k = onnx.BatchNormalization(%c, %one, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %t = onnx.Add(%k, %m) : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %d = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  func.return %s, %b, %t, %d : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// Cases 4 to 6: statistics that are not constant, training mode, a scale that is not finite, weights out of range.
// CHECK:         onnx.BatchNormalization(%a, %v,
// CHECK:         onnx.BatchNormalization(%b, %one,
// CHECK:         onnx.BatchNormalization(%c, %one,
// CHECK:         onnx.BatchNormalization(%d, %large,
func.func @main(%x: tensor<1x1x4xf32>, %v: tensor<1xf32>) {
  %w = onnx.Constant dense<5.0> : tensor<1x1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %zero = onnx.Constant dense<0.0> : tensor<1xf32>
  %large = onnx.Constant dense<3.0e+38> : tensor<1xf32>
  %a = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %n = onnx.BatchNormalization(%a, %v, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %b = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %m, %mean, %var = onnx.BatchNormalization(%b, %one, %one, %one, %one) {training_mode = 1} : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>)
  %c = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %k = onnx.BatchNormalization(%c, %one, %one, %one, %zero) {epsilon = 0.0} : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %d = onnx.Conv(%x, %w) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %l = onnx.BatchNormalization(%d, %large, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  "test.op"(%n, %m, %mean, %var, %k, %l) : (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> ()
  func.return
}
