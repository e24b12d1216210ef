"""Kernel binaries: encoded instructions for the AI Cores, ONNX models for the host."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.om import KernelOp
from ge.dialects.onnx.shapes.types import value_of_type
from ge.dialects.onnx.shapes.values import contradict
from ge.ir.errors import GeError


def encode_kernel(kernel: KernelOp) -> bytes:
    """The binary of a kernel."""
    definition = kernel.definition
    if isinstance(definition, CubeKernelOp):
        from ge.dialects.cube.encoding import encode

        return encode(definition)
    from ge.targets.onnx.exporter import export_model

    function = definition.clone()
    assert isinstance(function, FuncOp)
    function.sym_name = StringAttr("main")
    return export_model(ModuleOp([function])).SerializeToString(deterministic=True)


def decode_core_kernel(name: str, binary: bytes) -> KernelOp:
    """The kernel of the AI Cores in a binary; the inverse of `encode_kernel` up to the names of values."""
    from ge.dialects.cube.encoding import decode

    return KernelOp(name, decode(binary, name))


def decode_host_kernel(name: str, binary: bytes, result_types: Sequence[Attribute]) -> KernelOp:
    """The kernel of the host in a binary; its results have the types that its operator says."""
    (function,) = host_module(binary).ops
    assert isinstance(function, FuncOp)
    function.sym_name = StringAttr(name)
    function.attributes.pop("onnx.graph_name")  # always "main"
    function.arg_attrs = function.res_attrs = None  # names that inference gave to unknown dimensions
    last = function.body.block.last_op
    if last is None or len(last.operands) != len(result_types):
        raise GeError("GE5005", f"kernel '{name}' of the host has other results than its operator")
    for value, type in zip(last.operands, result_types, strict=True):
        if contradict(value_of_type(value.type), value_of_type(type)):
            what = f"kernel '{name}' of the host gives {value.type}, its operator says {type}"
            raise GeError("GE5005", what)
        Rewriter.replace_value_with_new_type(value, type)
    function.function_type = FunctionType.from_lists(list(function.function_type.inputs), result_types)
    return KernelOp(name, function.clone())


def host_module(binary: bytes) -> ModuleOp:
    """The `onnx` module of a host kernel's binary. Raises GE5005 when it is not an ONNX model."""
    import onnx
    from google.protobuf.message import DecodeError

    from ge.targets.onnx.importer import import_model

    try:
        model = onnx.ModelProto.FromString(binary)
    except DecodeError as error:
        raise GeError("GE5005", "a kernel of the host is not an ONNX model") from error
    return import_model(model)
