"""The garbage collector is held back, and afterwards is as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from ge.ir.collection import collection_paused, collection_rare, set_aside, take_back
from ge.ir.errors import GeError
from ge.tools import ge_opt


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threshold, enabled = gc.get_threshold(), gc.isenabled()
    yield
    gc.set_threshold(*threshold)
    (gc.enable if enabled else gc.disable)()


def test_a_pause_ends_also_with_an_error() -> None:
    gc.enable()
    with pytest.raises(KeyError), collection_paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    with collection_paused():
        pass
    assert not gc.isenabled()


def test_what_a_pause_made_is_old_afterwards() -> None:
    gc.enable()
    with collection_paused():
        made = [[index] for index in range(1000)]
    assert any(each is made for each in gc.get_objects(generation=2))


def test_a_pause_takes_nothing_back_that_is_set_aside() -> None:
    gc.unfreeze()
    gc.enable()
    set_aside()
    with collection_paused():
        pass
    assert gc.get_freeze_count() > 1000
    take_back()


@pytest.mark.parametrize(("before", "inside"), [(700, 10_000), (50_000, 50_000), (0, 0)])
def test_rare_is_never_more_often_than_before(before: int, inside: int) -> None:
    gc.set_threshold(before, 10, 10)
    with pytest.raises(KeyError), collection_rare():
        assert gc.get_threshold() == (inside, 10, 10)
        raise KeyError
    assert gc.get_threshold() == (before, 10, 10)


def test_what_is_set_aside_is_taken_back() -> None:
    gc.unfreeze()
    set_aside()
    assert gc.get_freeze_count() > 1000
    take_back()
    assert gc.get_freeze_count() == 0


def test_a_command_leaves_nothing_aside(tmp_path: Path) -> None:
    gc.unfreeze()
    source = tmp_path / "m.mlir"
    source.write_text("builtin.module {}")
    ge_opt.run([str(source), "-o", str(tmp_path / "o.mlir")])
    assert gc.get_freeze_count() == 0
    with pytest.raises(GeError):
        ge_opt.run([str(source), "--no-such-pass"])
    assert gc.get_freeze_count() == 0
