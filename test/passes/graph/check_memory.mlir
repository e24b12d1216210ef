// RUN: ge-opt %s --check-memory --split-input-file --verify-diagnostics

// A value that is read after another one came into its place.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 1024>, graph.output_offsets = array<i64: 1536>, graph.memory_size = 2048 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<8xf16>) -> tensor<8xf16>
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

// -----

// A result over an operand whose rows the kernel reads once more after it has written them.
func.func @main(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 512>, graph.output_offsets = array<i64: 1024>, graph.memory_size = 1536 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  // expected-error @+1 {{%b is written over %a, but core 0 reads bytes 0 to 64 after some of them were written}}
  %b = graph.launch @above(%a) blocks 1 type "K" in_place [0] offsets [0] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  %c = graph.launch @k(%b) blocks 1 type "K" offsets [1024] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  func.return %c : tensor<4x16xf16>
}
tile.kernel @above(%x: !tile.gm<4x16xf16>, %y: !tile.gm<4x16xf16>) grid(%core : 1) outputs(1) {
  %one = arith.constant 1 : index
  tile.for %row = 0 to 4 step 1 {
    %before = arith.subi %row, %one : index
    %t = tile.load %x[%before, 0] sizes [2, 16] fill 0 : !tile.gm<4x16xf16> -> !tile.tile<2x16xf16>
    %u = tile.reduce sum %t {axis = 0 : i64} : !tile.tile<2x16xf16> -> !tile.tile<1x16xf16>
    tile.store %u, %y[%row, 0] sizes [1, 16] : !tile.tile<1x16xf16> -> !tile.gm<4x16xf16>
  }
}

// -----

// A result over an operand that another core reads.
func.func @main(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 512>, graph.output_offsets = array<i64: 1024>, graph.memory_size = 1536 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  // expected-error @+1 {{%b is written over %a, but core 1 writes bytes 0 to 64, of which another core reads some}}
  %b = graph.launch @up(%a) blocks 2 type "K" in_place [0] offsets [0] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  %c = graph.launch @k(%b) blocks 1 type "K" offsets [1024] : (tensor<4x16xf16>) -> tensor<4x16xf16>
  func.return %c : tensor<4x16xf16>
}
tile.kernel @up(%x: !tile.gm<4x16xf16>, %y: !tile.gm<4x16xf16>) grid(%core : 2) outputs(1) {
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %from = arith.muli %core, %two : index
  %back = arith.muli %core, %four : index
  %to = arith.subi %four, %back : index
  %t = tile.load %x[%from, 0] sizes [2, 16] : !tile.gm<4x16xf16> -> !tile.tile<2x16xf16>
  tile.store %t, %y[%to, 0] sizes [2, 16] : !tile.tile<2x16xf16> -> !tile.gm<4x16xf16>
}

// -----

// A result over a part of an operand.
func.func @main(%x: tensor<512xf16>) -> tensor<512xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 2560>, graph.output_offsets = array<i64: 4096>, graph.memory_size = 6144 : i64, graph.io_size = 3584 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<512xf16>) -> tensor<512xf16>
  // expected-error @+1 {{%b is written over %a, but takes other bytes}}
  %b = graph.launch @k(%a) blocks 1 type "K" offsets [1024] : (tensor<512xf16>) -> tensor<512xf16>
  %c = graph.launch @k(%b) blocks 1 type "K" offsets [4096] : (tensor<512xf16>) -> tensor<512xf16>
  func.return %c : tensor<512xf16>
}

// -----

// Work of the host has copied what it reads; its result may lie anywhere.
func.func @main(%x: tensor<512xf16>) -> tensor<512xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 2560>, graph.output_offsets = array<i64: 4096>, graph.memory_size = 6144 : i64, graph.io_size = 3584 : i64, graph.weight_size = 0 : i64} {
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [0] : (tensor<512xf16>) -> tensor<512xf16>
  %b = graph.host(%a) offsets [1024] : (tensor<512xf16>) -> tensor<512xf16> {
  ^bb0(%i: tensor<512xf16>):
    %o = onnx.Relu(%i) : (tensor<512xf16>) -> tensor<512xf16>
    graph.yield %o : tensor<512xf16>
  }
  %c = graph.launch @k(%b) blocks 1 type "K" offsets [4096] : (tensor<512xf16>) -> tensor<512xf16>
  func.return %c : tensor<512xf16>
}

// -----

// A program that does not compute what is noted of it.
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.dataflow = "0", graph.input_names = ["x"], graph.output_names = ["y"], graph.input_offsets = array<i64: 512>, graph.output_offsets = array<i64: 1024>, graph.memory_size = 1536 : i64, graph.io_size = 1024 : i64, graph.weight_size = 0 : i64} {
  // expected-error @-1 {{the tasks are not those that the program had before they were ordered}}
  %a = graph.launch @k(%x) blocks 1 type "K" offsets [1024] : (tensor<8xf16>) -> tensor<8xf16>
  func.return %a : tensor<8xf16>
}
