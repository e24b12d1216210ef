"""Estimates of how long kernels take: those that the simulator counts when it runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge.dialects.cube.encoding import encode
from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.graph import LaunchOp
from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.targets.ascend.estimate_cycles import EstimateCyclesPass
from ge.targets.ascend.simulator import run_kernel
from ge.targets.ascend.simulator.estimate import Estimator
from ge.targets.ascend.soc import load_soc

INPUTS = Path(__file__).parent / "simulator" / "inputs"
SOC = load_soc("Ascend310P3")

PROGRAM = """
func.func @main(%x: tensor<8192xf16>) -> tensor<8192xf16> {
  %a = graph.launch @add(%x, %x) blocks 2 type "Add" : (tensor<8192xf16>, tensor<8192xf16>) -> tensor<8192xf16>
  %b = graph.launch @add(%a, %x) blocks 2 type "Add" : (tensor<8192xf16>, tensor<8192xf16>) -> tensor<8192xf16>
  %c = graph.launch @tiles(%b) blocks 2 type "K" : (tensor<8192xf16>) -> tensor<8192xf16>
  func.return %c : tensor<8192xf16>
}
tile.kernel @tiles(%x: !tile.gm<8192xf16>, %y: !tile.gm<8192xf16>) grid(%core : 1) outputs(1) {
}
"""


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


@pytest.mark.parametrize("warm", [(), (True,), (True, True, True)])
def test_an_estimate_is_what_a_run_takes(warm: tuple[bool, ...]) -> None:
    kernel = parse((INPUTS / "add.mlir").read_text()).body.block.first_op
    assert isinstance(kernel, CubeKernelOp)
    arrays = [np.ones(8192, np.float16)] * 3
    run = run_kernel(encode(kernel), arrays, SOC, warm=warm)
    assert Estimator(kernel, SOC).cycles(warm) == run.cycles > 0


def test_launches_get_cycles_and_what_was_used_just_before_is_in_the_cache() -> None:
    module = parse(PROGRAM + (INPUTS / "add.mlir").read_text())
    EstimateCyclesPass().apply(context(), module)
    kernel = next(op for op in module.ops if isinstance(op, CubeKernelOp))
    estimator = Estimator(kernel, SOC)
    cycles = [None if op.cycles is None else op.cycles.value.data for op in module.walk() if isinstance(op, LaunchOp)]
    assert cycles == [estimator.cycles(), estimator.cycles([True, True]), None]
    assert estimator.cycles([True, True]) < estimator.cycles()


def test_a_launch_gives_as_many_values_as_the_kernel_has_arguments() -> None:
    module = parse(
        PROGRAM.replace("@add(%x, %x)", "@add(%x)").replace(
            "(tensor<8192xf16>, tensor<8192xf16>) -> tensor<8192xf16>", "(tensor<8192xf16>) -> tensor<8192xf16>", 1
        )
        + (INPUTS / "add.mlir").read_text()
    )
    with pytest.raises(GeError, match="@add has 3 arguments, the launch gives 2") as raised:
        EstimateCyclesPass().apply(context(), module)
    assert raised.value.code == "GE3002"


def test_a_launch_on_more_than_the_memory_of_the_chip_is_not_counted() -> None:
    module = parse(PROGRAM.replace("8192", str(10**10)) + (INPUTS / "add.mlir").read_text())
    with pytest.raises(GeError, match=rf"@add needs {4 * 10**10} bytes at once, Ascend310P3 has 24000000000") as raised:
        EstimateCyclesPass().apply(context(), module)
    assert raised.value.code == "GE4022"
