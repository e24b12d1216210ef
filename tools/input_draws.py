"""Inputs to try a module on: of every kind of number, and of shapes and values that the module takes.

A model may refuse what is drawn: its windows need a least size, or it knows certain rates of samples only. So unknown
dimensions are larger the next time, and inputs get the values that the model compares them with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ge.dialects.onnx import OnnxOp, constant_value
from ge.ir.constants import numpy_dtype, tensor_type_of
from ge.ir.errors import GeError
from ge.maths.hostile import KINDS, hostile
from ge.tools.arrays import InputInfo
from ge.tools.execute import Executable

Array: TypeAlias = NDArray[Any]

UNKNOWN_SIZES = (2, 3, 1)
"""What unknown dimensions are in turn, draw by draw: several shapes are tried."""

LARGER_SIZES = (32, 256, 512)
"""What they are when the module does not run on those: images and signals have a least size."""

MOST_VALUES = 4
"""How many of the values that an input is compared with are tried."""


@dataclass
class Draw:
    """Inputs of one kind, and what the module gave for them last."""

    kind: str
    inputs: Sequence[Any]
    outputs: Mapping[str, Any]

    def run(self, program: Executable) -> dict[str, Any]:
        """What a program gives for the inputs; its names of them may be others."""
        return program.run({info.name: value for info, value in zip(program.inputs, self.inputs, strict=True)})

    @property
    def tells(self) -> bool:
        """Whether there is something to compare in the outputs: they are not all empty, NaN or infinite."""
        return any(map(_tells, self.outputs.values()))


def _tells(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_tells, cast("list[Any]", value)))
    array = np.asarray(value)
    return array.size > 0 and (array.dtype.kind != "f" or bool(np.isfinite(array).any()))


@dataclass
class Draws:
    """What came of drawing: the draws that the module takes and that tell something, and why the others were not."""

    kept: list[Draw]
    refused: dict[str, GeError]
    """By kind, the error of the last run."""
    silent: list[str]
    """The kinds for which the outputs are empty, or have no finite number."""


def draw_for(module: ModuleOp, program: Executable, infos: Sequence[InputInfo], seed: int) -> Draws:
    """Inputs of every kind for a module, of the types in ``infos``, and what the program of it gives for them."""
    found = Draws([], {}, [])
    counts = any(op.name == "onnx.Loop" for op in module.walk())
    compared = compared_values(module)
    for number, kind in enumerate(KINDS):
        for size, values in _attempts(number, infos, compared):
            random = np.random.default_rng([seed, number])
            inputs = [
                draw_input(info, kind, size, random, counts) if value is None else value
                for info, value in zip(infos, values, strict=True)
            ]
            draw = Draw(kind, inputs, {})
            try:
                draw.outputs = draw.run(program)
            except GeError as error:  # a hostile index is out of range: these inputs mean nothing to the model
                found.refused[kind] = error
                continue
            found.refused.pop(kind, None)
            if draw.tells:
                found.kept.append(draw)
            else:
                found.silent.append(kind)
            break
    return found


def _attempts(
    number: int, infos: Sequence[InputInfo], compared: Mapping[int, Sequence[Array]]
) -> Iterator[tuple[int, list[Array | None]]]:
    """Sizes of unknown dimensions with values of the inputs, None for those to be drawn, in the order to be tried.

    Every second draw begins with the values that inputs are compared with, so that both ways of a branch are tried.
    """
    open_sizes = any(DYNAMIC_INDEX in info.shape for info in infos)
    positions = range(len(infos))
    drawn: list[Array | None] = [None for _ in positions]
    most = max(map(len, compared.values()), default=0)
    chosen: list[list[Array | None]] = [
        [_in_turn(compared.get(position), turn + number) for position in positions] for turn in range(most)
    ]
    values = [*chosen, drawn] if number % 2 else [drawn, *chosen]
    for each in values:
        for size in (UNKNOWN_SIZES[number % len(UNKNOWN_SIZES)], *(LARGER_SIZES if open_sizes else ())):
            yield size, each


def _in_turn(values: Sequence[Array] | None, turn: int) -> Array | None:
    return None if values is None else values[turn % len(values)]


def draw_input(info: InputInfo, kind: str, size: int, random: np.random.Generator, counts: bool = False) -> Array:
    """Values of a kind for an input; its unknown dimensions are ``size``. Raises GE6002 for what is no tensor.

    ``counts``: a single integer may be how often a loop turns, so it is small, whatever the kind.
    """
    try:
        type = tensor_type_of(info.type)
        dtype = numpy_dtype(type.element_type)
    except GeError:
        return info.random(random)
    shape = [size if each == DYNAMIC_INDEX else each for each in type.get_shape()]
    if counts and dtype.kind in "iu" and math.prod(shape) == 1:
        return random.integers(0, 4, shape).astype(dtype)
    if dtype.kind in "iu" and kind != "large":
        return random.integers(0, 2, shape).astype(dtype)
    return hostile(shape, dtype, kind, random)


# What inputs are compared with

_COMPARISONS = frozenset(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"))

_SAME_ELEMENT = frozenset(("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"))
"""Operators that hand a single element on."""


def compared_values(module: ModuleOp) -> dict[int, list[Array]]:
    """The values that a module of onnx operations compares inputs of one element with, by the position of the input."""
    main = next((op for op in module.ops if isinstance(op, FuncOp)), None)
    found: dict[int, list[Array]] = {}
    for op in module.walk() if main is not None else ():
        if not isinstance(op, OnnxOp) or op.domain or op.op_type not in _COMPARISONS:
            continue
        for value, other in (tuple(op.operands), tuple(op.operands)[::-1]):
            constant, source = constant_value(other), _source(value)
            if constant is None or constant.size != 1 or source is None:
                continue
            known = found.setdefault(source.index, [])
            taken = _like(source, constant)
            if taken is not None and len(known) < MOST_VALUES and not any((taken == each).all() for each in known):
                known.append(taken)
    return {position: values for position, values in found.items() if values}


def _source(value: SSAValue) -> BlockArgument | None:
    """The input of the model that gives a value its element; None for what is computed."""
    while isinstance(op := value.owner, OnnxOp) and not op.domain and op.op_type in _SAME_ELEMENT:
        value = op.operands[0]
    return value if isinstance(value, BlockArgument) and isinstance(value.owner.parent_op(), FuncOp) else None


def _like(source: BlockArgument, constant: Array) -> Array | None:
    """The element of a constant in the type of an input of one element; None for other inputs."""
    try:
        type = tensor_type_of(source.type)
        dtype = numpy_dtype(type.element_type)
    except GeError:
        return None
    shape = type.get_shape()
    if math.prod(shape) != 1 or dtype.kind not in "iufb" or constant.dtype.kind not in "iufb":
        return None
    return np.full(shape, constant.item()).astype(dtype)
