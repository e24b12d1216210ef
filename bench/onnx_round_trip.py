"""onnx -> module -> text -> module -> onnx for every model of onnx.backend.test, as a table.

    python -m bench.onnx_round_trip [--models FOLDER] [--verbose]

A model is *exact* when it comes back bit by bit in its canonical form (ge.targets.onnx.canonical), and its text, read
and printed again, is the same text. A model of which nodes had to be converted to the newest opset (*converted*) comes
back at another opset; *refused* are those that importing ends with an error. Anything else is a fault, and is listed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import onnx
from onnx import ModelProto
from onnx.backend.test import loader
from onnx.backend.test.case.node import collect_testcases

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.targets.onnx.canonical import same_model
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

FOLDERS = ("simple", "pytorch-converted", "pytorch-operator")
OUTCOMES = ("exact", "converted", "refused", "differs", "text differs", "fails")


@dataclass(frozen=True)
class Case:
    """A model of the corpus."""

    kind: str
    name: str
    model: ModelProto


def corpus(folder: Path | None = None) -> Iterator[Case]:
    """All models of onnx.backend.test, and those of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = cast("list[Any]", collect_testcases(None))
    for case in nodes:
        yield Case("node", case.name, case.model)
    for kind in FOLDERS:
        for path in sorted(Path(loader.DATA_DIR, kind).glob("*/model.onnx")):
            yield Case(kind, path.parent.name, onnx.load(path))
    for path in sorted(Path(loader.DATA_DIR, "light").glob("*.onnx")):
        yield Case("light", path.stem, onnx.load(path))
    for path in sorted(folder.glob("*.onnx")) if folder is not None else ():
        yield Case(folder.name if folder is not None else "", path.stem, onnx.load(path))


def round_trip(model: ModelProto) -> str:
    """What becomes of one model: one of :data:`OUTCOMES`, with a reason where there is one."""
    try:
        module = import_model(model)
    except GeError as error:
        return f"refused: {error.code} {error.what}"
    text = print_module(module)
    again = parse_module(text)
    second = print_module(again)
    if print_module(parse_module(second)) != second:
        return "text differs"
    exported = export_model(again)
    if same_model(exported, model):
        return "exact"
    opsets = [{entry.domain: entry.version for entry in each.opset_import} for each in (exported, model)]
    return "converted" if opsets[0].get("", 0) > opsets[1].get("", opsets[1].get("ai.onnx", 0)) else "differs"


def outcome(model: ModelProto) -> str:
    try:
        return round_trip(model)
    except Exception as error:  # a fault of ours: to be listed, not to end the run
        return f"fails: {type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="a folder with further .onnx files")
    parser.add_argument("--verbose", action="store_true", help="list refused and converted models, too")
    options = parser.parse_args()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    start = time.perf_counter()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in corpus(options.models and options.models.resolve()):
            found = outcome(case.model)
            word = found.partition(":")[0]
            table[case.kind][word] += 1
            if word != "exact" and (options.verbose or word not in ("refused", "converted")):
                print(f"{case.kind}/{case.name}: {found}")
    print(f"{'models':20}", *(f"{name:>13}" for name in OUTCOMES))
    for kind, counts in table.items():
        print(f"{kind:20}", *(f"{counts[name]:13}" for name in OUTCOMES))
    total = sum(table.values(), Counter[str]())
    print(f"{total.total()} models in {time.perf_counter() - start:.0f} s")
    return int(any(total[name] for name in OUTCOMES[3:]))


if __name__ == "__main__":
    sys.exit(main())
