"""Results written over operands: less memory, the same bits on the device, and a check that finds what is wrong."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from device_programs import build, main
from onnx_models import ModelBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge import Runtime
from ge.dialects.graph import LaunchOp
from ge.dialects.graph.base import ints
from ge.dialects.graph.program import main_function
from ge.ir.errors import GeError
from ge.passes.graph.check_memory import check_memory
from ge.passes.graph.plan_memory import PlanMemoryPass, plan_memory
from ge.targets.ascend.om.writer import model_bytes
from ge.tools.compilation import PLAN, STAGES, WRITE, import_static, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.memory_picture import rectangles


def network() -> ModelBuilder:
    """Residual blocks, softmaxes over rows of whole blocks, and what joins them: additions of rows, and a sigmoid."""
    builder = ModelBuilder(seed=3)
    x = builder.input("x", 1, 16, 12, 12)
    y = builder.conv_bn(x, 16, 32)
    for _ in range(2):
        inner = builder.node("Relu", builder.conv_bn(y, 32, 32))
        y = builder.node("Relu", builder.node("Add", builder.conv_bn(inner, 32, 32), y))
    rows = builder.node("Reshape", y, builder.constant([32, 144], np.int64))
    rows = builder.node("Softmax", builder.node("Mul", rows, builder.weights(144)), axis=-1)
    rows = builder.node("Sigmoid", builder.node("Add", rows, builder.weights(144)))
    builder.output(builder.node("Softmax", rows, axis=-1, name="y"))
    return builder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleOp, CompileOptions]:
    """The device program of the network, before memory is planned."""
    path = Path(tmp_path_factory.mktemp("models")) / "model.onnx"
    onnx.save(network().build(), path)
    options = CompileOptions(path)
    module = import_static(options)
    for stage in STAGES[1 : STAGES.index(PLAN) + 1]:
        run_stage(stage, module, options)
    return module, options


def on_device(module: ModuleOp, options: CompileOptions, *, in_place: bool) -> dict[str, Any]:
    """The outputs of the program with its memory planned, in strict mode."""
    planned = module.clone()
    PlanMemoryPass(in_place=in_place).apply(Context(), planned)
    check_memory(main_function(planned))
    run_stage(WRITE, planned, options)
    x = np.random.default_rng(0).standard_normal((1, 16, 12, 12)).astype(np.float32)
    return Runtime(strict=True).load(model_bytes(planned)).run(x)


def test_results_over_operands_have_the_same_bits(compiled: tuple[ModuleOp, CompileOptions]) -> None:
    module, options = compiled
    apart, over = (plan_memory(main_function(module), in_place=in_place) for in_place in (False, True))
    assert apart.in_place == 0 and over.in_place >= 3
    assert over.arena_size < apart.arena_size and over.lower_bound < apart.lower_bound
    expected, found = (on_device(module, options, in_place=in_place) for in_place in (False, True))
    np.testing.assert_array_equal(found["y"], expected["y"])


def test_a_convolution_over_what_it_reads_is_refused(compiled: tuple[ModuleOp, CompileOptions]) -> None:
    planned = compiled[0].clone()
    main = main_function(planned)
    PlanMemoryPass().apply(Context(), planned)
    convolutions = [op for op in main.body.block.ops if isinstance(op, LaunchOp) and op.op_type.data == "Conv2D"]
    wrong = next(op for op in convolutions if op.inputs[0].type == op.outputs[0].type and not op.replaceable)
    source = wrong.inputs[0].owner
    assert isinstance(source, LaunchOp)
    wrong.in_place = ints([0])
    wrong.offsets = source.offsets
    with pytest.raises(GeError, match="is written over") as error:
        check_memory(main)
    assert error.value.code == "GE4023"


def test_the_picture_shows_every_byte_once() -> None:
    """Rectangles of the memory picture do not overlap, also where values are written over each other."""
    over = 0
    for seed in range(40):
        program = main(build(Random(seed), 14))
        plan = plan_memory(program)
        over += plan.in_place
        for a, b in combinations(rectangles(program, plan), 2):
            at_one_time = a.start <= b.end and b.start <= a.end
            assert not at_one_time or a.offset + a.size <= b.offset or b.offset + b.size <= a.offset
    assert over >= 20
