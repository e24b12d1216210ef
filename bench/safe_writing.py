"""Kill -9 at random moments of writing OM files: afterwards there is a whole one, the old or the new.

    python -m bench.safe_writing [--count=50] [--seed=0]

A process writes two models in turn to one file, without end, and is killed. Then the file must be read, and its weights
be those of one of the two models, also where they are external: in a file of their own. ``--count`` is for each form.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType

from ge.dialects.om import ModelOp, OperatorOp, WeightsOp
from ge.ir.attributes import WeightsAttr
from ge.ir.constants import element_type
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import write_module

FORMS: Mapping[str, tuple[bool, bool]] = {"inside": (False, False), "external": (True, True), "changing": (False, True)}
"""Where the weights of the two models are: in the OM file, beside it, or in turn."""

_LONGEST = 0.08
"""Seconds until the kill, at most: some ten models are written in that time."""


def large(fill: int, size: int = 1 << 23, *, external: bool = False) -> ModuleOp:
    """A model of nothing but a constant, ``size`` times the byte ``fill``, which is its output."""
    weights = WeightsOp(WeightsAttr.from_buffer(bytearray([fill]) * size), "large" if external else None)
    constant = OperatorOp("Const", "w", [], [TensorType(element_type(np.dtype(np.int8)), [size])], [0])
    end = OperatorOp("NetOutput", "end", [constant.results[0]])
    return ModuleOp([ModelOp("large", "Ascend310P3", 0, 0, ["y"], [weights, constant, end])])


def kill_writers(path: Path, external: tuple[bool, bool], count: int, seed: int = 0) -> Counter[int]:
    """Kill ``count`` writers of the file; how often which model was there afterwards. Raises GeError where none was."""
    modules = [large(fill, external=each) for fill, each in enumerate(external, 1)]
    random = Random(seed)
    write_module(modules[0], path)
    found: Counter[int] = Counter()
    for _ in range(count):
        process = multiprocessing.get_context("fork").Process(target=_write_for_ever, args=(modules, path))
        process.start()
        time.sleep(random.uniform(0.005, _LONGEST))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        found[_fill_of(path)] += 1
        for unfinished in path.parent.glob(f".{path.stem}.*"):
            unfinished.unlink()
    return found


def _write_for_ever(modules: Sequence[ModuleOp], path: Path) -> None:
    while True:
        for module in modules:
            write_module(module, path)


def _fill_of(path: Path) -> int:
    """The byte that all weights of a file are."""
    weights = np.frombuffer(read_model(path).weights, np.uint8)
    assert (weights == weights[0]).all()
    return int(weights[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill writers of each form, and print what they left."""
    parser = argparse.ArgumentParser("python -m bench.safe_writing", description="Kill -9 while OM files are written.")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for form, external in FORMS.items():
        with TemporaryDirectory() as folder:
            found = kill_writers(Path(folder) / "large.om", external, options.count, options.seed)
        print(f"weights {form}: {found.total()} kills left {found[1]} times one model, {found[2]} times the other")


if __name__ == "__main__":
    main()
