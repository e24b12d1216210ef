"""The pass `convert-outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, ModuleOp, TensorType, UnrankedTensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ge.dialects.onnx import STRING, StringType, make_op
from ge.dialects.onnx.protos import data_type_of
from ge.dialects.onnx.shapes.inference import main_function
from ge.dialects.onnx.shapes.types import ELEMENT_TYPES
from ge.ir.errors import GeError
from ge.ir.functions import body_of
from ge.ir.locations import name_loc
from ge.passes.onnx.interface import NamedValues, Output, read_outputs, write_outputs
from ge.passes.onnx.select_outputs import split_names

TYPES: Mapping[str, str] = {
    "FP32": "f32",
    "FP16": "f16",
    "UINT8": "ui8",
    "INT8": "i8",
    "UINT16": "ui16",
    "INT16": "i16",
    "UINT32": "ui32",
    "INT32": "i32",
    "UINT64": "ui64",
    "INT64": "i64",
    "DOUBLE": "f64",
}
"""The element types as ATC names them."""


@dataclass(frozen=True)
class ConvertOutputsPass(ModulePass):
    """Give outputs of the model another element type: `types=FP16` all of them, `types="conv1:0:FP16;prob:FP32"` some.

    A `Cast` before the return does it, which is called `conv1/Cast` for the output `conv1`. From floats to integers it
    rounds towards zero, as ONNX has it; a value that the integers do not reach is undefined there, so the model should
    clip first.

    Left alone: outputs that have the type already. Refused (GE2041): a type that is not in the list of ATC, an output
    that the model does not have (GE2040), one that is no tensor of numbers.
    """

    name = "convert-outputs"

    types: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        if function is None:
            return
        asked = self._asked(function)
        outputs: list[Output] = []
        for name, value in read_outputs(function):
            element = asked.get(value)
            outputs.append((name, value if element is None else _converted(function, name, value, element)))
        write_outputs(function, outputs)

    def _asked(self, function: FuncOp) -> Mapping[SSAValue, Attribute]:
        """The element types of outputs that are asked for."""
        outputs = dict(read_outputs(function))
        if self.types in TYPES or ":" not in self.types:
            return dict.fromkeys(outputs.values(), element_type(self.types))
        named = NamedValues(function)
        asked: dict[SSAValue, Attribute] = {}
        for entry in split_names(self.types):
            text, _, type = entry.rpartition(":")
            name, value = named.find(text or type)
            if value not in outputs.values():
                what = f"'{text}' is no output of the model: these are {', '.join(map(repr, outputs))}"
                raise GeError("GE2040", what, remedy="Make it one with --out_nodes (the pass select-outputs).")
            if value in asked:
                raise GeError("GE2041", f"the output '{name}' is given two types")
            asked[value] = element_type(type)
        return asked


def element_type(name: str) -> Attribute:
    """The element type that ATC calls so. Raises GE2041."""
    if name not in TYPES:
        near = get_close_matches(name.upper(), TYPES, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise GeError("GE2041", f"'{name}' is no type of an output{hint}", remedy=f"It is one of {', '.join(TYPES)}.")
    return ELEMENT_TYPES[TYPES[name]]


def _converted(function: FuncOp, name: str, value: SSAValue, element: Attribute) -> SSAValue:
    """An output in another element type."""
    match value.type:
        case TensorType() as old:
            before, new = old.element_type, TensorType(element, old.get_shape())
        case UnrankedTensorType() as old:
            before, new = old.element_type, UnrankedTensorType(element)
        case _:
            before, new = STRING, None
    if new is None or isinstance(before, StringType | ComplexType):
        raise GeError("GE2041", f"the output '{name}' is {value.type}, no tensor of numbers")
    if before == element:
        return value
    conversion = make_op("Cast", [value], [new], {"to": data_type_of(element)}, location=name_loc(f"{name}/Cast"))
    block = body_of(function)
    assert block.last_op is not None, "a function ends with its return"
    block.insert_op_before(conversion, block.last_op)
    return conversion.results[0]
