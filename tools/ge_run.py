"""ge-run: run a file of any level on the same inputs, and compare it with another.

::

    ge-run model.onnx --random-input --seed=1
    ge-run dump/05-graph-assigned.mlir --input x=image.npy --compare model.onnx
    ge-run resnet50.om --input data=image.npy --output-dir results --profile

A ``.onnx`` file runs as ONNX defines it, a ``.mlir`` file of any level as that level defines it, an ``.om`` file on the
simulated chip. ``--compare`` ends with status 1 when the outputs are further apart than the precision explains.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

import ge
from ge.dialects.onnx.shapes.inference import infer_function, main_function, write_types
from ge.dialects.onnx.shapes.input_shapes import Asked, fix_arguments, parse_input_shapes
from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.ir.verifier import verify_module
from ge.tools import cli
from ge.tools.agreement import compare
from ge.tools.arrays import random_inputs, read_inputs, write_outputs
from ge.tools.execute import Executable, OmExecutable, executable
from ge.tools.reference import run_onnx
from ge.tools.report import print_profile


def argument_parser() -> argparse.ArgumentParser:
    """The command line of ge-run."""
    parser = argparse.ArgumentParser(
        "ge-run", description="Run an .onnx, .mlir or .om file.", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", help="what to run: .onnx, .mlir of any level, .om")
    inputs = parser.add_argument_group("inputs")
    inputs.add_argument(
        "--input", action="append", default=[], metavar="[NAME=]FILE", help=".npy, .npz or .pb file; may be repeated"
    )
    inputs.add_argument("--random-input", action="store_true", help="random values for the inputs that are not given")
    inputs.add_argument("--seed", type=int, default=0, help="seed of the random values (default 0)")
    inputs.add_argument(
        "--input-shape",
        metavar="x:1,3,224,224",
        help="fix the shapes of the inputs of an ONNX model, or of one in the onnx dialect",
    )
    outputs = parser.add_argument_group("outputs")
    outputs.add_argument("--output-dir", type=Path, metavar="DIR", help="write every output as DIR/NAME.npy")
    outputs.add_argument("--compare", metavar="FILE", help="run FILE on the same inputs and compare the outputs")
    outputs.add_argument("--profile", action="store_true", help="show what every task took")
    parser.add_argument("--strict", action="store_true", help="check every memory access and hazard of kernels")
    cli.add_plugin_option(parser.add_argument)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.add_argument("-v", "--version", action="version", version=f"ge-run {ge.__version__}")
    return parser


def load(path: str, *, strict: bool = False, shapes: Mapping[str, Sequence[Asked]] | None = None) -> Executable:
    """What runs a file. Raises what reading and verifying it raises."""
    format = cli.format_of(path)
    if format == "om":
        return OmExecutable(path, strict)
    if format == "onnx" and shapes:
        from ge.targets.onnx.importer import import_model

        module = import_model(path, shapes)
    else:
        module = cli.read_module(path, context())
        if shapes and (main := main_function(module)) is not None:
            fix_arguments(main, shapes)
            write_types(main, infer_function(main, use_notes=False))
    verify_module(module)
    return executable(module, strict=strict)


def run_reference(path: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Run a file to compare with; what ran it, and its outputs."""
    if path.endswith(".onnx"):
        return run_onnx(path, inputs)
    reference = load(path)
    return f"{path} ({reference.level} level)", reference.run(inputs)


def run(args: Sequence[str]) -> None:
    """Run ge-run; errors are raised."""
    arguments = argument_parser().parse_args(cli.load_plugins(args))
    shapes = parse_input_shapes(arguments.input_shape) if arguments.input_shape else {}
    program = load(arguments.file, strict=arguments.strict, shapes=shapes)
    inputs = read_inputs(arguments.input, program.inputs)
    if arguments.random_input:
        inputs = {**random_inputs(program.inputs, arguments.seed), **inputs}
    start = time.perf_counter()
    outputs = program.run(inputs)
    print(f"{arguments.file}: {program.level} level, {time.perf_counter() - start:.2f} s")
    for name, value in outputs.items():
        print(f"  {name}: {_summary(value)}")
    if arguments.profile:
        print_profile(program.tasks)
    if arguments.output_dir is not None:
        for written in write_outputs(outputs, arguments.output_dir):
            print(f"  wrote {written}")
    if arguments.compare is not None:
        _compare(arguments.compare, inputs, outputs, half=program.half)


def _compare(path: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], *, half: bool) -> None:
    """Print how the outputs agree with those of another file. Raises GE6008 when they do not."""
    runner, reference = run_reference(path, inputs)
    agreements = compare(outputs, reference, half=half)
    print(f"compared with {runner}")
    for agreement in agreements:
        print(f"  {agreement}")
    failed = [agreement.name for agreement in agreements if not agreement.passed]
    if failed:
        raise GeError("GE6008", f"{len(failed)} of {len(agreements)} outputs differ: {', '.join(failed)}")


def _summary(value: Any) -> str:
    """Type, shape and the first elements of an output."""
    if isinstance(value, list) or value is None:
        return str(cast("Any", value))[:200]
    array = np.asarray(value)
    first = ", ".join(str(each) if array.dtype.kind != "f" else f"{each:.6g}" for each in array.ravel()[:5])
    return f"{array.dtype.name}{list(array.shape)} = [{first}{', ...' if array.size > 5 else ''}]"


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-run``."""
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
