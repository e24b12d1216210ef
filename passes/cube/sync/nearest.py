"""Hazards that a nearer one of the same pipes implies, found in one sweep before any flags are thought of.

Pipes run in order: what orders a later source before an earlier sink, on the same two pipes and in the same block,
orders everything before that source and after that sink, too. In a long kernel this leaves a handful of the pairs that
touch the same bytes, and what comes after is no longer quadratic in its length.

Kept are, besides the nearest,

* hazards with one side under a condition of its own: what orders them lies in the branch;
* hazards that the hardware orders itself, which order nothing else;
* inside one pipe, hazards with one side in a loop of its own: a barrier or flags in that loop may order them, while the
  loop may not run at all;
* inside one pipe, hazards of different instructions in one loop: a barrier in that loop may lie between two of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ge.passes.cube.sync.hazards import Hazard
from ge.passes.cube.sync.structure import Site


def nearest(hazards: Sequence[Hazard]) -> list[Hazard]:
    """The hazards that no nearer one implies, in their order."""
    groups: dict[tuple[object, ...], list[Hazard]] = defaultdict(list)
    kept: set[Hazard] = set()
    for hazard in hazards:
        if _stands_alone(hazard):
            kept.add(hazard)
            continue
        pipes = (hazard.source.op.pipe, hazard.sink.op.pipe)
        groups[(*pipes, hazard.block, hazard.carried, hazard.slot)].append(hazard)
    for group in groups.values():
        kept.update(_front(group))
    return [hazard for hazard in hazards if hazard in kept]


def _stands_alone(hazard: Hazard) -> bool:
    """Whether a hazard may neither imply others nor be implied."""
    if hazard.source.branch_below(hazard.depth) or hazard.sink.branch_below(hazard.depth):
        return True
    nested = max(len(hazard.source.levels), len(hazard.sink.levels)) > hazard.depth
    if nested and hazard.source.op.pipe is hazard.sink.op.pipe:
        return True
    return hazard.sink.op.pipelined_after(hazard.source.op)


def _front(group: Sequence[Hazard]) -> Iterable[Hazard]:
    """Of hazards of one kind, those with no other one whose source is not earlier and whose sink is not later."""
    across = group[0].source.op.pipe is not group[0].sink.op.pipe
    nearest_sink: Hazard | None = None
    latest_start: dict[Site, int] = {}
    for hazard in sorted(group, key=lambda hazard: (-hazard.start, hazard.end)):
        start = latest_start.setdefault(hazard.sink, hazard.start)
        if nearest_sink is None or hazard.end < nearest_sink.end:
            nearest_sink = hazard
            yield hazard
        elif across or start > hazard.start:
            continue
        elif hazard.end == nearest_sink.end or hazard.start == nearest_sink.start:
            yield hazard
