"""What onnx operations compute: evaluation with NumPy.

A tensor is an array, a sequence a list, an empty optional None. The meaning of an operator is the reference
implementation of the ``onnx`` package; :mod:`ge.dialects.onnx.kernels` has faster ones of some,
:mod:`ge.dialects.onnx.microsoft` those of com.microsoft, and control flow is run here.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from onnx import NodeProto, TypeProto, helper
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ge.dialects.onnx.attributes import literal_array, to_python
from ge.dialects.onnx.base import OnnxOp
from ge.dialects.onnx.custom import Custom
from ge.dialects.onnx.functions import inline_functions, local_functions
from ge.dialects.onnx.graph_builder import GraphBuilder
from ge.dialects.onnx.kernels import KERNELS, widened
from ge.dialects.onnx.microsoft import meaning_of
from ge.dialects.onnx.operators import ML_OPSET, OPSET
from ge.dialects.onnx.ops import ML_DOMAIN, Constant, yielded
from ge.dialects.onnx.protos import attribute_protos, plain_attributes, proto_of_type, text_notes
from ge.dialects.onnx.registered import CustomOperator, plugin_of
from ge.dialects.onnx.types import ABSENT, STRING
from ge.ir.constants import numpy_dtype
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import where

Value: TypeAlias = Any
"""A tensor, a list of values, or None."""


def run_module(module: ModuleOp, inputs: Mapping[str, Value]) -> dict[str, Value]:
    """The outputs of the main function by name.

    Raises GE6002 for a missing input, GE6006 when an operation fails.
    """
    if any(local_functions(module)):
        module = module.clone()
        inline_functions(module)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    block = body_of(function)
    names = input_names(function)
    missing = [name for name in names if name not in inputs]
    if missing:
        raise GeError("GE6002", f"input '{missing[0]}' is not given; the inputs are {', '.join(names)}")
    results = run_block(block, [inputs[name] for name in names])
    output_names = text_notes(function, "output_names") or [f"y{index}" for index in range(len(results))]
    return dict(zip(output_names, results, strict=True))


def input_names(function: FuncOp) -> list[str]:
    """The names of the inputs of a function: what the model says, otherwise those of the text."""
    return text_notes(function, "input_names") or [arg.name_hint or f"x{arg.index}" for arg in function.body.block.args]


def run_block(block: Block, args: Sequence[Value], outer: Mapping[SSAValue, Value] | None = None) -> list[Value]:
    """The values that a block of onnx operations gives for ``args``; ``outer`` has the values used from outside.

    A value is released after its last use.
    """
    values: MutableMapping[SSAValue, Value] = ChainMap({}, cast("dict[SSAValue, Value]", outer or {}))
    values.update(zip(block.args, args, strict=True))
    ops = [op for op in block.ops if op is not block.last_op or isinstance(op, OnnxOp)]
    dead = _last_uses(ops, yielded(block))
    for op in ops:
        if not isinstance(op, OnnxOp):
            raise GeError("GE3004", f"operation '{op.name}' has no meaning at level 'onnx'", where(op))
        inputs = [None if value is None else values[value] for value in op.input_list()]
        values.update(zip(op.results, run_op(op, inputs, values), strict=True))
        for value in dead.get(op, ()):
            values.pop(value, None)
    return [values[value] for value in yielded(block)]


def _last_uses(ops: Iterable[Operation], kept: Sequence[SSAValue]) -> dict[Operation, list[SSAValue]]:
    """The values of a block that are not needed after each operation, uses inside its regions included."""
    seen = set(kept)
    dead: dict[Operation, list[SSAValue]] = {}
    for op in reversed(list(ops)):
        used = dict.fromkeys(operand for inner in op.walk() for operand in inner.operands)
        dead[op] = [value for value in (*used, *op.results) if value not in seen]
        seen.update(used)
    return dead


def run_op(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value] | None = None) -> list[Value]:
    """The results of one operation; ``inputs`` are by position, None where absent. Raises GE6006 when it fails."""
    if isinstance(op, Constant):
        return [literal_array(op.attributes["value"], op.results[0].type)]
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are values like others
            if op.op_type in _CONTROL_FLOW:
                results = _CONTROL_FLOW[op.op_type](op, inputs, outer or {})
            else:
                results = _run_plain(op, inputs)
            return [_typed(value, result.type) for value, result in zip(results, op.results, strict=False)]
    except GeError:
        raise
    except Exception as error:
        shapes = ", ".join(_describe(value) for value in inputs)
        raise GeError("GE6006", f"{op.op_type} on {shapes or 'no inputs'}: {error}", where(op)) from error


def _describe(value: Value) -> str:
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    array = cast("np.ndarray[Any, Any]", value)
    return f"{array.dtype}{list(array.shape)}"


def _typed(value: Value, type: Any) -> Value:
    """A result as an array of the element type that the operation promises."""
    if not isinstance(type, TensorType):
        return value
    element = cast("TensorType[Any]", type).element_type
    return np.asarray(value) if element == STRING else np.asarray(value).astype(numpy_dtype(element), copy=False)


def _run_plain(op: OnnxOp, inputs: Sequence[Value]) -> Sequence[Value]:
    """The results of an operation without regions."""
    if isinstance(op, Custom) and (definition := op.definition) is not None:
        return _run_registered(op, definition, inputs)
    if (meaning := meaning_of(op.domain, op.op_type)) is not None:
        return meaning(op, inputs)
    if op.domain not in ("", ML_DOMAIN):
        return _run_foreign(op, inputs)
    if not op.domain and (kernel := KERNELS.get(op.op_type)) is not None:
        result = kernel(op, inputs)
        if result is not None:
            return [result]
    if not op.domain and op.op_type in _SUMS:
        inputs = [None if value is None else widened(value) for value in inputs]
    return _run_reference(op, inputs)


_SUMS = frozenset(
    (
        *("CumSum", "Einsum", "GRU", "Gelu", "InstanceNormalization", "LSTM", "LayerNormalization", "LpPool", "RNN"),
        *("RMSNormalization", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceSum"),
        "ReduceSumSquare",
    )
)
"""Operators that the reference computes in the type of the operands; in float16 a sum of squares soon overflows."""


def _run_registered(op: OnnxOp, definition: CustomOperator, inputs: Sequence[Value]) -> Sequence[Value]:
    """The results of an operator that a plug-in defines."""
    attributes = {name: to_python(each) for name, each in plain_attributes(op.attributes).items()}
    try:
        return definition.evaluate(inputs, attributes, len(op.results))
    except GeError:
        raise
    except Exception as error:
        what = f"{definition.name} ({definition.plugin}): {type(error).__name__}: {error}"
        raise GeError("GE6006", what, where(op)) from error


def _run_foreign(op: OnnxOp, inputs: Sequence[Value]) -> Sequence[Value]:
    """The results of an operator of another domain, if onnx implements it (as those of ai.onnx.preview).

    Raises GE6011 when it does not.
    """
    from onnx.reference import ReferenceEvaluator  # see _run_reference

    builder = GraphBuilder()
    operands = list(dict.fromkeys(op.operands))
    outputs = [result for result in op.results if result.type != ABSENT]
    graph = builder.graph([op], operands, outputs)
    graph.name = op.op_type
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(op.domain, 1)]
    feeds = {
        builder.names[operand]: value
        for operand, value in zip(op.input_list(), inputs, strict=True)
        if operand is not None
    }
    try:
        evaluator: Any = ReferenceEvaluator(helper.make_model(graph, opset_imports=imports))
    except Exception as error:
        raise unknown_operator(op) from error
    results = iter(evaluator.run(None, feeds))
    return [None if result.type == ABSENT else next(results) for result in op.results]


def unknown_operator(op: OnnxOp) -> GeError:
    """The error that nothing says what an operator computes; with the plug-in that it was compiled with."""
    what = f"operator '{op.domain}::{op.op_type}' has no meaning here"
    plugin = plugin_of(op)
    if plugin is None:
        return GeError("GE6011", what, where(op))
    is_file = plugin.endswith(".py")
    remedy = f"Load it with --load-plugin={plugin}." if is_file else f"Install the package with '{plugin}'."
    return GeError("GE6011", what, where(op), f"The plug-in '{plugin}', which defines it, is not loaded.", remedy)


def _run_reference(op: OnnxOp, inputs: Sequence[Value]) -> Sequence[Value]:
    """The results by onnx's own implementation, or by the function that the standard defines the operator with."""
    from onnx.reference import ReferenceEvaluator  # loading it takes longer than folding most models
    from onnx.reference.ops import load_op
    from onnx.reference.ops.aionnxml._op_list import (
        load_op as load_ml_op,  # pyright: ignore[reportUnknownVariableType]
    )

    node = NodeProto(op_type=op.op_type, domain=op.domain, attribute=attribute_protos(op.attributes))
    node.input.extend("" if value is None else f"x{i}" for i, value in enumerate(inputs))
    node.output.extend("" if result.type == ABSENT else f"y{i}" for i, result in enumerate(op.results))
    if op.domain == ML_DOMAIN:
        implementation = load_ml_op(op.domain, op.op_type, None)
    elif op.domain:
        raise GeError("GE6006", f"operator '{op.op_type}' of domain '{op.domain}' has no implementation", where(op))
    else:
        types = [TypeProto() if value is None else proto_of_type(value.type) for value in op.input_list()]
        implementation = load_op(
            op.domain, op.op_type, OPSET, node=node, input_types=types, evaluator_cls=ReferenceEvaluator
        )
    parameters: dict[str, Any] = {
        "log": lambda *_: None,  # pyright: ignore[reportUnknownLambdaType]
        "opsets": {"": OPSET, ML_DOMAIN: ML_OPSET},
        "verbose": 0,
        "new_ops": None,
        "existing_functions": {},
        "evaluator_cls": ReferenceEvaluator,
    }
    return implementation(node, parameters).run(*inputs)


