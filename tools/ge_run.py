"""ge-run: run a file of any level on the same inputs, and compare it with another.

::

    ge-run model.onnx --random-input --seed=1
    ge-run dump/05-graph-assigned.mlir --input x=image.npy --compare model.onnx
    ge-run resnet50.om --input data=image.npy --output-dir results --profile
    ge-run resnet50.om --random-input --dump=/layer1/* --dump-dir=values
    ge-run resnet50.om --random-input --compare resnet50.onnx --layerwise --csv=layers.csv
    ge-run resnet50.om --random-input --device=0 --threads=4

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
from ge.targets.ascend.runtime import NPU, TensorInfo
from ge.targets.ascend.runtime.inputs import named_inputs
from ge.targets.ascend.runtime.statistics import TaskRun
from ge.tools import cli
from ge.tools.agreement import Agreement, Tolerance, compare
from ge.tools.arrays import random_inputs, read_inputs, write_dump, write_outputs
from ge.tools.execute import Executable, OmExecutable, executable
from ge.tools.layerwise import LayerReport, compare_layers, print_layers, write_layers
from ge.tools.reference import run_onnx
from ge.tools.report import print_profile, saturation

MAX_THREADS = 256
"""Each thread has device memory of its own."""


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
    outputs.add_argument(
        "--dump",
        metavar="all|NAME,...",
        help="write values inside the model: all, or those of nodes by names or patterns such as /layer1/*",
    )
    outputs.add_argument(
        "--dump-dir", "--dump_dir", type=Path, default=Path("dump"), metavar="DIR", help="where to (default dump)"
    )
    comparison = parser.add_argument_group("comparison")
    comparison.add_argument("--compare", metavar="FILE", help="run FILE on the same inputs and compare the outputs")
    comparison.add_argument(
        "--layerwise",
        action="store_true",
        help="compare every operator of an OM file with the node of the .onnx FILE that it stands for",
    )
    comparison.add_argument("--csv", type=Path, metavar="FILE", help="write the table of --layerwise")
    comparison.add_argument(
        "--rtol", type=float, help="each element may differ by this part of its reference, plus --atol"
    )
    comparison.add_argument("--atol", type=float, help="each element may differ by this much, plus --rtol (default 0)")
    outputs.add_argument("--profile", action="store_true", help="show what every task took")
    parser.add_argument("--signature", action="store_true", help="show the inputs and outputs, and end")
    device = parser.add_argument_group("device, for .om files")
    device.add_argument("--device", metavar="N", help="npu or 0 (default), or the name of a chip: no model of another")
    device.add_argument(
        "--threads", type=int, metavar="N", help="run N times at once, and check that all results have the same bits"
    )
    parser.add_argument("--strict", action="store_true", help="check every memory access and hazard of kernels")
    cli.add_plugin_option(parser.add_argument)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.add_argument("-v", "--version", action="version", version=f"ge-run {ge.__version__}")
    return parser


def load(
    path: str,
    *,
    strict: bool = False,
    shapes: Mapping[str, Sequence[Asked]] | None = None,
    profile: bool = True,
    device: str = NPU,
    threads: int = 1,
) -> Executable:
    """What runs a file; device and threads are those of an OM file. Raises what reading and verifying it raises."""
    format = cli.format_of(path)
    if format == "om":
        return OmExecutable(path, strict, profile, device, threads)
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
    check_options(arguments)
    program = load(
        arguments.file,
        strict=arguments.strict,
        shapes=shapes,
        profile=arguments.profile,
        device=arguments.device or NPU,
        threads=arguments.threads or 1,
    )
    if arguments.signature:
        print(program.signature())
        return
    inputs = read_inputs(arguments.input, program.inputs)
    if arguments.random_input:
        inputs = {**random_inputs(program.inputs, arguments.seed), **inputs}
    inputs = named_inputs(inputs, [TensorInfo.of(info.name, info.type) for info in program.inputs])
    start = time.perf_counter()
    layers = compare_operators(program, inputs, arguments) if arguments.layerwise else None
    if layers is not None and not arguments.dump:
        outputs, inside = layers.outputs, {}
    else:
        outputs, inside = _run(program, inputs, arguments.dump)
    print(f"{arguments.file}: {program.level} level, {time.perf_counter() - start:.2f} s")
    for name, value in outputs.items():
        print(f"  {name}: {_summary(value)}")
    if arguments.profile:
        print_profile(program.tasks)
    if arguments.output_dir is not None:
        for written in write_outputs(outputs, arguments.output_dir):
            print(f"  wrote {written}")
    if arguments.dump:
        print(f"  wrote {write_dump(inside, arguments.dump_dir)} values to {arguments.dump_dir}")
    if layers is not None:
        print_layers(layers)
        if arguments.csv is not None:
            write_layers(layers, arguments.csv)
            print(f"wrote {arguments.csv}")
        print_agreements(layers.runner, layers.agreements, program.tasks)
    elif arguments.compare is not None:
        runner, reference = run_reference(arguments.compare, inputs)
        found = compare(outputs, reference, half=program.half, tolerance=tolerance_of(arguments))
        print_agreements(runner, found, program.tasks)


def _run(program: Executable, inputs: Mapping[str, Any], dump: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outputs, and the values inside that ``--dump`` names."""
    if not dump:
        return program.run(inputs), {}
    return program.run_tapped(inputs, ["*"] if dump == "all" else [each for each in dump.split(",") if each])


