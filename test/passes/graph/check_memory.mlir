// RUN: ge-opt %s --check-memory --split-input-file --verify-diagnostics

// A value that is read after another one came into its place.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 1024>, graph.output_offsets = array<i64: 1536>, graph.memory_size = 2048 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 1 type "K" offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  // expected-error @+1 {{%a is read, but %b has overwritten 512 bytes of it}}
  %c = graph.launch @k(%a, %b) blocks 1 type "K" offsets [1536] : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %c : tensor<8xf16>
}

// -----

// A slot that is not aligned.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 0>, graph.output_offsets = array<i64: 520>, graph.memory_size = 2048 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  // expected-error @+1 {{%a has bytes 520 to 1032 of a memory of 2048}}
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [520] : (tensor<8xf16>) -> tensor<8xf16>
  func.return %a : tensor<8xf16>
}

// -----

// A slot beyond the end.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 0>, graph.output_offsets = array<i64: 2048>, graph.memory_size = 2048 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  // expected-error @+1 {{%a has bytes 2048 to 2560 of a memory of 2048}}
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [2048] : (tensor<8xf16>) -> tensor<8xf16>
  func.return %a : tensor<8xf16>
}

// -----

// Different constants in one place.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 0>, graph.output_offsets = array<i64: 512>, graph.memory_size = 1024 : i64, graph.io_size = 1024 : i64, graph.weight_size = 512 : i64} {
  %v = graph.constant offset 0 dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{%w lies on another constant in the weights}}
  %w = graph.constant offset 0 dense<2.0> : tensor<2xf32>
  %a = graph.launch @k(%x, %v, %w) blocks 1 type "K" offsets [512] : (tensor<8xf16>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf16>
  func.return %a : tensor<8xf16>
}

// -----

// Memory that is not planned.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  // expected-error @-1 {{memory is not planned}}
  func.return %x : tensor<8xf16>
}

// -----

// A value of another stream without an event.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 1024>, graph.output_offsets = array<i64: 1536>, graph.memory_size = 2048 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" stream 0 offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  // expected-error @+1 {{stream 1 reads %a, but no event says that stream 0 has made it}}
  %b = graph.launch @k(%a) blocks 1 type "K" stream 1 offsets [1536] : (tensor<8xf16>) -> tensor<8xf16>
  func.return %b : tensor<8xf16>
}

// -----

// Two streams use the same bytes one after the other, but only in the order of the text.
func.func @main(%x: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) attributes {graph.input_names = ["x"], graph.output_names = ["y", "z"], graph.input_offsets = array<i64: 1024>, graph.output_offsets = array<i64: 1536, 2048>, graph.memory_size = 2560 : i64, graph.io_size = 1536 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" stream 0 offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 1 type "K" stream 0 offsets [1536] : (tensor<8xf16>) -> tensor<8xf16>
  // expected-error @+1 {{stream 1 writes %c, but no event says that stream 0 is done with memory there that it reads}}
  %c = graph.launch @k(%x) blocks 1 type "K" stream 1 offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  %d = graph.launch @k(%c) blocks 1 type "K" stream 1 offsets [2048] : (tensor<8xf16>) -> tensor<8xf16>
  func.return %b, %d : tensor<8xf16>, tensor<8xf16>
}