# Control flow


def _run_if(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value]) -> Sequence[Value]:
    branch = "then_branch" if np.asarray(inputs[0]).item() else "else_branch"
    return run_block(op.region(branch).block, [], outer)


def _run_loop(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value]) -> Sequence[Value]:
    """Run the body until the trip count is reached or the condition is false; scan outputs are stacked."""
    trip_count, condition, *carried = [*inputs, None, None][: max(2, len(inputs))]
    body = op.region("body").block
    most = None if trip_count is None else int(np.asarray(trip_count).item())
    going = True if condition is None else bool(np.asarray(condition).item())
    scans: list[list[Value]] = [[] for _ in op.results[len(carried) :]]
    step = 0
    while going and (most is None or step < most):
        going, *results = run_block(body, [np.array(step, np.int64), np.array(True), *carried], outer)
        going, carried = bool(np.asarray(going).item()), results[: len(carried)]
        for scan, value in zip(scans, results[len(carried) :], strict=True):
            scan.append(value)
        step += 1
    types = [value.type for value in yielded(body)[1 + len(carried) :]]
    return [*carried, *(_stacked(scan, type, 0) for scan, type in zip(scans, types, strict=True))]


def _stacked(values: Sequence[Value], type: Any, axis: int) -> Value:
    """Scan outputs joined along a new axis; without any, an empty array with the sizes that the type knows."""
    if values:
        return np.stack(values, axis)
    tensor = cast("TensorType[Any]", type)
    shape = [max(0, size) for size in tensor.get_shape()]
    return np.expand_dims(np.empty(shape, numpy_dtype(tensor.element_type)), axis).repeat(0, axis)


