// RUN: ge-opt %s --insert-aipp=config=%S/inputs/aipp_rgb.cfg | filecheck %s
// RUN: ge-opt %s --insert-aipp=config=%S/inputs/aipp_yuv.cfg | filecheck %s --check-prefix=YUV
// RUN: not ge-opt %s --insert-aipp=config=%S/inputs/aipp_dynamic.cfg 2>&1 | filecheck %s --check-prefix=DYNAMIC
// RUN: not ge-opt %s --insert-aipp='config=%S/inputs/aipp_rgb.cfg layout=NHWC' 2>&1 | filecheck %s --check-prefix=LAYOUT
// RUN: not ge-opt %s --insert-aipp=config=%S/inputs/missing.cfg 2>&1 | filecheck %s --check-prefix=MISSING

// Cut, exchanged, transposed as bytes, then normalised; every user gets that. The other input stays, and so does what
// is noted of the image beside its type
// CHECK-LABEL: func.func @main
// CHECK-SAME:      (%image: tensor<1x10x20x3xui8> {onnx.doc = "a photo"}, %other: tensor<1x3x6x8xf32>)
// CHECK:         onnx.Slice(%image, %{{.*}}) : (tensor<1x10x20x3xui8>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x6x8x3xui8> loc("image/aipp/crop")
// CHECK:         onnx.Constant dense<[2, 1, 0]>
// CHECK-NEXT:    onnx.Gather(%{{.*}}) {axis = 3} : {{.*}} -> tensor<1x6x8x3xui8> loc("image/aipp/swap")
// CHECK-NEXT:    onnx.Transpose(%{{.*}}) {perm = [0, 3, 1, 2]} : {{.*}} -> tensor<1x3x6x8xui8> loc("image/aipp/layout")
// CHECK-NEXT:    onnx.Cast(%{{.*}}) {to = 1} : {{.*}} -> tensor<1x3x6x8xf32> loc("image/aipp/cast")
// CHECK-NEXT:    onnx.Constant {{.*}}1.040000e+02{{.*}} : tensor<3x1x1xf32>
// CHECK-NEXT:    onnx.Sub(%{{.*}}) : {{.*}} loc("image/aipp/mean")
// CHECK-NEXT:    onnx.Constant dense<5.000000e-01> : tensor<3x1x1xf32>
// CHECK-NEXT:    [[X:%\w+]] = onnx.Mul(%{{.*}}) : {{.*}} loc("image/aipp/var_reci")
// CHECK-NEXT:    %y = onnx.Add([[X]], %other)
// CHECK-NEXT:    func.return %y, [[X]]

// Both planes, colours in whole numbers, and a border at the end
// YUV:         func.func @main(%image: tensor<1x6x8xui8> {onnx.doc = "a photo"}, %other: tensor<1x3x6x8xf32>)
// YUV:         onnx.Expand{{.*}} -> tensor<1x2x2x4x2x2xui8> loc("image/aipp/chroma")
// YUV:         onnx.Concat({{.*}}) {axis = 3} : (tensor<1x4x8x1xui8>, tensor<1x4x8x2xui8>) -> tensor<1x4x8x3xui8> loc("image/aipp/pixels")
// YUV-NEXT:    onnx.Cast(%{{.*}}) {to = 6}
// YUV:         onnx.Constant dense<{{\[}}[256, 256, 256], [0, -88, 454], [359, -183, 0]]> : tensor<3x3xi32>
// YUV-NEXT:    onnx.MatMul
// YUV:         onnx.Clip
// YUV-NEXT:    onnx.Transpose
// YUV-NEXT:    onnx.Cast
// YUV:         [[X:%\w+]] = onnx.Pad({{.*}}) : (tensor<1x3x4x8xf32>, {{.*}} -> tensor<1x3x6x8xf32> loc("image/aipp/padding")
// YUV-NEXT:    %y = onnx.Add([[X]], %other)

// DYNAMIC: aipp_dynamic.cfg:2:5: error: 'aipp_mode: dynamic' takes its values from each run [GE2044]
// LAYOUT: aipp_rgb.cfg:4:5: error: input 'image': RGB888_U8 gives 3 channels, and the model takes 8, as NHWC [GE2043]
// MISSING: error: {{.*}}missing.cfg': No such file or directory [GE1001]
func.func @main(%image: tensor<1x3x6x8xf32> {onnx.doc = "a photo", onnx.dims = ["batch", "", "", ""]}, %other: tensor<1x3x6x8xf32>)
    -> (tensor<1x3x6x8xf32>, tensor<1x3x6x8xf32>) attributes {onnx.input_names = ["image", "other"]} {
  %y = onnx.Add(%image, %other) : (tensor<1x3x6x8xf32>, tensor<1x3x6x8xf32>) -> tensor<1x3x6x8xf32>
  func.return %y, %image : tensor<1x3x6x8xf32>, tensor<1x3x6x8xf32>
}
