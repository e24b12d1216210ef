"""The backend interface of ONNX: models prepared, run and checked by programs that are written for any backend.

::

    import ge.backend
    outputs = ge.backend.run_model(onnx.load("model.onnx"), [image])

Models are evaluated at the onnx level (:mod:`ge.dialects.onnx.meaning`), which is exact and for every operator; for the
compiled model, see ``ge.Runtime``. ``onnx.backend.test.BackendTest(ge.backend.GraphEngineBackend, __name__)`` makes the
tests of the standard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ge.dialects.onnx import ML_OPSET, OPSET, Custom
from ge.dialects.onnx.meaning import run_module
from ge.dialects.onnx.ops import ML_DOMAIN
from ge.dialects.onnx.protos import text_notes
from ge.ir.errors import GeError
from ge.targets.onnx.importer import import_model

STANDARD = "ai.onnx"
"""How the domains begin that the ``onnx`` package may have an implementation for."""


class GraphEngineRep(BackendRep):
    """A model that can be run any number of times."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        main = next(op for op in module.ops if isinstance(op, FuncOp))
        self.input_names = text_notes(main, "input_names")
        self.output_names = text_notes(main, "output_names")
        self._outputs = namedtupledict("Outputs", self.output_names)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs in the order of the model, also by name (``outputs["y"]``).

        ``inputs`` are a sequence in the order of the model, a mapping from names, or the only input. Tensors are arrays
        and sequences are lists. Raises GE6002 when their number or names differ, GE6006 when an operator fails.
        """
        results = run_module(self.module, self._by_name(inputs))
        return self._outputs(*results.values())

    def _by_name(self, inputs: Any) -> Mapping[str, Any]:
        if isinstance(inputs, Mapping):
            return cast("Mapping[str, Any]", inputs)
        given = cast("Sequence[Any]", inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(given) != len(self.input_names):
            raise GeError(
                "GE6002", f"{len(given)} inputs are given; the model has {', '.join(self.input_names) or 'none'}"
            )
        return dict(zip(self.input_names, given, strict=True))


class GraphEngineBackend(Backend):
    """The backend. It has one device, ``CPU``, and runs every operator that the installed ``onnx`` package defines."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether a model can be imported, and has no operator of a domain that is not known."""
        if not cls.supports_device(device):
            return False
        try:
            module = import_model(model)
        except GeError:
            return False
        return all(op.domain.startswith(STANDARD) for op in module.walk() if isinstance(op, Custom))

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> GraphEngineRep:
        """Import a model. Raises GE2006 for an unknown device, and what importing raises."""
        if not cls.supports_device(device):
            raise GeError("GE2006", f"device '{device}' is not supported", remedy="The device is CPU.")
        return GraphEngineRep(import_model(model))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Import a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on ``inputs``, those that are not absent, in order.

        ``opset_version`` says what the node means (default: the newest). ``outputs_info`` is not needed.
        """
        present = [name for name in node.input if name]
        given = cast("Sequence[Any]", inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(given) != len(present):
            raise GeError("GE6002", f"{len(given)} inputs are given; the node has {', '.join(present) or 'none'}")
        feeds = dict(zip(present, given, strict=True))
        outputs = [ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", [_value_info(*item) for item in feeds.items()], outputs)
        versions = {node.domain: 1, "": int(kwargs.get("opset_version", OPSET)), ML_DOMAIN: ML_OPSET}
        imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
        return cls.run_model(helper.make_model(graph, opset_imports=imports), feeds, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether ``device`` is the host: ``CPU`` or ``CPU:0``."""
        return device in ("CPU", "CPU:0")


def _value_info(name: str, value: Any) -> ValueInfoProto:
    """An input of the type that a value has. Raises GE6002 for what is neither an array nor a list of arrays."""
    items: list[Any] = cast("list[Any]", value) if isinstance(value, list) else []
    if items:
        return helper.make_tensor_sequence_value_info(name, _element_type(name, np.asarray(items[0])), None)
    array: np.ndarray[Any, Any] = np.asarray(cast(Any, value))
    return helper.make_tensor_value_info(name, _element_type(name, array), array.shape)


def _element_type(name: str, array: np.ndarray[Any, Any]) -> int:
    if array.dtype.kind in "OUS":
        return TensorProto.STRING
    try:
        return helper.np_dtype_to_tensor_dtype(array.dtype)
    except ValueError as error:
        raise GeError("GE6002", f"input '{name}' has elements of type {array.dtype}") from error


is_compatible = GraphEngineBackend.is_compatible
prepare = GraphEngineBackend.prepare
run_model = GraphEngineBackend.run_model
run_node = GraphEngineBackend.run_node
supports_device = GraphEngineBackend.supports_device