def _run_scan(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value]) -> Sequence[Value]:
    """Run the body once per slice of the scanned inputs."""
    body = op.region("body").block
    count = op.attribute("num_scan_inputs")
    states, scanned = list(inputs[: len(inputs) - count]), inputs[len(inputs) - count :]
    axes = op.attribute("scan_input_axes") or [0] * count
    directions = op.attribute("scan_input_directions") or [0] * count
    slices = [np.moveaxis(array, axis, 0) for array, axis in zip(scanned, axes, strict=True)]
    slices = [array[::-1] if backward else array for array, backward in zip(slices, directions, strict=True)]
    outputs = len(op.results) - len(states)
    scans: list[list[Value]] = [[] for _ in range(outputs)]
    for step in range(slices[0].shape[0]):
        results = run_block(body, [*states, *(array[step] for array in slices)], outer)
        states = results[: len(states)]
        for scan, value in zip(scans, results[len(states) :], strict=True):
            scan.append(value)
    output_axes = op.attribute("scan_output_axes") or [0] * outputs
    backward = op.attribute("scan_output_directions") or [0] * outputs
    types = [value.type for value in yielded(body)[len(states) :]]
    stacked = [
        _stacked(scan[::-1] if back else scan, type, axis)
        for scan, type, axis, back in zip(scans, types, output_axes, backward, strict=True)
    ]
    return [*states, *stacked]


def _run_sequence_map(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value]) -> Sequence[Value]:
    """Run the body once per element of the first sequence; other sequences go along, tensors are given whole."""
    body = op.region("body").block
    rows = [
        run_block(body, [value[step] if isinstance(value, list) else value for value in inputs], outer)
        for step in range(len(inputs[0]))
    ]
    return [[row[index] for row in rows] for index in range(len(op.results))]


def _run_optional(op: OnnxOp, inputs: Sequence[Value], outer: Mapping[SSAValue, Value]) -> Sequence[Value]:
    """The element itself, or None without one; the reference implementation has a list of it."""
    return [inputs[0] if inputs else None]


_CONTROL_FLOW = {
    "If": _run_if,
    "Loop": _run_loop,
    "Optional": _run_optional,
    "Scan": _run_scan,
    "SequenceMap": _run_sequence_map,
}
