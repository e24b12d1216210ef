"""The memory plan of a model: ``python -m bench.memory.plans MODEL``.

The model is compiled as far as planning needs: up to kernels at the tile level, which are not made into instructions.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import Float16Type

from bench.models import SHAPES
from ge.dialects.graph import HostOp, LaunchOp
from ge.dialects.graph.program import main_function
from ge.dialects.om.values import ALIGNMENT, slot_bytes, value_bytes
from ge.ir.constants import tensor_type_of
from ge.ir.errors import GeError
from ge.maths.order_search import search_order
from ge.maths.ordering import lifetimes, place_lifetimes, places
from ge.maths.placement import Lifetimes, search
from ge.passes.graph.plan_memory import plan_memory
from ge.passes.graph.program_work import ProgramWork, program_work
from ge.tools.compilation import ASSIGN, FUSE, GROUP, LOWER, OPTIMISE, PROGRAM, TILE, import_static, run_stage
from ge.tools.compile_options import CompileOptions

STAGES = (OPTIMISE, LOWER, FUSE, ASSIGN, GROUP, TILE)
"""What comes before the device program is ordered and planned."""


def plan(path: Path) -> dict[str, Any]:
    """What the planned program of a model takes, in bytes. Raises what compiling raises."""
    options = CompileOptions(path, input_shapes=SHAPES.get(path.stem, {}))
    module = import_static(options)
    for stage in STAGES:
        run_stage(stage, module, options)
    given = program_work(main_function(module))
    low = plan_memory(main_function(module), planner="greedy-by-size").arena_size
    start = time.process_time()
    search_order(given.work, given.sizes)
    seconds = time.process_time() - start
    run_stage(PROGRAM, module, options)
    start = time.process_time()
    found = options.memory.plan(main_function(module))
    seconds += time.process_time() - start
    work = program_work(main_function(module))
    return {
        "launches": sum(isinstance(op, LaunchOp) for op in work.operations),
        "host": sum(isinstance(op, HostOp) for op in work.operations),
        "values": sum(size > 0 for size in work.sizes),
        "seconds": seconds,
        "peak": found.arena_size,
        "bound": found.lower_bound,
        "least": work.least_bytes,
        "sum": found.size_without_reuse,
        "in_place": found.in_place,
        "low": low,
        "wide": wide_peak(work),
    }


def wide_peak(work: ProgramWork) -> int:
    """The peak of the same plan when float16 values took as many bytes as float32 ones."""
    values = [result for op in work.operations for result in op.results]
    sizes: list[int] = []
    for value, size in zip(values, work.sizes, strict=True):
        exact = value_bytes(value.type)
        is_half = exact is not None and isinstance(tensor_type_of(value.type).element_type, Float16Type)
        sizes.append(slot_bytes(2 * exact) if size and exact is not None and is_half else size)
    order = range(len(work.work))
    intervals = lifetimes(work.work, sizes, order)
    slots = place_lifetimes(places(work.work, order, intervals), intervals).values()
    return search(Lifetimes([slot for slot in slots if slot.size]), ALIGNMENT).peak


if __name__ == "__main__":
    try:
        print(json.dumps(plan(Path(sys.argv[1]))))
    except GeError as error:
        print(json.dumps({"error": f"{error.code} {error.what}"}))
