"""What a device program computes is one digest, which neither order nor streams change, and every other change does."""

from __future__ import annotations

from pathlib import Path
from random import Random

import onnx
import pytest
from device_programs import build, main
from onnx_models import ModelBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ge.dialects.graph import LaunchOp
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.maths.streams import with_events
from ge.passes.graph.assign_streams import AssignStreamsPass, write_streams
from ge.passes.graph.check_memory import check_memory
from ge.passes.graph.note_dataflow import NoteDataflowPass, dataflow
from ge.passes.graph.order_launches import OrderLaunchesPass
from ge.passes.graph.plan_memory import PlanMemoryPass
from ge.passes.graph.program_time import program_time
from ge.targets.ascend.soc import load_soc
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions


@pytest.mark.parametrize("seed", range(20))
def test_order_streams_and_places_change_nothing(seed: int) -> None:
    random = Random(seed)
    module = build(random, 16)
    NoteDataflowPass().apply(Context(), module)
    note = main(module).attributes["graph.dataflow"]
    OrderLaunchesPass().apply(Context(), module)
    time = program_time(main(module), load_soc("Ascend310P3"))
    streams = [random.randrange(3) for _ in time.tasks]
    write_streams(main(module), time, with_events(time.tasks, streams))
    PlanMemoryPass().apply(Context(), module)
    check_memory(main(module))
    assert note == StringAttr(dataflow(main(module)))


PROGRAM = """
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> attributes {graph.input_names = ["x"], graph.output_names = ["y"]} {
  %w = graph.constant dense<1.0> : tensor<8xf16>
  %a = graph.launch @k(%x) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>
  %b = graph.host(%x) : (tensor<8xf16>) -> tensor<8xf16> {
  ^bb0(%h: tensor<8xf16>):
    %n = "onnx.Neg"(%h) : (tensor<8xf16>) -> tensor<8xf16>
    graph.yield %n : tensor<8xf16>
  }
  %v = graph.view %b : (tensor<8xf16>) -> tensor<2x4xf16>
  %c = graph.launch @j(%a, %w, %v) blocks 1 type "J" : (tensor<8xf16>, tensor<8xf16>, tensor<2x4xf16>) -> tensor<8xf16>
  %d = graph.launch @k(%c) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>
  func.return %d : tensor<8xf16>
}
"""

DAMAGE = {
    "a task is lost": ("@k(%c) blocks 1", "@k(%a) blocks 1"),
    "a task is done twice": (
        "  func.return",
        '  %e = graph.launch @k(%c) blocks 1 type "K" : (tensor<8xf16>) -> tensor<8xf16>\n  func.return',
    ),
    "operands change places": ("@j(%a, %w", "@j(%w, %a"),
    "another value is read": ("@j(%a, %w", "@j(%x, %w"),
    "another kernel runs": ("@j(", "@k("),
    "more cores run it": ("@k(%c) blocks 1", "@k(%c) blocks 2"),
    "the host computes something else": ("onnx.Neg", "onnx.Abs"),
    "a constant is another": ("dense<1.0>", "dense<2.0>"),
    "another value is returned": ("return %d", "return %c"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_change_of_what_is_computed_is_refused(damage: str) -> None:
    before, after = DAMAGE[damage]
    assert PROGRAM.count(before) == 1
    broken = parse_module(PROGRAM.replace(before, after))
    PlanMemoryPass().apply(Context(), broken)
    check_memory(main(broken))  # nothing is wrong with it but that it is another program
    main(broken).attributes["graph.dataflow"] = StringAttr(dataflow(main(parse_module(PROGRAM))))
    with pytest.raises(GeError) as error:
        check_memory(main(broken))
    assert error.value.code == "GE4026"


def test_a_compilation_ends_when_streams_are_assigned_wrongly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ModelBuilder()
    x = builder.input("x", 1, 16, 8, 8)
    a, b = (builder.node("Conv", x, builder.weights(16, 16, 1, 1, scale=0.1)) for _ in range(2))
    builder.output(builder.node("Div", a, b, name="y"))
    path = tmp_path / "model.onnx"
    onnx.save(builder.build(), path)
    compile_model(CompileOptions(path))

    def swap(self: AssignStreamsPass, ctx: Context, op: ModuleOp) -> None:
        launches = [each for each in main(op).body.block.ops if isinstance(each, LaunchOp)]
        first, second = [each for each in launches if each.op_type.data == "Conv2D"]
        weights = [first.operands[1], second.operands[1]]
        second.operands[1], first.operands[1] = weights

    monkeypatch.setattr(AssignStreamsPass, "apply", swap)
    with pytest.raises(GeError) as error:
        compile_model(CompileOptions(path))
    assert error.value.code == "GE4026"
