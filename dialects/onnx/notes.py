"""The notes of the dialect: what `ge.targets.onnx.importer` remembers for the exporter.

| note | on | what |
|---|---|---|
| ``onnx.opsets`` | module, function | the version of each domain, as the model was written |
| ``onnx.ir_version``, ``onnx.producer_name``, ... | module | the fields of the model |
| ``onnx.graph_name`` | main function, terminator | the name of a graph, where the location does not have it |
| ``onnx.input_names``, ``onnx.output_names`` | function, terminator | the names of the inputs and outputs of a graph |
| ``onnx.input_values``, ``onnx.output_values`` | terminator | their notes; those of a function are at its signature |
| ``onnx.values`` | function, terminator | notes of values that the graph states and does not define |
| ``onnx.attributes``, ``onnx.attribute_defaults`` | private function | attributes without and with a default |
| ``onnx.name`` | operation | the name of the node, where it has none, or one that another node has |
| ``onnx.outputs`` | operation | the names of the results; ``<node>_output_<i>`` (what PyTorch writes) without it |
| ``onnx.stated`` | operation | the types of results that the model states |
| ``onnx.node``, ``onnx.attribute`` | constant | the name of the Constant node, and the attribute of its value |
| ``onnx.input`` | constant | the place of an initializer among the inputs of its graph |
| ``onnx.tensor`` | constant | name, text and metadata of the tensor in a Constant node, or of sparse parts |
| ``onnx.odd_attributes`` | operation | attributes with names like those of notes or properties |
| ``onnx.attribute_docs`` | operation | texts of attributes |
| ``onnx.doc``, ``onnx.metadata`` | all | text and metadata |
| ``onnx.rest`` | all | what has no other form, as protobuf writes it: quantization annotations, training, devices |
| ``onnx.dims``, ``onnx.type``, ``onnx.proto`` | value | see :mod:`ge.dialects.onnx.value_info` |

A node without a name is located by its first output, an initializer or Constant node by the name of its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, TypeAttribute

from ge.ir.notes import (
    INTEGER,
    INTEGERS_BY_NAME,
    STRING,
    STRINGS_BY_NAME,
    Note,
    any_number,
    arguments,
    dictionary,
    returned,
    strings,
)

INITIALIZERS_ARE_NO_INPUTS = 4
"""The IR version from which on initializers need not be inputs: those that are inputs are defaults, open to a run."""


def _is_dictionary(_op: Operation, attribute: Attribute) -> bool:
    return isinstance(attribute, DictionaryAttr)


def _is_list_of_notes(_op: Operation, attribute: Attribute) -> bool:
    items = cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else (None,)
    return all(isinstance(item, DictionaryAttr | UnitAttr) for item in items)


def _is_stated(op: Operation, attribute: Attribute) -> bool:
    return isinstance(attribute, UnitAttr) or _is_list_of_notes(op, attribute)


def _has_index(_op: Operation, attribute: Attribute) -> bool:
    return isinstance(attribute, DictionaryAttr) and isinstance(attribute.data.get("index"), IntegerAttr)


_NOTES_OF_VALUES = Note("a list of dictionaries", _is_list_of_notes)
_TABLES_BY_NAME = dictionary("dictionaries", _is_dictionary)
_TABLE = Note("a dictionary", _is_dictionary)

_TEXTS = (
    *("graph_name", "doc", "producer_name", "producer_version", "domain"),
    *("name", "node", "attribute", "rest", "proto"),
)

NOTES: Mapping[str, Note] = {
    "onnx.input_names": strings(arguments, "argument"),
    "onnx.output_names": strings(returned, "result"),
    "onnx.outputs": strings(any_number, "output of the node"),
    "onnx.dims": strings(any_number, "dimension"),
    "onnx.type": Note("a type", lambda _, attribute: isinstance(attribute, TypeAttribute)),
    "onnx.metadata": STRINGS_BY_NAME,
    "onnx.opsets": INTEGERS_BY_NAME,
    "onnx.ir_version": INTEGER,
    "onnx.model_version": INTEGER,
    "onnx.stated": Note("alone, or a list of dictionaries", _is_stated),
    "onnx.input_values": _NOTES_OF_VALUES,
    "onnx.output_values": _NOTES_OF_VALUES,
    "onnx.values": _TABLES_BY_NAME,
    "onnx.input": Note("a dictionary with the integer 'index'", _has_index),
    "onnx.tensor": _TABLE,
    "onnx.attributes": strings(any_number, "attribute"),
    "onnx.attribute_defaults": _TABLE,
    "onnx.odd_attributes": _TABLE,
    "onnx.attribute_docs": STRINGS_BY_NAME,
    **{f"onnx.{text}": STRING for text in _TEXTS},
}
