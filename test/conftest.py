"""Runs the RUN lines of ``.mlir`` tests inside pytest, in one process.

A test is a file with lines ``// RUN: ge-opt %s --some-pass | filecheck %s``, the same that ``lit test`` runs with real
processes. Understood here: pipes, ``&&`` and ``;``, ``> file``, ``< file``, ``2>&1``, ``not``, a backslash at the end
of a RUN line, and the names ``%s`` (the file), ``%S`` (its folder), ``%t`` (a temporary name) and ``%T`` (its folder).
The project's commands, filecheck and a few small Unix tools run in process (5 ms a command); others are started.

Files in folders called ``inputs`` are data for other tests.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("no-deadline", deadline=None)  # tests are not timed: machines differ
hypothesis.settings.load_profile("no-deadline")

TOOLS = {
    "ge-opt": "ge.tools.ge_opt:main",
    "ge-translate": "ge.tools.ge_translate:main",
    "ge-run": "ge.tools.ge_run:main",
    "ge-compiler": "ge.tools.ge_compiler:main",
    "ge-bisect": "ge.tools.ge_bisect:main",
    "ge-reduce": "ge.tools.ge_reduce:main",
    "ge-om": "ge.tools.ge_om:main",
}
"""Commands of the project: entry points that take the arguments and end with SystemExit or return."""

_SHOWN = 4000
"""How many characters of a command's output a failure shows."""


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix == ".mlir" and "inputs" not in file_path.parts:
        return MlirFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]
    return None


class MlirFile(pytest.File):
    """A ``.mlir`` test: one item, whose RUN lines run in order."""

    def collect(self) -> Iterator[pytest.Item]:
        yield MlirTest.from_parent(self, name="RUN")  # pyright: ignore[reportUnknownMemberType]


class MlirTest(pytest.Item):
    """All RUN lines of one file."""

    def runtest(self) -> None:
        lines = run_lines(self.path.read_text(encoding="utf-8"))
        if not lines:
            raise RunLineFailure(f"{self.path} has no RUN line; data for other tests belongs in a folder 'inputs'")
        folder = Path(tempfile.mkdtemp(prefix="ge-test-"))
        try:
            for line in lines:
                run_script(substitute(line, self.path, folder))
        finally:
            shutil.rmtree(folder)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RunLineFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path.name)


class RunLineFailure(Exception):
    """A RUN line that failed, with what its commands wrote."""


def run_lines(text: str) -> list[str]:
    """The commands of a test: what follows ``RUN:``, with continued lines joined."""
    found: list[str] = []
    continued = False
    for match in re.finditer(r"//\s*RUN:\s*(.*?)\s*$", text, re.MULTILINE):
        line = match[1].removesuffix("\\")
        if continued:
            found[-1] += line
        else:
            found.append(line)
        continued = match[1].endswith("\\")
    return found


def substitute(line: str, file: Path, folder: Path) -> str:
    names = {"%s": str(file), "%S": str(file.parent), "%t": str(folder / file.stem), "%T": str(folder), "%%": "%"}
    return re.sub(r"%[sStT%]", lambda match: names[match[0]], line)


@dataclass
class Command:
    """One command of a pipeline: its words, and the files of its streams."""

    words: list[str] = field(default_factory=list[str])
    stdin: str | None = None
    stdout: str | None = None
    stderr_to_stdout: bool = False


@dataclass
class Result:
    """How a command ended: its exit status and the bytes it wrote."""

    status: int
    stdout: bytes = b""
    stderr: bytes = b""


