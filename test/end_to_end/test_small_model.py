"""A small network, all the way: every stage file computes the same, and the OM file has everything in it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from netron_viewer import netron
from onnx_models import ModelBuilder

from ge import Runtime
from ge.dialects.om import OperatorOp
from ge.dialects.om.values import value_bytes
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes
from ge.tools import compilation, ge_compiler, ge_run
from ge.tools.agreement import compare
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.reference import run_onnx


def build(path: Path) -> None:
    """Convolutions with batch normalisation, a residual connection, pooling, a matrix product, work for the host."""
    builder = ModelBuilder()
    x = builder.input("x", 1, 3, 16, 16)
    y = builder.node("Relu", builder.conv_bn(x, 3, 24), name="relu1")
    y = builder.node("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], name="pool1")
    z = builder.node("Relu", builder.conv_bn(y, 24, 40), name="relu2")
    z = builder.conv_bn(z, 40, 24, 1)
    y = builder.node("Relu", builder.node("Add", y, z, name="add"), name="relu3")
    y = builder.node("Flatten", builder.node("GlobalAveragePool", y, name="average"), name="flat")
    y = builder.node("Gemm", y, builder.weights(24, 10, scale=0.2), builder.weights(10), name="logits")
    builder.output(builder.node("Softmax", y, axis=1, name="prob"))
    builder.output(builder.node("NonZero", builder.node("Relu", y, name="positive"), name="indices"))
    onnx.save(builder.build(), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, its OM file and its stage files."""
    folder = tmp_path_factory.mktemp("small")
    build(folder / "model.onnx")
    ge_compiler.run([f"--model={folder}/model.onnx", f"--output={folder}/model.om", f"--debug={folder}/dump"])
    return folder


def compiled(folder: Path, name: str, *options: str) -> Path:
    """Another OM file of the same model."""
    file = folder / f"{name}.om"
    ge_compiler.run([f"--model={folder}/model.onnx", f"--output={file}", "--report=none", *options])
    return file


def inputs_of(file: Path) -> dict[str, Any]:
    return random_inputs([InputInfo(name, value.type) for name, value in read_model(file).inputs.items()], 0)


STAGES = [stage.name for stage in compilation.STAGES]


