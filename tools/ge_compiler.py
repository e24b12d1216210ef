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
from ge.dialects.onnx.shapes.input_shapes import parse_input_shapes
from ge.dialects.onnx.shapes.report import HEADER, shape_rows
from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewrite_log import Switches
from ge.passes.graph.keep import PRECISION_MODES
from ge.passes.onnx.aipp_config import aipp_text, read_aipp
from ge.passes.pipelines import DEFAULT_LEVEL, parse_level
from ge.targets.ascend.om.reader import read_model
from ge.targets.ascend.om.writer import write_module
from ge.targets.ascend.runtime.model import Model
from ge.targets.onnx.exporter import save_model
from ge.targets.onnx.importer import import_model
from ge.tools import cli
from ge.tools.agreement import Agreement, compare
from ge.tools.arrays import InputInfo, random_inputs
from ge.tools.compilation import (
    NO_FUSION,
    STAGES,
    CompileOptions,
    MemoryOptions,
    compile_model,
    import_with_interface,
    stage_passes,
)
from ge.tools.compiler_options import GROUPS, OPTIONS, USAGE
from ge.tools.console import print_table
from ge.tools.explanations import explanations
from ge.tools.fusion_report import report_facts, write_report
from ge.tools.memory_config import MemoryConfig, read_memory_config
from ge.tools.memory_picture import write_page
from ge.tools.om_modes import place_weights, record_command, run_om_mode
from ge.tools.options import options_help, parse_options
from ge.tools.pipeline import pipeline_text
from ge.tools.precheck import failure, precheck
from ge.tools.reference import run_onnx
from ge.tools.report import agreement_facts, compilation_facts, print_compilation, print_run, run_facts
from ge.tools.rule_names import rules_asked_for
from ge.tools.switch_file import read_switch_file

ONLY_VALUES = {"framework": ("5",), "mode": ("0", "1", "3", "6"), "precision_mode": PRECISION_MODES}
"""Options of ATC of which these values are what this compiler does."""


def compile_options(values: Mapping[str, str]) -> CompileOptions:
    """What the options ask for. Raises GE1001, GE2003, GE2006, GE2008 or GE2009."""
    for name, only in ONLY_VALUES.items():
        if values.get(name, only[0]) not in only:
            remedy = f"It may be {' or '.join(f'--{name}={value}' for value in only)}."
            raise GeError("GE2009", f"option --{name}={values[name]} is not supported", remedy=remedy)
    if "model" not in values:
        raise GeError("GE2008", "option --model is missing")
    if "check_report" in values and values.get("mode") != "3":
        raise GeError("GE2003", "--check_report is given without --mode=3")
    rule_files = tuple(filter(None, values.get("fusion_rules", "").split(",")))
    return CompileOptions(
        model=Path(values["model"]),
        soc=values.get("soc_version", CompileOptions.soc),
        input_shapes=parse_input_shapes(values["input_shape"], "--input_shape") if "input_shape" in values else {},
        outputs=values.get("out_nodes", ""),
        output_types=_output_types(values),
        aipp_file=values.get("insert_op_conf", ""),
        layout=_image_layout(values),
        level=parse_level(values["oo_level"]) if "oo_level" in values else DEFAULT_LEVEL,
        switches=_switches(values, rule_files),
        explain=rules_asked_for(_explained(values), registry(), rule_files),
        strict="strict" in values,
        rule_files=rule_files,
        precision_mode=values.get("precision_mode", CompileOptions.precision_mode),
        keep_file=values.get("keep_dtype"),
        memory=_memory_options(values),
        memory_page="memory_report" in values,
        debug_dir=Path(values["debug"]) if "debug" in values else None,
    )


def _output_types(values: Mapping[str, str]) -> str:
    """The types of outputs. Raises GE2003 for types of nodes that no option makes outputs, as in ATC."""
    types = values.get("output_type", "")
    if ":" in types and "out_nodes" not in values:
        raise GeError("GE2003", f"--output_type={types} is given without --out_nodes")
    return types


def _image_layout(values: Mapping[str, str]) -> str:
    """How the dimensions of images are ordered. Raises GE2003 for an order that nothing asks for, or for none."""
    layout = values.get("input_format", "NCHW")
    if layout == "ND" and "insert_op_conf" in values:
        raise GeError("GE2003", "--insert_op_conf is given with --input_format=ND, which says nothing of images")
    if layout == "NHWC" and "insert_op_conf" not in values:
        raise GeError("GE2003", "--input_format=NHWC is given without an option that is about images")
    return layout


