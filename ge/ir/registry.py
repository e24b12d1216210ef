"""What exists, by name: dialects and passes, each as ``"module:object"`` and imported on first use.

Adding a dialect or a pass is one line in a table here. Importing this module is instant: nothing it names is imported.

Other packages add theirs without touching this file. A *plug-in* is a Python file or installed module that has a
dictionary ``DIALECTS``, a dictionary ``PASSES`` (both in the form used here, or with the objects themselves as values),
or a function ``register(registry)``; or it registers operators when it is imported (:mod:`ge.custom`). Installed
packages announce plug-ins as entry points of the group ``ge.plugins``; a single file is loaded with
``--load-plugin=FILE.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ge.ir.errors import GeError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

PLUGIN_GROUP = "ge.plugins"

DIALECTS: dict[str, str] = {
    "ge": "ge.ir.attributes:Ge",
    "onnx": "ge.dialects.onnx:Onnx",
    "graph": "ge.dialects.graph:Graph",
    "tile": "ge.dialects.tile:Tile",
    "cube": "ge.dialects.cube:Cube",
    "om": "ge.dialects.om:Om",
}

PASSES: dict[str, str] = {
    # any level, from xDSL
    "canonicalize": "xdsl.transforms.canonicalize:CanonicalizePass",
    "cse": "xdsl.transforms.common_subexpression_elimination:CommonSubexpressionElimination",
    "dce": "xdsl.transforms.dead_code_elimination:DeadCodeElimination",
    "licm": "xdsl.transforms.loop_invariant_code_motion:LoopInvariantCodeMotionPass",
    # onnx
    "select-outputs": "ge.passes.onnx.select_outputs:SelectOutputsPass",
    "convert-outputs": "ge.passes.onnx.convert_outputs:ConvertOutputsPass",
    "insert-aipp": "ge.passes.onnx.insert_aipp:InsertAippPass",
    "inline-functions": "ge.passes.onnx.inline_functions:InlineFunctionsPass",
    "freeze-initializers": "ge.passes.onnx.freeze_initializers:FreezeInitializersPass",
    "infer-shapes": "ge.passes.onnx.infer_shapes:InferShapesPass",
    "dump-shapes": "ge.passes.onnx.dump_shapes:DumpShapesPass",
    "constant-fold": "ge.passes.onnx.constant_fold:ConstantFoldPass",
    "eliminate-identity": "ge.passes.onnx.eliminate_identity:EliminateIdentityPass",
    "fold-splats": "ge.passes.onnx.fold_splats:FoldSplatsPass",
    "inline-if": "ge.passes.onnx.inline_if:InlineIfPass",
    "simplify-loop": "ge.passes.onnx.simplify_loop:SimplifyLoopPass",
    "unroll-loop": "ge.passes.onnx.unroll_loop:UnrollLoopPass",
    "hoist-loop-invariants": "ge.passes.onnx.hoist_loop_invariants:HoistLoopInvariantsPass",
    "drop-unused-results": "ge.passes.onnx.drop_unused_results:DropUnusedResultsPass",
    "merge-constants": "ge.passes.onnx.merge_constants:MergeConstantsPass",
    "fold-shape-ops": "ge.passes.onnx.fold_shape_ops:FoldShapeOpsPass",
    "merge-reshape": "ge.passes.onnx.merge_reshape:MergeReshapePass",
    "eliminate-expand": "ge.passes.onnx.eliminate_expand:EliminateExpandPass",
    "merge-reshape-into-reduce": "ge.passes.onnx.merge_reshape_into_reduce:MergeReshapeIntoReducePass",
    "unflatten-softmax": "ge.passes.onnx.unflatten_softmax:UnflattenSoftmaxPass",
    "merge-slice": "ge.passes.onnx.merge_slice:MergeSlicePass",
    "cancel-transpose": "ge.passes.onnx.cancel_transpose:CancelTransposePass",
    "sink-transpose": "ge.passes.onnx.sink_transpose:SinkTransposePass",
    "sink-cast": "ge.passes.onnx.sink_cast:SinkCastPass",
    "gather-to-slice": "ge.passes.onnx.gather_to_slice:GatherToSlicePass",
    "merge-slices-to-split": "ge.passes.onnx.merge_slices_to_split:MergeSlicesToSplitPass",
    "eliminate-concat-split": "ge.passes.onnx.eliminate_concat_split:EliminateConcatSplitPass",
    "onnx-cse": "ge.passes.onnx.onnx_cse:OnnxCsePass",
    "onnx-dce": "ge.passes.onnx.onnx_dce:OnnxDcePass",
    "simplify": "ge.passes.onnx.simplify:SimplifyPass",
    "decompose-custom": "ge.passes.onnx.decompose_custom:DecomposeCustomPass",
    "fusion-rules": "ge.passes.onnx.fusion_rules:FusionRulesPass",
    "algebraic-simplify": "ge.passes.onnx.algebraic_simplify:AlgebraicSimplifyPass",
    "combine-constants": "ge.passes.onnx.combine_constants:CombineConstantsPass",
    "strength-reduction": "ge.passes.onnx.strength_reduction:StrengthReductionPass",
    "onnx-fold-conv-bn": "ge.passes.onnx.onnx_fold_conv_bn:OnnxFoldConvBnPass",
    "fold-scale-into-conv": "ge.passes.onnx.fold_scale_into_conv:FoldScaleIntoConvPass",
    "fuse-pad": "ge.passes.onnx.fuse_pad:FusePadPass",
    "fuse-matmul-add": "ge.passes.onnx.fuse_matmul_add:FuseMatmulAddPass",
    "fold-consecutive-linear": "ge.passes.onnx.fold_consecutive_linear:FoldConsecutiveLinearPass",
    "fuse-horizontal": "ge.passes.onnx.fuse_horizontal:FuseHorizontalPass",
    "conv-to-fc": "ge.passes.onnx.conv_to_fc:ConvToFcPass",
    "fc-to-conv": "ge.passes.onnx.fc_to_conv:FcToConvPass",
    "recognise-softmax": "ge.passes.onnx.recognise_softmax:RecogniseSoftmaxPass",
    "recognise-layer-norm": "ge.passes.onnx.recognise_layer_norm:RecogniseLayerNormPass",
    "recognise-rms-norm": "ge.passes.onnx.recognise_rms_norm:RecogniseRmsNormPass",
    "recognise-group-norm": "ge.passes.onnx.recognise_group_norm:RecogniseGroupNormPass",
    "recognise-attention": "ge.passes.onnx.recognise_attention:RecogniseAttentionPass",
    "recognise-rotary": "ge.passes.onnx.recognise_rotary:RecogniseRotaryPass",
    "recognise-batch-norm": "ge.passes.onnx.recognise_batch_norm:RecogniseBatchNormPass",
    "recognise-gelu": "ge.passes.onnx.recognise_gelu:RecogniseGeluPass",
    "recognise-swish": "ge.passes.onnx.recognise_swish:RecogniseSwishPass",
    "recognise-hard-swish": "ge.passes.onnx.recognise_hard_swish:RecogniseHardSwishPass",
    "onnx-recognise-activations": "ge.passes.onnx.onnx_recognise_activations:OnnxRecogniseActivationsPass",
    "recognise-reductions": "ge.passes.onnx.recognise_reductions:RecogniseReductionsPass",
    "recognise-variance": "ge.passes.onnx.recognise_variance:RecogniseVariancePass",
    "recognise-reduce-mean": "ge.passes.onnx.recognise_reduce_mean:RecogniseReduceMeanPass",
    # onnx to graph
    "convert-onnx-to-graph": "ge.lowering.onnx_to_graph.convert:ConvertOnnxToGraphPass",
    # graph
    "graph-fold-constants": "ge.passes.graph.fold_constants:GraphFoldConstantsPass",
    "graph-eliminate-identity": "ge.passes.graph.eliminate_identity:GraphEliminateIdentityPass",
    "recognise-activations": "ge.passes.graph.recognise_activations:RecogniseActivationsPass",
    "channel-shuffle": "ge.passes.graph.channel_shuffle:ChannelShufflePass",
    "fuse-conv-bn-relu": "ge.passes.graph.fuse_conv_bn_relu:FuseConvBnReluPass",
    "fold-transpose-matmul": "ge.passes.graph.fold_transpose_matmul:FoldTransposeMatmulPass",
    "hoist-reshape": "ge.passes.graph.hoist_reshape:HoistReshapePass",
    "fold-conv-bn": "ge.passes.graph.fold_conv_bn:FoldConvBnPass",
    "fuse-quantise-conv": "ge.passes.graph.fuse_quantise_conv:FuseQuantiseConvPass",
    "fuse-requantise": "ge.passes.graph.fuse_requantise:FuseRequantisePass",
    "fuse-binary-activation": "ge.passes.graph.fuse_binary_activation:FuseBinaryActivationPass",
    "decompose-lrn": "ge.passes.graph.decompose_lrn:DecomposeLrnPass",
    "batch-norm-to-conv": "ge.passes.graph.batch_norm_to_conv:BatchNormToConvPass",
    "assign-precision": "ge.passes.graph.assign_precision:AssignPrecisionPass",
    "merge-host": "ge.passes.graph.merge_host:MergeHostPass",
    "select-implementation": "ge.passes.graph.select_implementation:SelectImplementationPass",
    "propagate-layout": "ge.passes.graph.propagate_layout:PropagateLayoutPass",
    "scale-conv-weights": "ge.passes.graph.scale_conv_weights:ScaleConvWeightsPass",
    "fuse-conv-add": "ge.passes.graph.fuse_conv_add:FuseConvAddPass",
    "fuse-elementwise": "ge.passes.graph.fuse_elementwise:FuseElementwisePass",
    "autofuse": "ge.passes.graph.autofuse:AutofusePass",
    "share-cores": "ge.tools.share_cores:ShareCoresPass",
    # graph to tile
    "convert-graph-to-tile": "ge.lowering.graph_to_tile.convert_graph_to_tile:ConvertGraphToTilePass",
    # tile
    # tile to cube
    "convert-tile-to-cube": "ge.lowering.tile_to_cube.convert:ConvertTileToCube",
    # cube
    "plan-buffers": "ge.passes.cube.plan_buffers:PlanBuffers",
    "insert-sync": "ge.passes.cube.insert_sync:InsertSync",
    # to om
    "note-dataflow": "ge.passes.graph.note_dataflow:NoteDataflowPass",
    "order-launches": "ge.passes.graph.order_launches:OrderLaunchesPass",
    "estimate-cycles": "ge.targets.ascend.estimate_cycles:EstimateCyclesPass",
    "assign-streams": "ge.passes.graph.assign_streams:AssignStreamsPass",
    "plan-memory": "ge.passes.graph.plan_memory:PlanMemoryPass",
    "check-memory": "ge.passes.graph.check_memory:CheckMemoryPass",
    "convert-graph-to-onnx": "ge.lowering.graph_to_onnx:ConvertGraphToOnnxPass",
    "convert-program-to-om": "ge.lowering.program_to_om:ConvertProgramToOmPass",
}


def load_object(path: str) -> Any:
    """The object that ``"module:object"`` names."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


