"""What a user sees of ge-compiler when it refuses something."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ge.tools import ge_compiler


def check_refused(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], code: str, words: str
) -> None:
    """Compile a model into an empty folder: one message of three lines, exit status 1, and no file."""
    with pytest.raises(SystemExit) as exit:
        ge_compiler.main([f"--model={model}", f"--output={folder}/out", *options])
    lines = capsys.readouterr().err.splitlines()
    assert exit.value.code == 1 and len(lines) == 3, lines
    assert f"[{code}]" in lines[0] and words in lines[0], lines
    assert not list(folder.iterdir())
