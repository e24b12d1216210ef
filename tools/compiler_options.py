"""The options of ge-compiler: the one list that ``--help``, the checks and docs/ge-compiler.md are made of.

``python -m ge.tools.compiler_options > docs/options.md`` writes the table of all.
"""

from __future__ import annotations

from itertools import groupby

from ge.dialects.onnx.shapes.input_shapes import FORM
from ge.passes.graph.keep import PRECISION_MODES
from ge.passes.graph.select_implementation import FAST
from ge.passes.onnx.aipp_config import KEYS, Key
from ge.passes.onnx.convert_outputs import TYPES
from ge.tools.options import SAME, Option, options_table

USAGE = """usage: ge-compiler --model=FILE [options]

example: ge-compiler --model=resnet50.onnx --output=resnet50.om --input_shape="x:1,3,224,224" --compare"""

INPUT = (
    Option("model", "FILE", "the ONNX model", SAME),
    Option("framework", "NUMBER", "5: the model is an ONNX model (default)", "no default; also 0, 1 and 3"),
    Option(
        "input_shape",
        "SHAPES",
        f"the shapes of the inputs: {FORM}; -1 is what the model says, or a gear. A range must lead to a number",
        "the same, and ranges; names of sizes are ours",
    ),
    Option(
        "dynamic_batch_size",
        "1,2,4",
        "gears: what a first size of -1 in --input_shape stands for. One is compiled, several are refused",
        "2 to 100 gears in one file",
    ),
    Option(
        "dynamic_image_size",
        "H,W;H,W",
        "gears: what height and width of -1 stand for. One is compiled, several are refused",
        "2 to 100 gears in one file",
    ),
    Option(
        "dynamic_dims",
        "1,64;8,128",
        "gears: what each -1 stands for, with --input_format=ND. One is compiled, several are refused",
        "2 to 100 gears in one file",
    ),
    Option(
        "input_format",
        "NCHW|NHWC|ND",
        "the order of the dimensions of inputs that are images (default NCHW), for --insert_op_conf and "
        "--dynamic_image_size; ND: no input is an image",
        "the same; NHWC for other frameworks only",
    ),
    Option(
        "insert_op_conf",
        "FILE",
        "inputs are images of bytes, which the model cuts, converts and normalises as this AIPP file says",
        "the same; also dynamic",
    ),
)

OUTPUT = (
    Option(
        "output",
        "FILE",
        "the OM file to write; .om is added (default: the model's name, in this folder)",
        "the same; no default",
        in_file=False,
    ),
    Option(
        "out_nodes",
        "NAMES",
        "these are the outputs: node:0 is the first output of a node, a name alone that of a value; separated by "
        "semicolons. What they do not need is left out",
        "the same; names alone must be those of outputs, and are not mixed with nodes",
    ),
    Option(
        "output_type",
        "TYPES",
        f"the element type of the outputs: {', '.join(TYPES)}; or of some, with --out_nodes: node:0:FP16;node2:0:FP32",
        "the same, and types of 8-bit floats",
    ),
    Option(
        "mode",
        "NUMBER",
        "0: make an OM file (default); 3: only report all that stands in its way; 1, 6: see --om",
        "the same; also 5, 7 and 30",
        in_file=False,
    ),
    Option("om", "FILE", "with --mode=6: show what is in this OM file; with --mode=1: write it as JSON", SAME),
    Option(
        "json",
        "[FILE]",
        "print all there is to tell as one JSON object, errors too; with --mode=1: the file to write",
        "a file, with --mode=1",
        in_file=False,
    ),
    Option(
        "check_report",
        "FILE",
        "with --mode=3: write the report as JSON to this file",
        "the same; check_result.json by default",
        in_file=False,
    ),
)

TARGET = (
    Option("soc_version", "NAME", "the chip (default Ascend310P3)", "the same; no default"),
    Option(
        "precision_mode",
        "NAME",
        f"what computes in float16: {', '.join(PRECISION_MODES)} (default force_fp16)",
        "the same, and modes for other types; allow_fp32_to_fp16 is force_fp16 here, allow_mix_precision_fp16 is "
        "allow_mix_precision",
    ),
    Option(
        "keep_dtype",
        "FILE",
        "names of nodes, or OpType::NAME, on a line each, that keep the model's precision",
        SAME,
    ),
    Option(
        "op_select_implmode",
        "high_precision|high_performance",
        "how operators with two implementations compute (default high_precision): " + ", ".join(FAST),
        "the same; high_performance by default, for more types",
    ),
    Option(
        "optypelist_for_implmode",
        "TYPES",
        "the types of operators that --op_select_implmode is about (default all that have two implementations), "
        "separated by commas",
        SAME,
    ),
)

