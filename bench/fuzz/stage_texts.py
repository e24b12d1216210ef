"""Target `mlir`: texts of every level through parsing, verification, printing, and the passes of the next stage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from bench.fuzz import byte_mutations, module_mutations, text_mutations
from bench.fuzz.passes import run_passes
from bench.fuzz.round_trip import check_round_trip
from bench.fuzz.sandbox import RUN_SECONDS, Progress
from bench.fuzz.small_models import small_models
from bench.fuzz.target import SeedFile, Target
from bench.fuzz.verdict import PASSED
from ge.dialects.cube.encoding import decode, encode
from ge.dialects.cube.kernel import AllocOp, CubeKernelOp
from ge.ir.parser import parse_module
from ge.ir.printer import print_module, write_module
from ge.ir.verifier import verify_module
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import model_bytes
from ge.targets.onnx.importer import import_model
from ge.tools.arrays import random_inputs
from ge.tools.compilation import (
    ASSIGN,
    CUBE,
    FUSE,
    LOWER,
    OPTIMISE,
    PLAN,
    PROGRAM,
    STAGES,
    TILE,
    WRITE,
    Stage,
    run_stage,
)
from ge.tools.compile_options import CompileOptions
from ge.tools.execute import executable

_WEIGHTS = "model.weights"
_KERNEL_LINES = 150
"""Kernels of more lines are no seed files of their own."""


class MlirTarget(Target):
    """See the module docstring."""

    name = "mlir"

    def __init__(self, small: bool = False) -> None:
        self._small = small
        self.companions = {_WEIGHTS: bytes(range(256)) * 64}

    def seed_files(self) -> list[SeedFile]:
        files: list[SeedFile] = []
        for name, model in small_models().items():
            if self._small and name == "cnn":
                continue
            module = import_model(model)
            for stage in STAGES:
                run_stage(stage, module, CompileOptions(Path(f"{name}.onnx")))
                files += _texts(f"{name}/{stage.name}", stage, module)
        return files

    def mutate(self, data: bytes, random: Random) -> bytes:
        other = self.choose(random).data
        if random.random() < 0.03:
            return byte_mutations.mutate(data, random, other)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return byte_mutations.mutate(data, random, other)
        if random.random() < 0.7 and (changed := _mutate_module(text, random)) is not None:
            return changed.encode()
        return text_mutations.mutate(text, random, other.decode()).encode()

    def run(self, path: Path, progress: Progress) -> str:
        progress.at("parse")
        module = parse_module(path)
        progress.at("verify")
        verify_module(module)
        for generic in (False, True):
            progress.at("generic text" if generic else "text")
            check_round_trip(module, generic=generic)
        progress.at("write")
        write_module(module, path.with_name("again.mlir"))
        run_passes(module, Random(path.read_bytes()), progress)
        next_passes(module.clone(), progress)
        progress.at("prepare run")
        program = executable(module)
        inputs = random_inputs(program.inputs, 0)
        progress.at("run", seconds=RUN_SECONDS)
        program.run(inputs)
        progress.at("end")
        return PASSED

    def without_parts(self, data: bytes) -> list[bytes]:
        lines = data.split(b"\n")
        pieces: list[bytes] = []
        size = len(lines) // 2
        while size:
            starts = range(0, len(lines), size)
            pieces += [b"\n".join([*lines[:start], *lines[start + size :]]) for start in starts]
            size //= 2
        return pieces


def _mutate_module(text: str, random: Random) -> str | None:
    """The generic text of a changed module; None when the text is not IR, or the module cannot be printed."""
    try:
        module = parse_module(text)
        module_mutations.mutate(module, random)
        return print_module(module, generic=True)
    except Exception:  # of the file as it is, which `run` looks at
        return None


def next_passes(module: ModuleOp, progress: Progress) -> None:
    """Run the passes that come next at the level of a module."""
    names = {op.name for op in module.walk()}
    dialects = {name.partition(".")[0] for name in names}
    if "om.model" in names:
        progress.at("write OM")
        read_model(model_bytes(module))
        return
    for op in module.ops:
        if isinstance(op, CubeKernelOp) and all(alloc.address is not None for alloc in _allocs(op)):
            progress.at("encode")
            decode(encode(op), op.sym_name.data)
    for stage in _next_stages(dialects, module):
        progress.at(stage.name)
        run_stage(stage, module, CompileOptions(Path("model.onnx")))


def _next_stages(dialects: Iterable[str], module: ModuleOp) -> tuple[Stage, ...]:
    if "cube" in dialects:
        is_planned = all(alloc.address is not None for alloc in _allocs(module))
        if "graph" not in dialects:
            return () if is_planned else (PLAN,)
        return (PROGRAM, WRITE) if is_planned else (PLAN, PROGRAM)
    if "tile" in dialects:
        return (CUBE, PLAN)
    if "graph" in dialects:
        return (FUSE, ASSIGN, TILE)
    return (OPTIMISE, LOWER)


def _allocs(op: Operation) -> list[AllocOp]:
    return [inner for inner in op.walk() if isinstance(inner, AllocOp)]


def _texts(name: str, stage: Stage, module: ModuleOp) -> list[SeedFile]:
    """The text of a stage, and those of its kernels alone."""
    text = print_module(module)
    files = [SeedFile(name, text.encode(), stage.name)] if len(text) < 60_000 else []
    for number, op in enumerate(module.ops):
        if op.name in ("tile.kernel", "cube.kernel"):
            text = print_module(ModuleOp([op.clone()]))
            if text.count("\n") <= _KERNEL_LINES:
                files.append(SeedFile(f"{name}/{number}", text.encode(), f"{stage.name} kernel"))
    return files
