// RUN: ge-opt %s --split-input-file --graph-fold-constants | filecheck %s

// CHECK:       func.func @main
// CHECK-NEXT:    %[[C:.*]] = graph.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00]]> : tensor<1x2xf32> loc("add")
// CHECK-NEXT:    graph.binary mul %x, %[[C]]
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = graph.reshape %a : (tensor<2xf32>) -> tensor<1x2xf32> loc("reshape")
  %c = graph.binary add %a, %b : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("add")
  %y = graph.binary mul %x, %c : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// -----

// Left alone: a result that is more than 1 MiB larger than its operands, a region for the host.
// CHECK:       graph.binary add
// CHECK:       graph.host
func.func @main() -> (tensor<600x600xf32>, tensor<1xf32>) {
  %row = graph.constant #ge.weights<elided, 2400, "0"> : tensor<600xf32>
  %column = graph.constant #ge.weights<elided, 2400, "0"> : tensor<600x1xf32>
  %y = graph.binary add %row, %column : (tensor<600xf32>, tensor<600x1xf32>) -> tensor<600x600xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %z = graph.host(%one) : (tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1xf32>):
    graph.yield %a : tensor<1xf32>
  }
  func.return %y, %z : tensor<600x600xf32>, tensor<1xf32>
}
