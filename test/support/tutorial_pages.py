"""Runs the pages of docs/ that show files and commands: what a page says must be what happens.

In such a page, a block whose info string has a ``title`` is a file::

    ```python title="scaled_relu.py"

and a ``console`` block holds commands after ``$`` with what they print (standard output, then standard error). In the
output, ``...`` stands for anything in a line, and a line with nothing but ``...`` for any lines.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from command_server import TOOLS

ROOT = Path(__file__).resolve().parents[2]

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SHIMS = {
    **{f"ge-{name}": ["-m", f"ge.tools.ge_{name}"] for name in TOOLS},
    "filecheck": ["-c", "import sys; from filecheck.main import main; sys.exit(main())"],
    "python": [],
}
"""Commands of pages, as arguments of Python, for the shell; all others are those of the machine."""

NEEDS_SHELL = re.compile(r"[|&;<>$`*]")
"""What makes a line more than one command of ours; other lines go to the command server, which is faster."""


@dataclass(frozen=True)
class FileBlock:
    """A file that the page shows."""

    name: str
    text: str


@dataclass(frozen=True)
class CommandBlock:
    """A command, and what it prints."""

    command: str
    output: str


def blocks(text: str) -> Iterator[FileBlock | CommandBlock]:
    """The files and commands of a page, in order."""
    for language, title, body in BLOCK.findall(text):
        if title:
            yield FileBlock(title, body)
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                while command.endswith("\\"):
                    more, _, output = output.partition("\n")
                    command = f"{command[:-1]} {more.strip()}"
                yield CommandBlock(command, output.strip("\n"))


def run_page(page: Path, folder: Path) -> list[CommandBlock]:
    """Write the files of a page into a folder and run its commands there; what they printed."""
    shims = folder / ".bin"
    shims.mkdir()
    for name, words in SHIMS.items():
        (shims / name).write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
        (shims / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "120",
    }
    done: list[CommandBlock] = []
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("command_server.py")],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        for block in blocks(page.read_text(encoding="utf-8")):
            if isinstance(block, FileBlock):
                (folder / block.name).write_text(block.text)
            elif block.command.startswith("ge-") and not NEEDS_SHELL.search(block.command):
                done.append(CommandBlock(block.command, _ask(server, shlex.split(block.command)).strip("\n")))
            else:
                run = subprocess.run(
                    block.command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
                )
                done.append(CommandBlock(block.command, (run.stdout + run.stderr).strip("\n")))
    return done


def _ask(server: subprocess.Popen[str], words: list[str]) -> str:
    """What a command of the project prints."""
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(words) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def expected(page: Path) -> list[CommandBlock]:
    """The commands of a page with the output that it shows."""
    return [block for block in blocks(page.read_text(encoding="utf-8")) if isinstance(block, CommandBlock)]


def pattern(output: str) -> str:
    """A regular expression for output with ``...`` in it."""
    lines = [
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ ]*\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


def agrees(shown: CommandBlock, printed: CommandBlock) -> bool:
    """Whether a command printed what the page shows."""
    return re.fullmatch(pattern(shown.output), printed.output + "\n" if printed.output else "") is not None
