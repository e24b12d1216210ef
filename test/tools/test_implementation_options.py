"""--op_select_implmode and --optypelist_for_implmode: fewer cycles, less exact, where there is a choice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import ModelBuilder
from refusals import check_refused

from ge import Runtime
from ge.dialects.graph.numerics import erf
from ge.tools import ge_compiler

FAST = "--op_select_implmode=high_performance"
EXACT = "--op_select_implmode=high_precision"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gelu as its own operator, and a sigmoid."""
    builder = ModelBuilder(opset=20)
    x = builder.input("x", 64, 256)
    builder.output(builder.node("Gelu", x, name="y"), builder.node("Sigmoid", x, name="s"))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def cycles_and_outputs(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, dict[str, Any]]:
    ge_compiler.run([f"--model={model}", f"--output={folder}/m", "--json", "--run", *options])
    cycles = json.loads(capsys.readouterr().out)["run"]["cycles"]
    return cycles, dict(Runtime().run(f"{folder}/m.om", {"x": values()}))


def values() -> Any:
    return np.linspace(-6, 6, 64 * 256, dtype=np.float32).reshape(64, 256)


@pytest.mark.parametrize("options", [[FAST], [FAST, "--optypelist_for_implmode=Gelu"]])
def test_fast_takes_fewer_cycles(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str]
) -> None:
    exact_cycles, exact = cycles_and_outputs(model, tmp_path, capsys)
    fast_cycles, fast = cycles_and_outputs(model, tmp_path, capsys, *options)
    assert fast_cycles < exact_cycles
    assert (fast["s"] == exact["s"]).all() and (fast["y"] != exact["y"]).any()
    x = values().astype(np.float16).astype(np.float32)
    want = x / 2 * (1 + erf(x / np.float32(np.sqrt(2))))
    rounding = np.spacing(np.abs(want).astype(np.float16)).astype(np.float32)
    assert (np.abs(exact["y"] - want) <= rounding + 1e-6).all()
    assert (np.abs(fast["y"] - want) <= rounding + 4.8e-4).all()


@pytest.mark.parametrize("options", [[EXACT], [EXACT, "--optypelist_for_implmode=Gelu"]])
def test_exact_is_the_default(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str]
) -> None:
    usual, exact = (cycles_and_outputs(model, tmp_path, capsys, *each) for each in ((), options))
    assert usual[0] == exact[0] and (usual[1]["y"] == exact[1]["y"]).all()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([FAST, "--optypelist_for_implmode=SoftmaxV2"], "GE2047", "'SoftmaxV2' has one implementation; Gelu has two"),
        ([EXACT, "--optypelist_for_implmode=Gelu,Exp"], "GE2047", "'Exp'"),
        (["--optypelist_for_implmode=Gelu"], "GE2008", "--op_select_implmode is missing"),
        (["--op_select_implmode=high_precision_for_all"], "GE2006", "high_precision_for_all"),
    ],
)
def test_what_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], code: str, words: str
) -> None:
    check_refused(model, tmp_path, capsys, options, code, words)
