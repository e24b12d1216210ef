"""The backend interface of ONNX over this package: see :mod:`ge.targets.onnx.backend`."""

from __future__ import annotations

from ge.targets.onnx.backend import (
    GraphEngineBackend,
    GraphEngineRep,
    is_compatible,
    prepare,
    run_model,
    run_node,
    supports_device,
)

__all__ = [
    "GraphEngineBackend",
    "GraphEngineRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]
