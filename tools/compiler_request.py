"""What the options of ge-compiler ask for, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ge.dialects.onnx.shapes.input_shapes import Asked, parse_input_shapes
from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewrite_log import Switches
from ge.passes.graph.keep import PRECISION_MODES
from ge.passes.graph.plan_memory import check_planner
from ge.passes.graph.select_implementation import FAST, check_types
from ge.passes.pipelines import DEFAULT_LEVEL, parse_level
from ge.rules import load_rules
from ge.tools.compilation import NO_FUSION
from ge.tools.compile_options import CompileOptions, MemoryOptions, StreamOptions
from ge.tools.gears import shapes_of_gear
from ge.tools.memory_config import MemoryConfig, read_memory_config
from ge.tools.rule_names import rules_asked_for
from ge.tools.switch_file import read_switch_file

DUMP_FOLDER = "dump"
"""Where ``--debug`` writes when it names no folder."""

SAME_PRECISION: Mapping[str, str] = {
    "allow_fp32_to_fp16": "force_fp16",
    "allow_mix_precision_fp16": "allow_mix_precision",
}
"""Modes of ATC that are others here: no kernel computes in float32, which is thus kept for none."""

ONLY_VALUES: Mapping[str, tuple[Sequence[str], str]] = {
    "framework": (["5"], "In ATC, 0 is Caffe, 1 MindSpore, 3 TensorFlow and 5 ONNX; this compiler reads ONNX models."),
    "mode": (["0", "1", "3", "6"], "The other modes of ATC are about files that this compiler does not have."),
    "precision_mode": (
        [*PRECISION_MODES, *SAME_PRECISION],
        "The other modes of ATC are about types that kernels do not compute in.",
    ),
    "format_optimize": (["NC1HWC0", "ND"], "Kernels for images read blocks of 16 channels (NC1HWC0), others ND."),
    "tiling_optimize_level": (
        ["0", "1"],
        "Tiles are found by an estimate of cycles; kernels are not run to find them.",
    ),
}
"""Options of which these values are what this compiler does, and why it does not do what others ask for."""


def compile_options(values: Mapping[str, str]) -> CompileOptions:
    """What the options ask for. Raises GE1001, GE2003, GE2006, GE2008, GE2009, and GE3020 to GE3022 of rules."""
    for name, (only, why) in ONLY_VALUES.items():
        if values.get(name, only[0]) not in only:
            remedy = f"It may be {' or '.join(f'--{name}={value}' for value in only)}."
            raise GeError("GE2009", f"option --{name}={values[name]} is not supported", why=why, remedy=remedy)
    if "model" not in values:
        raise GeError("GE2008", "option --model is missing")
    if "check_report" in values and values.get("mode") != "3":
        raise GeError("GE2003", "--check_report is given without --mode=3")
    rule_files = tuple(filter(None, values.get("fusion_rules", "").split(",")))
    return CompileOptions(
        model=Path(values["model"]),
        soc=values.get("soc_version", CompileOptions.soc),
        input_shapes=_input_shapes(values),
        outputs=values.get("out_nodes", ""),
        output_types=_output_types(values),
        aipp_file=values.get("insert_op_conf", ""),
        layout=_image_layout(values),
        level=parse_level(values["oo_level"]) if "oo_level" in values else DEFAULT_LEVEL,
        switches=_switches(values, rule_files),
        explain=rules_asked_for(explained(values), registry(), rule_files),
        strict="strict" in values,
        rule_files=_checked(rule_files),
        fast_types=_fast_types(values),
        plain_layout=values.get("format_optimize") == "ND",
        fuse_kernels=values.get("kernel_optimize_level") != "low",
        search_tiles=values.get("tiling_optimize_level") != "0",
        precision_mode=_precision_mode(values),
        keep_file=values.get("keep_dtype"),
        memory=_memory_options(values),
        streams=_stream_options(values),
        memory_page="memory_report" in values,
        operator_log=values.get("op_debug_log") == "true",
        debug_dir=Path(values["debug"] or DUMP_FOLDER) if "debug" in values else None,
    )


def _checked(rule_files: tuple[str, ...]) -> tuple[str, ...]:
    """Files of rules. Raises what reading them raises: a mistake in one is no optimisation that may be left out."""
    for file in rule_files:
        load_rules(file)
    return rule_files


def _precision_mode(values: Mapping[str, str]) -> str:
    """What computes in float16, by the name that the passes know."""
    mode = values.get("precision_mode", CompileOptions.precision_mode)
    return SAME_PRECISION.get(mode, mode)


def _input_shapes(values: Mapping[str, str]) -> Mapping[str, Sequence[Asked]]:
    """The shapes of inputs. Raises GE2006, and what gears raise."""
    shapes = parse_input_shapes(values["input_shape"], "--input_shape") if "input_shape" in values else {}
    return shapes_of_gear(values, shapes)


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
    if layout == "NHWC" and not {"insert_op_conf", "dynamic_image_size"} & {*values}:
        raise GeError("GE2003", "--input_format=NHWC is given without an option that is about images")
    return layout


def _fast_types(values: Mapping[str, str]) -> tuple[str, ...]:
    """The types of operators that take their fast implementation: those listed, or all that have one.

    Raises GE2008 for a list without a mode, GE2047 for a type that has no second implementation.
    """
    listed = values.get("optypelist_for_implmode")
    if listed is not None and "op_select_implmode" not in values:
        raise GeError("GE2008", "option --op_select_implmode is missing: --optypelist_for_implmode needs it")
    types = tuple(FAST) if listed is None else tuple(name.strip() for name in listed.split(","))
    check_types(types)
    return types if values.get("op_select_implmode") == "high_performance" else ()


def _memory_options(values: Mapping[str, str]) -> MemoryOptions:
    """How memory is used. Raises what reading the file of --optimization_config raises, GE2050 without the solver."""
    config = read_memory_config(values["optimization_config"]) if "optimization_config" in values else MemoryConfig()
    options = MemoryOptions(
        reuse=config.reuse_memory and values.get("disable_reuse_memory") != "1",
        optimize=values.get("memory_optimize", MemoryOptions.optimize),
        limit=config.workspace_bytes,
        no_reuse=tuple(filter(None, values.get("no_reuse", "").split(","))),
        double_buffer=config.enable_double_buffer and values.get("kernel_optimize_level") != "low",
    )
    check_planner(options.planner)
    return options


def _stream_options(values: Mapping[str, str]) -> StreamOptions:
    """How work is spread over streams and cores. Raises GE2003 for options that contradict each other."""
    options = StreamOptions(values.get("enable_single_stream") == "true", values.get("auto_parallel") == "true")
    if options.single and options.auto_parallel:
        raise GeError("GE2003", "--enable_single_stream=true and --auto_parallel=true are both given")
    return options


def _switches(values: Mapping[str, str], rule_files: Sequence[str]) -> Switches:
    """What is switched off. Raises what reading a switch file raises."""
    if "no-fusion" in values and "fusion_switch_file" in values:
        raise GeError("GE2003", "--no-fusion and --fusion_switch_file are both given")
    if "fusion_switch_file" in values:
        return read_switch_file(values["fusion_switch_file"], registry(), rule_files)
    return NO_FUSION if "no-fusion" in values else Switches()


def explained(values: Mapping[str, str]) -> list[str]:
    """The rules and passes of --explain-fusion, which are separated by commas."""
    return list(filter(None, values.get("explain-fusion", "").split(",")))


def output_file(values: Mapping[str, str]) -> Path:
    """The file to write: ``--output`` with the ending .om, or the name of the model. Raises GE1003 without a folder."""
    path = Path(values["output"]) if "output" in values else Path(Path(values["model"]).stem)
    path = path if path.suffix == ".om" else path.with_name(f"{path.name}.om")
    if not path.parent.is_dir():
        raise GeError("GE1003", f"cannot write '{path}': there is no folder '{path.parent}'", str(path))
    return path


def report_form(values: Mapping[str, str]) -> str:
    """What to print at the end: text, json or none. Raises GE2003 for options that ask for two things."""
    asked = [name for name in ("json", "quiet", "report") if name in values]
    if len(asked) > 1 and values.get("mode") != "1":
        raise GeError("GE2003", f"--{asked[0]} and --{asked[1]} are both given")
    return "none" if "quiet" in values else "json" if "json" in values else values.get("report", "text")