@pytest.mark.parametrize(("number", "stage"), list(enumerate(STAGES, 1)))
def test_every_stage_file_computes_what_the_model_says(
    folder: Path, number: int, stage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ge_run.run([f"{folder}/dump/{number:02}-{stage}.mlir", "--random-input", "--compare", f"{folder}/model.onnx"])
    shown = capsys.readouterr().out
    assert "prob: agrees" in shown and "indices: agrees: equal" in shown


def test_the_file_alone_is_enough(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "moved.om"
    shutil.copy(folder / "model.om", file)
    inputs = inputs_of(file)
    outputs = Runtime().run(file, inputs)
    _, reference = run_onnx(str(folder / "model.onnx"), inputs)
    assert all(each.passed for each in compare(outputs, reference, half=True))
    assert list(outputs) == ["prob", "indices"]


def test_strict_runs_give_the_same_bits(folder: Path) -> None:
    inputs = inputs_of(folder / "model.om")
    fast = Runtime().run(folder / "model.om", inputs)
    strict = Runtime(strict=True).run(folder / "model.om", inputs)
    assert all(np.array_equal(fast[name], strict[name]) for name in fast)


def test_runs_do_not_depend_on_the_run_before(folder: Path) -> None:
    model = Runtime().load(folder / "model.om")
    inputs = inputs_of(folder / "model.om")
    first = model.run(inputs)
    model.run({"x": np.full((1, 3, 16, 16), np.nan, np.float32)})
    again = model.run(inputs)
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_bytes_are_the_same_each_time(folder: Path) -> None:
    assert compiled(folder, "model").read_bytes() == (folder / "model.om").read_bytes()


def test_the_file_is_text_and_the_text_is_the_file(folder: Path) -> None:
    module = read_module(folder / "model.om")
    module.verify()
    text = print_module(module)
    file = model_bytes(parse_module(text))
    assert file == (folder / "model.om").read_bytes()
    assert print_module(read_module(file)) == text


@pytest.mark.parametrize("option", ["--no-fusion", "--disable_reuse_memory=1"])
def test_slower_ways_give_the_same_result(folder: Path, option: str) -> None:
    inputs = inputs_of(folder / "model.om")
    _, reference = run_onnx(str(folder / "model.onnx"), inputs)
    outputs = Runtime().run(compiled(folder, "other", option), inputs)
    assert all(each.passed for each in compare(outputs, reference, half=True))


def test_fusion_saves_kernels_and_transfers(folder: Path) -> None:
    runs: list[tuple[int, int]] = []
    for options in ([], ["--no-fusion"]):
        file = compiled(folder, "counted", *options)
        model = Runtime().load(file)
        model.run(inputs_of(file))
        assert model.statistics is not None
        runs.append((len(model.statistics.tasks), model.statistics.gm_bytes))
    (fused_tasks, fused_bytes), (tasks, moved) = runs
    assert fused_tasks < tasks and fused_bytes < moved


def test_the_report_says_what_happened(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [f"--model={folder}/model.onnx", f"--output={folder}/report.om", "--compare"]
    ge_compiler.run(command)
    text = capsys.readouterr().out
    for words in ("Fuse Conv2D(24) + BatchNorm + ReLU -> FusedConv2D", "memory access", "prob: agrees", "cycles"):
        assert words in text
    ge_compiler.run([*command, "--report=json"])
    facts = json.loads(capsys.readouterr().out)
    assert [stage["name"] for stage in facts["compilation"]["stages"]] == STAGES
    assert sum(stage["share"] for stage in facts["compilation"]["stages"]) == pytest.approx(1)
    assert facts["compilation"]["access_bytes"] < facts["compilation"]["access_bytes_without_fusion"]
    memory = facts["compilation"]["memory"]
    assert memory["values_lower_bound"] <= memory["values"] < memory["values_without_reuse"]
    assert facts["run"]["cycles"] == sum(task["cycles"] for task in facts["run"]["tasks"])
    assert [each["passed"] for each in facts["agreement"]] == [True, True]


def test_the_profile_has_a_line_for_each_task(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_run.run([f"{folder}/model.om", "--random-input", "--profile"])
    lines = capsys.readouterr().out.splitlines()
    for task in read_model(folder / "model.om").tasks:
        (line,) = [line for line in lines if line.startswith(f"{task.operator} ({task.kind})")]
        assert ("host" if task.on_host else f"{task.blocks} cores") in line


def test_netron_shows_every_operator_and_weight(folder: Path) -> None:
    file = folder / "model.om"
    (graph,) = netron(file)["graphs"]
    operators = [op for op in read_module(file).walk() if isinstance(op, OperatorOp)]
    assert [(node["name"], node["type"]) for node in graph["nodes"]] == [
        (op.label.data, op.kind.data) for op in operators if op.kind.data != "Const"
    ]
    weights = read_model(file).weights
    shown = {tensor["name"]: (tensor["bytes"], tensor["sha256"]) for tensor in graph["tensors"]}
    for op in operators:
        if op.kind.data == "Const":
            start, size = op.result_offsets[0], value_bytes(op.results[0].type) or 0
            assert shown.pop(f"{op.label.data}:0") == (size, sha256(weights[start : start + size]).hexdigest())
    assert not shown


def test_operators_carry_the_names_of_the_model(folder: Path) -> None:
    tasks = read_model(folder / "model.om").tasks
    nodes = {name for task in tasks for name in task.nodes}
    model = onnx.load(folder / "model.onnx")
    expected = {node.name for node in model.graph.node if node.op_type != "Flatten"}  # a view: no task
    assert expected <= nodes
    kinds = Counter(task.kind for task in tasks)
    assert kinds["Conv2D"] == 3 and kinds["MatMulV2"] == 1 and kinds["SoftmaxV2"] == 1
    assert [task.kind for task in tasks if task.on_host] == ["NonZero"]
