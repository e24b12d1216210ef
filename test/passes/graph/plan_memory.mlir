// RUN: ge-opt %s --plan-memory | filecheck %s

// Slots are multiples of 512 bytes: 4 KiB of f16 take 4608. %a and %c are never live together and share a slot; %b is
// a view of %a and keeps it alive. The input and the output lie behind the arena. Equal constants lie in the weights once.
func.func @main(%x: tensor<2048xf16>) -> tensor<2048xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w0 = graph.constant dense<1.0> : tensor<2xf32>
  %w1 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w2 = graph.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %a = graph.launch @k(%x, %w0) blocks 1 type "K" : (tensor<2048xf16>, tensor<2xf32>) -> tensor<2048xf16>
  %v = graph.view %a : (tensor<2048xf16>) -> tensor<2x1024xf16>
  %b = graph.launch @k(%v, %w1) blocks 1 type "K" : (tensor<2x1024xf16>, tensor<2xf32>) -> tensor<2048xf16>
  %c = graph.launch @k(%b, %w2) blocks 1 type "K" : (tensor<2048xf16>, tensor<2xf32>) -> tensor<2048xf16>
  %d = graph.launch @k(%c, %w2) blocks 1 type "K" : (tensor<2048xf16>, tensor<2xf32>) -> tensor<2048xf16>
  func.return %d : tensor<2048xf16>
}
// CHECK:       graph.input_offsets = array<i64: 9216>
// CHECK-SAME:  graph.io_size = 9216 : i64
// CHECK:       graph.constant offset 0 dense<1.000000e+00>
// CHECK:       graph.constant offset 512 dense<[1.000000e+00, 2.000000e+00]>
// CHECK:       graph.constant offset 0 dense<1.000000e+00>
// CHECK:       %a = graph.launch @k(%x, %w0) blocks 1 type "K" offsets [0]
// CHECK:       %v = graph.view %a offset 0
// CHECK:       %b = graph.launch {{.*}} offsets [4608]
// CHECK:       %c = graph.launch {{.*}} offsets [0]
// CHECK:       %d = graph.launch {{.*}} offsets [13824]
