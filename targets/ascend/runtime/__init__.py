"""Running OM models.

    from ge import Runtime

    outputs = Runtime().run("resnet50.om", {"data": x})      # a dictionary: output name -> array

    model = Runtime().load("resnet50.om")                    # load once, run many times
    print(model.inputs, model.outputs)
    for x in batches:
        y = model.run({"data": x})["prob"]
    print(model.statistics.cycles)

Kernels run on the simulator of the AI Cores, work of the host as ONNX defines it. An OM file is complete: nothing else
is read.

| module | what |
|---|---|
| ``model`` | a loaded model: memory, inputs, tasks, outputs |
| ``order`` | how streams take turns |
| ``memory`` | device memory: the weights once, the values for each run in progress |
| ``inputs`` | checking and naming the arrays of the caller |
| ``taps`` | values inside the model, by the names of nodes |
| ``statistics`` | what the last run took |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from ge.ir.errors import GeError
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.runtime.inputs import Inputs, TensorInfo
from ge.targets.ascend.runtime.model import Model, Outputs
from ge.targets.ascend.runtime.statistics import RunStatistics, TaskRun
from ge.targets.ascend.runtime.taps import TapPoint
from ge.targets.ascend.soc import soc_names

__all__ = ["Model", "Outputs", "RunStatistics", "Runtime", "TapPoint", "TaskRun", "TensorInfo"]

NPU = "npu"
"""The device that is the simulated chip that a model was compiled for, whichever that is."""

DEVICE_NUMBERS = ("0",)
"""Numbers of devices, as on a machine with such chips: there is one, another name of :data:`NPU`."""


class Runtime:
    """Loads and runs OM models.

    ``device`` is ``npu`` or its number 0, or the name of a chip: then models that were compiled for another are
    refused. ``threads`` is how many runs of one model may be in progress at once (default: one for each processor); a
    run from one more thread waits. With ``profile=False`` cycles are not counted. With ``strict``, memory begins as NaN
    instead of zero and the simulator checks every access and every hazard. The streams of a model take turns in the
    order of the file; with ``interleaving``, a seed, in another of the possible orders in each run. None of these
    changes a result. Raises GE6001 for a device that does not exist, and GE2006 for fewer threads than one.
    """

    def __init__(
        self,
        device: str | int = NPU,
        *,
        threads: int | None = None,
        profile: bool = True,
        strict: bool = False,
        interleaving: int | None = None,
    ) -> None:
        device = NPU if str(device) in DEVICE_NUMBERS else str(device)
        if device != NPU and device not in soc_names():
            known = ", ".join((NPU, *DEVICE_NUMBERS, *soc_names()))
            raise GeError("GE6001", f"there is no device '{device}'; there is {known}")
        if threads is not None and threads < 1:
            raise GeError("GE2006", f"{threads} threads cannot run a model; at least one is needed")
        self.device = device
        self.threads = threads
        self.profile = profile
        self.strict = strict
        self.interleaving = interleaving
        self._lock = Lock()
        self._loaded: tuple[tuple[Path, int, int], Model] | None = None

    def load(self, model: str | Path | bytes) -> Model:
        """Load an OM file, given by its path or its bytes.

        Raises GE1001, GE5001 to GE5011, and GE6001 for a model of another device.
        """
        found = read_model(model)
        if self.device not in (NPU, found.soc):
            raise GeError("GE6001", f"model '{found.name}' was compiled for {found.soc}, the device is {self.device}")
        options: dict[str, Any] = {"strict": self.strict, "threads": self.threads, "profile": self.profile}
        return Model(found, interleaving=self.interleaving, **options)

    def run(self, model: str | Path | bytes | Model, inputs: Inputs, tap: Sequence[str] = ()) -> Outputs:
        """Run a model once and return its outputs by name, in the order of the model.

        ``inputs`` is a dictionary of arrays by input name, a sequence of arrays in the order of the inputs, or one
        array for a model with one input. ``tap`` names nodes of the ONNX model, also by patterns such as ``/layer1/*``:
        their values are in the ``taps`` of the result. A file is loaded when it is named first, or when it has changed.
        Raises GE6002 to GE6005 for inputs that do not fit, GE6012 for a tap, and what :meth:`load` raises.
        """
        if not isinstance(model, Model):
            model = self._load_once(model)
        return model.run(inputs, tap)

    def _load_once(self, model: str | Path | bytes) -> Model:
        """The loaded model; the last file stays loaded until another is named or it changes."""
        if isinstance(model, bytes):
            return self.load(model)
        path = Path(model).resolve()
        if not path.is_file():
            return self.load(model)
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        with self._lock:
            if self._loaded is None or self._loaded[0] != key:
                self._loaded = (key, self.load(model))
            return self._loaded[1]

    @property
    def statistics(self) -> RunStatistics | None:
        """What the last run of the last file took; None before it."""
        return None if self._loaded is None else self._loaded[1].statistics
