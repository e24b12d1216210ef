"""ge-opt: read a module of any level, run passes on it in the order given, write it.

Every pass is a flag, and flags run in the order of the command line::

    ge-opt model.onnx -O2 -o optimised.onnx
    ge-opt model.onnx --convert-onnx-to-graph --fuse-conv-bn-relu -o fused.mlir
    ge-opt fused.mlir --tile='rows=4 double-buffer' --print-ir-after-all
    ge-opt fused.mlir -p 'fold-constants,tile{rows=4}'

The type of the input and output follows the file name: .mlir, .onnx or .om.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_spec
from xdsl.xdsl_opt_main import VersionAction, xDSLOptMain

import ge
from ge.ir.collection import collection_paused, set_aside, take_back
from ge.ir.errors import GeError
from ge.ir.parser import decode_text, parse_text
from ge.ir.printer import Locations, print_module
from ge.ir.registry import Registry
from ge.ir.rewrite_log import RewriteLog, Switches, observe
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsMode, atomic_write
from ge.passes.pipelines import level_of
from ge.tools import cli
from ge.tools.diagnostics import check_errors, expected_errors
from ge.tools.explanations import explanations
from ge.tools.pipeline import (
    PassRunner,
    asks_for_level,
    chosen_passes,
    find_pass,
    pass_options,
    pipeline_text,
    refuse_unknown_flags,
    split_pass_flags,
)

if TYPE_CHECKING:
    from ge.tools.fusion_report import ModuleWatcher
    from ge.tools.verify_numerics import NumericsCheck

CHUNK_SEPARATOR = "// -----"
"""The line between the modules of a file for --split-input-file."""


class GeOpt(xDSLOptMain):
    """The driver: xDSL's, with our registry, files, errors and printing."""

    version_format = f"ge-opt {ge.__version__} (xDSL {{xdsl_version}})"

    def __init__(self, args: Sequence[str]) -> None:
        self.registry = Registry()
        self.registry.load_entry_points()
        for plugin in cli.split_plugins(args)[0]:
            self.registry.load_plugin(plugin)
        self.watcher: ModuleWatcher | None = None
        self.numerics: NumericsCheck | None = None
        self.pass_flags, self.other_args = split_pass_flags(args, self.registry)
        self.has_level = asks_for_level(args)
        super().__init__(__doc__.partition("\n")[0] if __doc__ else "", self.other_args)

    # Registration

    def register_all_dialects(self) -> None:
        self.ctx = self.registry.context()

    def register_all_frontends(self) -> None:
        self.available_frontends.update(dict.fromkeys(cli.FORMATS, _never))

    def register_all_passes(self) -> None:
        self.available_passes = dict(self.registry.passes)

    def register_all_targets(self) -> None:
        super().register_all_targets()
        self.available_targets.update(dict.fromkeys(cli.FORMATS, _never))

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.prog = "ge-opt"
        arg_parser.usage = "ge-opt [FILE] [--PASS[='OPTIONS'] ...] [-o FILE] [other options]"
        arg_parser.allow_abbrev = False
        _add_file_arguments(arg_parser, self.version_format)
        _add_printing_arguments(arg_parser)
        _add_checking_arguments(arg_parser)
        flags = arg_parser.add_argument_group(
            "passes", "Each pass is a flag, run in the order given; options: --PASS='option=value flag list=a,b'."
        )
        flags.add_argument(
            "-p", "--passes", "--pass-pipeline", default="", help="the passes as one text: a,b{option=1},c"
        )
        flags.add_argument("--fusion_rules", metavar="FILE", help="the pass fusion-rules with the rules of this file")
        flags.add_argument(
            "-O", "--oo_level", metavar="0|1|2|3", help="the passes of an optimisation level, among the other passes"
        )
        flags.add_argument(
            "--fusion_switch_file", metavar="FILE", help="a JSON file that switches passes and rules off"
        )
        flags.add_argument(
            "--fusion_report", metavar="FILE", help="what the rules did, as JSON; - for tables on standard error"
        )
        flags.add_argument(
            "--explain-fusion", default="", metavar="RULE", help="say where a rule nearly applies, and why it does not"
        )
        flags.add_argument("--print-pipeline", action="store_true", help="print the passes as a text for -p, and stop")
        flags.add_argument("--list-passes", action="store_true", help="list the passes with their options, and stop")
        for name in self.registry.own_passes:
            flags.add_argument(f"--{name}", action="store_true", default=argparse.SUPPRESS)
        arg_parser.set_defaults(disable_verify=False, syntax_highlight=False, print_no_properties=False)
        refuse_unknown_flags(arg_parser, self.other_args, self.registry)

    def setup_pipeline(self) -> None:
        self.passes: list[ModulePass] = chosen_passes(self.pass_flags, self.args.passes, self.registry)
        for name in (*self.args.print_ir_before, *self.args.print_ir_after):
            find_pass(name, self.registry)
        every = {"*"}
        self.runner = PassRunner(
            verify_module,
            lambda module: print_module(module, weights=WeightsMode.ELIDED),
            verify_each=not self.has_level if self.args.verify_each is None else self.args.verify_each,
            dump_before=every if self.args.print_ir_before_all else self.args.print_ir_before,
            dump_after=every if self.args.print_ir_after_all else self.args.print_ir_after,
            observers=list(self._observers()),
        )

    def _observers(self) -> Iterator[Callable[[ModulePass | None, ModuleOp], None]]:
        """What looks at the module after every pass."""
        if self.args.verify_numerics:
            from ge.tools.verify_numerics import NumericsCheck

            self.numerics = NumericsCheck(self.args.seed)
            yield self.numerics
        if self.args.fusion_report:
            from ge.tools.fusion_report import ModuleWatcher

            self.watcher = ModuleWatcher()
            yield self.watcher

    # Running

    def run(self) -> None:
        if self.args.list_passes:
            print(self.describe_passes())
            return
        if self.args.print_pipeline:
            print(pipeline_text(self._switched_passes()))
            return
        if self.args.check_rules is not None:
            from ge.tools.check_rules import check_rules

            print(check_rules(self.args.check_rules or None, self.args.seed))
            return
        with self._observation() as log:
            self._process()
        if self.numerics is not None:
            print(self.numerics.report(), file=sys.stderr)
        if self.watcher is not None:
            from ge.tools.fusion_report import report_facts, write_report

            write_report(report_facts(self.args.input_file or "<stdin>", log, self.watcher), self.args.fusion_report)
        for line in explanations(self._explained, log):
            print(line, file=sys.stderr)
        if self.args.time_passes:
            print(self.runner.timing(), file=sys.stderr)

    def _observation(self) -> AbstractContextManager[RewriteLog]:
        """Observe the rewrites: with the switches, for the report and the explanations that are asked for."""
        if not (self.args.fusion_switch_file or self.args.explain_fusion):
            return observe(watcher=self.watcher)
        from ge.tools.rule_names import rules_asked_for

        asked = rules_asked_for(self._explained, self.registry, self._rule_files)
        return observe(switches=self._switches(), explain=asked, watcher=self.watcher)

    @property
    def _rule_files(self) -> list[str]:
        """The files of rules that the passes read."""
        return [file for each in self.passes for file in getattr(each, "file", ())]

    def _switches(self) -> Switches | None:
        """What --fusion_switch_file switches; None without it."""
        if not self.args.fusion_switch_file:
            return None
        from ge.tools.switch_file import read_switch_file

        return read_switch_file(self.args.fusion_switch_file, self.registry, self._rule_files)

    def _switched_passes(self) -> Sequence[ModulePass]:
        """The passes without what is switched off."""
        switches = self._switches()
        if switches is None:
            return self.passes
        from ge.tools.switch_file import switched

        return list(switched(self.passes, switches))

    @property
    def _explained(self) -> list[str]:
        """The rules and passes of --explain-fusion, which are separated by commas."""
        return list(filter(None, self.args.explain_fusion.split(",")))

    def _process(self) -> None:
        """Read, run the passes, write."""
        path = cli.named(self.args.input_file)
        format = cli.format_of(path, parse_spec(self.args.frontend).name if self.args.frontend else None)
        if format == "mlir":
            self._run_text(path)
        else:
            with collection_paused():
                module = cli.read_binary(path, format)
                set_aside()
            self.runner.verify_first = format != "onnx"  # the importer has checked each operation
            self.runner.run(self.ctx, module, self.passes)
            self.write(module)

    def _run_text(self, path: str | None) -> None:
        """Process the module in a text, or each of its chunks."""
        name = "<stdin>" if path is None else path
        text = decode_text(cli.read_bytes(path), name)
        chunks = _chunks(text) if self.args.split_input_file else [text]
        strict = bool(self.args.verify_diagnostics and expected_errors(text))
        for number, chunk in enumerate(chunks):
            if number and not strict:
                print(CHUNK_SEPARATOR)
            try:
                module = parse_text(
                    self.ctx, chunk, name, cli.weights_reader(path, self.args.verify_weights), self._implicit_module
                )
                self.runner.run(self.ctx, module, self.passes)
            except GeError as error:
                self._diagnose(error, chunk, name, strict)
                continue
            if strict:
                check_errors(expected_errors(chunk), None, name)
            else:
                self.write(module)

    @property
    def _implicit_module(self) -> bool:
        return not self.args.no_implicit_module

    def _diagnose(self, error: GeError, chunk: str, name: str, strict: bool) -> None:
        """Compare an error with the comments of a test, or print it and go on; raise it when it is not wanted."""
        if strict:
            check_errors(expected_errors(chunk), error, name)
        elif self.args.verify_diagnostics:
            print(cli.describe(error))
        else:
            raise error

    def write(self, module: ModuleOp) -> None:
        """Write a module to -o in the form that -t or the extension of -o names."""
        path = cli.named(self.args.output_file)
        target = parse_spec(self.args.target)
        name = target.name
        if name == "mlir" and path is not None and path.endswith((".onnx", ".om")):
            name = path.rpartition(".")[2]
        cli.check_target_opset(self.args.target_opset, name)
        if name in ("onnx", "om"):
            cli.write_binary(module, path, name, self.args.target_opset)
        elif name == "mlir":
            cli.write_text(
                module,
                path,
                weights=self._weights_mode(),
                locations=Locations.ALL if self.args.print_debuginfo else Locations.NAMES,
                generic=self.args.print_op_generic,
            )
        else:
            self._write_xdsl_target(module, path)

    def _weights_mode(self) -> WeightsMode | None:
        if self.args.elide_weights and self.args.inline_weights:
            raise GeError("GE2003", "--elide-weights and --inline-weights are both given")
        if self.args.elide_weights:
            return WeightsMode.ELIDED
        return WeightsMode.INLINE if self.args.inline_weights else None

    def _write_xdsl_target(self, module: ModuleOp, path: str | None) -> None:
        """Write with one of xDSL's targets (LLVM IR, assembly, ...)."""
        try:
            text = self.output_resulting_program(module)
        except Exception as error:
            raise GeError("GE3012", f"target '{self.args.target}': {error}") from error
        if path is None:
            sys.stdout.write(text)
            return
        with atomic_write(path) as stream:
            stream.write(text.encode())

    # Help

    def describe_passes(self) -> str:
        """The text of --list-passes: every pass with the first line of its documentation and its options."""
        out = StringIO()
        for name in self.registry.own_passes:
            try:
                pass_type = self.registry.passes[name]()
            except Exception as error:
                print(f"--{name}\n    cannot be loaded: {error}", file=out)
                continue
            summary = (pass_type.__doc__ or "").strip().partition("\n")[0]
            level = level_of(name)
            print(f"--{name}{'' if level is None else f'    (from -O{level} on)'}\n    {summary}", file=out)
            for option, type in pass_options(pass_type).items():
                default = getattr(pass_type, option, None)
                shown = getattr(type, "__name__", str(type))
                print(f"    {option.replace('_', '-')} : {shown} = {default}", file=out)
        return out.getvalue().rstrip()


