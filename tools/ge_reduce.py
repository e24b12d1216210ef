"""ge-reduce: shrink a failing module to a small one that still fails.

::

    ge-reduce resnet50.onnx --fuse-conv-bn-relu -o small.mlir
    ge-reduce stage.mlir --command 'ge-opt {} --my-pass' -o small.mlir

With passes, a module fails when they change its numbers on random inputs, or break off; with --command, when the
command ends as it does on the whole file ({} stands for the file). The module is at the onnx or graph level.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import ge
from ge.ir.errors import GeError
from ge.ir.printer import Locations
from ge.ir.registry import context, registry
from ge.ir.verifier import verify_module
from ge.tools import cli
from ge.tools.ge_bisect import read_model
from ge.tools.pipeline import PassRunner, chosen_passes, refuse_unknown_flags, split_pass_flags
from ge.tools.reductions import REDUCTIONS, Reduction, size
from ge.tools.verify_numerics import NumericsCheck

Predicate: TypeAlias = Callable[[ModuleOp], bool]
"""Whether a module fails as the whole one does."""


def reduce_module(module: ModuleOp, fails: Predicate, most: int = 2000) -> tuple[ModuleOp, int]:
    """A smaller module that fails, too, and how many were tried (at most about ``most``)."""
    trials = 0
    progress = True
    while progress and trials < most:
        progress = False
        for reduction in REDUCTIONS:
            module, used, smaller = _apply(reduction, module, fails, most - trials)
            trials += used
            progress |= smaller
    return module, trials


def _apply(reduction: Reduction, module: ModuleOp, fails: Predicate, most: int) -> tuple[ModuleOp, int, bool]:
    """Make one kind of change wherever the module still fails after it: the module, trials, and whether it shrank."""
    trials, smaller = 0, False
    position = 0
    while trials < most:
        candidate = module.clone()
        if (changed := reduction(candidate, position)) is None:
            break
        trials += changed
        if changed and size(candidate) < size(module) and _is_valid(candidate) and fails(candidate):
            module, smaller = candidate, True  # what comes next has moved to this position
        else:
            position += 1
    return module, trials, smaller


def _is_valid(module: ModuleOp) -> bool:
    try:
        verify_module(module)
    except GeError:
        return False
    return True


# Predicates


def changed_by(passes: Sequence[ModulePass], seed: int) -> Predicate:
    """Whether passes change the numbers of a module, or break off."""

    def fails(module: ModuleOp) -> bool:
        check = NumericsCheck(seed)
        try:
            check(None, module)
        except GeError:
            return False  # it does not run before the passes either
        candidate = module.clone()
        try:
            PassRunner(verify_module, str).run(context(), candidate, passes)
            check(passes[-1], candidate)
        except GeError:
            return True
        return False

    return fails


def command_ends_with(command: str, status: int) -> Predicate:
    """Whether a command ends with a status on a module; see :func:`status_of`."""
    return lambda module: status_of(command, module) == status != 0


def status_of(command: str, module: ModuleOp) -> int:
    """The exit status of a command on a module, which is written to a file in the place of ``{}``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "module.mlir"
        cli.write_text(module, str(file), locations=Locations.NAMES)
        words = [word.replace("{}", str(file)) for word in shlex.split(command)]
        try:
            return subprocess.run(words, capture_output=True, check=False, cwd=Path.cwd()).returncode
        except OSError as error:
            raise GeError("GE2006", f"--command: cannot run '{words[0]}': {error.strerror}") from error


# Command line


def argument_parser() -> argparse.ArgumentParser:
    """The options of ge-reduce, passes excepted."""
    parser = argparse.ArgumentParser(
        "ge-reduce",
        description="Shrink a failing module to a small one that still fails.",
        usage="ge-reduce FILE (--PASS[='OPTIONS'] ... | -p PIPELINE | --command COMMAND) [-o FILE] [other options]",
        allow_abbrev=False,
    )
    parser.add_argument("file", help="an .onnx or .mlir file")
    parser.add_argument("-p", "--passes", default="", help="the passes that fail, as one text")
    parser.add_argument("--command", help="a command that fails; {} stands for the file")
    parser.add_argument("-o", "--output-file", metavar="FILE", help="write the small module here (.mlir, .onnx)")
    parser.add_argument("--input-shape", metavar="x:1,3,224,224", help="fix the shapes of the inputs of an .onnx file")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs (default 0)")
    cli.add_plugin_option(parser.add_argument)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.add_argument("-v", "--version", action="version", version=f"ge-reduce {ge.__version__}")
    return parser


def predicate_of(module: ModuleOp, passes: Sequence[ModulePass], command: str | None, seed: int) -> Predicate:
    """What a small module must do, too. Raises GE2003 or GE2008 unless passes or a command are given."""
    if command is not None and passes:
        raise GeError("GE2003", "passes and --command are both given")
    if command is not None:
        if "{}" not in command:
            raise GeError("GE2006", "--command has no {}, which stands for the file")
        return command_ends_with(command, status_of(command, module))
    if not passes:
        raise GeError("GE2008", "neither passes nor --command are given")
    return changed_by(passes, seed)


def run(args: Sequence[str]) -> None:
    """Run ge-reduce; errors are raised. A module that does not fail is GE2010."""
    flags, others = split_pass_flags(cli.load_plugins(args), registry())
    parser = argument_parser()
    refuse_unknown_flags(parser, others, registry())
    arguments = parser.parse_args(others)
    module = read_model(arguments.file, arguments.input_shape)
    passes = chosen_passes(flags, arguments.passes, registry())
    fails = predicate_of(module, passes, arguments.command, arguments.seed)
    if not fails(module):
        raise GeError("GE2010", f"'{arguments.file}' does not fail")
    small, trials = reduce_module(module, fails)
    print(f"// {size(module)[0]} operations -> {size(small)[0]}, {trials} trials")
    path = cli.named(arguments.output_file)
    if path is not None and path.endswith(".onnx"):
        cli.write_binary(small, path, "onnx")
    else:
        cli.write_text(small, path)


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-reduce``."""
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
