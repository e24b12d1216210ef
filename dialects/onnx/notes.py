"""The notes of the dialect: what `ge.targets.onnx.importer` remembers for the exporter."""

from __future__ import annotations

from collections.abc import Mapping

from ge.ir.notes import (
    INTEGER,
    INTEGERS_BY_NAME,
    STRING,
    STRINGS_BY_NAME,
    Note,
    any_number,
    arguments,
    returned,
    strings,
)

_TEXTS = ("graph_name", "doc", "producer_name", "producer_version", "domain")

NOTES: Mapping[str, Note] = {
    "onnx.input_names": strings(arguments, "argument"),
    "onnx.output_names": strings(returned, "result"),
    "onnx.outputs": strings(any_number, "output of the node"),
    "onnx.dims": strings(any_number, "dimension"),
    "onnx.metadata": STRINGS_BY_NAME,
    "onnx.opsets": INTEGERS_BY_NAME,
    "onnx.ir_version": INTEGER,
    "onnx.model_version": INTEGER,
    **{f"onnx.{text}": STRING for text in _TEXTS},
}
