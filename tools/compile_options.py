"""What to compile, and how: the options of :func:`ge.tools.compilation.compile_model`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.func import FuncOp

from ge.dialects.onnx.shapes.input_shapes import Asked
from ge.ir.rewrite_log import Switches
from ge.passes.graph.plan_memory import MemoryPlan, Planner, plan_memory
from ge.passes.pipelines import DEFAULT_LEVEL

INTERFACE = ("select-outputs", "convert-outputs", "insert-aipp")
"""Passes that change the inputs and outputs of the model, when that is asked for."""


@dataclass(frozen=True)
class MemoryOptions:
    """How the memory of the device is used."""

    reuse: bool = True
    """Values that are not live at the same time share memory."""
    optimize: str = "high"
    """`high`: launches are ordered for little memory, and places are searched for; `low`: one greedy walk; `solver`: as
    `high`, and a solver finds the places."""
    limit: int = 0
    """The most bytes of values that come and go; 0 is no limit."""
    no_reuse: tuple[str, ...] = ()
    """Nodes whose results share memory with nothing."""
    double_buffer: bool = True
    """Loops of kernels load the next tile while they compute on this one."""

    @property
    def planner(self) -> Planner:
        """How places are found."""
        planners: Mapping[str, Planner] = {"low": "greedy-by-size", "high": "search", "solver": "solver"}
        return planners[self.optimize]

    def plan(self, program: FuncOp, *, one_stream: bool = False) -> MemoryPlan:
        """The plan of a device program, in its streams or as if it had one."""
        return plan_memory(program, self.reuse, self.planner, self.no_reuse, one_stream=one_stream)

    def pass_options(self) -> str:
        """The options of the pass `plan-memory`."""
        no_reuse = f" no-reuse={shlex.quote(','.join(self.no_reuse))}" if self.no_reuse else ""
        return f"reuse={str(self.reuse).lower()} planner={self.planner} limit={self.limit}{no_reuse}"


@dataclass(frozen=True)
class StreamOptions:
    """How work is spread over streams and cores."""

    single: bool = False
    """Everything is in one stream."""
    auto_parallel: bool = False
    """Time comes first: streams may cost memory, and kernels leave cores to others that run beside them."""

    def pass_options(self) -> str:
        """The options of the pass `assign-streams`."""
        return "gain=0" if self.auto_parallel else "memory=1"


@dataclass(frozen=True)
class CompileOptions:
    """What to compile, and how."""

    model: Path
    soc: str = "Ascend310P3"
    input_shapes: Mapping[str, Sequence[Asked]] = field(default_factory=dict[str, Sequence[Asked]])
    outputs: str = ""
    """The values that are outputs instead of those of the model (the pass `select-outputs`)."""
    output_types: str = ""
    """The element types of outputs that are not those of the model (the pass `convert-outputs`)."""
    aipp_file: str = ""
    """A file that says how images become inputs of the model (the pass `insert-aipp`)."""
    layout: str = "NCHW"
    """The order of the dimensions of inputs that are images."""
    level: int = DEFAULT_LEVEL
    """The optimisation level: 0, 1, 2 or 3 (:mod:`ge.passes.pipelines`)."""
    switches: Switches = field(default_factory=Switches)
    """Passes and rules that are left out."""
    explain: frozenset[str] = frozenset()
    """Rules that report where they nearly apply, and why they do not."""
    strict: bool = False
    """Whether a failing optimisation is an error; otherwise it is left out, with a warning."""
    rule_files: tuple[str, ...] = ()
    """Files of fusion rules, which are applied to the optimised model."""
    plain_layout: bool = False
    """Values are in the plain format wherever there is a kernel for it (the pass `propagate-layout`)."""
    fuse_kernels: bool = True
    """Operations of the device are joined in one kernel."""
    fast_types: tuple[str, ...] = ()
    """Types of operators that compute by a less exact formula (the pass `select-implementation`)."""
    search_tiles: bool = True
    """Tiles are those that cost least; the largest that fit otherwise (the pass `convert-graph-to-tile`)."""
    precision_mode: str = "force_fp16"
    keep_file: str | None = None
    """A file that says what keeps the precision of the model (:mod:`ge.passes.graph.keep`)."""
    memory: MemoryOptions = MemoryOptions()
    streams: StreamOptions = StreamOptions()
    memory_page: bool = False
    """Whether to draw the memory plan (:mod:`ge.tools.memory_picture`)."""
    operator_log: bool = False
    """Whether to say what computes each operator (:mod:`ge.tools.operator_log`)."""
    debug_dir: Path | None = None

    def interface_passes(self) -> str:
        """The passes that give the model the inputs and outputs that are asked for, as a pipeline text."""
        outputs, types, file = map(shlex.quote, (self.outputs, self.output_types, self.aipp_file))
        values = (f"outputs={outputs}", f"types={types}", f"config={file} layout={self.layout}")
        is_asked = (self.outputs, self.output_types, self.aipp_file)
        passes = zip(INTERFACE, values, is_asked, strict=True)
        return ",".join(f"{name}{{{value}}}" for name, value, asked in passes if asked)
