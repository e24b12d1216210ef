// RUN: ge-opt %s --split-input-file --merge-host | filecheck %s

// A chain becomes one region; the value between is no result any more, the one that is returned stays one.
// CHECK:       %z, %y = graph.host(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
// CHECK-NEXT:  ^bb0(%[[A:.*]]: tensor<2xf32>):
// CHECK-NEXT:    %[[B:.*]] = onnx.Sin(%[[A]])
// CHECK-NEXT:    %[[C:.*]] = onnx.Cos(%[[B]])
// CHECK-NEXT:    %[[D:.*]] = onnx.Add(%[[C]], %[[A]])
// CHECK-NEXT:    graph.yield %[[C]], %[[D]]
// CHECK:       func.return %y, %z
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = graph.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %z = graph.host(%s) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %y = graph.host(%z, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>, %c: tensor<2xf32>):
    %b = onnx.Add(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

// Left apart: a device operation lies on a way between them, also if there is a direct one.
// CHECK:       graph.host(%x)
// CHECK:       graph.unary <relu> %s
// CHECK:       graph.host(%s, %r)
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = graph.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %r = graph.unary <relu> %s : (tensor<2xf32>) -> tensor<2xf32>
  %y = graph.host(%s, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>, %c: tensor<2xf32>):
    %b = onnx.Add(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return %y : tensor<2xf32>
}

// -----

// A user of the first region that stands before the second one moves behind what they become.
// CHECK:       %[[S:.*]], %[[Z:.*]] = graph.host(%x)
// CHECK:       %r = graph.unary <relu> %[[S]]
// CHECK-NEXT:  func.return %r, %[[Z]]
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = graph.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %r = graph.unary <relu> %s : (tensor<2xf32>) -> tensor<2xf32>
  %z = graph.host(%s) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return %r, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

// Regions that do not feed each other stay apart.
// CHECK-COUNT-2: graph.host(%x)
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = graph.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %z = graph.host(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  func.return %s, %z : tensor<2xf32>, tensor<2xf32>
}
