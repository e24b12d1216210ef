"""Numbers, tables and lists on the console: drawn by rich on a terminal, aligned text otherwise."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TextIO


def megabytes(size: float) -> str:
    """A number of bytes in MB."""
    return f"{size / 1e6:.2f} MB"


def change(before: float, after: float) -> str:
    """How much a number changed, in percent: ``-48 %``."""
    return f"{100 * (after / before - 1):+.0f} %" if before else "0 %"


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    file: TextIO | None = None,
) -> None:
    """Print a table; the columns with the numbers ``left`` are aligned to the left, all others to the right.

    ``file`` is standard output if it is not given.
    """
    stream: TextIO = sys.stdout if file is None else file
    if stream.isatty():
        _print_rich(header, rows, left, stream)
        return
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows]:
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip(), file=stream)


def _print_rich(header: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int], file: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_edge=False)
    for column, title in enumerate(header):
        table.add_column(title, justify="left" if column in left else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=file).print(table)


def print_facts(facts: Mapping[str, str]) -> None:
    """Print one line for each fact: what it is about, and what it is."""
    width = max((len(name) for name in facts), default=0)
    for name, text in facts.items():
        if sys.stdout.isatty():
            print(f"\033[1m{name.ljust(width)}\033[0m  {text}")
        else:
            print(f"{name.ljust(width)}  {text}")