def _never() -> Any:
    """Stand for a file type that :mod:`ge.tools.cli` reads and writes."""
    raise NotImplementedError


def _chunks(text: str) -> list[str]:
    """The parts of a text between separator lines, each after empty lines so that its line numbers are right."""
    chunks: list[str] = []
    line = 0
    for part in text.split(CHUNK_SEPARATOR):
        chunks.append("\n" * line + part)
        line += part.count("\n")
    return chunks


def _add_file_arguments(arg_parser: argparse.ArgumentParser, version: str) -> None:
    """Add what is read and what is written."""
    add = arg_parser.add_argument_group("files").add_argument
    add("input_file", nargs="?", help="a .mlir, .onnx or .om file; text from standard input when it is missing or -")
    add("-f", "--frontend", metavar="TYPE", help="type of the input: mlir, onnx or om (default: by its extension)")
    add("-o", "--output-file", metavar="FILE", help="write to this file; standard output when it is missing or -")
    add(
        "-t", "--target", metavar="TYPE", default="mlir", help="type of the output: mlir, onnx, om, or a target of xDSL"
    )
    cli.add_target_opset(add)
    add("--load-plugin", action="append", default=[], metavar="FILE.py", help="add what a plug-in file brings")
    add("--allow-unregistered-dialect", action="store_true", help="accept operations of unknown dialects")
    add("--no-implicit-module", action="store_true", help="require the text to have its builtin.module")
    add("--split-input-file", action="store_true", help="process the parts between lines '// -----' one by one")
    add("-v", "--version", action=VersionAction, version_format=version, help="show the version and stop")


