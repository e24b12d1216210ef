"""Whole modules compute the same before and after `convert-graph-to-tile`, kernels sharing text or not."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph.meaning import run_module
from ge.dialects.graph.program import LaunchOp, main_function
from ge.dialects.tile.structure import KernelOp
from ge.ir.constants import Array
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.registry import context, registry
from ge.ir.verifier import verify_module

NETWORK = """
func.func @main(%x: tensor<2x3x20x20xf32>, %w1: tensor<1xf32>) -> (tensor<2x10xf32>, tensor<2x24x10x10xf32>)
    attributes {graph.input_names = ["x", "unused"], graph.output_names = ["y", "map"]} {
  %wa = graph.constant dense<0.05> : tensor<24x3x3x3xf32>
  %ba = graph.constant dense<0.1> : tensor<24xf32>
  %a = graph.conv2d %x, %wa, %ba strides [2, 2] pads [1, 1, 1, 1] activation <relu>
     : (tensor<2x3x20x20xf32>, tensor<24x3x3x3xf32>, tensor<24xf32>) -> tensor<2x24x10x10xf32> loc("a")
  %wb = graph.constant dense<0.04> : tensor<24x1x3x3xf32>
  %b = graph.conv2d %a, %wb pads [1, 1, 1, 1] groups 24 activation <hard_swish>
     : (tensor<2x24x10x10xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x10x10xf32> loc("b")
  %c = graph.binary add %a, %b : (tensor<2x24x10x10xf32>, tensor<2x24x10x10xf32>) -> tensor<2x24x10x10xf32> loc("c")
  %d = graph.concat %c, %a axis 1 : (tensor<2x24x10x10xf32>, tensor<2x24x10x10xf32>) -> tensor<2x48x10x10xf32> loc("d")
  %e = graph.pool2d max %d kernel [3, 3] strides [2, 2] : (tensor<2x48x10x10xf32>) -> tensor<2x48x4x4xf32> loc("e")
  %s = graph.pool2d average %e kernel [4, 4] : (tensor<2x48x4x4xf32>) -> tensor<2x48x1x1xf32> loc("s")
  %g = graph.unary <sigmoid> %s : (tensor<2x48x1x1xf32>) -> tensor<2x48x1x1xf32> loc("g")
  %m = graph.binary mul %e, %g : (tensor<2x48x4x4xf32>, tensor<2x48x1x1xf32>) -> tensor<2x48x4x4xf32> loc("m")
  %p = graph.pool2d average %m kernel [4, 4] : (tensor<2x48x4x4xf32>) -> tensor<2x48x1x1xf32> loc("p")
  %f = graph.reshape %p : (tensor<2x48x1x1xf32>) -> tensor<2x48xf32> loc("f")
  %wm = graph.constant dense<0.1> : tensor<48x10xf32>
  %bm = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]> : tensor<10xf32>
  %n = graph.matmul %f, %wm, %bm : (tensor<2x48xf32>, tensor<48x10xf32>, tensor<10xf32>) -> tensor<2x10xf32> loc("n")
  %y = graph.softmax %n axis 1 : (tensor<2x10xf32>) -> tensor<2x10xf32> loc("y")
  func.return %y, %c : tensor<2x10xf32>, tensor<2x24x10x10xf32>
}
"""


def run_pass(name: str, module: ModuleOp, **options: object) -> None:
    pass_class: type[ModulePass] = registry().passes[name]()
    pass_class(**options).apply(context(), module)
    verify_module(module)


@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910A"])
@pytest.mark.parametrize("double_buffer", [True, False])
def test_a_small_network(soc: str, double_buffer: bool) -> None:
    module = parse_module(NETWORK)
    random = np.random.default_rng(0)
    inputs: dict[str, Array] = {
        "x": random.standard_normal((2, 3, 20, 20)).astype(np.float32),
        "unused": np.zeros(1, np.float32),
    }
    expected = run_module(module, inputs)
    run_pass("convert-graph-to-tile", module, soc=soc, double_buffer=double_buffer)
    assert {op.name for op in main_function(module).body.block.ops} <= {
        *("graph.constant", "graph.launch", "graph.view", "func.return")
    }
    got = run_module(module, inputs)
    for name, want in expected.items():
        error = np.abs(got[name] - want)
        assert (error <= 1e-3 * np.abs(want).max() + 1e-3 * np.abs(want)).all(), name
    again = parse_module(print_module(module))
    assert again.is_structurally_equivalent(module)


def test_equal_operations_share_a_kernel() -> None:
    module = parse_module(NETWORK)
    run_pass("convert-graph-to-tile", module)
    launches = [op for op in main_function(module).body.block.ops if isinstance(op, LaunchOp)]
    kernels = [op for op in module.body.block.ops if isinstance(op, KernelOp)]
    averages = {op.kernel for op in launches if op.op_type.data == "AvgPoolV2"}
    assert len(averages) == 1
    assert {op.kernel.root_reference.data for op in launches} == {kernel.sym_name.data for kernel in kernels}
    assert all(op.blocks.value.data == k.block_count for op in launches for k in kernels if _is(op, k))


def _is(launch: LaunchOp, kernel: KernelOp) -> bool:
    return launch.kernel.root_reference.data == kernel.sym_name.data
