// RUN: ge-opt %s --order-launches | filecheck %s
// RUN: ge-opt %s --order-launches --plan-memory --check-memory | filecheck %s --check-prefix PLANNED

// 1. Two branches that grow and shrink again: one after the other, and a view stays behind what it is a view of.
// CHECK-LABEL: func.func @branches
// CHECK:         %w = graph.constant
// CHECK-NEXT:    %a = graph.launch @grow(%x
// CHECK-NEXT:    %v = graph.view %a
// CHECK-NEXT:    %c = graph.launch @shrink(%v
// CHECK-NEXT:    %b = graph.launch @grow(%x
// CHECK-NEXT:    %d = graph.launch @shrink(%b
// CHECK-NEXT:    %y = graph.launch @join
func.func @branches(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w = graph.constant dense<1.0> : tensor<2xf32>
  %a = graph.launch @grow(%x, %w) blocks 1 type "K" : (tensor<8xf16>, tensor<2xf32>) -> tensor<2048xf16>
  %v = graph.view %a : (tensor<2048xf16>) -> tensor<2x1024xf16>
  %b = graph.launch @grow(%x, %w) blocks 1 type "K" : (tensor<8xf16>, tensor<2xf32>) -> tensor<2048xf16>
  %c = graph.launch @shrink(%v) blocks 1 type "K" : (tensor<2x1024xf16>) -> tensor<8xf16>
  %d = graph.launch @shrink(%b) blocks 1 type "K" : (tensor<2048xf16>) -> tensor<8xf16>
  %y = graph.launch @join(%c, %d) blocks 1 type "K" : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}

// Left alone: a chain has one order.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %a = graph.launch
// CHECK-NEXT:    %b = graph.launch
// CHECK-NEXT:    func.return %b
// PLANNED-LABEL: func.func @chain
func.func @chain(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %a = graph.launch @k(%x) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.launch @k(%a) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>
  func.return %b : tensor<8xf16>
}

// Left alone: a program with events.
// CHECK-LABEL: func.func @events
// CHECK-NEXT:    %a = graph.launch @grow
// CHECK-NEXT:    %b = graph.launch @grow
// CHECK-NEXT:    %c = graph.launch @shrink(%a
// CHECK-NEXT:    graph.record event 0 stream 0
// CHECK-NEXT:    graph.wait event 0 stream 1
// CHECK-NEXT:    %d = graph.launch @shrink(%b
func.func @events(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %a = graph.launch @grow(%x) blocks 1 type "K" stream 0 : (tensor<8xf16>) -> tensor<2048xf16>
  %b = graph.launch @grow(%x) blocks 1 type "K" stream 1 : (tensor<8xf16>) -> tensor<2048xf16>
  %c = graph.launch @shrink(%a) blocks 1 type "K" stream 0 : (tensor<2048xf16>) -> tensor<8xf16>
  graph.record event 0 stream 0
  graph.wait event 0 stream 1
  %d = graph.launch @shrink(%b) blocks 1 type "K" stream 1 : (tensor<2048xf16>) -> tensor<8xf16>
  %y = graph.launch @join(%c, %d) blocks 1 type "K" stream 1 : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}