class Registry:
    """The dialects and passes known to one run: the tables above, those of xDSL, and those of plug-ins.

    ``dialects`` and ``passes`` map a name to a function that imports and returns the dialect or pass class.
    """

    def __init__(self) -> None:
        self.dialects: dict[str, Callable[[], Dialect]] = {}
        self.passes: dict[str, Callable[[], type[ModulePass]]] = {}
        self.own_passes: list[str] = []
        """Names of the passes of this project and of plug-ins, in the order of the table (for --list-passes)."""
        self._loaded: set[str] = set()
        for name, path in DIALECTS.items():
            self.add_dialect(name, path)
        for name, path in PASSES.items():
            self.add_pass(name, path)
        self._add_xdsl()

    def _add_xdsl(self) -> None:
        """Add what xDSL brings; a name of ours hides one of xDSL."""
        from xdsl.dialects import get_all_dialects
        from xdsl.transforms import get_all_passes

        self.dialects = {**get_all_dialects(), **self.dialects}
        self.passes = {**get_all_passes(), **self.passes}

    def add_dialect(self, name: str, entry: str | Dialect) -> None:
        """Register a dialect under ``name``: the object, or ``"module:object"``. A name that is taken raises GE2005."""
        self._refuse_taken("dialect", name, self.dialects)
        self.dialects[name] = _loader(entry)

    def add_pass(self, name: str, entry: str | type[ModulePass]) -> None:
        """Register a pass under ``name``: the class, or ``"module:Class"``. A name that is taken raises GE2005."""
        self._refuse_taken("pass", name, self.passes)
        self.passes[name] = _loader(entry)
        self.own_passes.append(name)

    @staticmethod
    def _refuse_taken(kind: str, name: str, table: Mapping[str, object]) -> None:
        if name in table:
            raise GeError("GE2005", f"{kind} '{name}' is registered already", remedy=f"Give the {kind} another name.")

    def add_plugin(self, plugin: object) -> None:
        """Register what a plug-in module or object brings (see the module docstring)."""
        for name, entry in cast("Mapping[str, Any]", getattr(plugin, "DIALECTS", {})).items():
            self.add_dialect(name, entry)
        for name, entry in cast("Mapping[str, Any]", getattr(plugin, "PASSES", {})).items():
            self.add_pass(name, entry)
        register = getattr(plugin, "register", None)
        if callable(register):
            register(self)

    def load_plugin(self, path: str | Path) -> None:
        """Import the plug-in file ``path`` and register what it brings. Loading the same file again does nothing."""
        file = Path(path).resolve()
        if str(file) in self._loaded:
            return
        try:
            plugin = _import_file(file)
        except GeError:
            raise
        except SystemExit as error:
            raise GeError("GE2005", f"plug-in '{path}': it ends the process", where=str(path)) from error
        except Exception as error:
            raise GeError("GE2005", f"plug-in '{path}': {error}", where=str(path)) from error
        self.add_plugin(plugin)
        self._loaded.add(str(file))

    def load_entry_points(self) -> None:
        """Register the plug-ins of installed packages (entry points of the group ``ge.plugins``)."""
        from importlib.metadata import entry_points

        for point in entry_points(group=PLUGIN_GROUP):
            try:
                plugin = point.load()
            except GeError:
                raise
            except Exception as error:
                raise GeError("GE2005", f"plug-in '{point.name}': {error}", where=point.value) from error
            self.add_plugin(plugin)

    def context(self) -> Context:
        """A context in which every registered dialect is loaded when text first names it."""
        from xdsl.context import Context

        ctx = Context()
        for name, load in self.dialects.items():
            ctx.register_dialect(name, load)
        return ctx


def _loader(entry: Any) -> Callable[[], Any]:
    if isinstance(entry, str):
        return lambda: load_object(entry)
    return lambda: entry


def _import_file(file: Path) -> object:
    """Import a Python file under a name made from its path."""
    from importlib.util import module_from_spec, spec_from_file_location

    if not file.is_file():
        raise FileNotFoundError("no such file")
    spec = spec_from_file_location(f"ge_plugin_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def registry() -> Registry:
    """The registry of this process, with the plug-ins of installed packages."""
    result = Registry()
    result.load_entry_points()
    return result


def context() -> Context:
    """A new context with every dialect of this process registered; each is imported when it is first used."""
    return registry().context()


def load_dialect(ctx: Context, name: str) -> None:
    """Import the dialect ``name`` into ``ctx``, unless it is there already."""
    ctx.get_dialect(name)


def load_plugin(path: str | Path) -> None:
    """Add a plug-in file to the registry of this process."""
    registry().load_plugin(path)
