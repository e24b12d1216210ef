"""Whether a pass keeps the numbers of every function in a ``.mlir`` test: the cases of its text are run, too.

Operations ``"test.op"``, which keep their operands alive in such tests, count as outputs when a function is run. Sizes
that are not known are 2, 3, 1 and, where the function takes it, 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx_models import run_reference
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp

from ge.dialects.onnx import ranked
from ge.dialects.onnx.meaning import run_module
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.registry import context, registry
from ge.maths.hostile import KINDS, hostile
from ge.targets.onnx.exporter import export_model
from ge.tools.pipeline import parse_pipeline

Array = NDArray[Any]

SIZES = (2, 3, 1, 0)


def function_names(path: Path) -> list[str]:
    """The functions of a text that can be run to compare them: not those called ``random_...`` and ``fails_...``."""
    names = [op.sym_name.data for op in parse_module(path).ops if isinstance(op, FuncOp)]
    return [name for name in names if not name.startswith(("random_", "fails_"))]


def alone(module: ModuleOp, name: str) -> ModuleOp:
    """A module of one function, called main, whose outputs are all that the function gives and keeps alive."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    function = function.clone()
    function.sym_name = StringAttr("main")
    block = function.body.block
    kept = [op for op in block.ops if op.name == "test.op"]
    outputs = [operand for op in (*kept, block.last_op) if op is not None for operand in op.operands]
    for op in (*kept, block.last_op):
        if op is not None:
            op.detach()
            op.erase()
    block.add_op(ReturnOp(*outputs))
    function.function_type = FunctionType.from_lists(block.arg_types, [value.type for value in outputs])
    function.res_attrs = None
    names = ArrayAttr([StringAttr(f"y{index}") for index in range(len(outputs))])
    function.attributes["onnx.output_names"] = names
    return ModuleOp([function])


def check_text(path: Path, name: str, pipeline: str, given: Mapping[str, Any] | None = None) -> None:
    """Run a function of a text before and after passes, on inputs of all kinds; onnxruntime runs both as well.

    ``given`` are the inputs that are not drawn, by name.
    """
    module = parse_module(path)
    if "--split-input-file" in path.read_text():
        for op in [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data != name]:
            op.detach()
            op.erase()
    before = alone(module, name)
    for each in parse_pipeline(pipeline, registry()):
        each.apply(context(), module)
    module.verify()
    after = alone(module, name)
    runs = 0
    for number, kind in enumerate(KINDS):
        for size in SIZES if number == 0 else SIZES[:2]:
            inputs = _inputs(before, kind, size, np.random.default_rng(number), given or {})
            try:
                want = run_module(before, inputs)
            except GeError:
                continue
            runs += 1
            _assert_equal(run_module(after, inputs), want)
            if number == 0:
                _check_with_onnxruntime(before, after, inputs)
    assert runs, f"no inputs for {name}"


def _inputs(
    module: ModuleOp, kind: str, size: int, random: np.random.Generator, given: Mapping[str, Any]
) -> dict[str, Array]:
    function = next(iter(module.ops))
    assert isinstance(function, FuncOp)
    inputs: dict[str, Array] = {}
    for argument in function.body.block.args:
        type = ranked(argument)
        assert type is not None and argument.name_hint is not None
        shape = [size if dim == DYNAMIC_INDEX else dim for dim in type.get_shape()]
        dtype = numpy_dtype(type.element_type)
        drawn = random.integers(0, 2, shape) if dtype.kind in "iu" else hostile(shape, dtype, kind, random)
        inputs[argument.name_hint] = np.asarray(given.get(argument.name_hint, drawn), dtype)
    return inputs


def _check_with_onnxruntime(before: ModuleOp, after: ModuleOp, inputs: dict[str, Array]) -> None:
    """Compare in onnxruntime, when it runs the function as it was."""
    try:
        want = run_reference(export_model(before), inputs)
    except Exception:
        return
    _assert_equal(run_reference(export_model(after), inputs), want)


def _assert_equal(got: Mapping[str, Any], want: Mapping[str, Any]) -> None:
    """Fail unless all bits are equal, but for the sign of zeros and the bits of NaN."""
    assert list(got) == list(want)
    for name, expected in want.items():
        assert (got[name].shape, got[name].dtype) == (expected.shape, expected.dtype), name
        np.testing.assert_array_equal(got[name], expected, err_msg=name)


def cases(folder: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    """The functions of the texts `names` in a folder, as (text, function)."""
    return [(name, function) for name in names for function in function_names(folder / f"{name}.mlir")]
