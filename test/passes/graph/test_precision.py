"""What keeps the precision of the model: by name, by type, by file and by mode; and what float16 does to the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_models import F16, ModelBuilder, assert_close, check, compile_to_graph, run_pass, run_reference
from xdsl.dialects.builtin import ModuleOp

from ge import Runtime
from ge.dialects.graph import Conv2DOp, HostOp, SoftmaxOp
from ge.dialects.graph.meaning import run_module
from ge.ir.errors import GeError
from ge.passes.graph.assign_precision import AssignPrecisionPass
from ge.passes.graph.keep import read_keep_file
from ge.passes.graph.report import collect
from ge.targets.ascend.om.writer import model_bytes
from ge.tools.compilation import ASSIGN, compile_model, stage_passes
from ge.tools.compile_options import CompileOptions
from ge.tools.ge_compiler import compile_options

DEVICE = ["merge-host", "propagate-layout", "autofuse", "convert-graph-to-tile"]


def classifier(m: ModelBuilder) -> None:
    x = m.node("Conv", m.input("x", 1, 3, 8, 8), m.weights(8, 3, 3, 3, scale=0.2), name="first")
    x = m.node("Relu", x, name="relu")
    x = m.node("Conv", m.node("Exp", x, name="exp"), m.weights(8, 8, 1, 1, scale=0.2), name="second")
    x = m.node("Flatten", m.node("GlobalAveragePool", x, name="pool"))
    m.output(m.node("Softmax", x, name="softmax"))


def assigned(network: Callable[[ModelBuilder], None], **options: Any) -> ModuleOp:
    """A network after `assign-precision`."""
    model = ModelBuilder()
    network(model)
    module = compile_to_graph(model.build())
    run_pass(module, "assign-precision", **options)
    return module


def on_host(module: ModuleOp) -> set[str]:
    """The types of the operators that run on the host."""
    hosts = [op for op in module.walk() if isinstance(op, HostOp)]
    names = {inner.name for host in hosts for inner in host.body.walk()}
    return {name.removeprefix("onnx.") for name in names} - {"Constant", "graph.yield"}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, set[str]()),
        ({"keep": ("second",)}, {"Conv"}),
        ({"keep_types": ("Conv",)}, {"Conv", "Relu", "Exp"}),  # what is between two of the host is not worth a journey
        ({"keep_types": ("Softmax", "Exp")}, {"Softmax", "Exp"}),
        ({"mode": "allow_mix_precision"}, {"Exp"}),
        ({"mode": "allow_mix_precision", "keep": ("softmax",)}, {"Softmax", "Exp"}),
    ],
)
def test_what_is_kept(options: dict[str, Any], kept: set[str]) -> None:
    """It runs on the host, the rest on the device, and both compute what the model does."""
    module = assigned(classifier, **options)
    assert on_host(module) == kept
    model = ModelBuilder()
    classifier(model)
    proto, inputs = model.build(), model.random_inputs()
    for name in DEVICE:
        run_pass(module, name)
    assert_close(run_module(module, inputs), run_reference(proto, inputs), F16)


def test_one_of_several_nodes_keeps_the_whole_operation() -> None:
    model = ModelBuilder()
    classifier(model)
    module = compile_to_graph(model.build(), ["fuse-conv-bn-relu"])
    with collect() as report:
        run_pass(module, "assign-precision", keep_types=("Relu",))
    assert on_host(module) == {"Conv", "Relu"}
    assert [miss.reason for miss in report.misses] == ["it runs on the host: Relu is to be kept"]
    assert sum(isinstance(op, Conv2DOp) for op in module.walk()) == 1


def lengths(m: ModelBuilder, square: Callable[[str], str]) -> str:
    """The lengths of pairs of numbers below a thousandth."""
    x = m.node("Conv", m.input("x", 1, 3, 8, 8), m.weights(8, 3, 1, 1, scale=2e-4))
    real, imaginary = m.node("Split", x, axis=1, outputs=2, name="pair"), "pair_1"
    return m.node("Sqrt", m.node("Add", square(real), square(imaginary)))


@pytest.mark.parametrize("written", ["x·x", "Pow"])
def test_allow_mix_precision_keeps_squares_and_roots(written: str) -> None:
    """Of 1e-4, the square is no number of float16, and the root of it is one."""
    for mode, agrees in (("force_fp16", False), ("allow_mix_precision", True)):
        m = ModelBuilder()
        two = m.constant(2.0)
        y = lengths(m, lambda x, m=m, two=two: m.node("Mul", x, x) if written == "x·x" else m.node("Pow", x, two))
        m.output(m.node("Conv", y, m.weights(4, 4, 1, 1)))
        model, inputs = m.build(), m.random_inputs()
        module = compile_to_graph(model)
        run_pass(module, "assign-precision", mode=mode)
        (got,), (want,) = run_module(module, inputs).values(), run_reference(model, inputs).values()
        assert (np.abs(got - want).max() < 2e-3 * np.abs(want).max()) == agrees
        assert on_host(module) == ({"Mul", "Add", "Sqrt"} if agrees else set[str]())


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "must_keep_origin_dtype"},
        {"keep_types": ("Conv", "Relu", "Exp", "GlobalAveragePool", "AveragePool", "Softmax", "Flatten", "Reshape")},
    ],
)
def test_needs_62_keeping_everything_is_the_identity(options: dict[str, Any]) -> None:
    """No float16 anywhere, and every bit as in the model."""
    module = assigned(classifier, **options)
    assert "f16" not in str(module)
    model = ModelBuilder()
    classifier(model)
    proto, inputs = model.build(), model.random_inputs()
    before = run_module(compile_to_graph(proto), inputs)
    for name in DEVICE:
        run_pass(module, name)
    (got,), (want,) = run_module(module, inputs).values(), before.values()
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert not any(isinstance(op, SoftmaxOp) for op in module.walk())


def test_needs_62_subgraphs_are_the_host_s_and_keep_their_types() -> None:
    from onnx import TensorProto, helper

    branches = [
        helper.make_graph(
            [helper.make_node(op_type, ["y"], [f"{op_type}_out"])],
            op_type,
            [],
            [helper.make_tensor_value_info(f"{op_type}_out", TensorProto.FLOAT, [1, 4, 6, 6])],
        )
        for op_type in ("Neg", "Abs")
    ]
    model = ModelBuilder()
    model.node("Conv", model.input("x", 1, 3, 8, 8), model.weights(4, 3, 3, 3, scale=0.2), name="y")
    condition = model.node("Greater", model.node("ReduceSum", "y", keepdims=0), model.constant(0.0))
    model.output(model.node("If", condition, then_branch=branches[0], else_branch=branches[1]))
    module = check(model, "assign-precision", *DEVICE, tolerance=F16)
    (branch,) = [op for op in module.walk() if op.name == "onnx.If"]
    assert "f16" not in str(branch)


def test_needs_41_operands_that_are_shapes_stay_as_they_are() -> None:
    """A scale of 1.8181, which float16 would round to another size; starts beyond 2048; neither is touched."""
    model = ModelBuilder()
    y = model.node("Conv", model.input("x", 1, 2, 11, 11), model.weights(2, 2, 1, 1))
    scales = model.constant([1.0, 1.0, 1.8181819, 1.8181819])
    y = model.node("Resize", y, "", scales, mode="nearest", nearest_mode="floor")
    flat = model.node("Flatten", model.input("z", 1, 2500, 1, 2))
    cut = model.node("Slice", flat, *(model.constant(v, np.int64) for v in ([2049], [4099], [1])))
    model.output(y, model.node("Relu", cut))
    for mode in ("force_fp16", "allow_mix_precision"):
        module = compile_to_graph(model.build())
        run_pass(module, "assign-precision", mode=mode)
        assert "1.818182e+00" in str(module) or "1.81818" in str(module)
        inputs = model.random_inputs()
        got, want = run_module(module, inputs), run_reference(model.build(), inputs)
        assert [array.shape for array in got.values()] == [(1, 2, 20, 20), (1, 2050)]
        assert_close(got, want, F16)


@pytest.mark.parametrize("mode", ["force_fp16", "allow_mix_precision"])
def test_needs_8_sums_of_many_large_elements_are_not_taken_in_float16(mode: str) -> None:
    """The mean of 262144 values around 1000, a softmax of large scores, and a normalisation of a mean of 1000."""
    model = ModelBuilder()
    x = model.input("x", 1, 1, 512, 512)
    rows = model.input("rows", 4, 64)
    pooled = model.node("GlobalAveragePool", x)
    mean = model.node("ReduceMean", x, axes=[2, 3])
    total = model.node(
        "ReduceSum", model.node("Softmax", model.node("Mul", rows, model.constant(0.01))), axes_of(model)
    )
    norm = model.node("LayerNormalization", rows, model.weights(64), model.weights(64))
    model.output(pooled, mean, total, norm)
    random = np.random.default_rng(0)
    inputs = {
        "x": random.uniform(900, 1100, (1, 1, 512, 512)).astype(np.float16).astype(np.float32),
        "rows": random.uniform(900, 1100, (4, 64)).astype(np.float16).astype(np.float32),
    }
    module = compile_to_graph(model.build())
    run_pass(module, "assign-precision", mode=mode)
    for name in DEVICE:
        run_pass(module, name)
    for got, want in zip(
        run_module(module, inputs).values(), run_reference(model.build(), inputs).values(), strict=True
    ):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, want, rtol=2**-10, atol=2**-10)


@pytest.mark.parametrize(
    ("op_type", "is_kept"), [("ReduceSum", True), ("ReduceSumSquare", True), ("ReduceMean", False)]
)
def test_sums_may_be_too_large_for_a_mixed_precision(op_type: str, is_kept: bool) -> None:
    """The sum of 4096 numbers around 100 leaves float16; their mean does not."""
    model = ModelBuilder(18)
    x = model.input("x", 2, 4096)
    model.output(model.node(op_type, model.node("Softmax", x), axes_of(model)))
    model.output(model.node(op_type, x, axes_of(model)))
    inputs = {"x": np.random.default_rng(0).uniform(90, 110, (2, 4096)).astype(np.float32)}
    module = compile_to_graph(model.build())
    run_pass(module, "assign-precision", mode="allow_mix_precision")
    assert (op_type in on_host(module)) == is_kept
    _, got = run_module(module, inputs).values()
    _, want = run_reference(model.build(), inputs).values()
    np.testing.assert_allclose(got, want, rtol=2**-9)


def axes_of(model: ModelBuilder) -> str:
    return model.constant([1], np.int64)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "keep.cfg"
    file.write_text("second\n\n  OpType::Softmax \nOpType::Exp\n")
    assert read_keep_file(file) == (["second"], ["Softmax", "Exp"])
    assert on_host(assigned(classifier, keep_file=str(file))) == {"Conv", "Softmax", "Exp"}
    with pytest.raises(GeError, match="GE1001"):
        assigned(classifier, keep_file=str(tmp_path / "missing"))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(GeError, match="GE1004"):
        assigned(classifier, keep_file=str(file))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ("second", "secnd")}, "no node is called secnd"),
        ({"keep_types": ("Softmax", "softmax")}, "no operator is called softmax"),
    ],
)
def test_names_that_there_are_not(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GeError, match=f"GE2006.*{message}"):
        assigned(classifier, **options)


def test_options_of_the_compiler(tmp_path: Path) -> None:
    keep = str(tmp_path / "a file")
    values = {"model": "m.onnx", "precision_mode": "allow_mix_precision", "keep_dtype": keep}
    passes = stage_passes(ASSIGN, compile_options(values))
    assert passes[0] == AssignPrecisionPass(keep_file=keep, mode="allow_mix_precision")
    assert stage_passes(ASSIGN, compile_options({"model": "m.onnx"}))[0] == AssignPrecisionPass()


def test_products_of_bytes_are_scaled_before_they_are_float16(tmp_path: Path) -> None:
    """A dynamically quantised layer, whose sums are far beyond float16, and whose scales are far below it."""
    m = ModelBuilder()
    random = np.random.default_rng(0)
    x = m.input("x", 8, 256)
    quantised = m.node("DynamicQuantizeLinear", x, outputs=3)
    weights = m.constant(random.integers(-127, 128, (256, 64)), np.int8)
    sums = m.node("MatMulInteger", quantised, weights, f"{quantised}_2", m.constant(0, np.int8))
    scale = m.node("Mul", f"{quantised}_1", m.constant(3e-4))
    y = m.node("Mul", m.node("Cast", sums, to=TensorProto.FLOAT), scale)
    m.output(m.node("MatMul", m.node("Add", y, m.weights(64)), m.weights(64, 16, scale=0.1)))
    onnx.save(m.build(), tmp_path / "model.onnx")
    inputs = {"x": np.abs(random.standard_normal((8, 256))).astype(np.float32)}
    want = run_reference(onnx.load(tmp_path / "model.onnx"), inputs)
    got = Runtime().run(model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx")).module), inputs)
    assert_close(dict(zip(want, got.values(), strict=True)), want, F16)


@pytest.mark.parametrize(("readers", "is_moved"), [(("MatMul", "MatMul"), True), (("MatMul", "Whole"), False)])
def test_parts_of_a_host_value_are_taken_there(readers: tuple[str, str], is_moved: bool, tmp_path: Path) -> None:
    """A running sum on the host, halves of which go through products; or one half, and the sum itself."""
    m = ModelBuilder()
    x = m.node("CumSum", m.input("x", 1, 10, 4), m.constant(2, np.int64))
    rows = m.node("Reshape", x, m.constant([10, 4], np.int64))
    halves = m.node("Split", rows, m.constant([5, 5], np.int64), outputs=2)
    for name, reader in zip((halves, f"{halves}_1"), readers, strict=True):
        operand = rows if reader == "Whole" else name
        m.output(m.node("MatMul", operand, m.weights(4, 32, scale=0.1)))
    module = check(m, "assign-precision", "merge-host", tolerance=F16)
    assert ("Slice" in on_host(module)) is is_moved
    onnx.save(m.build(), tmp_path / "model.onnx")
    inputs = m.random_inputs()
    want = run_reference(m.build(), inputs)
    got = Runtime(strict=True).run(model_bytes(compile_model(CompileOptions(tmp_path / "model.onnx")).module), inputs)
    assert_close(dict(zip(want, got.values(), strict=True)), want, F16)
