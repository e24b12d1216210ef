"""ge-bisect: find the pass, and within it the single rewrite, that breaks a model.

::

    ge-bisect resnet50.onnx --against onnxruntime
    ge-bisect resnet50.onnx --infer-shapes --fusion-rules --convert-onnx-to-graph
    ge-bisect stage.mlir --against before.mlir -p 'fuse-conv-bn-relu,fold-conv-bn' -o broken.mlir

Passes are flags, or a pipeline after -p, as for ge-opt; without any, they are those of ge-compiler. The module runs
after more and more of them, and is compared with the reference: onnxruntime, the module as it was read
(``definition``), or another file. A pass that fails, or leaves a module that does not run, breaks the model, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import ge
from ge.dialects.onnx.shapes.input_shapes import parse_input_shapes
from ge.ir.errors import GeError
from ge.ir.registry import context, registry
from ge.ir.rewrite_log import observe
from ge.ir.verifier import verify_module
from ge.tools import cli
from ge.tools.agreement import MAX_RELATIVE, MIN_COSINE, Agreement, compare
from ge.tools.arrays import random_inputs, read_inputs
from ge.tools.compilation import STAGES, stage_passes
from ge.tools.compile_options import CompileOptions
from ge.tools.execute import Executable, executable
from ge.tools.ge_run import run_reference
from ge.tools.pipeline import PassRunner, chosen_passes, refuse_unknown_flags, split_pass_flags


@dataclass(frozen=True)
class Outcome:
    """What became of a module: the first output that differs or the error, nothing when it agrees."""

    problem: str = ""
    rewrites: int = 0
    """How many rewrites the last pass made."""
    last: tuple[str, str] | None = None
    """The rule of the last one, and where it was applied."""

    @property
    def good(self) -> bool:
        """Whether the outputs agree."""
        return not self.problem


@dataclass(frozen=True)
class Culprit:
    """What breaks a model."""

    number: int
    """The position of the pass in the pipeline."""
    each: ModulePass
    problem: str
    rewrite: int | None = None
    """The number of the rewrite in the pass, from 1; None when the fault is in what the pass does besides."""
    rule: str = ""
    place: str = ""


class Bisection:
    """The search. Every trial starts from ``module``, which stays as it is."""

    def __init__(
        self, module: ModuleOp, passes: Sequence[ModulePass], inputs: Mapping[str, Any], reference: Mapping[str, Any]
    ) -> None:
        self.module = module
        self.passes = passes
        self.inputs = list(inputs.values())
        self.reference = reference
        self.trials = 0

    def search(self) -> Culprit | None:
        """The pass and the rewrite that break the module; None when all passes together keep the numbers.

        Raises GE6008 when the module differs from the reference before any pass.
        """
        if not (start := self.outcome(0)).good:
            raise GeError("GE6008", f"the module differs before any pass: {start.problem}")
        whole = self.outcome(len(self.passes))
        if whole.good:
            return None
        number = first_bad(len(self.passes), lambda count: self.outcome(count).good)
        each, broken = self.passes[number - 1], self.outcome(number)
        rewrite = self._search_rewrite(number, broken)
        if rewrite is None:
            return Culprit(number, each, broken.problem)
        rule, place = rewrite.last or ("", "")
        return Culprit(number, each, rewrite.problem, rewrite.rewrites, rule, place)

    def _search_rewrite(self, number: int, broken: Outcome) -> Outcome | None:
        """What one pass gives with the fewest rewrites that break the module; None when none of them does alone."""
        if not broken.rewrites or not self.outcome(number, 0).good:
            return None
        return self.outcome(number, first_bad(broken.rewrites, lambda limit: self.outcome(number, limit).good))

    def outcome(self, count: int, limit: int | None = None) -> Outcome:
        """Run the first ``count`` passes, the last of them with at most ``limit`` rewrites, and compare."""
        self.trials += 1
        try:
            module = self.after(count - 1)
            with observe(limit=limit) as log:
                run_passes(module, self.passes[max(0, count - 1) : count])
            found = Outcome(rewrites=log.count, last=log.last)
            problem = self._differences(executable(module))
        except GeError as error:
            return Outcome(error.what)
        return Outcome(problem, found.rewrites, found.last)

    def after(self, count: int) -> ModuleOp:
        """A copy of the module after the first ``count`` passes."""
        module = self.module.clone()
        run_passes(module, self.passes[: max(0, count)])
        return module

    def _differences(self, program: Executable) -> str:
        names = [info.name for info in program.inputs]
        outputs = program.run(dict(zip(names, self.inputs, strict=True)))
        return next((str(each) for each in compare(outputs, self.reference, half=program.half) if not agrees(each)), "")


def agrees(found: Agreement) -> bool:
    """Whether an output agrees, whatever class is on top: of random numbers, two may be nearly equal."""
    if found.same_top1 is False and not found.problem:
        return found.cosine >= MIN_COSINE and found.relative <= MAX_RELATIVE
    return found.passed


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Run passes on a module and verify it after each."""
    PassRunner(verify_module, str).run(context(), module, passes)


