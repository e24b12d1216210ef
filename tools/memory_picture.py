"""A picture of a memory plan: what lies where, and when. One HTML file without scripts, drawn as SVG.

To the right is time (one step for each launch or host operation), upwards is the address; every value is a rectangle
from the operation that makes it to its last reader. Pointing at one shows its name, size and place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from xdsl.dialects.func import FuncOp

from ge.dialects.om.values import NO_OFFSET, value_bytes
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.weights import atomic_write
from ge.maths.ordering import lifetimes
from ge.passes.graph.plan_memory import MemoryPlan
from ge.passes.graph.program_work import program_work
from ge.tools.console import megabytes

WIDTH, HEIGHT = 1200, 600
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#ff9da7", "#9c755f")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 14px sans-serif; margin: 24px; }}
table {{ border-collapse: collapse; margin: 12px 0; }}
td, th {{ border: 1px solid #ccc; padding: 3px 8px; text-align: left; }}
rect:hover {{ stroke: #000; stroke-width: 2; }}
</style></head><body>
<h1>{title}</h1>
<table>{facts}</table>
<svg width="{width}" height="{height}" viewBox="-60 -10 {width} {height}" role="img" aria-label="address over time">
{picture}
</svg>
<h2>What takes most at the fullest step ({fullest})</h2>
<table><tr><th>value</th><th>size</th><th>offset</th><th>from</th><th>to</th><th>nodes</th></tr>
{rows}</table>
</body></html>
"""


@dataclass(frozen=True)
class Rectangle:
    """A value in the arena: its place in bytes, and the steps in which it is live."""

    name: str
    nodes: tuple[str, ...]
    offset: int
    size: int
    start: int
    end: int


def rectangles(program: FuncOp, plan: MemoryPlan) -> list[Rectangle]:
    """The values of the arena of a planned program, in the order in which they are made.

    A value ends where another one is written over it; one that the host reads ends before that.
    """
    work = program_work(program)
    intervals = dict(zip(work.values, lifetimes(work.work, work.sizes, range(len(work.work))), strict=True))
    next_in = {before: after for slot in plan.slots for before, after in pairwise(slot.values)}
    found: list[Rectangle] = []
    for op in work.operations:
        for number, value in enumerate(op.results):
            size, offset, interval = value_bytes(value.type), plan.offsets[value], intervals[value]
            if size is None or offset == NO_OFFSET or offset >= plan.arena_size:
                continue
            name = value.name_hint or f"{op.name}#{number}"
            last = intervals[next_in[value]].start - 1 if value in next_in else interval.end
            start, end = interval.start // 2, (last - 1) // 2
            found.append(Rectangle(name, node_names(op), offset, size, start, max(start, end)))
    return found


def memory_page(title: str, program: FuncOp, plan: MemoryPlan) -> str:
    """The HTML text of the picture of a planned program."""
    found = rectangles(program, plan)
    steps = max((each.end for each in found), default=0) + 1
    fullest = _fullest_step(found, steps)
    live = sorted((each for each in found if each.start <= fullest <= each.end), key=lambda each: -each.size)
    facts = {
        "values that come and go": megabytes(plan.arena_size),
        "without reuse": megabytes(plan.size_without_reuse),
        "at least, in this order": megabytes(plan.lower_bound),
        "at least, in any order": megabytes(program_work(program).least_bytes),
        "written over an operand": f"{plan.in_place} results",
        "inputs and outputs": megabytes(plan.io_size),
        "weights": megabytes(plan.weight_size),
    }
    return PAGE.format(
        title=escape(title),
        facts="".join(f"<tr><th>{escape(name)}</th><td>{value}</td></tr>" for name, value in facts.items()),
        width=WIDTH + 80,
        height=HEIGHT + 50,
        picture="\n".join(_svg(found, steps, plan.arena_size, fullest)),
        fullest=fullest,
        rows="\n".join(map(_row, live)),
    )


def write_page(path: str, page: str) -> None:
    """Write a page. Raises GE1003."""
    try:
        with atomic_write(path) as stream:
            stream.write(page.encode())
    except OSError as error:
        raise GeError("GE1003", f"cannot write '{path}': {error.strerror or error}", path) from error


def _fullest_step(found: Sequence[Rectangle], steps: int) -> int:
    """The first step at which most bytes are live."""
    changes = [0] * (steps + 1)
    for each in found:
        changes[each.start] += each.size
        changes[each.end + 1] -= each.size
    live = 0
    totals = [live := live + change for change in changes[:steps]]
    return max(range(steps), key=lambda step: totals[step])


def _svg(found: Sequence[Rectangle], steps: int, arena: int, fullest: int) -> Iterator[str]:
    across, up = WIDTH / steps, HEIGHT / max(arena, 1)
    for number, each in enumerate(found):
        width = (each.end - each.start + 1) * across
        height = each.size * up
        bottom = HEIGHT - each.offset * up
        about = f"%{each.name}: {each.size} bytes at {each.offset}, steps {each.start} to {each.end}"
        yield (
            f'<rect x="{each.start * across:.2f}" y="{bottom - height:.2f}" width="{width:.2f}" height="{height:.2f}" '
            f'fill="{COLOURS[number % len(COLOURS)]}" stroke="#fff" stroke-width="0.5">'
            f"<title>{escape(about)}\n{escape(', '.join(each.nodes))}</title></rect>"
        )
    yield f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="#000"/>'
    line = (fullest + 0.5) * across
    yield f'<path d="M{line:.2f} 0V{HEIGHT}" stroke="#c00" stroke-dasharray="4 4"/>'
    yield f'<text x="-4" y="10" text-anchor="end">{escape(megabytes(arena))}</text>'
    yield f'<text x="-4" y="{HEIGHT}" text-anchor="end">0</text>'
    yield f'<text x="{WIDTH}" y="{HEIGHT + 16}" text-anchor="end">step {steps - 1}</text>'


def _row(each: Rectangle) -> str:
    cells = (f"%{each.name}", megabytes(each.size), each.offset, each.start, each.end, ", ".join(each.nodes))
    return "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"
