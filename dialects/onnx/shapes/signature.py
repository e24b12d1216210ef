"""Names of dimensions in the signature of a function: what its types cannot say.

An argument or result with dimensions that are not numbers has the attribute ``onnx.dims``, a text for each dimension:
its name or expression (``batch``, ``past + seq``), or nothing. Bounds of names are in ``onnx.bounds`` of the function::

    func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch", ""]}) -> (tensor<?x6xf32> {onnx.dims = ["batch", ""]})
        attributes {onnx.bounds = {batch = array<i64: 1, 8>}, ...}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, TypeAttribute

from ge.dialects.onnx.shapes.types import value_of_type
from ge.dialects.onnx.shapes.values import Dim, OptionalOf, SequenceOf, Shape, Tensor, Value, refine
from ge.maths.symbol_evaluation import parse
from ge.maths.symbols import Interval, Size, symbol

DIMS, BOUNDS = "onnx.dims", "onnx.bounds"


class Names:
    """The names of dimensions of one function with their bounds: equal names are equal sizes."""

    def __init__(self, bounds: Mapping[str, Interval] | None = None) -> None:
        self.bounds = dict(bounds or {})
        self._dims: dict[str, Size] = {}

    def __call__(self, name: str) -> Size:
        low, high = self.bounds.get(name, (0, None))
        return symbol(name, low, high)

    def dim(self, text: str) -> Dim:
        """The dimension that a text describes; None for an empty one."""
        if not text:
            return None
        if text not in self._dims:
            self._dims[text] = parse(text, self)
        return self._dims[text]


def named_shape(value: Value, texts: Sequence[str], names: Names) -> Value:
    """A value whose unknown dimensions (those of its elements, if it is no tensor) are what ``texts`` say."""
    match value:
        case Tensor() if value.shape is not None and len(value.shape) == len(texts):
            dims = tuple(names.dim(text) if dim is None else dim for dim, text in zip(value.shape, texts, strict=True))
            return Tensor(value.element, dims, value.contents)
        case SequenceOf():
            return SequenceOf(named_shape(value.element, texts, names))
        case OptionalOf():
            return OptionalOf(named_shape(value.element, texts, names))
        case _:
            return value


def innermost_shape(value: Value) -> Shape:
    """The shape of a tensor, or of the tensors in a value; none of unknown rank."""
    match value:
        case Tensor():
            return value.shape or ()
        case SequenceOf() | OptionalOf():
            return innermost_shape(value.element)
        case _:
            return ()


def read_names(function: FuncOp) -> Names:
    """The bounds of names that a function states."""
    attribute = function.attributes.get(BOUNDS)
    bounds: dict[str, Interval] = {}
    if isinstance(attribute, DictionaryAttr):
        for name, entry in attribute.data.items():
            if isinstance(entry, DenseArrayBase):
                low, high = cast("DenseArrayBase[Any]", entry).get_values()
                bounds[name] = (low, None if high < 0 else high)
    return Names(bounds)


def write_bounds(function: FuncOp, bounds: Mapping[str, Interval]) -> None:
    """State bounds of names; without any, nothing."""
    entries = {
        name: DenseArrayBase.from_list(i64, [low or 0, -1 if high is None else high])
        for name, (low, high) in bounds.items()
    }
    if entries:
        function.attributes[BOUNDS] = DictionaryAttr(entries)
    else:
        function.attributes.pop(BOUNDS, None)


def read_arguments(function: FuncOp, names: Names) -> list[Value]:
    """What types and notes say of the arguments of a function."""
    return _read(function.body.block.args, function.arg_attrs, names)


def read_results(function: FuncOp, names: Names) -> list[Value]:
    """What types and notes say of the results of a function."""
    terminator = function.body.block.last_op
    return _read(() if terminator is None else terminator.operands, function.res_attrs, names)


def _read(values: Sequence[SSAValue], notes: ArrayAttr[DictionaryAttr] | None, names: Names) -> list[Value]:
    entries = () if notes is None else notes.data
    return [
        _noted_value(value, entries[position] if position < len(entries) else None, names)
        for position, value in enumerate(values)
    ]


def stated_result(op: Operation, result: SSAValue, names: Names) -> Value:
    """What the type of a result says of it, and the note ``onnx.stated`` of its operation."""
    note = op.attributes.get("onnx.stated")
    entries = cast("ArrayAttr[Attribute]", note).data if isinstance(note, ArrayAttr) else ()
    index = cast(OpResult, result).index
    return _noted_value(result, entries[index] if index < len(entries) else None, names)


def _noted_value(value: SSAValue, entry: Attribute | None, names: Names) -> Value:
    """What a type says of a value, and notes of :mod:`ge.dialects.onnx.value_info`."""
    stated = value_of_type(value.type)
    if not isinstance(entry, DictionaryAttr):
        return stated
    if isinstance(type := entry.data.get("onnx.type"), TypeAttribute):
        stated = refine(stated, value_of_type(type))
    texts = entry.data.get(DIMS)
    if isinstance(texts, ArrayAttr):
        stated = named_shape(stated, [text.data for text in cast("ArrayAttr[StringAttr]", texts)], names)
    return stated


def write_arguments(function: FuncOp, values: Sequence[Value]) -> None:
    """Note the names of the dimensions of arguments."""
    function.arg_attrs = _noted(function.arg_attrs, values)


def write_results(function: FuncOp, values: Sequence[Value]) -> None:
    """Note the names of the dimensions of results."""
    function.res_attrs = _noted(function.res_attrs, values)


def _noted(notes: ArrayAttr[DictionaryAttr] | None, values: Sequence[Value]) -> ArrayAttr[DictionaryAttr] | None:
    entries: list[DictionaryAttr] = []
    for position, value in enumerate(values):
        others: dict[str, Attribute] = {}
        if notes is not None and position < len(notes):
            others = {name: note for name, note in notes.data[position].data.items() if name != DIMS}
        texts = dim_texts(innermost_shape(value))
        dims = {DIMS: ArrayAttr(StringAttr(text) for text in texts)} if any(texts) else {}
        entries.append(DictionaryAttr({**others, **dims}))
    return ArrayAttr(entries) if any(entry.data for entry in entries) else None


def dim_texts(shape: Shape) -> list[str]:
    """The names of the dimensions of a shape; nothing for numbers, for what is unknown, and for invented names."""
    return ["" if dim is None or isinstance(dim, int) or dim.is_anonymous else str(dim) for dim in shape]
