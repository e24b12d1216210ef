"""Device memory: weights are there for every run, what one run writes no other sees, and they are there once."""

import os
from pathlib import Path

import numpy as np
import pytest

from ge.ir.errors import GeError
from ge.targets.ascend.runtime.memory import DeviceMemory
from ge.targets.ascend.soc import load_soc

SOC = load_soc("Ascend310P3")


def test_each_view_has_the_weights_and_zeros_behind_them() -> None:
    weights = np.arange(700, dtype=np.uint32).view(np.uint8)
    memory = DeviceMemory(memoryview(weights.tobytes()), 4096, SOC)
    assert memory.weight_size == 3072 and memory.size == 3072 + 4096
    for view in (memory.view(), memory.view()):
        np.testing.assert_array_equal(view[: weights.size], weights)
        assert view.size == memory.size and not view[weights.size :].any()


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_view_keeps_what_it_writes_to_itself(in_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not in_memory:  # as on systems without files in memory
        monkeypatch.delattr(os, "memfd_create", raising=False)
    memory = DeviceMemory(memoryview(b"\1" * 512), 512, SOC)
    first, second = memory.view(), memory.view()
    first[:] = 7
    assert (first == 7).all()
    assert (second[:512] == 1).all() and not second[512:].any()
    assert (memory.view()[:512] == 1).all()


@pytest.mark.parametrize(("weights", "size"), [(0, 0), (0, 512), (1, 0)])
def test_a_model_may_have_no_weights_or_no_values(weights: int, size: int) -> None:
    view = DeviceMemory(memoryview(b"\1" * weights), size, SOC).view()
    assert view.size == (512 if weights else 0) + size and view.sum() == weights


def pages_of_its_own() -> int | None:
    """Bytes of memory that this process shares with no file; None where the system does not tell."""
    report = Path("/proc/self/smaps_rollup")
    if not report.is_file():
        return None
    return next(1024 * int(line.split()[1]) for line in report.read_text().splitlines() if line.startswith("Anonymous"))


def test_weights_are_in_memory_once() -> None:
    size = 32 << 20
    memory = DeviceMemory(memoryview(bytes(size)), 4096, SOC)
    before = pages_of_its_own()
    views = [memory.view() for _ in range(4)]
    assert not any(view.any() for view in views)
    after = pages_of_its_own()
    assert before is None or after is None or after - before < size


def test_more_than_the_device_has_is_refused() -> None:
    with pytest.raises(GeError, match="Ascend310P3 has 24000000000") as error:
        DeviceMemory(memoryview(b""), 24_000_000_001, SOC)
    assert error.value.code == "GE6009"
