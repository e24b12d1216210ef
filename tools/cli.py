"""What the commands share: reading and writing modules of every file type, and reporting errors.

Files are known by their extension: ``.mlir`` (text of any level), ``.onnx`` (onnx level) and ``.om`` (om level).
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ArgSpecParseError

from ge.ir.errors import GeError
from ge.ir.parser import decode_text, parse_text
from ge.ir.printer import GePrinter, Locations, write_module
from ge.ir.registry import load_plugin
from ge.ir.weights import WeightsMode, WeightsReader, WeightsWriter

FORMATS = ("mlir", "onnx", "om")
"""The file types that modules are read from and written to."""


def named(path: str | None) -> str | None:
    """A file name from the command line; None for ``-``, which stands for standard input and output."""
    return None if path == "-" else path


# Plug-ins


def load_plugins(args: Sequence[str]) -> list[str]:
    """Load the plug-ins that a command line names; the arguments without them. Raises GE2005, GE2006 and GE2011."""
    paths, others = split_plugins(args)
    for path in paths:
        load_plugin(path)
    return others


def split_plugins(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The plug-in files that a command line names, and the other arguments. Raises GE2006."""
    paths: list[str] = []
    others: list[str] = []
    rest = iter(args)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name != "--load-plugin":
            others.append(argument)
            continue
        paths.append(value if equals else next(rest, ""))
        if not paths[-1]:
            raise GeError("GE2006", "option --load-plugin needs a value: --load-plugin=FILE.py")
    return paths, others


def add_plugin_option(add_argument: Callable[..., Any]) -> None:
    """Add the option that :func:`load_plugins` takes out of the command line before, for its help."""
    add_argument("--load-plugin", action="append", metavar="FILE.py", help="add the operators and passes of a plug-in")


# Errors


