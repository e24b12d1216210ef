"""What users of such compilers complain about, in the group "fusion correctness"; each test has the rank in its name.

All go through the public pipelines and commands, and onnxruntime judges. Ranks 1, 15 and 66 are in
test_batch_norm_fusion.py, rank 30 in test/tools/test_recovery.py.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import ModelBuilder, branch, run_reference
from optimised import check_optimised, count, optimise
from planted_fault import planted

from ge.dialects.onnx.meaning import run_module
from ge.ir.errors import GeError
from ge.ir.registry import PASSES
from ge.ir.rewriting import check_legal
from ge.targets.onnx.importer import import_model
from ge.tools import ge_bisect
from ge.tools.compilation import compile_model
from ge.tools.compile_options import CompileOptions

Array = NDArray[Any]

ONNX_PASSES = [
    *(name for name, path in PASSES.items() if path.startswith("ge.passes.onnx.")),
]
"""All passes on models."""

NEED_OPTIONS = {"simplify", "precision", "dump-shapes", "insert-aipp", "select-outputs", "convert-outputs"}
"""Passes that do nothing alone, print, or are meant to change types, inputs or outputs."""


def all_kinds() -> ModelBuilder:
    """A model with something for every family of passes."""
    b = ModelBuilder(opset=17, seed=3)
    x = b.input("x", 2, 3, 8, 8)
    y = b.node("Relu", b.conv_bn(x, 3, 4))
    y = b.node("Conv", b.node("Pad", y, b.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)), b.weights(4, 4, 3, 3))
    y = b.node("Add", b.node("Mul", y, b.weights(4, 1, 1)), b.weights(4, 1, 1))
    y = b.node("Cast", y, to=TensorProto.FLOAT)
    y = b.node("Div", b.node("Mul", y, b.constant(1.0)), b.constant(2.0))
    a = b.node("Split", y, axis=1, outputs=2)
    y = b.node("Concat", a, f"{a}_1", axis=1)
    y = b.node("Transpose", b.node("Transpose", y, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
    batch = b.node("Gather", b.node("Shape", y), b.constant([0], np.int64))
    y = b.node("Reshape", y, b.node("Concat", batch, b.constant([-1, 16], np.int64), axis=0))
    y = b.node("Add", b.node("MatMul", y, b.weights(16, 8)), b.weights(8))
    half = b.node("Mul", y, b.constant(0.5))
    y = b.node("Mul", half, b.node("Add", b.node("Erf", b.node("Div", y, b.constant(2**0.5))), b.constant(1.0)))
    y = b.node("Mul", y, b.node("Sigmoid", y))
    centred = b.node("Sub", y, b.node("ReduceMean", y, axes=[-1]))
    variance = b.node("ReduceMean", b.node("Pow", centred, b.constant(2.0)), axes=[-1])
    y = b.node("Div", centred, b.node("Sqrt", b.node("Add", variance, b.constant(1e-5))))
    same = helper.make_node("Identity", [y], ["t"])
    y = b.node(
        "If",
        b.constant(True, np.bool_),
        then_branch=branch("t", same),
        else_branch=branch("e", helper.make_node("Neg", [y], ["e"])),
    )
    for begin, end in ((0, 6), (1, 9)):
        y = b.node("Slice", y, *(b.constant([number], np.int64) for number in (begin, end, 1)))
    b.output(b.node("Softmax", b.node("Dropout", b.node("Identity", y))), b.node("Clip", b.node("Relu", y)))
    return b


# 2


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_needs_02_every_level_gives_what_the_model_gives(level: int) -> None:
    b = all_kinds()
    check_optimised(b.build(), b.random_inputs(), level)


@pytest.mark.parametrize("name", sorted({*ONNX_PASSES} - NEED_OPTIONS))
def test_needs_02_every_pass_alone_gives_what_the_model_gives(name: str) -> None:
    b = all_kinds()
    check_optimised(b.build(), b.random_inputs(), name)


def test_needs_02_the_guilty_pass_is_found_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plugin = planted(tmp_path)
    with pytest.raises(SystemExit) as stop:
        ge_bisect.main([str(model), f"--load-plugin={plugin}", "--onnx-dce", "--planted", "--onnx-cse"])
    assert stop.value.code == 1
    assert "pass 2 of 3 breaks the model: --planted" in capsys.readouterr().out


# 5


def fold_case(name: str) -> tuple[str, list[Array], dict[str, Any]]:
    """An operator, constants that tell NumPy's semantics from the runtime's, and attributes."""
    big, nan, inf = 2**53 + 1, np.float32(np.nan), np.float32(np.inf)
    cases: dict[str, tuple[str, list[Array], dict[str, Any]]] = {
        "large integers": ("Mul", [np.array([big, -big]), np.array([3, 5])], {}),
        "sum of large integers": ("Add", [np.array([2**62, big]), np.array([2**61, 1])], {}),
        "division of negatives": ("Div", [np.array([-7, 7, -7, 7]), np.array([2, -2, -2, 2])], {}),
        "modulo of negatives": ("Mod", [np.array([-7, 7, -7, 7]), np.array([3, -3, -3, 3])], {}),
        "modulo as in C": ("Mod", [np.array([-7, 7, -7, 7]), np.array([3, -3, -3, 3])], {"fmod": 1}),
        "argmin of nothing special": ("ArgMin", [np.array([[3, 1, 1], [0, 0, 2]], np.float32)], {"axis": 1}),
        "infinity times zero": ("Mul", [np.array([inf, -inf, 0], np.float32), np.array([0, 0, nan], np.float32)], {}),
        "maximum with NaN": ("Max", [np.array([nan, 1, 2], np.float32), np.array([0, nan, 1], np.float32)], {}),
        "empty": ("Add", [np.zeros((0, 3), np.float32), np.ones((1, 3), np.float32)], {}),
        "rounding of ties": ("Round", [np.array([0.5, 1.5, 2.5, -0.5], np.float32)], {}),
        "cast out of a float": ("Cast", [np.array([1.9, -1.9, 255.5], np.float32)], {"to": TensorProto.INT32}),
        "sign of zero": ("Mul", [np.array([-0.0, 0.0], np.float32), np.array([1, -1], np.float32)], {}),
    }
    return cases[name]


FOLDS = (
    *("large integers", "sum of large integers", "division of negatives", "modulo of negatives", "modulo as in C"),
    *("argmin of nothing special", "infinity times zero", "maximum with NaN", "empty", "rounding of ties"),
    *("cast out of a float", "sign of zero"),
)


@pytest.mark.parametrize("name", FOLDS)
def test_needs_05_a_constant_is_folded_as_the_runtime_computes_it(name: str) -> None:
    """The same operator on constants, which is folded, and on inputs, which is run: equal to the bit."""
    op_type, arrays, attributes = fold_case(name)
    model, feeds = two_ways(op_type, arrays, attributes)
    want = run_reference(model, feeds)
    module = import_model(model)
    folded = optimise(model)
    assert count(folded)[op_type] == 1
    got = run_reference(folded, feeds)
    for values in (got, run_module(module, feeds)):
        for output in ("run", "folded"):
            assert values[output].dtype == want["run"].dtype
            assert values[output].tobytes() == want["run"].tobytes(), output


def two_ways(op_type: str, arrays: list[Array], attributes: dict[str, Any]) -> tuple[ModelProto, dict[str, Array]]:
    """A model that applies an operator to inputs and to constants of the same values."""
    inputs = [f"x{index}" for index in range(len(arrays))]
    constants = [numpy_helper.from_array(array, f"c{index}") for index, array in enumerate(arrays)]
    nodes = [
        helper.make_node(op_type, inputs, ["run"], **attributes),
        helper.make_node(op_type, [tensor.name for tensor in constants], ["folded"], **attributes),
    ]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(inputs, arrays, strict=True)
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("run", "folded")]
    graph = helper.make_graph(nodes, "two_ways", infos, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model), dict(zip(inputs, arrays, strict=True))


# 27


PAIRS = sorted(itertools.product(sorted({*ONNX_PASSES} - NEED_OPTIONS), repeat=2))


@pytest.mark.parametrize("part", range(2))
def test_needs_27_pairs_of_passes_leave_a_valid_model(part: int) -> None:
    """A sample of all ordered pairs: verified after each pass, and equal in numbers."""
    b = all_kinds()
    model, feeds = b.build(), b.random_inputs()
    random = np.random.default_rng(part)
    for index in random.choice(len(PAIRS), 10, replace=False):
        check_optimised(model, feeds, ",".join(PAIRS[index]))


def test_needs_27_a_chain_of_casts_and_factors_of_one_goes() -> None:
    """Cast to its own type, times one, divided by one: each pass is right alone, and so are all together."""
    b = ModelBuilder()
    x = b.input("x", 2, 3)
    y = b.node("Cast", x, to=TensorProto.FLOAT)
    y = b.node("Div", b.node("Mul", y, b.constant(1.0)), b.constant(1.0))
    b.output(b.node("Exp", y))
    found = check_optimised(b.build(), b.random_inputs())
    assert count(found) == {"Exp": 1}


# 28


@pytest.mark.parametrize("rank", range(6))
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_needs_28_matmul_and_add_become_only_what_has_a_kernel(rank: int, dtype: Any) -> None:
    """A bias of rank 0 to 5; where it widens the product, no Gemm can stand for it."""
    b = ModelBuilder()
    x = b.input("x", 3, 4, dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    w = b.constant(b.random.standard_normal((4, 5)), dtype)
    bias = b.constant(
        b.random.standard_normal(([2, 1, 2, 3, 5])[5 - rank :] if rank > 2 else [3, 5][2 - rank :]), dtype
    )
    b.output(b.node("Add", b.node("MatMul", x, w), bias))
    model = b.build()
    check_optimised(model, b.random_inputs(), tolerance=1e-3 if dtype == np.float16 else 1e-5)


def test_needs_28_matmul_and_add_of_integers_stay() -> None:
    b = ModelBuilder()
    x = b.input("x", 3, 4, dtype=TensorProto.INT32)
    b.output(b.node("Add", b.node("MatMul", x, b.constant(np.ones((4, 5)), np.int32)), b.constant([1] * 5, np.int32)))
    found = check_optimised(b.build(), {"x": np.arange(12, dtype=np.int32).reshape(3, 4)})
    assert "Gemm" not in count(found)


# 29


def clip_bounds(b: ModelBuilder, kind: str, dtype: Any) -> list[str]:
    """The bounds of a Clip in the forms that they have."""
    low, high = {"min>max": (3.0, 1.0)}.get(kind) or (-0.5, 1.5)
    return {
        "none": [],
        "no min": ["", b.constant(high, dtype)],
        "no max": [b.constant(low, dtype)],
        "both": [b.constant(low, dtype), b.constant(high, dtype)],
        "min>max": [b.constant(low, dtype), b.constant(high, dtype)],
    }[kind]


@pytest.mark.parametrize("order", ["Relu Clip", "Clip Relu", "Clip Clip", "Relu Relu"])
@pytest.mark.parametrize("kind", ["none", "no min", "no max", "both", "min>max"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_needs_29_relu_and_clip_merge_whatever_bounds_are_there(order: str, kind: str, dtype: Any) -> None:
    b = ModelBuilder()
    y = b.input("x", 4, 8, dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    for op_type in order.split():
        y = b.node(op_type, y, *(clip_bounds(b, kind, dtype) if op_type == "Clip" else []))
    b.output(y)
    feeds = b.random_inputs()
    feeds["x"][0, 0] = np.nan
    if kind in ("both", "min>max"):  # without bounds, runtimes limit infinities to the largest number, or do not
        feeds["x"][1, :2] = [np.inf, -np.inf]
    check_optimised(b.build(), feeds, tolerance=0)


def test_needs_29_a_bound_that_is_an_input_is_read() -> None:
    b = ModelBuilder()
    x, low = b.input("x", 4, 8), b.input("low")
    b.output(b.node("Clip", b.node("Relu", x), low))
    for bound in (-1.0, 0.25):
        check_optimised(b.build(), {**b.random_inputs(), "low": np.array(bound, np.float32)}, tolerance=0)


# 43


@pytest.mark.parametrize("level", [0, 3])
def test_needs_43_what_passes_leave_the_next_level_takes(level: int, tmp_path: Path) -> None:
    """A Reshape whose shape is computed from constants, and all else, is compiled at every level of optimisation."""
    b = ModelBuilder()
    x = b.input("x", 1, 3, 8, 8)
    y = b.node("Relu", b.conv_bn(x, 3, 16))
    rows = b.node("Mul", b.constant([32], np.int64), b.constant([32], np.int64))
    b.output(b.node("Reshape", y, b.node("Concat", b.constant([1], np.int64), rows, axis=0)))
    onnx.save(b.build(), tmp_path / "m.onnx")
    compilation = compile_model(CompileOptions(tmp_path / "m.onnx", level=level, strict=True))
    assert compilation.program.kernels


def test_needs_43_an_operation_that_may_not_remain_is_named() -> None:
    b = ModelBuilder()
    b.output(b.node("Relu", b.input("x", 2, 3), name="left"))
    with pytest.raises(GeError, match=r"'onnx\.Relu' may not remain at level 'graph'") as error:
        check_legal(import_model(b.build()), ["graph", "func.func", "func.return"], level="graph")
    assert error.value.where == "node 'left'"


# 65


def test_needs_65_two_equal_nodes_that_are_both_outputs_keep_their_names() -> None:
    b = ModelBuilder()
    x = b.input("x", 2, 3)
    b.output(b.node("Exp", x, name="first"), b.node("Exp", x, name="second"))
    check_optimised(b.build(), b.random_inputs())


def test_needs_65_random_numbers_are_not_merged() -> None:
    b = ModelBuilder()
    x = b.input("x", 2, 3)
    one, two = (b.node("RandomNormal", shape=[2, 3], seed=1.0) for _ in range(2))
    b.output(b.node("Add", x, b.node("Sub", one, two)))
    assert count(optimise(b.build()))["RandomNormal"] == 2


def test_needs_65_dropout_in_training_is_not_merged_nor_removed() -> None:
    b = ModelBuilder()
    x = b.input("x", 2, 3)
    options = (b.constant(0.5), b.constant(True, np.bool_))
    one, two = (b.node("Dropout", x, *options) for _ in range(2))
    b.output(b.node("Sub", one, two))
    assert count(optimise(b.build()))["Dropout"] == 2


def test_needs_65_equal_conditionals_and_captured_values_stay_right() -> None:
    b = ModelBuilder()
    x, c = b.input("x", 2, 3), b.input("c", dtype=TensorProto.BOOL)
    same = b.node("Identity", b.node("Exp", x))
    results = [
        b.node(
            "If", c,
            then_branch=branch("t", helper.make_node("Neg", [same], [f"t{index}"])),
            else_branch=branch("e", helper.make_node("Identity", [same], [f"e{index}"])),
        )
        for index in range(2)
    ]  # fmt: skip
    b.output(b.node("Add", *results))
    feeds = b.random.standard_normal((2, 3)).astype(np.float32)
    for chosen in (True, False):
        check_optimised(b.build(), {"x": feeds, "c": np.array(chosen)})


def test_needs_65_identity_from_an_input_to_an_output_stays() -> None:
    b = ModelBuilder()
    x = b.input("x", 2, 3)
    b.output(b.node("Identity", x, name="y"), b.node("Identity", b.constant([1.0, 2.0]), name="z"))
    check_optimised(b.build(), b.random_inputs())


def test_needs_65_identity_in_the_body_of_a_loop() -> None:
    b = ModelBuilder()
    x, count_ = b.input("x", 3), b.input("n", dtype=TensorProto.INT64)
    infos = [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("v", TensorProto.FLOAT, [3])]
    inputs = [helper.make_tensor_value_info(*info) for info in infos]
    nodes = [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Add", ["v", x], ["next"]),
        helper.make_node("Identity", ["next"], ["row"]),
    ]
    outputs = [
        helper.make_tensor_value_info("on", TensorProto.BOOL, []),
        *(helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("next", "row")),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    loop = b.node("Loop", count_, "", x, body=body, outputs=2)
    values = b.node("Reshape", loop, b.constant([1, 3], np.int64))
    b.output(b.node("Concat", values, b.node("Reshape", f"{loop}_1", b.constant([-1, 3], np.int64)), axis=0))
    feeds = {"x": b.random.standard_normal(3).astype(np.float32)}
    for turns in (0, 1, 3):
        check_optimised(b.build(), {**feeds, "n": np.array(turns, np.int64)})