def tolerance_of(arguments: argparse.Namespace) -> Tolerance | None:
    """The rule for each element that the command line asks for."""
    if arguments.rtol is None and arguments.atol is None:
        return None
    return Tolerance(arguments.rtol or 0.0, arguments.atol or 0.0)


def check_options(arguments: argparse.Namespace) -> None:
    """Refuse options without what they need (GE2008), and numbers and files that they cannot have (GE2006)."""
    check_device_options(arguments)
    if arguments.compare is None:
        asked = {"--layerwise": arguments.layerwise, "--rtol": arguments.rtol, "--atol": arguments.atol}
        if needing := next((option for option, value in asked.items() if value not in (None, False)), None):
            raise GeError("GE2008", f"{needing} needs --compare")
    if arguments.csv is not None and not arguments.layerwise:
        raise GeError("GE2008", "--csv needs --layerwise")
    if min(arguments.rtol or 0.0, arguments.atol or 0.0) < 0:
        raise GeError("GE2006", "tolerances are not negative")
    if arguments.layerwise and not (arguments.file.endswith(".om") and str(arguments.compare).endswith(".onnx")):
        raise GeError("GE2006", "--layerwise compares an .om file with the .onnx file that it was made from")


def check_device_options(arguments: argparse.Namespace) -> None:
    """Refuse options of the device where nothing runs on it, or not as often as asked for (GE2006)."""
    asked = {"--device": arguments.device, "--threads": arguments.threads}
    given = [option for option, value in asked.items() if value is not None]
    if given and cli.format_of(arguments.file) != "om":
        raise GeError("GE2006", f"{given[0]} is for .om files; others do not run on a device")
    if arguments.threads is not None and not 1 <= arguments.threads <= MAX_THREADS:
        raise GeError("GE2006", f"--threads={arguments.threads} is not between 1 and {MAX_THREADS}")
    if arguments.threads is not None and (arguments.layerwise or arguments.signature):
        raise GeError("GE2006", "--threads runs a model several times, --layerwise once, and --signature never")


def compare_operators(program: Executable, inputs: Mapping[str, Any], arguments: argparse.Namespace) -> LayerReport:
    """Run an OM file and its ONNX model, and compare every operator."""
    assert isinstance(program, OmExecutable)
    report = compare_layers(program.model, arguments.compare, inputs, tolerance_of(arguments))
    assert program.model.statistics is not None
    program.tasks = program.model.statistics.tasks
    return report


def print_agreements(runner: str, agreements: Sequence[Agreement], tasks: Sequence[TaskRun] = ()) -> None:
    """Print how outputs agree with a reference. Raises GE6008 when they do not; what saturated is said then."""
    print(f"compared with {runner}")
    for agreement in agreements:
        print(f"  {agreement}")
        for worst in agreement.worst:
            print(f"    {worst}")
    failed = [agreement.name for agreement in agreements if not agreement.passed]
    if failed:
        if any(task.saturated for task in tasks):
            print(f"  saturated: {saturation((task.operator, task.saturated) for task in tasks)}")
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
