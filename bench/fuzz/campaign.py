"""The cases of one target and seed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from bench.fuzz.sandbox import Progress, Result, run_case, run_cases
from bench.fuzz.target import Target

_TARGETS = {
    "onnx": ("bench.fuzz.onnx_models", "OnnxTarget"),
    "mlir": ("bench.fuzz.stage_texts", "MlirTarget"),
    "om": ("bench.fuzz.om_files", "OmTarget"),
}


class Campaign:
    """Makes cases and runs them in a folder, which holds the file of the case and what lies next to it."""

    def __init__(self, name: str, seed: int, folder: Path, *, small: bool = False) -> None:
        warnings.simplefilter("ignore")
        module, target = _TARGETS[name]
        self.target: Target = getattr(import_module(module), target)(small)
        self.seed = seed
        self.folder = folder
        for companion, data in self.target.companions.items():
            (folder / companion).write_bytes(data)
        assert self.target.families  # computed before any process is forked

    def write(self, data: bytes) -> Path:
        """Write the file of a case."""
        path = self.folder / f"case.{self.target.name}"
        path.write_bytes(data)
        return path

    def run(self, numbers: Sequence[int]) -> Iterator[Result]:
        """Run cases in processes of their own."""
        return run_cases(self._run, numbers)

    def run_here(self, number: int) -> Result:
        """Run a case in this process, and show the traceback."""
        return run_case(self._run, number, show=True)

    def run_data(self, data: bytes) -> Result:
        """Run a file in a process of its own."""
        path = self.write(data)
        (result,) = run_cases(lambda _, progress: self.target.run(path, progress), [0])
        return result

    def _run(self, number: int, progress: Progress) -> str:
        progress.at("make")
        return self.target.run(self.write(self.target.case(self.seed, number).data), progress)