def run_script(line: str) -> None:
    """Run ``pipeline && pipeline ; pipeline``. Raises RunLineFailure when one fails."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    pipeline: list[Command] = [Command()]
    words = iter(lexer)
    for word in words:
        match word:
            case "&&" | ";":
                run_pipeline(pipeline, line)
                pipeline = [Command()]
            case "|":
                pipeline.append(Command())
            case ">":
                pipeline[-1].stdout = next(words)
            case "<":
                pipeline[-1].stdin = next(words)
            case ">&" if pipeline[-1].words[-1] == "2" and next(words) == "1":
                pipeline[-1].words.pop()
                pipeline[-1].stderr_to_stdout = True
            case _ if set(word) <= set("|&;<>"):
                raise RunLineFailure(f"'{word}' is not understood in: {line}")
            case _:
                pipeline[-1].words.append(word)
    run_pipeline(pipeline, line)


def run_pipeline(pipeline: Sequence[Command], line: str) -> None:
    """Run commands, each on the output of the one before; all must succeed."""
    data = b""
    log: list[str] = []
    failed = False
    for command in pipeline:
        if command.stdin is not None:
            data = Path(command.stdin).read_bytes()
        result = run_command(command.words, data)
        data = result.stdout + result.stderr if command.stderr_to_stdout else result.stdout
        failed = failed or result.status != 0
        log.append(f"$ {shlex.join(command.words)}   (status {result.status})")
        log += [stream.decode(errors="replace")[:_SHOWN] for stream in (data, result.stderr) if stream]
        if command.stdout is not None:
            Path(command.stdout).write_bytes(data)
            data = b""
    if failed:
        raise RunLineFailure("\n".join([f"RUN: {line}", *log]))


def run_command(words: Sequence[str], stdin: bytes) -> Result:
    """Run one command in process if it is known, otherwise as a process."""
    name, *arguments = words
    if name == "not":
        result = run_command(arguments, stdin)
        return Result(int(result.status == 0), result.stdout, result.stderr)
    if name in TOOLS:
        return call(load_tool(name), arguments, stdin)
    if name == "filecheck":
        return call(filecheck, arguments, stdin)
    if name in SMALL_TOOLS:
        return call(SMALL_TOOLS[name], arguments, stdin)
    done = subprocess.run(words, input=stdin, capture_output=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def load_tool(name: str) -> Callable[[Sequence[str]], object]:
    module, _, attribute = TOOLS[name].partition(":")
    return getattr(import_module(module), attribute)


def call(function: Callable[[Sequence[str]], object], arguments: Sequence[str], stdin: bytes) -> Result:
    """Call an entry point with its own standard streams."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    saved, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = status_of(lambda: function(list(arguments)))
    finally:
        sys.stdin = saved
    out.flush()
    err.flush()
    return Result(status, out.buffer.getvalue(), err.buffer.getvalue())  # pyright: ignore[reportAttributeAccessIssue]


def status_of(run: Callable[[], object]) -> int:
    """The exit status of a call: that of SystemExit, 1 after another exception, the integer returned, or 0."""
    try:
        result = run()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return result if isinstance(result, int) else 0


def filecheck(arguments: Sequence[str]) -> int:
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options

    return Matcher.from_opts(parse_argv_options(["filecheck", *arguments])).run()


def cat(arguments: Sequence[str]) -> None:
    if not arguments:
        print(sys.stdin.read(), end="")
    for name in arguments:
        print(Path(name).read_text(encoding="utf-8"), end="")


def diff(arguments: Sequence[str]) -> int:
    """Print the difference of two files (``-`` is standard input); 1 when there is one."""
    left, right = [
        sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        for name in arguments
        if name == "-" or not name.startswith("-")
    ]
    print("".join(difflib.unified_diff(left.splitlines(True), right.splitlines(True))), end="")
    return int(left != right)


def echo(arguments: Sequence[str]) -> None:
    print(*arguments)


def mkdir(arguments: Sequence[str]) -> None:
    for name in arguments:
        if name != "-p":
            Path(name).mkdir(parents=True, exist_ok=True)


SMALL_TOOLS: dict[str, Callable[[Sequence[str]], object]] = {"cat": cat, "diff": diff, "echo": echo, "mkdir": mkdir}
