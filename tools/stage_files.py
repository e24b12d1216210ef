"""The module after each stage of a compilation as a file: ``01-onnx.mlir``, ``02-onnx-optimised.mlir``, ...

All stage files of a folder share one file of weights.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ge.ir.errors import GeError
from ge.ir.printer import GePrinter
from ge.ir.weights import WeightsMode, WeightsWriter, atomic_write


@contextmanager
def stage_files(folder: Path | None) -> Generator[Callable[[int, str, ModuleOp], None]]:
    """A function that writes one stage file into ``folder``; without a folder it does nothing. Raises GE1003.

    The weights of all stages are written when the block ends, also by an error: the stages before it stay readable.
    """
    if folder is None:
        yield lambda number, name, module: None
        return
    weights = WeightsWriter(WeightsMode.FILE, folder, "model.weights")

    def write(number: int, name: str, module: ModuleOp) -> None:
        text = StringIO()
        GePrinter(text, weights_writer=weights).print_op(module)
        with atomic_write(folder / f"{number:02}-{name}.mlir") as stream:
            stream.write(text.getvalue().encode() + b"\n")

    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            yield write
        finally:
            weights.finish()
    except OSError as error:
        raise GeError("GE1003", f"cannot write to '{folder}': {error.strerror or error}", str(folder)) from error