def first_bad(count: int, is_good: Callable[[int], bool]) -> int:
    """The smallest number from 1 to ``count`` that is bad; 0 is good and ``count`` bad, without asking."""
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return bad


def describe(culprit: Culprit | None, bisection: Bisection) -> str:
    """The result for the terminal."""
    count = len(bisection.passes)
    if culprit is None:
        return f"all {count} passes keep the numbers"
    lines = [f"pass {culprit.number} of {count} breaks the model: --{culprit.each.name}", f"  {culprit.problem}"]
    if culprit.rewrite is None:
        lines.append("  its rewrites cannot be told apart: it does not count them, or fails without any")
    else:
        lines.append(f"  rewrite {culprit.rewrite} is the first wrong one: '{culprit.rule}' at {culprit.place}")
    return "\n".join([*lines, f"  ({bisection.trials} trials)"])


# Command line


def argument_parser() -> argparse.ArgumentParser:
    """The options of ge-bisect, passes excepted."""
    parser = argparse.ArgumentParser(
        "ge-bisect",
        description="Find the pass and the rewrite that break a model.",
        usage="ge-bisect FILE [--against REFERENCE] [--PASS[='OPTIONS'] ... | -p PIPELINE] [other options]",
        allow_abbrev=False,
    )
    parser.add_argument("file", help="an .onnx or .mlir file")
    parser.add_argument(
        "--against",
        metavar="REFERENCE",
        help="onnxruntime, definition (the module as it was read), or a file (default: onnxruntime for .onnx)",
    )
    parser.add_argument("-p", "--passes", default="", help="the passes as one text (default: those of ge-compiler)")
    parser.add_argument(
        "--input", action="append", default=[], metavar="[NAME=]FILE", help="an input (default: random)"
    )
    parser.add_argument("--input-shape", metavar="x:1,3,224,224", help="fix the shapes of the inputs of an .onnx file")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs (default 0)")
    parser.add_argument("-o", "--output-file", metavar="FILE", help="write the module before the guilty pass, as .mlir")
    cli.add_plugin_option(parser.add_argument)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.add_argument("-v", "--version", action="version", version=f"ge-bisect {ge.__version__}")
    return parser


def run(args: Sequence[str]) -> None:
    """Run ge-bisect; errors are raised. A model that breaks is GE3014."""
    flags, others = split_pass_flags(cli.load_plugins(args), registry())
    parser = argument_parser()
    refuse_unknown_flags(parser, others, registry())
    arguments = parser.parse_args(others)
    module = read_model(arguments.file, arguments.input_shape)
    passes = chosen_passes(flags, arguments.passes, registry())
    if not passes:
        options = CompileOptions(model=Path(arguments.file))
        passes = [each for stage in STAGES for each in stage_passes(stage, options)]
    program = executable(module)
    inputs = {**random_inputs(program.inputs, arguments.seed), **read_inputs(arguments.input, program.inputs)}
    reference = reference_outputs(arguments.against, arguments.file, program, inputs)
    bisection = Bisection(module, passes, inputs, reference)
    culprit = bisection.search()
    print(describe(culprit, bisection))
    if culprit is None:
        return
    if arguments.output_file:
        cli.write_text(bisection.after(culprit.number - 1), arguments.output_file)
    raise GeError("GE3014", f"pass '{culprit.each.name}' breaks the model", culprit.place or None)


def read_model(file: str, input_shape: str | None) -> ModuleOp:
    """Read and verify the module of a file."""
    if input_shape and cli.format_of(file) == "onnx":
        from ge.targets.onnx.importer import import_model

        module = import_model(file, parse_input_shapes(input_shape))
    else:
        module = cli.read_module(file, context())
    verify_module(module)
    return module


def reference_outputs(
    against: str | None, file: str, program: Executable, inputs: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What the outputs are to be compared with. Raises GE2006 when onnxruntime is asked to run text."""
    if against is None:
        against = "onnxruntime" if file.endswith(".onnx") else "definition"
    if against == "definition":
        return program.run(inputs)
    if against != "onnxruntime":
        return run_reference(against, inputs)[1]
    if not file.endswith(".onnx"):
        raise GeError(
            "GE2006", f"onnxruntime cannot run '{file}'", remedy="Give --against definition, or an .onnx file."
        )
    return run_reference(file, inputs)[1]


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-bisect``."""
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
