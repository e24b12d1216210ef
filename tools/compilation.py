"""The pipeline of ge-compiler: an ONNX model to an OM file, stage by stage.

Each stage is a list of passes, and its result can be written as text (``--debug=DIR``, :mod:`ge.tools.stage_files`).
"""

from __future__ import annotations

import resource
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from ge.dialects.graph import HostOp, LaunchOp
from ge.dialects.graph.program import ONE_STREAM_CYCLES, main_function
from ge.dialects.om import GraphOp
from ge.dialects.onnx.shapes.input_shapes import Range
from ge.ir.errors import GeError
from ge.ir.registry import context, registry
from ge.ir.rewrite_log import RewriteLog, Switches, current_log, logger, observe
from ge.ir.verifier import verify_module
from ge.lowering.program_to_om.source_graph import attach_graph, source_graph
from ge.passes.graph.plan_memory import MemoryPlan
from ge.passes.graph.program_time import ProgramTime, program_time
from ge.passes.graph.program_work import program_work
from ge.passes.onnx.fusion_rules import FusionRulesPass
from ge.passes.pipelines import (
    fusion_passes,
    graph_pipeline,
    kernel_pipeline,
    needed_passes,
    onnx_pipeline,
    program_pipeline,
)
from ge.targets.ascend.soc import load_soc
from ge.targets.onnx.importer import import_model
from ge.tools.arrays import main_inputs
from ge.tools.compile_options import INTERFACE, CompileOptions, StreamOptions
from ge.tools.console import change, megabytes
from ge.tools.fusion_report import ModuleWatcher
from ge.tools.memory_picture import memory_page
from ge.tools.operator_log import Row, host_reasons, operator_rows
from ge.tools.pipeline import PassRunner, parse_pipeline
from ge.tools.progress import Progress, Silent
from ge.tools.recovery import run_optional
from ge.tools.stage_files import stage_files
from ge.tools.traffic import access_bytes


@dataclass(frozen=True)
class Stage:
    """A step of the compilation: its name, and its passes as pipeline texts, in which ``{...}`` is an option."""

    name: str
    passes: tuple[str, ...] = ()


IMPORT = Stage("onnx", ("{interface}",))
OPTIMISE = Stage("onnx-optimised", ("{onnx}",))
LOWER = Stage("graph", ("convert-onnx-to-graph",))
FUSE = Stage("graph-fused", ("{graph}",))
ASSIGN = Stage(
    "graph-assigned", ("assign-precision{{{precision}}}", "merge-host", "{fast}", "propagate-layout{{plain={plain}}}")
)
GROUP = Stage("graph-grouped", ("{kernels}", "{cores}"))
TILE = Stage("tile", ("convert-graph-to-tile{{soc={soc} double-buffer={double_buffer} search-tiles={search_tiles}}}",))
CUBE = Stage("cube", ("convert-tile-to-cube{{soc={soc}}}",))
PLAN = Stage("cube-planned", ("plan-buffers", "insert-sync"))
PROGRAM = Stage(
    "program", ("note-dataflow", "{order}", "{streams}", "plan-memory{{soc={soc} {memory}}}", "check-memory")
)
WRITE = Stage("om", ("convert-program-to-om{{soc={soc} model-name={name}}}",))

STAGES = (IMPORT, OPTIMISE, LOWER, FUSE, ASSIGN, GROUP, TILE, CUBE, PLAN, PROGRAM, WRITE)
"""The pipeline, in order."""

NEEDED = (
    needed_passes()
    | {*INTERFACE, "select-implementation"}
    | {text.partition("{")[0] for stage in STAGES for text in stage.passes if not text.startswith("{")}
)
"""Passes that nothing compiles without, or not what is asked for."""

OPTIONAL = (OPTIMISE, FUSE, GROUP)
"""Stages of which a pass may fail (:mod:`ge.tools.recovery`)."""

WATCHED = (OPTIMISE, LOWER, FUSE, ASSIGN, GROUP)
"""Stages at the levels onnx and graph, which a fusion report is about."""

NO_FUSION = Switches(dict.fromkeys(fusion_passes(), False))
"""Every pass that makes one operation of several is off: a model compiles without them, too."""


@dataclass(frozen=True)
class StageRecord:
    """What a stage took."""

    name: str
    seconds: float
    peak_bytes: int
    """Peak memory of this process until the end of the stage."""
    operations: int
    """In the module after the stage, those in kernels included."""


