"""A failing optimisation does not keep a model from compiling (need 30); --strict makes it an error."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx_models import ModelBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.onnx import OnnxOp, make_op, op_class
from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewrite_log import observe
from ge.ir.rewriting import RewriteRule, replace, rewrite_rule
from ge.ir.rule_pass import RulePass
from ge.tools.compilation import OPTIMISE, import_static, run_stage
from ge.tools.compile_options import CompileOptions
from ge.tools.fusion_report import ModuleWatcher


@rewrite_rule(op_class("Abs"))
def fail(op: OnnxOp) -> bool:
    raise ZeroDivisionError("planted")


@rewrite_rule(op_class("Relu"))
def relu_to_abs(op: OnnxOp) -> bool:
    replace(op, make_op("Abs", [op.operands[0]], [op.results[0].type]))
    return True


@dataclass(frozen=True)
class FailingRules(RulePass):
    name = "eliminate-identity"

    def rules(self) -> list[RewriteRule[Any]]:
        return [relu_to_abs, fail]


@dataclass(frozen=True)
class FailingPass(ModulePass):
    name = "onnx-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, OnnxOp) and inner.op_type == "Relu":
                relu_to_abs(inner)
        raise KeyError("planted")


@dataclass(frozen=True)
class InvalidPass(ModulePass):
    """Leaves an operation whose type is wrong, which only the verifier sees."""

    name = "onnx-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, OnnxOp) and inner.op_type == "Relu":
                inner.attributes["alpha"] = op.body.block.first_op.attributes["sym_name"]  # type: ignore[union-attr]


@contextmanager
def planted(pass_type: type[ModulePass]) -> Generator[None]:
    passes = registry().passes
    original = passes[pass_type.name]
    passes[pass_type.name] = lambda: pass_type
    try:
        yield
    finally:
        passes[pass_type.name] = original


@pytest.fixture
def model(tmp_path: Path) -> Path:
    builder = ModelBuilder()
    x = builder.input("x", 2, 3)
    y = builder.node("Relu", x, name="first")
    builder.output(builder.node("Mul", y, builder.node("Sigmoid", y, name="gate"), name="swish"))
    path = tmp_path / "model.onnx"
    onnx.save(builder.build(), path)
    return path


def optimised(model: Path, **options: Any) -> list[str]:
    compile_options = CompileOptions(model, **options)
    module = import_static(compile_options)
    with observe() as log:
        run_stage(OPTIMISE, module, compile_options)
    assert log.effects["swish"] == 1
    return [op.op_type for op in module.walk() if isinstance(op, OnnxOp)]


@pytest.mark.parametrize(
    ("pass_type", "culprit"),
    [(FailingRules, "eliminate-identity.fail"), (FailingPass, "onnx-cse"), (InvalidPass, "onnx-cse")],
)
def test_30_the_module_is_put_back_and_the_culprit_left_out(
    model: Path, caplog: pytest.LogCaptureFixture, pass_type: type[ModulePass], culprit: str
) -> None:
    with planted(pass_type):
        found = optimised(model)
    expected = ["Abs", "Swish"] if pass_type is FailingRules else ["Relu", "Swish"]
    assert found == expected
    (warning,) = caplog.messages
    assert warning.startswith(f"'{culprit}' is left out, because it fails: ")
    if pass_type is FailingRules:
        assert "rule 'eliminate-identity.fail': ZeroDivisionError: planted" in warning


def test_30_strict_makes_it_an_error_that_names_pass_rule_and_node(model: Path) -> None:
    with planted(FailingRules), pytest.raises(GeError) as error:
        optimised(model, strict=True)
    assert error.value.code == "GE3012"
    assert "pass 'simplify': internal error in rule 'eliminate-identity.fail'" in error.value.what
    assert error.value.where == "node 'first'"


def test_30_what_nothing_compiles_without_stays_an_error(model: Path) -> None:
    class FailingShapes(FailingPass):
        name = "infer-shapes"

    with planted(FailingShapes), pytest.raises(GeError, match="pass 'infer-shapes': internal error: KeyError"):
        optimised(model)


def test_nothing_is_put_back_when_nothing_fails(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert optimised(model) == ["Relu", "Swish"]
    assert not caplog.messages


def test_the_report_forgets_what_was_taken_back(model: Path) -> None:
    options, watcher = CompileOptions(model), ModuleWatcher()
    module = import_static(options)
    with planted(FailingPass), observe(watcher=watcher) as log:
        run_stage(OPTIMISE, module, options, watcher)
    assert [rewrite.rule for rewrite in watcher.rewrites] == ["swish"]
    names = [each.name for each in watcher.passes]
    assert "onnx-cse" not in names and names.count("infer-shapes") == 1
    assert log.effects == {"swish": 1}
