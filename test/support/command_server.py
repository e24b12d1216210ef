"""Runs commands of the project in forked processes, each as new as a started one, without the time to load everything.

Reads a line of JSON for each command, the list of its words, and answers with one: what it printed. Started by
:mod:`tutorial_pages`, in the folder where the commands shall run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

TOOLS = ("opt", "translate", "run", "compiler", "bisect", "reduce", "om")
"""Commands ``ge-...``."""

LOADED_LATE = ("ge.passes.pipelines", "ge.passes.onnx.simplify", "ge.targets.onnx.exporter", "ge.dialects.onnx.meaning")
"""What commands load when they need it, and most of them do."""


def run(words: Sequence[str], mains: dict[str, Any]) -> str:
    """What a command prints: standard output, then standard error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            for stream, number in ((out, 1), (err, 2)):
                os.dup2(stream.fileno(), number)
            with suppress(SystemExit):
                mains[words[0]](list(words[1:]))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)
        return "".join(each.read().decode() for each in (out, err) if each.seek(0) == 0)


def main() -> None:
    mains = {f"ge-{name}": import_module(f"ge.tools.ge_{name}").main for name in TOOLS}
    for name in LOADED_LATE:
        import_module(name)
    for line in sys.stdin:
        answer = run(json.loads(line), mains)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