OPTIMISATION = (
    Option("oo_level", "LEVEL", "the optimisation level, O0 to O3 (default O3); also -O0 to -O3", "O1 and O3"),
    Option(
        "format_optimize",
        "FORMAT",
        "NC1HWC0 (default): elementwise operations take the format that converts least, so that blocked formats travel "
        "through them; ND: they take the plain format",
    ),
    Option(
        "kernel_optimize_level",
        "low|high",
        "low: a kernel for each operation, one buffer for each loop; high (default): kernels of several operations, "
        "double buffering",
    ),
    Option(
        "tiling_optimize_level",
        "LEVEL",
        "0: the largest tiles that fit; 1 (default): those of fewest estimated cycles; 2, a search in the simulator, "
        "is refused",
    ),
    Option(
        "enable_single_stream",
        "true|false",
        "true: all tasks in one stream; false (default): independent branches in several, where that saves 2 % of the "
        "time and costs at most 1 % of memory",
    ),
    Option(
        "auto_parallel",
        "true|false",
        "true: kernels share the cores, and branches go to several streams, whatever saves time: docs/streams.md",
    ),
    Option("print-pipeline", "", "print the passes of the compilation as a text for ge-opt -p, and stop"),
    Option("no-fusion", "", "leave out every pass that makes one operation of several: docs/optimiser.md"),
    Option("fusion_rules", "FILE", "apply the rules of this .gerules file; several are separated by commas"),
    Option("load-plugin", "FILE.py", "add the operators and passes of a plug-in; may be repeated"),
    Option(
        "fusion_switch_file",
        "FILE",
        "a JSON file that switches single passes and rules off",
        "the same, with its own names; also text",
    ),
    Option("fusion_report", "FILE", "what the rules did, as JSON; - for tables on standard error", in_file=False),
    Option(
        "explain-fusion",
        "RULE",
        "say where this rule or pass nearly applies, and why it does not",
        in_file=False,
    ),
    Option(
        "strict",
        "",
        "an optimisation that fails is an error; without it, it is left out with a warning",
        in_file=False,
    ),
)

MEMORY = (
    Option("disable_reuse_memory", "0|1", "1: every value has a place of its own in memory", SAME),
    Option("no_reuse", "NAMES", "nodes whose results share memory with nothing, separated by commas"),
    Option(
        "memory_optimize",
        "low|high|solver",
        "how hard to look for a small memory plan (default high); solver needs the package ortools",
    ),
    Option(
        "external_weight",
        "0|1",
        "1: keep the weights in a file beside the OM file, which is mapped into memory",
        "the same; 1 is a file for each weight, 2 one for all",
    ),
    Option("optimization_config", "FILE", "a JSON file that says how memory is used: docs/memory.md"),
    Option("memory_report", "FILE", "draw the memory plan, address over time, as an HTML page", in_file=False),
)

DEBUGGING = (
    Option(
        "dump_shape",
        "true|false",
        "true: print the shape of every value, and the rule that it follows from",
        in_file=False,
    ),
    Option(
        "op_debug_log",
        "true|false",
        "true: print each operator with the kernel that computes it, or why it runs on the host, on standard error",
        in_file=False,
    ),
    Option(
        "debug",
        "[DIR]",
        "write the module after each stage as DIR/NN-stage.mlir (default dump), and log every fusion",
        in_file=False,
    ),
    Option(
        "log",
        "debug|info|warning|error|null",
        "show messages of this importance (default info with --debug, otherwise null); info shows every fusion",
        SAME,
        in_file=False,
    ),
    Option(
        "report",
        "text|json|none",
        "what to print at the end (default text, with the progress before); see also --json and --quiet",
        in_file=False,
    ),
    Option("quiet", "", "print nothing but errors: no progress, no report", in_file=False),
    Option("run", "", "run the file once on the simulated chip, with random inputs", in_file=False),
    Option("compare", "", "run, and compare the outputs with onnxruntime", in_file=False),
    Option("seed", "NUMBER", "seed of the random inputs (default 0)", in_file=False),
    Option("help", "", "show this; also -h", SAME, in_file=False),
    Option("version", "", "show the version", in_file=False),
)

GROUPS = {
    "the model": INPUT,
    "what to make": OUTPUT,
    "the chip and its numbers": TARGET,
    "optimisation": OPTIMISATION,
    "memory": MEMORY,
    "reports and debugging": DEBUGGING,
}
"""The options by what they are about, in the order of ``--help``."""

OPTIONS = tuple(option for group in GROUPS.values() for option in group)
"""All of them."""


# The page

_HEAD = """# Options of ge-compiler

This page is generated by `python -m ge.tools.compiler_options > docs/options.md` from the list that the compiler itself
uses. [ge-compiler.md](ge-compiler.md) shows them at work. In the last column, *the same* is what ATC does too, *-* an
option that ATC does not have. An option of ATC that is not here is refused (GE2009).
"""

_AIPP = """
## The file of --insert_op_conf

Keys of an `aipp_op`, in the order in which what they ask for is done.

| key | value | effect |
|---|---|---|
"""


def options_page() -> str:
    """The page docs/options.md."""
    rows = groupby(KEYS.values(), lambda key: (_values(key), _effect(key)))
    keys = [
        f"| {', '.join(f'`{key.name}`' for key in alike)} | {values} | {effect} |" for (values, effect), alike in rows
    ]
    return "\n".join([_HEAD, options_table(GROUPS) + _AIPP + "\n".join(keys), ""])


def _values(key: Key) -> str:
    ranges = {"word": " or ".join(key.words), "flag": "true or false"}
    return ranges.get(key.kind, f"{key.low:g} to {key.high:g}") if key.is_supported else str(key.default).lower()


def _effect(key: Key) -> str:
    return key.help if key.is_supported else "nothing else is supported (GE2044)"


if __name__ == "__main__":
    print(options_page(), end="")
