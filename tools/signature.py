"""The inputs and outputs of a program, as text: ``x: float32[n, 3, 224, 224]``.

A size that is not fixed is the name, or the expression of names, that the model or the shape inference gives it; the
same text stands for the same size. ``?`` is a size of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ge.ir.constants import numpy_dtype, tensor_type_of
from ge.ir.errors import GeError
from ge.targets.ascend.runtime import TensorInfo
from ge.tools.arrays import main_inputs


@dataclass(frozen=True)
class Signature:
    """One line of text for each input and output."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of_infos(cls, inputs: Iterable[TensorInfo], outputs: Iterable[TensorInfo]) -> Signature:
        """Of an OM file."""
        return cls(tuple(map(str, inputs)), tuple(map(str, outputs)))

    @classmethod
    def of_module(cls, module: ModuleOp) -> Signature:
        """Of the main function of a module of onnx or graph operations."""
        main = next(op for op in module.ops if isinstance(op, FuncOp))
        last = main.body.block.last_op
        results = [] if last is None else list(last.operand_types)
        names = _texts(main.attributes.get("graph.output_names", main.attributes.get("onnx.output_names")))
        names = names or [f"y{number}" for number in range(len(results))]
        inputs = [(info.name, info.type) for info in main_inputs(module)]
        return cls(_lines(inputs, main.arg_attrs), _lines(zip(names, results, strict=True), main.res_attrs))

    def __str__(self) -> str:
        return "\n".join(
            ["inputs", *(f"  {line}" for line in self.inputs), "outputs", *(f"  {y}" for y in self.outputs)]
        )


def _lines(values: Iterable[tuple[str, Attribute]], notes: Attribute | None) -> tuple[str, ...]:
    """A line for each value; ``notes`` are the dictionaries of attributes of them."""
    listed = list(values)
    found = cast("ArrayAttr[DictionaryAttr]", notes) if isinstance(notes, ArrayAttr) else ()
    dims = [_texts(each.data.get("onnx.dims")) for each in found]
    dims += [[]] * (len(listed) - len(dims))
    return tuple(f"{name}: {_text(type, names)}" for (name, type), names in zip(listed, dims, strict=True))


def _texts(note: Attribute | None) -> list[str]:
    return [text.data for text in cast("ArrayAttr[StringAttr]", note)] if isinstance(note, ArrayAttr) else []


def _text(type: Attribute, dims: Sequence[str]) -> str:
    """Element type and sizes of a tensor; the type as it is of anything else."""
    try:
        tensor = tensor_type_of(type)
        dtype = numpy_dtype(tensor.element_type)
    except GeError:
        return str(type)
    shape = tensor.get_shape()
    named = [*dims, *([""] * len(shape))][: len(shape)]
    sizes = (str(size) if size != DYNAMIC_INDEX else name or "?" for size, name in zip(shape, named, strict=True))
    return f"{dtype.name}[{', '.join(sizes)}]"
