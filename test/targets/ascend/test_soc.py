"""SoC files: what is found, what is refused, and that the numbers make sense together."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.dialects.cube.instructions import INSTRUCTIONS
from ge.dialects.cube.spaces import Pipe, Space
from ge.ir.errors import GeError
from ge.targets.ascend.soc import load_soc, soc_names


@pytest.mark.parametrize("name", soc_names())
def test_file_is_complete(name: str) -> None:
    soc = load_soc(name)
    assert soc.name == name
    on_chip = {str(space) for space in Space if space is not Space.GM}
    assert set(soc.buffers) == on_chip
    assert set(soc.alignment) == {str(space) for space in Space}
    assert set(soc.pipes) == {str(pipe) for pipe in Pipe}
    assert all(size % soc.alignment[space] == 0 for space, size in soc.buffers.items())
    assert soc.lacks <= set(INSTRUCTIONS)
    assert 0 < soc.ddr_rate <= soc.l2_rate
    # Every path between on-chip memories has a rate.
    assert {path for path in soc.paths if "gm" not in path} <= set(soc.rates)
    assert {"simple", "slow", "reduce", "transpose"} <= set(soc.vector)


def test_numbers_of_the_310p3() -> None:
    soc = load_soc("Ascend310P3")
    assert (soc.cores, soc.clock_mhz, soc.event_ids) == (8, 1060, 8)
    assert soc.buffers == {"l1": 1 << 20, "l0a": 65536, "l0b": 65536, "l0c": 262144, "ub": 262144}
    assert soc.seconds(1_060_000_000) == 1.0
    # 8 cores of 4096 multiply-accumulates per cycle: the 69.5 TFLOPS of the public peak.
    assert round(soc.cores * soc.clock_mhz * 8192 / 1e6, 1) == 69.5


def test_names_in_any_case() -> None:
    assert load_soc("ascend310p3") is load_soc("ASCEND310P3")


def test_unknown_name() -> None:
    with pytest.raises(GeError) as error:
        load_soc("Ascend310P4")
    assert error.value.code == "GE2020"
    assert "Ascend310P3" in error.value.remedy


def test_load3d_table() -> None:
    """The rows of the published table, for L0A and L0B."""
    costs = load_soc("Ascend310P3").costs()
    for space, one_row, extra, slowest in (("l0a", 256, 0, 32), ("l0b", 128, 2, 28)):
        assert costs.load3d_rate(space, 1, 1) == one_row
        for rows in (2, 5, 40):
            assert costs.load3d_rate(space, 1, rows) == max(512 // (rows + 2 + extra), slowest)
        for stride in (2, 4, 8):
            assert costs.load3d_rate(space, stride, 1) == max(512 // (2 * stride + extra), slowest)
            assert costs.load3d_rate(space, stride, 3) == max(512 // (2 * stride + 3 + extra), slowest)
        assert costs.load3d_rate(space, 3, 1) == slowest


def test_own_soc_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.toml").write_text('name = "Mine"\nlike = "Ascend310P3"\ncores = 3\n[gm]\nddr = 5\n')
    monkeypatch.setenv("GE_SOC_PATH", str(tmp_path))
    assert "Mine" in soc_names()
    soc = load_soc("mine")
    assert (soc.cores, soc.ddr_rate, soc.l2_rate) == (3, 5, 114)
    monkeypatch.delenv("GE_SOC_PATH")
    assert "Mine" not in soc_names()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name = ", "Invalid value"),
        ("cores = 3", "'name' is missing"),
        ('name = "Mine"\ncores = 3', "entry 'gm' is missing"),
        ('name = "Mine"\nlike = "Mine"', "'like' names no other SoC: mine"),
        ('name = "Mine"\nlike = "Ascend310P3"\npipes = 3', ""),
    ],
)
def test_wrong_file(text: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.toml").write_text(text)
    monkeypatch.setenv("GE_SOC_PATH", str(tmp_path))
    with pytest.raises(GeError) as error:
        load_soc("Mine")
    assert error.value.code == "GE2021"
    assert what in error.value.what
