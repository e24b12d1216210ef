// RUN: ge-opt %s --assign-streams | filecheck %s
// RUN: ge-opt %s --assign-streams --assign-streams | filecheck %s
// RUN: ge-opt %s '--assign-streams=most=1' | filecheck %s --check-prefix ONE
// RUN: ge-opt %s '--assign-streams=memory=0' | filecheck %s --check-prefix MEMORY
// RUN: ge-opt %s '--assign-streams=gain=30' | filecheck %s --check-prefix GAIN

// 1, 2. Two branches on four cores each. %d needs both %a and %c, but %c comes after %a: one event for that.
// ONE-LABEL:     func.func @branches
// ONE:             %b = graph.launch @k(%a) blocks 4 type "K" cycles 20000 : (
// ONE-NEXT:        %c = graph.launch @k(%a) blocks 4 type "K" cycles 20000 : (
// CHECK-LABEL:   func.func @branches
// CHECK:           %a = graph.launch @k(%x) blocks 8 type "K" cycles 20000 stream 0
// CHECK-NEXT:      graph.record event 0 stream 0
// CHECK-NEXT:      %b = graph.launch @k(%a) blocks 4 type "K" cycles 20000 stream 0
// CHECK-NEXT:      graph.wait event 0 stream 1
// CHECK-NEXT:      %c = graph.launch @k(%a) blocks 4 type "K" cycles 20000 stream 1
// CHECK-NEXT:      graph.record event 1 stream 1
// CHECK-NEXT:      %v = graph.view %c
// CHECK-NEXT:      graph.wait event 1 stream 0
// CHECK-NEXT:      %d = graph.launch @k(%a, %b, %v) blocks 8 type "K" cycles 20000 stream 0
// CHECK-NEXT:      func.return
func.func @branches(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = graph.launch @k(%x) blocks 8 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 4 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8xf16>
  %c = graph.launch @k(%a) blocks 4 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8xf16>
  %v = graph.view %c : (tensor<8xf16>) -> tensor<1x8xf16>
  %d = graph.launch @k(%a, %b, %v) blocks 8 type "K" cycles 20000 : (tensor<8xf16>, tensor<8xf16>, tensor<1x8xf16>) -> tensor<8xf16>
  func.return %d : tensor<8xf16>
}

// 1. Work on all cores, but the second branch starts while the first computes. That saves 5 of 47 thousand cycles.
// GAIN-LABEL:    func.func @starts
// GAIN:            %c = graph.launch @k(%a) blocks 8 type "K" cycles 6000 : (
// CHECK-LABEL:   func.func @starts
// CHECK:           %c = graph.launch @k(%a) blocks 8 type "K" cycles 6000 stream 1
func.func @starts(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = graph.launch @k(%x) blocks 8 type "K" cycles 6000 : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 8 type "K" cycles 6000 : (tensor<8xf16>) -> tensor<8xf16>
  %c = graph.launch @k(%a) blocks 8 type "K" cycles 6000 : (tensor<8xf16>) -> tensor<8xf16>
  %d = graph.launch @k(%b, %c) blocks 8 type "K" cycles 6000 : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %d : tensor<8xf16>
}

// 1. Branches with large values, which one stream has one after the other in the same place.
// MEMORY-LABEL:  func.func @large
// MEMORY:          %c = graph.launch @k(%x) blocks 4 type "K" cycles 20000 : (
// CHECK-LABEL:   func.func @large
// CHECK:           %c = graph.launch @k(%x) blocks 4 type "K" cycles 20000 stream 1
func.func @large(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = graph.launch @k(%x) blocks 4 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8192xf16>
  %b = graph.launch @k(%a) blocks 4 type "K" cycles 20000 : (tensor<8192xf16>) -> tensor<8xf16>
  %c = graph.launch @k(%x) blocks 4 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8192xf16>
  %d = graph.launch @k(%c) blocks 4 type "K" cycles 20000 : (tensor<8192xf16>) -> tensor<8xf16>
  %e = graph.launch @k(%b, %d) blocks 8 type "K" cycles 20000 : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %e : tensor<8xf16>
}

// Without estimates the bytes count: 16 MB and two cores take longer than a start.
// CHECK-LABEL:   func.func @bytes
// CHECK:           %b = graph.launch @k(%x) blocks 2 type "K" stream 1
func.func @bytes(%x: tensor<8388608xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %a = graph.launch @k(%x) blocks 2 type "K" : (tensor<8388608xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%x) blocks 2 type "K" : (tensor<8388608xf16>) -> tensor<8xf16>
  func.return %a, %b : tensor<8xf16>, tensor<8xf16>
}

// Left alone: a chain.
// CHECK-LABEL:   func.func @chain
// CHECK-NOT:       stream
func.func @chain(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = graph.launch @k(%x) blocks 1 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 1 type "K" cycles 20000 : (tensor<8xf16>) -> tensor<8xf16>
  func.return %b : tensor<8xf16>
}

// Left alone: branches of kernels so short that the event costs more than what is won.
// CHECK-LABEL:   func.func @short
// CHECK-NOT:       stream
func.func @short(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = graph.launch @k(%x) blocks 8 type "K" cycles 9000 : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.host(%a) : (tensor<8xf16>) -> tensor<8xf16> {
  ^bb0(%i: tensor<8xf16>):
    graph.yield %i : tensor<8xf16>
  }
  %c = graph.launch @k(%a, %b) blocks 8 type "K" cycles 10 : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %c : tensor<8xf16>
}

// Left alone: streams that are there already.
// CHECK-LABEL:   func.func @assigned
// CHECK-NEXT:      %a = graph.launch @k(%x) blocks 4 type "K" cycles 20000 stream 2
// CHECK-NEXT:      %b = graph.launch @k(%x) blocks 4 type "K" cycles 20000 stream 2
func.func @assigned(%x: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %a = graph.launch @k(%x) blocks 4 type "K" cycles 20000 stream 2 : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%x) blocks 4 type "K" cycles 20000 stream 2 : (tensor<8xf16>) -> tensor<8xf16>
  func.return %a, %b : tensor<8xf16>, tensor<8xf16>
}
