"""Kernel binaries: encoded instructions for the AI Cores, ONNX models for the host."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ge.dialects.cube.kernel import CubeKernelOp
from ge.dialects.om import KernelOp
from ge.ir.errors import GeError

_IMPORT_NOTES = ("onnx.graph_name", "onnx.outputs")
"""What the importer notes of an ONNX model and its kernel does not need: names that writing it gives again."""


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


def decode_kernel(name: str, binary: bytes, *, on_host: bool) -> KernelOp:
    """The kernel of a binary; the inverse of `encode_kernel` up to the names of values."""
    if not on_host:
        from ge.dialects.cube.encoding import decode

        return KernelOp(name, decode(binary, name))
    (function,) = host_module(binary).ops
    assert isinstance(function, FuncOp)
    function.sym_name = StringAttr(name)
    function.arg_attrs = function.res_attrs = None
    for op in function.walk():
        for note in _IMPORT_NOTES:
            op.attributes.pop(note, None)
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
