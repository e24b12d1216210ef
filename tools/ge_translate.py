"""ge-translate: convert between file types, without passes.

::

    ge-translate --onnx-to-mlir model.onnx -o model.mlir
    ge-translate --om-to-mlir model.om | less
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import ge
from ge.ir.registry import context
from ge.ir.verifier import verify_module
from ge.ir.weights import WeightsMode
from ge.tools import cli

TRANSLATIONS = {
    "onnx-to-mlir": ("onnx", "mlir"),
    "mlir-to-onnx": ("mlir", "onnx"),
    "om-to-mlir": ("om", "mlir"),
    "mlir-to-om": ("mlir", "om"),
}
"""Flag -> input and output type."""


def argument_parser() -> argparse.ArgumentParser:
    """The command line of ge-translate."""
    parser = argparse.ArgumentParser("ge-translate", description="Convert between .onnx, .mlir and .om.")
    parser.add_argument("input_file", nargs="?", help="input file; standard input when it is missing or -")
    parser.add_argument("-o", "--output-file", help="output file; standard output when it is missing or -")
    group = parser.add_mutually_exclusive_group(required=True)
    for name, (source, target) in TRANSLATIONS.items():
        group.add_argument(
            f"--{name}", dest="translation", action="store_const", const=name, help=f".{source} to .{target}"
        )
    weights = parser.add_mutually_exclusive_group()
    for name, mode, help in (
        ("--elide-weights", WeightsMode.ELIDED, "leave large constants out of the text"),
        ("--inline-weights", WeightsMode.INLINE, "write large constants in the text"),
    ):
        weights.add_argument(name, dest="weights", action="store_const", const=mode, help=help)
    cli.add_target_opset(parser.add_argument)
    cli.add_plugin_option(parser.add_argument)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.add_argument("-v", "--version", action="version", version=f"ge-translate {ge.__version__}")
    return parser


def run(args: Sequence[str]) -> None:
    """Run ge-translate; errors are raised."""
    arguments = argument_parser().parse_args(cli.load_plugins(args))
    source, target = TRANSLATIONS[arguments.translation]
    cli.check_target_opset(arguments.target_opset, target)
    module = cli.read_module(cli.named(arguments.input_file), context(), format=source)
    verify_module(module)
    path = cli.named(arguments.output_file)
    if target == "mlir":
        cli.write_text(module, path, weights=arguments.weights)
    else:
        cli.write_binary(module, path, target, arguments.target_opset)


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-translate``."""
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
