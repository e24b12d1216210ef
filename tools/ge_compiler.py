"""ge-compiler: an ONNX model to an OM file for an Ascend chip.

::

    ge-compiler --model=resnet50.onnx --output=resnet50.om --input_shape="x:1,3,224,224" --debug=dump --compare

The options are those of ATC where they mean the same. Nothing is accepted that would have no effect.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xdsl.dialects.builtin import ModuleOp

import ge
from ge.dialects.om import ModelOp
from ge.dialects.onnx.shapes.report import HEADER, shape_rows
from ge.ir.errors import GeError, internal_error
from ge.passes.onnx.aipp_config import aipp_text, read_aipp
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import write_module
from ge.targets.ascend.runtime.model import Model
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.importer import import_model
from ge.tools import cli
from ge.tools.agreement import Agreement, compare
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.compilation import STAGES, compile_model, import_with_interface, stage_passes
from ge.tools.compile_options import CompileOptions
from ge.tools.compiler_options import GROUPS, OPTIONS, USAGE
from ge.tools.compiler_request import compile_options, explained, output_file, report_form
from ge.tools.console import print_table
from ge.tools.explanations import explanations
from ge.tools.fusion_report import report_facts, write_report
from ge.tools.memory_picture import write_page
from ge.tools.om_modes import place_weights, record_command, run_om_mode
from ge.tools.operator_log import HEADER as OPERATOR_HEADER
from ge.tools.options import options_help, parse_options
from ge.tools.pipeline import pipeline_text
from ge.tools.precheck import failure, precheck
from ge.tools.progress import show_progress
from ge.tools.reference import run_onnx
from ge.tools.report import agreement_facts, compilation_facts, print_compilation, print_run, run_facts
from ge.tools.switch_file import switched


def run_once(
    file: Path, options: CompileOptions, seed: int, reference: bool
) -> tuple[dict[str, Any], str, list[Agreement]]:
    """Run an OM file on random inputs: facts of the run, what the outputs were compared with, and how they agree."""
    om = read_model(file)
    loaded = Model(om)
    inputs = random_inputs([InputInfo(name, value.type) for name, value in om.inputs.items()], seed)
    outputs = loaded.run(inputs)
    assert loaded.statistics is not None
    facts = run_facts(loaded.statistics)
    if not reference:
        return facts, "", []
    with _reference_file(options) as model:
        runner, expected = run_onnx(str(model), inputs)
    return facts, runner, compare(outputs, expected, half=True)


@contextmanager
def _reference_file(options: CompileOptions) -> Generator[Path]:
    """The model with the inputs and outputs that the compiled one has, as a file: its own where they are the same."""
    if not options.interface_passes():
        yield options.model
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, options.model.name)
        save_model(import_with_interface(options), path)
        yield path


def check(options: CompileOptions, facts: dict[str, Any], form: str, file: str | None) -> None:
    """Report what stands in the way of compiling. Raises GE4003 when anything does, or GE1003."""
    result = precheck(options)
    facts |= result.facts()
    text = json.dumps(facts, indent=1)
    if form == "json":
        print(text)
    if form == "text":
        result.print()
    if file is not None:
        try:
            Path(file).write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise GeError("GE1003", f"cannot write '{file}': {error.strerror or error}", file) from error
    if result.errors:
        raise failure(result)


def run(args: Sequence[str]) -> None:
    """Run ge-compiler; errors are raised, or with ``--json`` printed as JSON."""
    if not _wants_json(args):
        _run(args, {})
        return
    facts: dict[str, Any] = {}
    try:
        _run(args, facts)
    except Exception as error:
        facts["error"] = error_facts(error if isinstance(error, GeError) else internal_error(error))
    if facts:
        print(json.dumps(facts, indent=1))
    if "error" in facts:
        raise SystemExit(1)


def _wants_json(args: Sequence[str]) -> bool:
    """Whether ``--json`` is a switch among the arguments: with ``--mode=1`` it names a file."""
    modes = [value for name, value in zip(args, [*args[1:], ""], strict=True) if name == "--mode"]
    return "--json" in args and "--mode=1" not in args and modes != ["1"]


def error_facts(error: GeError) -> dict[str, str | None]:
    """An error in plain types."""
    return {"code": error.code, "what": error.what, "where": error.where, "why": error.why, "remedy": error.remedy}


def _run(args: Sequence[str], facts: dict[str, Any]) -> None:
    """Run ge-compiler, and gather what there is to tell. Errors are raised.

    With ``--json`` nothing is printed here.
    """
    values = parse_options(map(_long_form, cli.load_plugins(args)), OPTIONS)
    if "help" in values or not args:
        print(options_help(USAGE, GROUPS))
        return
    facts["version"] = ge.__version__
    form = report_form(values)
    if "json" in values:
        form = "none"  # whoever called prints the facts
    if "version" in values:
        if "json" not in values:
            print(f"ge-compiler {ge.__version__}")
        return
    _start_log(values)
    if run_om_mode(values, facts):
        return
    options = compile_options(values)
    if "print-pipeline" in values:
        passes = [each for stage in STAGES for each in stage_passes(stage, options)]
        facts["pipeline"] = pipeline_text(list(switched(passes, options.switches)))
        if "json" not in values:
            print(facts["pipeline"])
    elif values.get("mode") == "3":
        check(options, facts, form, values.get("check_report"))
    else:
        _compile(args, values, options, facts, form)


def _start_log(values: Mapping[str, str]) -> None:
    level = values.get("log", "info" if "debug" in values else "null")
    if level != "null":
        logging.basicConfig(level=level.upper(), format="[%(levelname)s] %(message)s")


def _compile(
    args: Sequence[str], values: Mapping[str, str], options: CompileOptions, facts: dict[str, Any], form: str
) -> None:
    """Compile a model, write the file and what is asked for beside it, and report."""
    seed = _integer(values, "seed")
    file = output_file(values)
    shapes = shape_facts(options, form) if values.get("dump_shape") == "true" else {}
    with show_progress(len(STAGES), quiet=form != "text") as progress:
        compilation = compile_model(options, watch="fusion_report" in values, progress=progress)
    if compilation.watcher is not None:
        write_report(report_facts(str(options.model), compilation.log, compilation.watcher), values["fusion_report"])
    if options.memory_page:
        write_page(values["memory_report"], compilation.program.memory_page)
    for line in explanations(explained(values), compilation.log):
        print(line, file=sys.stderr)
    operators = compilation.program.operators
    if operators and "json" not in values:
        print_table(OPERATOR_HEADER, operators, left=range(len(OPERATOR_HEADER)), file=sys.stderr)
    place_weights(compilation.module, values, file)
    images = aipp_text(read_aipp(options.aipp_file)) if options.aipp_file else ""
    record_command(compilation.module, values, OPTIONS, cli.split_plugins(args)[0], images)
    write_module(compilation.module, file)
    file_bytes = file.stat().st_size
    facts |= {
        "model": str(options.model),
        "output": str(file),
        **({"images": images} if images else {}),
        "compilation": compilation_facts(compilation, options.memory, _weight_bytes(compilation.module), file_bytes),
        **({"operators": [dict(zip(OPERATOR_HEADER, row, strict=True)) for row in operators]} if operators else {}),
        **shapes,
    }
    agreements: list[Agreement] = []
    if "run" in values or "compare" in values:
        facts["run"], facts["reference"], agreements = run_once(file, options, seed, "compare" in values)
        facts["agreement"] = agreement_facts(agreements)
    _show(facts, agreements, form)
    failed = [agreement.name for agreement in agreements if not agreement.passed]
    if failed:
        raise GeError("GE6008", f"{len(failed)} of {len(agreements)} outputs differ: {', '.join(failed)}")


def _long_form(argument: str) -> str:
    """``-O2`` as ``--oo_level=O2``, ``-h`` and ``--h`` as ``--help``."""
    if argument in ("-h", "--h"):
        return "--help"
    return f"--oo_level={argument[1:]}" if argument.startswith("-O") else argument


def shape_facts(options: CompileOptions, form: str) -> dict[str, Any]:
    """What is known of every value of the imported model; printed at once as text, in case it does not compile."""
    rows = shape_rows(import_model(options.model, options.input_shapes))
    if form == "text":
        print_table(HEADER, rows, left=range(len(HEADER)))
    return {"shapes": [dict(zip(HEADER, row, strict=True)) for row in rows]}


def _integer(values: Mapping[str, str], name: str) -> int:
    try:
        return int(values.get(name, "0"))
    except ValueError as error:
        raise GeError("GE2006", f"option --{name} cannot be '{values[name]}'", remedy="It is a number.") from error


def _weight_bytes(module: ModuleOp) -> int:
    return sum(0 if op.weights is None else op.weights.nbytes for op in module.ops if isinstance(op, ModelOp))


def _show(facts: dict[str, Any], agreements: Sequence[Agreement], form: str) -> None:
    """Print the report in the form asked for."""
    if form == "json":
        print(json.dumps(facts, indent=1))
    if form != "text":
        return
    print(f"{facts['model']} -> {facts['output']}")
    if "images" in facts:
        print(f"images  {facts['images']}")
    print_compilation(facts["compilation"])
    if "run" in facts:
        print_run(facts["run"])
    for agreement in agreements:
        print(f"compared with {facts['reference']}: {agreement}")


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-compiler``."""
    cli.run_main(run, args, _is_fault)


def _is_fault(error: BaseException) -> bool:
    """Whether an error may be one of this program, of which ``--debug`` shows the traceback; a user's needs none."""
    return not isinstance(error, GeError) or error.code in ("GE3012", "GE9001")


if __name__ == "__main__":
    main()