def _memory_options(values: Mapping[str, str]) -> MemoryOptions:
    """How memory is used. Raises what reading the file of --optimization_config raises."""
    config = read_memory_config(values["optimization_config"]) if "optimization_config" in values else MemoryConfig()
    return MemoryOptions(
        reuse=config.reuse_memory and values.get("disable_reuse_memory") != "1",
        optimize=values.get("memory_optimize", MemoryOptions.optimize),
        limit=config.workspace_bytes,
        no_reuse=tuple(filter(None, values.get("no_reuse", "").split(","))),
        double_buffer=config.enable_double_buffer,
    )


def _switches(values: Mapping[str, str], rule_files: Sequence[str]) -> Switches:
    """What is switched off. Raises what reading a switch file raises."""
    if "no-fusion" in values and "fusion_switch_file" in values:
        raise GeError("GE2003", "--no-fusion and --fusion_switch_file are both given")
    if "fusion_switch_file" in values:
        return read_switch_file(values["fusion_switch_file"], registry(), rule_files)
    return NO_FUSION if "no-fusion" in values else Switches()


def _explained(values: Mapping[str, str]) -> list[str]:
    """The rules and passes of --explain-fusion, which are separated by commas."""
    return list(filter(None, values.get("explain-fusion", "").split(",")))


def output_file(values: Mapping[str, str]) -> Path:
    """The file to write: ``--output`` with the ending .om, or the name of the model. Raises GE1003 without a folder."""
    path = Path(values["output"]) if "output" in values else Path(Path(values["model"]).stem)
    path = path if path.suffix == ".om" else path.with_name(f"{path.name}.om")
    if not path.parent.is_dir():
        raise GeError("GE1003", f"cannot write '{path}': there is no folder '{path.parent}'", str(path))
    return path


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


def check(options: CompileOptions, form: str, file: str | None) -> None:
    """Report what stands in the way of compiling. Raises GE4003 when anything does, or GE1003."""
    result = precheck(options)
    text = json.dumps(result.facts(), indent=1)
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
    """Run ge-compiler; errors are raised."""
    values = parse_options(map(_long_level, cli.load_plugins(args)), OPTIONS)
    if "help" in values or not args:
        print(options_help(USAGE, GROUPS))
        return
    if "version" in values:
        print(f"ge-compiler {ge.__version__}")
        return
    if "log" in values or "debug" in values:
        logging.basicConfig(level=values.get("log", "info").upper(), format="[%(levelname)s] %(message)s")
    if run_om_mode(values):
        return
    options = compile_options(values)
    if "print-pipeline" in values:
        print(pipeline_text([each for stage in STAGES for each in stage_passes(stage, options)]))
        return
    if values.get("mode") == "3":
        check(options, values.get("report", "text"), values.get("check_report"))
        return
    seed = _integer(values, "seed")
    file = output_file(values)
    report = values.get("report", "text")
    shapes = shape_facts(options, report) if values.get("dump_shape") == "true" else {}
    compilation = compile_model(options, watch="fusion_report" in values)
    if compilation.watcher is not None:
        write_report(report_facts(str(options.model), compilation.log, compilation.watcher), values["fusion_report"])
    if options.memory_page:
        write_page(values["memory_report"], compilation.program.memory_page)
    for line in explanations(_explained(values), compilation.log):
        print(line, file=sys.stderr)
    place_weights(compilation.module, values)
    images = aipp_text(read_aipp(options.aipp_file)) if options.aipp_file else ""
    record_command(compilation.module, values, OPTIONS, cli.split_plugins(args)[0], images)
    write_module(compilation.module, file)
    file_bytes = file.stat().st_size
    facts: dict[str, Any] = {
        "version": ge.__version__,
        "model": str(options.model),
        "output": str(file),
        **({"images": images} if images else {}),
        "compilation": compilation_facts(compilation, options.memory, _weight_bytes(compilation.module), file_bytes),
        **shapes,
    }
    agreements: list[Agreement] = []
    if "run" in values or "compare" in values:
        facts["run"], facts["reference"], agreements = run_once(file, options, seed, "compare" in values)
        facts["agreement"] = agreement_facts(agreements)
    _show(facts, agreements, report)
    failed = [agreement.name for agreement in agreements if not agreement.passed]
    if failed:
        raise GeError("GE6008", f"{len(failed)} of {len(agreements)} outputs differ: {', '.join(failed)}")


def _long_level(argument: str) -> str:
    """``-O2`` as ``--oo_level=O2``."""
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
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