@dataclass(frozen=True)
class Program:
    """What the device program of a model consists of."""

    memory: MemoryPlan
    one_stream_memory: MemoryPlan
    """The plan of the same program in one stream."""
    time: ProgramTime | None
    """Its tasks in their streams, where cycles were estimated."""
    base_cycles: int
    """Cycles in one stream, each kernel on all cores that it can use."""
    least_memory: int
    """Bytes of values that no order of the launches could do without."""
    memory_page: str
    """The picture of the plan as HTML, when it was asked for."""
    kernels: int
    launches: int
    host_operators: int
    operators: Sequence[Row]
    """What computes each operator, when it was asked for."""
    access_bytes: int
    """Operands and results of all launches: what a run moves from and to device memory at least."""
    unfused_access_bytes: int
    """The same of the program that the model would be without fusion."""


@dataclass(frozen=True)
class Compilation:
    """A compiled model, and what is known of the way there."""

    module: ModuleOp
    stages: tuple[StageRecord, ...]
    program: Program
    log: RewriteLog
    """What the passes did."""
    watcher: ModuleWatcher | None
    """What that did to the module, when the compilation was watched."""

    @property
    def seconds(self) -> float:
        """Wall time of all stages."""
        return sum(stage.seconds for stage in self.stages)


def compile_model(
    options: CompileOptions,
    *,
    watch: bool = False,
    progress: Progress | None = None,
    observe_stage: Callable[[Stage, ModuleOp], None] = lambda stage, module: None,
) -> Compilation:
    """Compile a model; ``watch`` collects what a fusion report needs, which takes time; ``progress`` is told of stages.

    ``observe_stage`` is called with each stage and the module that it left, which later ones change.
    Raises GeError: of the model (GE1xxx), its operators and shapes (GE3xxx, GE4xxx), the chip.
    """
    records: list[StageRecord] = []
    program: Program | None = None
    graph: GraphOp | None = None
    reasons: Mapping[str, str] = {}
    progress = progress or Silent(len(STAGES))
    start = time.perf_counter()
    progress.begin(IMPORT.name)
    module = imported = import_static(options)
    watcher = ModuleWatcher() if watch else None
    with (
        stage_files(options.debug_dir) as write,
        observe(switches=options.switches, explain=options.explain) as log,
    ):
        for stage in STAGES:
            log.watcher = watcher if stage in WATCHED else None
            progress.begin(stage.name)
            run_stage(stage, module, options, watcher if stage in WATCHED else None)
            if stage is WRITE and graph is not None:
                attach_graph(module, graph)
            records.append(_record(stage, time.perf_counter() - start, module))
            progress.end(stage.name, records[-1].seconds)
            write(len(records), stage.name, module)
            observe_stage(stage, module)
            if stage is IMPORT:
                imported = module.clone()
            if stage is GROUP:
                graph = source_graph(module)
            if stage is FUSE and options.operator_log:
                reasons = dict(host_reasons(module))
            if stage is PROGRAM:
                program = _examine(module, options, unfused_access_bytes(imported, options), reasons)
            start = time.perf_counter()
    assert program is not None
    return Compilation(module, tuple(records), program, log, watcher)


def import_static(options: CompileOptions) -> ModuleOp:
    """The model as a module whose inputs have fixed shapes.

    Raises GE2046 for a range of sizes, GE3011 for other sizes that are not fixed, and what reading a model raises.
    """
    module = import_model(options.model, options.input_shapes)
    for info in main_inputs(module):
        if DYNAMIC_INDEX in info.shape:
            ranges = [str(size) for size in options.input_shapes.get(info.name, ()) if isinstance(size, Range)]
            if ranges:
                what = f"input '{info.name}' has a size in the range {ranges[0]}"
                raise GeError("GE2046", what, str(options.model))
            shown = ", ".join("?" if size == DYNAMIC_INDEX else str(size) for size in info.shape)
            fixed = ",".join("1" if size == DYNAMIC_INDEX else str(size) for size in info.shape)
            remedy = f'Give its shape, for example --input_shape="{info.name}:{fixed}".'
            raise GeError("GE3011", f"input '{info.name}' has shape [{shown}]", str(options.model), remedy=remedy)
    return module


def import_with_interface(options: CompileOptions) -> ModuleOp:
    """The model with the inputs and outputs that the compiled one has. Raises what its import and passes raise."""
    module = import_static(options)
    run_stage(IMPORT, module, options)
    return module


def run_stage(stage: Stage, module: ModuleOp, options: CompileOptions, watcher: ModuleWatcher | None = None) -> None:
    """Run the passes of a stage, and verify the module that they leave."""
    passes = stage_passes(stage, options)
    log = current_log()
    if stage in OPTIONAL and log is not None and not options.strict:
        run_optional(module, passes, log, watcher)
        return
    observers = [] if watcher is None else [watcher]
    PassRunner(verify=lambda module: None, dump=str, observers=observers).run(context(), module, passes)
    verify_module(module)