def run_main(
    run: Callable[[Sequence[str]], None],
    args: Sequence[str] | None,
    has_traceback: Callable[[BaseException], bool] = lambda _error: True,
) -> None:
    """Run a command; a user's error is reported on standard error and ends the process with status 1.

    With ``--debug`` among the arguments, the traceback is shown too, of those errors that are to have one.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        raise SystemExit(1) from None  # the reader of our output has gone
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (Exception, ArgSpecParseError) as error:
        if any(argument.partition("=")[0] == "--debug" for argument in arguments) and has_traceback(error):
            raise
        fail(error)


def fail(error: BaseException) -> NoReturn:
    """Report an error and end the process with status 1."""
    print(describe(error), file=sys.stderr)
    raise SystemExit(1)


def describe(error: BaseException) -> str:
    """An error as the user sees it: ``file:line:column: error: what [code]``, then why and what to do."""
    if isinstance(error, ArgSpecParseError):
        error = GeError("GE2006", " ".join(str(error).split()))
    if not isinstance(error, GeError):
        return (
            f"error: internal error: {type(error).__name__}: {error}\n  fix: Report this; --debug shows the traceback."
        )
    place, node = split_where(error.where)
    return "\n".join(
        [
            f"{place + ': ' if place else ''}error: {error.what}{node} [{error.code}]",
            f"  why: {error.why}",
            f"  fix: {error.remedy}",
        ]
    )


def split_where(where: str | None) -> tuple[str, str]:
    """The text position of an error (or the file), and the rest of where it is in parentheses."""
    if where is None:
        return "", ""
    match = re.match(r"(.*?:\d+:\d+)(.*)", where, re.DOTALL)
    if match is not None:
        return match[1], match[2]
    return ("", f" ({where})") if where.startswith(("node ", "operation ")) else (where, "")


# Reading


def format_of(path: str | None, override: str | None = None) -> str:
    """The type of an input: ``override``, or the extension of ``path``; text for standard input. Raises GE1002."""
    if override is not None:
        found = override
    elif path is None:
        found = "mlir"
    else:
        found = Path(path).suffix.removeprefix(".")
    if found not in FORMATS:
        raise GeError("GE1002", f"'{path}': file type '{found}' is not one of {', '.join(FORMATS)}", path)
    return found


def read_bytes(path: str | None) -> bytes:
    """The bytes of a file or of standard input. Raises GE1001."""
    if path is None:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise GeError("GE1001", f"'{path}': {error.strerror or error}", path) from error


def read_module(path: str | None, ctx: Context, *, format: str | None = None, verify_weights: bool = True) -> ModuleOp:
    """Read a module from a file, or from standard input for None. Not verified."""
    format = format_of(path, format)
    if format != "mlir":
        return read_binary(path, format)
    name = "<stdin>" if path is None else path
    reader = weights_reader(path, verify_weights)
    return parse_text(ctx, decode_text(read_bytes(path), name), name, reader)


def weights_reader(path: str | None, verify: bool = True) -> WeightsReader:
    """The reader of weights files next to the text ``path``; in the current folder for standard input."""
    return WeightsReader(None if path is None else Path(path).parent, verify)


def read_binary(path: str | None, format: str) -> ModuleOp:
    """Import an ONNX model or an OM file. Standard input is copied to a file first."""
    if path is None:
        with tempfile.NamedTemporaryFile(suffix=f".{format}") as copy:
            copy.write(read_bytes(path))
            copy.flush()
            return read_binary(copy.name, format)
    if not Path(path).is_file():
        problem = "Is a directory" if Path(path).is_dir() else "No such file or directory"
        raise GeError("GE1001", f"'{path}': {problem}", path)
    if format == "onnx":
        from ge.targets.onnx.importer import import_model

        return import_model(path)
    from ge.targets.ascend.om.reader import read_module as read_om

    return read_om(path)


# Writing


def add_target_opset(add_argument: Callable[..., Any]) -> None:
    """Add the option that names the opset of an ONNX output; see :func:`check_target_opset`."""
    add_argument("--target-opset", type=int, metavar="N", help="write the .onnx output for opset N, 11 or newer")


def check_target_opset(target_opset: int | None, format: str) -> None:
    """Raise GE2006 for an opset of an output that has none."""
    if target_opset is not None and format != "onnx":
        raise GeError("GE2006", f"--target-opset={target_opset} is for .onnx output, not for .{format}")


def write_text(
    module: ModuleOp,
    path: str | None,
    *,
    weights: WeightsMode | None = None,
    locations: Locations = Locations.NAMES,
    generic: bool = False,
) -> None:
    """Write a module as text to a file, or to standard output for None.

    By default, large constants of a file go to ``<stem>.weights`` next to it. On standard output they are left out for
    a terminal; otherwise they refer to the files they came from, or are inline when those are not below this folder.
    """
    if path is not None:
        write_module(module, path, locations=locations, generic=generic, weights=weights or WeightsMode.FILE)
        return
    mode = weights or (WeightsMode.ELIDED if sys.stdout.isatty() else WeightsMode.FILE)
    GePrinter(sys.stdout, locations=locations, generic=generic, weights_writer=WeightsWriter(mode)).print_op(module)
    sys.stdout.write("\n")


def write_binary(module: ModuleOp, path: str | None, format: str, target_opset: int | None = None) -> None:
    """Write a module of the onnx level as an ONNX model (of an opset), or one of the om level as an OM file."""
    if path is None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, f"out.{format}")
            write_binary(module, str(copy), format, target_opset)
            if len(list(copy.parent.iterdir())) > 1:
                raise GeError("GE1003", "a model of more than 2 GB has its weights in a second file", "standard output")
            sys.stdout.buffer.write(copy.read_bytes())
        return
    if format == "onnx":
        from ge.targets.onnx.exporter import save_model

        save_model(module, path, target_opset)
        return
    from ge.targets.ascend.om.writer import write_module as write_om

    write_om(module, path)
