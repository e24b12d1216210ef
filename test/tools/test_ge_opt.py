"""ge-opt: pass options, files and streams, and no traceback whatever the input."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from ge.ir.errors import GeError
from ge.ir.registry import Registry
from ge.tools import ge_opt
from ge.tools.pipeline import PassRunner, make_pass, parse_pipeline

ROOT = Path(__file__).resolve().parents[2]
SEED = Path(__file__).with_name("ge_opt_passes.mlir").read_text()


@dataclass(frozen=True)
class Sample(ModulePass):
    """A pass with one option of every type."""

    name = "sample"

    count: int = 1
    ratio: float = 0.5
    flag: bool = False
    label: str = "none"
    kinds: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    limit: int | None = 5
    mode: Literal["fast", "exact"] = "fast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.label == "raise":
            raise KeyError("lost")


@pytest.fixture
def registry() -> Registry:
    found = Registry()
    found.add_pass("sample", Sample)
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", Sample()),
        ("count=3", Sample(count=3)),
        ("count=0x10 ratio=2", Sample(count=16, ratio=2.0)),
        ("ratio=1e-3", Sample(ratio=1e-3)),
        ("flag", Sample(flag=True)),
        ("flag=false label=a.b:c", Sample(label="a.b:c")),
        ("label='two words'", Sample(label="two words")),
        ("kinds=a,b sizes=1,2,3", Sample(kinds=("a", "b"), sizes=(1, 2, 3))),
        ("kinds=a", Sample(kinds=("a",))),
        ("limit", Sample(limit=None)),
        ("limit=7", Sample(limit=7)),
        ("mode=exact", Sample(mode="exact")),
    ],
)
def test_options_are_read_as_the_type_of_their_field(registry: Registry, options: str, expected: Sample) -> None:
    assert make_pass("sample", options, registry) == expected
    assert parse_pipeline(f"cse,sample{{{options}}},dce", registry)[1] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("cout=3", "has no option 'cout'"),
        ("count=three", "'three' is not a number"),
        ("count", "needs a value"),
        ("flag=maybe", "'maybe' is not true or false"),
        ("mode=slow", "'slow' is not one of fast, exact"),
        ("label='open", "No closing quotation"),
    ],
)
def test_wrong_options_are_named(registry: Registry, options: str, message: str) -> None:
    with pytest.raises(GeError, match=message) as error:
        make_pass("sample", options, registry)
    assert error.value.code == "GE2002"


def test_an_option_without_a_default_must_be_given(registry: Registry) -> None:
    @dataclass(frozen=True)
    class NeedsFile(ModulePass):
        name = "needs-file"
        some_file: str

    registry.add_pass("needs-file", NeedsFile)
    with pytest.raises(GeError, match="pass 'needs-file' needs option 'some-file'") as error:
        make_pass("needs-file", "", registry)
    assert error.value.code == "GE2002" and error.value.__cause__ is None


def test_hyphens_and_underscores_are_the_same(registry: Registry) -> None:
    @dataclass(frozen=True)
    class Long(Sample):
        name = "long"
        long_name: int = 0

    registry.add_pass("long", Long)
    assert make_pass("long", "long-name=3", registry) == make_pass("long", "long_name=3", registry) == Long(long_name=3)


def test_a_pass_that_breaks_is_named(registry: Registry) -> None:
    runner = PassRunner(verify=lambda module: None, dump=str)
    with pytest.raises(GeError, match=r"pass 'sample': internal error: KeyError: 'lost'"):
        runner.run(registry.context(), ModuleOp([]), [Sample(label="raise")])


def test_a_pass_that_leaves_a_broken_module_is_named(registry: Registry) -> None:
    def verify(module: ModuleOp) -> None:
        if "sample" in module.attributes:
            raise GeError("GE3002", "it is broken")

    class Breaking(Sample):
        def apply(self, ctx: Context, op: ModuleOp) -> None:
            op.attributes["sample"] = UnitAttr()

    with pytest.raises(GeError, match="after pass 'sample': it is broken"):
        PassRunner(verify, str).run(registry.context(), ModuleOp([]), [Breaking(), Sample()])


def run(*args: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """Run ge-opt as a process: status, output, errors."""
    done = subprocess.run([sys.executable, "-m", "ge.tools.ge_opt", *args], input=stdin, capture_output=True, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr.decode()


HEAVY = ("numpy", "onnx", "google.protobuf", "ge.dialects.graph", "ge.dialects.tile", "ge.dialects.cube")
"""Modules that the help does without: what makes it answer in a blink (bench/startup.py has the time)."""


def test_help_lists_every_pass_and_loads_nothing_heavy() -> None:
    script = (
        "import sys; from ge.tools import ge_opt\n"
        "try: ge_opt.main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert "loaded []" in done.stderr
    assert all(f"--{name}" in done.stdout for name in Registry().own_passes)


IDLE = ("lark", "onnx.reference", "onnxruntime", "ge.dialects.graph", "ge.targets.onnx.adapters.softmax")
"""Modules that a model is optimised without when it has nothing for them: no operators of a rule, nothing to fold."""


def test_a_level_loads_only_what_the_model_needs(tmp_path: Path) -> None:
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    values = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sin", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), source)
    script = (
        "import sys; from ge.tools import ge_opt\n"
        f"ge_opt.main([{str(source)!r}, '-O3', '-o', {str(target)!r}])\n"
        f"print('loaded', [name for name in {IDLE!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("loaded []\n", "")
    assert target.is_file()


def test_status_and_streams() -> None:
    status, out, err = run(stdin=SEED.encode())
    assert (status, err) == (0, "")
    assert out.startswith(b"builtin.module {")
    status, out, err = run(stdin=b"\xff\xfe")
    assert (status, out) == (1, b"")
    assert "error: '<stdin>' has byte 0xFF at offset 0 [GE1004]" in err


@pytest.mark.parametrize("spelling", ["-O 1", "--oo_level=O1", "--oo_level O1", "--oo_level=1", "--oo_level 1"])
def test_a_level_in_every_spelling(capsys: pytest.CaptureFixture[str], spelling: str) -> None:
    ge_opt.main(["-O1", "--print-pipeline"])
    passes = capsys.readouterr().out
    ge_opt.main([*spelling.split(), "--print-pipeline"])
    assert capsys.readouterr().out == passes and "onnx-cse" in passes


def test_a_file_of_rules_may_follow_its_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ge_opt.main(["--fusion_rules", str(tmp_path / "my.gerules"), "--print-pipeline"])
    assert capsys.readouterr().out == f"fusion-rules{{file={tmp_path}/my.gerules}}\n"


@pytest.mark.parametrize(
    "option",
    [
        "--load-plugin",
        "--load-plugin=",
        "--fusion_rules",
        "--oo_level",
        "-O",
        "--fusion_report=",
        "--fusion_rules=",
        "--fusion_switch_file=",
        "--check-rules=",
    ],
)
def test_an_option_without_its_value(capsys: pytest.CaptureFixture[str], option: str) -> None:
    with pytest.raises(SystemExit):
        ge_opt.main([option])
    assert "[GE2006]" in capsys.readouterr().err


def test_debug_shows_the_traceback() -> None:
    status, _, err = run("--debug", stdin=b"nonsense")
    assert status == 1
    assert "Traceback" in err


def test_a_failed_run_leaves_the_output_alone(tmp_path: Path) -> None:
    target = tmp_path / "out.mlir"
    target.write_text("old")
    source = tmp_path / "in.mlir"
    source.write_text("func.func @f() { %0 = arith.constant 1 : i32 }")
    assert run(str(source), "-o", str(target))[0] == 1
    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [source, target]


def outcome(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What ge-opt reports on a text: nothing, or the error."""
    err = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        patch.setattr(sys, "stdout", io.StringIO())
        patch.setattr(sys, "stderr", err)
        try:
            ge_opt.main(["--cse"])
        except SystemExit as stop:
            assert stop.code == 1
    return err.getvalue()


@pytest.fixture(scope="module")
def patches() -> pytest.MonkeyPatch:
    return pytest.MonkeyPatch()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_text_is_reported_in_one_line(patches: pytest.MonkeyPatch, data: st.DataObject) -> None:
    """Delete, double or replace a piece of a valid text: it is accepted, or refused with a position."""
    body = SEED[SEED.index("func.func") :]
    start = data.draw(st.integers(0, len(body) - 1))
    length = data.draw(st.integers(1, 12))
    new = data.draw(
        st.sampled_from(["", body[start : start + length] * 2, "%", "}", '"', "0x", "#ge.weights<", "\\", "é"])
    )
    report = outcome(body[:start] + new + body[start + length :], patches)
    assert "Traceback" not in report
    assert "internal error" not in report
    assert not report or report.startswith(("<stdin>:", "error: '<stdin>'")), report