def stage_passes(stage: Stage, options: CompileOptions) -> list[ModulePass]:
    """The passes of a stage, for a chip and a model."""
    values = {
        "interface": options.interface_passes(),
        "onnx": onnx_pipeline(options.level, "device"),
        "graph": graph_pipeline(options.level),
        "precision": _precision(options),
        "fast": f"select-implementation{{types={','.join(options.fast_types)}}}" if options.fast_types else "",
        "plain": str(options.plain_layout).lower(),
        "kernels": kernel_pipeline(options.level) if options.fuse_kernels else "",
        "soc": load_soc(options.soc).name,
        "name": options.model.stem,
        "cores": _core_passes(options) if options.streams.auto_parallel else "",
        "streams": "" if options.streams.single else _stream_passes(options),
        "order": program_pipeline(options.level) if options.memory.optimize != "low" else "",
        "memory": options.memory.pass_options(),
        "double_buffer": str(options.memory.double_buffer).lower(),
        "search_tiles": str(options.search_tiles).lower(),
    }
    texts = (text.format(**values) for text in stage.passes)
    passes = parse_pipeline(",".join(filter(None, texts)), registry())
    if stage is OPTIMISE and options.rule_files:
        passes.append(FusionRulesPass(options.rule_files))
    return passes


def _core_passes(options: CompileOptions) -> str:
    """The passes that share the cores among kernels."""
    kernels = f"double-buffer={options.memory.double_buffer} search-tiles={options.search_tiles}".lower()
    return f"share-cores{{soc={load_soc(options.soc).name} {kernels}}}"


def _stream_passes(options: CompileOptions) -> str:
    """The passes that choose streams; the lowest level leaves everything in one."""
    streams = f"assign-streams{{soc={load_soc(options.soc).name} {options.streams.pass_options()}}}"
    return f"estimate-cycles,{streams}" if options.level > 0 else ""


def _precision(options: CompileOptions) -> str:
    """The options of the pass `assign-precision`."""
    keep = "" if options.keep_file is None else f" keep-file={shlex.quote(options.keep_file)}"
    return f"mode={options.precision_mode}{keep}"


def unfused_access_bytes(unfused: ModuleOp, options: CompileOptions) -> int:
    """What :func:`access_bytes` is for an imported module, which is used up, when no fusion is done.

    How launches are spread over streams and cores makes no difference to it.
    """
    in_one_stream = replace(options, streams=StreamOptions(single=True))
    logger.disabled = True  # what is done here only for comparison is no news
    try:
        with observe(switches=NO_FUSION):
            for stage in WATCHED:
                run_stage(stage, unfused, in_one_stream)
    finally:
        logger.disabled = False
    return access_bytes(main_function(unfused))


def _record(stage: Stage, seconds: float, module: ModuleOp) -> StageRecord:
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return StageRecord(stage.name, seconds, peak, sum(1 for _ in module.walk()))


def _examine(program: ModuleOp, options: CompileOptions, unfused_bytes: int, reasons: Mapping[str, str]) -> Program:
    """What a planned device program consists of; ``reasons`` say why nodes run on the host."""
    main = main_function(program)
    after = access_bytes(main)
    moved = f"{megabytes(unfused_bytes)} -> {megabytes(after)}"
    logger.info("memory access %s by fusion: %s in each run", change(unfused_bytes, after), moved)
    plan = options.memory.plan(main)
    time = program_time(main, load_soc(options.soc))
    base = cast("IntegerAttr[I64] | None", main.attributes.get(ONE_STREAM_CYCLES))
    return Program(
        memory=plan,
        one_stream_memory=options.memory.plan(main, one_stream=True) if time.schedule.stream_count > 1 else plan,
        time=None if options.streams.single or options.level == 0 else time,
        base_cycles=time.cycles_in_one_stream if base is None else base.value.data,
        least_memory=program_work(main).least_bytes,
        memory_page=memory_page(options.model.stem, main, plan) if options.memory_page else "",
        kernels=sum(op.name == "cube.kernel" for op in program.ops),
        launches=sum(isinstance(op, LaunchOp) for op in main.body.block.ops),
        host_operators=sum(isinstance(op, HostOp) for op in main.body.block.ops),
        operators=operator_rows(program, reasons) if options.operator_log else (),
        access_bytes=after,
        unfused_access_bytes=unfused_bytes,
    )
