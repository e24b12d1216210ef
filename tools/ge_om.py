"""ge-om: look into OM files, of this compiler or another.

::

    ge-om info resnet50.om                      what is in it: versions, chip, memory, partitions, operators, inputs
    ge-om json resnet50.om                      the graph as JSON, as ATC --mode=1 writes it
    ge-om dump resnet50.om --kernel=conv1       a kernel, disassembled; without --kernel, the list of them
    ge-om extract resnet50.om --output=parts    weights, kernels, and the graph as an ONNX model
    ge-om diff old.om new.om                    in what two files differ; the status is 1 when they do
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import ge
from ge.ir.errors import GeError
from ge.ir.weights import atomic_write
from ge.targets.ascend.om.file import OmFile
from ge.tools import cli
from ge.tools.om_inspection import om_facts, print_om_facts
from ge.tools.om_json import message_json

PARTS = ("weights", "kernels", "graph")


def argument_parser() -> argparse.ArgumentParser:
    """The command line of ge-om."""
    parser = argparse.ArgumentParser(
        "ge-om", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("-v", "--version", action="version", version=f"ge-om {ge.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="info|json|dump|extract|diff")
    info, as_json, dump, extract, diff = (
        commands.add_parser(name, allow_abbrev=False) for name in ("info", "json", "dump", "extract", "diff")
    )
    for each in (info, as_json, dump, extract):
        each.add_argument("file", help="an .om file")
    info.add_argument("--json", action="store_true", help="print JSON")
    as_json.add_argument("-o", "--output", metavar="FILE", help="write to this file, not to standard output")
    dump.add_argument("--kernel", action="append", default=[], metavar="NAME", help="a kernel; may be repeated")
    dump.add_argument("--all", action="store_true", help="all kernels")
    extract.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write to")
    for part in PARTS:
        extract.add_argument(f"--{part}", action="store_true", help=f"only the {part} (and what else is named)")
    for place in ("first", "second"):
        diff.add_argument(place, help="an .om file")
    for each in (info, as_json, dump, extract, diff):
        each.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    return parser


def run(args: Sequence[str]) -> None:
    """Run ge-om; errors are raised. Files that differ end it with status 1."""
    arguments = argument_parser().parse_args(args)
    if arguments.command == "diff":
        _diff(arguments.first, arguments.second)
        return
    file = OmFile.open(arguments.file)
    match arguments.command:
        case "info":
            facts = om_facts(file)
            if arguments.json:
                print(json.dumps(facts, indent=1))
            else:
                print_om_facts(facts)
        case "json":
            write_json(file, arguments.output)
        case "dump":
            _dump(file, arguments.kernel, arguments.all)
        case _:
            from ge.tools.om_extract import extract

            parts = [part for part in PARTS if getattr(arguments, part)] or PARTS
            for path in extract(file, Path(arguments.output), parts):
                print(path)


def write_json(file: OmFile, output: str | None) -> None:
    """Write the graph of a file as JSON, to standard output without a name. Raises GE1003."""
    text = json.dumps(message_json(file.definition), indent=1)
    if output is None:
        print(text)
        return
    try:
        with atomic_write(output) as stream:
            stream.write(text.encode() + b"\n")
    except OSError as error:
        raise GeError("GE1003", f"cannot write '{output}': {error.strerror or error}", output) from error


def _dump(file: OmFile, kernels: Sequence[str], everything: bool) -> None:
    from ge.tools.om_kernels import kernel_names, kernel_text, users

    names = kernel_names(file)
    if not kernels and not everything:
        for name in names:
            print(f"{name}: {'; '.join(users(file, name)) or 'no operator'}")
        return
    for name in names if everything else kernels:
        print(kernel_text(file, name))


def _diff(first: str, second: str) -> None:
    from ge.tools.om_difference import differences

    found = differences(OmFile.open(first), OmFile.open(second))
    for difference in found:
        print(difference)
    if found:
        raise SystemExit(1)
    print("the files say the same")


def main(args: Sequence[str] | None = None) -> None:
    """Entry point of the command ``ge-om``."""
    cli.run_main(run, args)


if __name__ == "__main__":
    main()
