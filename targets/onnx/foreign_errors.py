"""What an exception during an import means: a model that a library refuses, or a fault of this package."""

from __future__ import annotations

from types import FrameType

from google.protobuf.message import Error as ProtobufError
from xdsl.utils.exceptions import VerifyException

from ge.ir.errors import GeError, internal_error

_LIBRARIES = frozenset({"google", "ml_dtypes", "numpy", "onnx"})
"""Packages that raise errors about what they are given: about the model, then."""

_FAULTS = (AssertionError, AttributeError, NameError)
"""What a library raises about the call, not about the model."""


def error_of(error: Exception, name: str) -> GeError:
    """The error of the model ``name`` that an exception becomes; raise it from that.

    GE6009 when memory is not enough, GE1020 when a library refuses the model or it is nested too deeply, otherwise
    GE9001: a damaged model can break assumptions of ours, too, but each place where it does is a fault.
    """
    if isinstance(error, MemoryError):
        why = "A tensor or list that the model describes is larger than what this process may use."
        return GeError("GE6009", f"'{name}' needs more memory than there is", name, why)
    if isinstance(error, RecursionError):
        return GeError("GE1020", f"'{name}': graphs are nested too deeply", name)
    if isinstance(error, ProtobufError | OverflowError | UnicodeError | VerifyException) or _is_of_library(error):
        return GeError("GE1020", f"'{name}': {error}", name)
    return internal_error(error, f"import of '{name}'", name)


def _is_of_library(error: Exception) -> bool:
    """Whether Python code of a library raised an exception, or what that called."""
    frame = _innermost(error)
    package = "" if frame is None else str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in _LIBRARIES and not isinstance(error, _FAULTS)


def _innermost(error: Exception) -> FrameType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else trace.tb_frame
