"""Models that come back as they were: the check, and an ONNX model around whatever it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from google.protobuf.text_format import MessageToString
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from ge.dialects.onnx import OPSET
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.verifier import verify_module
from ge.targets.onnx.canonical import canonical
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model


def check_exact(model: ModelProto) -> ModuleOp:
    """Import, print, parse and export a model; it must be the same, and its text the same from the second trip on."""
    module = import_model(model)
    verify_module(module)
    first = print_module(module)
    again = parse_module(first)
    verify_module(again)
    second = print_module(again)
    assert print_module(parse_module(second)) == second
    assert_same(export_model(again), model)
    generic = print_module(again, generic=True)
    assert_same(export_model(parse_module(generic)), model)
    return again


def assert_same(got: ModelProto, want: ModelProto) -> None:
    """Two models are the same in their canonical form; the difference is shown as text."""
    a, b = canonical(got), canonical(want)
    if a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True):
        assert MessageToString(a) == MessageToString(b)
        raise AssertionError("models differ in bytes that text does not show")


def value(name: str, *shape: int | str | None, type: int = TensorProto.FLOAT) -> ValueInfoProto:
    """A tensor of a graph."""
    return helper.make_tensor_value_info(name, type, list(shape))


def model_of(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto] = (),
    outputs: Sequence[ValueInfoProto] = (),
    *,
    opsets: dict[str, int] | None = None,
    functions: Sequence[Any] = (),
    **graph: Any,
) -> ModelProto:
    """A model at the newest opset, or with those given; ``graph`` has further fields of the graph."""
    main = helper.make_graph(nodes, graph.pop("name", "g"), inputs, outputs, **graph)
    imports = [helper.make_opsetid(domain, version) for domain, version in (opsets or {"": 26}).items()]
    return helper.make_model(main, opset_imports=imports, ir_version=13, functions=list(functions))


def tensor(name: str, *numbers: float) -> TensorProto:
    """A vector of float32."""
    return numpy_helper.from_array(np.array(numbers, np.float32), name)


def custom(inputs: list[str] | None = None, outputs: list[str] | None = None, **attributes: Any) -> NodeProto:
    """A node of a domain that nobody knows."""
    inputs, outputs = ["x"] if inputs is None else inputs, ["y"] if outputs is None else outputs
    return helper.make_node("Fancy", inputs, outputs, domain="com.example", **attributes)


CUSTOM = {"": OPSET, "com.example": 3}
"""Opsets of a model with such nodes."""