def _add_printing_arguments(arg_parser: argparse.ArgumentParser) -> None:
    """Add how modules are printed, and when."""
    group = arg_parser.add_argument_group("printing")
    flag = partial(group.add_argument, action="store_true")
    each = partial(group.add_argument, action="append", default=[], metavar="PASS")
    flag("--elide-weights", help="leave large constants out of the text, for reading")
    flag("--inline-weights", help="write large constants in the text, complete in itself")
    flag("--print-debuginfo", "--mlir-print-debuginfo", help="print all locations, not only the names of nodes")
    flag("--print-op-generic", "--mlir-print-op-generic", help="print operations in the generic form")
    each("--print-ir-before", help="print the module to standard error before this pass")
    each("--print-ir-after", help="print the module to standard error after this pass")
    flag("--print-ir-before-all", help="print the module to standard error before every pass")
    flag("--print-ir-after-all", help="print the module to standard error after every pass")


def _add_checking_arguments(arg_parser: argparse.ArgumentParser) -> None:
    """Add what is checked and measured."""
    group = arg_parser.add_argument_group("checking")
    flag = partial(group.add_argument, action="store_true")
    choice = partial(group.add_argument, action=argparse.BooleanOptionalAction, default=True)
    choice(
        "--verify-each",
        default=None,
        help="verify the module after each pass, not after the last alone (default: unless a level is asked for)",
    )
    choice("--verify-weights", help="compare weights files with their digests")
    flag("--verify-numerics", help="run the module before and after every pass; stop at the first that changes numbers")
    group.add_argument(
        "--check-rules",
        nargs="?",
        const="",
        metavar="FILE",
        help="try the rules of a .gerules file (default: those of this project) on models made from them, and stop",
    )
    group.add_argument("--seed", type=int, default=0, help="seed of what --verify-numerics and --check-rules draw")
    flag("--verify-diagnostics", help="compare errors with the comments '// expected-error {{...}}', or print them")
    flag("--timing", "--time-passes", dest="time_passes", help="print the time of each pass to standard error")
    flag("--debug", help="show the Python traceback of an error")


def run(args: Sequence[str]) -> None:
    """Run ge-opt; errors are raised."""
    try:
        _run_to_the_end(args)
    finally:
        take_back()


def _run_to_the_end(args: Sequence[str]) -> None:
    """Run ge-opt in a process that ends with it."""
    with collection_paused():
        driver = GeOpt(args)
        set_aside()
    driver.run()


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-opt``."""
    cli.run_main(_run_to_the_end if args is None else run, args)


if __name__ == "__main__":
    main()
