"""The optimisation levels as written pipelines: which pass runs from which level on, and in which order.

**To add a pass to the levels, add one line to a table below**: its name and the lowest level that runs it.

| level | what it promises |
|---|---|
| ``-O0`` | only what later levels need: shapes that are known, constants that are constants, operators with a kernel |
| ``-O1`` | every result keeps its bits, and each pass is one walk over the model |
| ``-O2`` | fewer operators that compute the same formula with the same constants: results move by a rounding at most |
| ``-O3`` | everything: constants computed anew (folded weights, joined products) and rounded once |

A local rewrite belongs into ``SIMPLIFY``, ``RECOGNISE`` or ``COMPUTE``, whose passes consist of rules and share one
worklist: what one of them uncovers the others see at once. A pass that looks at a whole block has a place of its own in
``ONNX``, ``GRAPH`` or ``KERNELS``. In a worklist, rules are tried on one operation in the order of the passes.

:func:`onnx_pipeline` and its siblings give the texts; ``ge-opt -O2 --print-pipeline`` shows them, and ``-p``
takes them back. docs/optimiser.md describes the levels for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ge.ir.errors import GeError

LEVELS = (0, 1, 2, 3)

NEVER = len(LEVELS)
"""The level of rules that run only when they are asked for."""

DEFAULT_LEVEL = 3
"""What ge-compiler does when no level is asked for, as ATC."""

Use: TypeAlias = Literal["model", "device"]
"""What becomes of the optimised model: it stays a model at the onnx level, or it is compiled for the device."""


@dataclass(frozen=True)
class Step:
    """A pass, or a group of them, in a pipeline."""

    text: str
    """The pass as in a pipeline: its name, with options in braces."""
    level: int
    """The lowest level that runs it."""
    use: Use | None = None
    """It runs only for this use; None: for both."""
    is_fusion: bool = False
    """Whether ``--no-fusion`` leaves it out: it makes one operation of several."""
    rules: tuple[Step, ...] = ()
    """Rules of the pass that have a lowest level, or a use, of their own."""
    opset: int = 0
    """The first version of the standard that has the operators which it makes, where that is not the first of all."""

    def runs(self, level: int, use: Use, opset: int | None = None) -> bool:
        """Whether a level runs it; for a model of an older opset it makes nothing that would be taken apart again."""
        return self.level <= level and self.use in (None, use) and (opset is None or self.opset <= opset)


@dataclass(frozen=True)
class Worklist:
    """Passes that consist of rules, and run together in the pass `simplify`."""

    steps: tuple[Step, ...]


PREPARE = (
    Step("freeze-initializers", 0),
    Step("inline-functions", 0),
    Step("infer-shapes", 0),
    Step("decompose-custom", 0, use="device"),
    Step("constant-fold", 0),
    Step("merge-constants", 1),
)

SIMPLIFY = (
    Step("eliminate-identity", 1),
    Step("fold-splats", 1),
    Step("inline-if", 1),
    Step("simplify-loop", 1),
    Step("drop-unused-results", 1),
    Step("eliminate-expand", 1),
    Step("merge-reshape", 1),
    Step("merge-reshape-into-reduce", 1),
    Step("unflatten-softmax", 1),
    Step("merge-slice", 1),
    Step("sink-cast", 1),
    Step("cancel-transpose", 1),
    Step("sink-transpose", 2),
    Step("gather-to-slice", 1),
    Step("merge-slices-to-split", 1),
    Step("eliminate-concat-split", 1),
    Step("hoist-loop-invariants", 2),
    Step("unroll-loop", 3, use="device"),
)
"""Passes of rules that leave fewer operators, not other ones."""

RECOGNISE = (
    Step("recognise-softmax", 2, is_fusion=True),
    Step("recognise-variance", 2, use="device", is_fusion=True),
    Step("recognise-layer-norm", 2, is_fusion=True, opset=17),
    Step("recognise-rms-norm", 2, use="model", is_fusion=True, opset=23),
    Step("recognise-group-norm", 2, use="model", is_fusion=True, opset=21),
    Step("recognise-gelu", 2, is_fusion=True, opset=20),
    Step("recognise-swish", 2, is_fusion=True, opset=24),
    Step("recognise-hard-swish", 2, is_fusion=True, opset=14),
    Step("onnx-recognise-activations", 2, is_fusion=True, rules=(Step("mish", 2, opset=18),)),
    Step("recognise-reductions", 2, is_fusion=True, rules=(Step("reduce-sum-square", NEVER),)),
    Step("recognise-attention", 2, use="model", is_fusion=True, opset=23),
    Step("recognise-rotary", 2, use="model", is_fusion=True, opset=23),
    Step("fuse-pad", 2, is_fusion=True),
    Step("fuse-matmul-add", 2, is_fusion=True),
    Step("algebraic-simplify", 2),
)
"""Passes of rules that put one operator in the place of several; those for models only make what has no kernel.

A sum of squares stays one of products: a variance as the mean of squares less a square loses digits, and the numbers of
another order of summation are too far from those of the model then."""

FOLD_CONV_BN = Step("onnx-fold-conv-bn", 3, use="model", is_fusion=True)
"""Runs before equal convolutions become one: of those, several normalisations could not be folded any more."""

COMPUTE = (
    Step("strength-reduction", 2, rules=(
        Step("divide-by-constant", 3, use="device"),
        Step("sum-of-scaled", 3),
        Step("mean-of-scaled", 3),
    )),
    Step("combine-constants", 3),
    FOLD_CONV_BN,
    Step("fold-scale-into-conv", 3, is_fusion=True),
    Step("fold-consecutive-linear", 3, is_fusion=True),
    Step("recognise-reduce-mean", 2, is_fusion=True),
    Step("fuse-horizontal", 3, use="model", is_fusion=True),
)  # fmt: skip
"""Passes of rules that compute constants anew; they come last, because they break what is recognised by its numbers.

The graph level folds batch normalisation together with the activation after it, so models alone do it here. A product
with a reciprocal instead of a division saves time on the device; it would move the results of a model for nothing."""

SCALE_SHIFT = Step("recognise-batch-norm", 3, use="model", is_fusion=True)
"""For the factors and shifts that found no constants to go into; so it runs when nothing is left to fold."""

ONNX: tuple[Step | Worklist, ...] = (
    *PREPARE,
    Worklist((*SIMPLIFY, FOLD_CONV_BN)),
    Step("fold-shape-ops", 1),
    Step("onnx-cse", 1),
    Worklist((*SIMPLIFY, *RECOGNISE)),
    Worklist((*SIMPLIFY, *RECOGNISE, *COMPUTE)),
    SCALE_SHIFT,
    Step("onnx-cse", 1),
    Step("onnx-dce", 1),
)
"""The passes on the model, in order. A worklist that a level runs already is not run again."""

GRAPH: tuple[Step | Worklist, ...] = (
    Step("graph-fold-constants", 1),
    Step("graph-eliminate-identity", 1),
    Step("fuse-requantise", 2, is_fusion=True),
    Step("fuse-quantise-conv", 1, is_fusion=True),
    Step("recognise-activations", 2, is_fusion=True),
    Step("channel-shuffle", 1),
    Step("fold-transpose-matmul", 1),
    Step("hoist-reshape", 1),
    Step("fuse-conv-bn-relu", 3, is_fusion=True),
    Step("fold-conv-bn", 3, is_fusion=True),
    Step("decompose-lrn", 0),
    Step("batch-norm-to-conv", 0),
    Step("fuse-binary-activation", 2, is_fusion=True),
)
"""The passes on the graph of the device, in order; there is no graph level when the model stays a model."""

KERNELS: tuple[Step | Worklist, ...] = (
    Step("scale-conv-weights", 3, is_fusion=True),
    Step("fuse-conv-add", 2, is_fusion=True),
    Step("fuse-elementwise", 2, is_fusion=True),
    Step("autofuse", 3, is_fusion=True),
)
"""The passes on the graph once its values have storage formats: they join operations in one kernel."""

PROGRAM: tuple[Step | Worklist, ...] = (Step("order-launches", 1),)
"""The passes on the device program, before its memory is planned."""

_ALL = (*ONNX, *GRAPH, *KERNELS, *PROGRAM)


def parse_level(text: str) -> int:
    """The level that ``2``, ``O2`` or ``o2`` names. Raises GE2006."""
    number = text.removeprefix("O").removeprefix("o")
    if number not in map(str, LEVELS):
        raise GeError("GE2006", f"'{text}' is no optimisation level", remedy="The levels are O0, O1, O2 and O3.")
    return int(number)


def onnx_pipeline(level: int, use: Use, opset: int | None = None) -> str:
    """The passes of a level on the model, as a pipeline text; ``opset`` is that of a model to be written."""
    return ",".join(_texts(ONNX, level, use, opset))


def graph_pipeline(level: int) -> str:
    """The passes of a level on the graph of the device, as a pipeline text."""
    return ",".join(_texts(GRAPH, level, "device"))


def kernel_pipeline(level: int) -> str:
    """The passes of a level that join operations of the device in one kernel, as a pipeline text."""
    return ",".join(_texts(KERNELS, level, "device"))


def program_pipeline(level: int) -> str:
    """The passes of a level on the device program, as a pipeline text."""
    return ",".join(_texts(PROGRAM, level, "device"))


def fusion_passes() -> frozenset[str]:
    """The passes that make one operation of several: what ``--no-fusion`` leaves out."""
    return frozenset(step.text for step in _steps(_ALL) if step.is_fusion)


def level_of(name: str) -> int | None:
    """The lowest level that runs a pass; None when no level does."""
    return min((step.level for step in _steps(_ALL) if step.text.partition("{")[0] == name), default=None)


def needed_passes() -> frozenset[str]:
    """The passes that every level runs; nothing switches them off."""
    return frozenset(step.text for step in _steps(_ALL) if step.level == 0)


def graph_fusions() -> frozenset[str]:
    """The passes that ``ALL`` of the section ``GraphFusion`` of a switch file means: those that fuse no kernels.

    The rules of the user are among them.
    """
    return frozenset({"fusion-rules", *(step.text for step in _steps(_ALL) if step.level > 0)}) - buffer_fusions()


def buffer_fusions() -> frozenset[str]:
    """The passes that ``ALL`` of the section ``UBFusion`` means: operations of the device joined in one kernel."""
    return frozenset(step.text for step in _steps((*GRAPH, *KERNELS)) if step.is_fusion)


def _texts(table: Sequence[Step | Worklist], level: int, use: Use, opset: int | None = None) -> list[str]:
    """The texts of the passes that a level runs; what has just run is not run again."""
    texts: list[str] = []
    for entry in table:
        steps = [step for step in _steps([entry]) if step.runs(level, use, opset)]
        text = (
            _worklist_text(steps, level, use, opset)
            if isinstance(entry, Worklist)
            else "".join(each.text for each in steps)
        )
        if text and text not in texts[-1:]:
            texts.append(text)
    return texts


def _worklist_text(steps: Sequence[Step], level: int, use: Use, opset: int | None) -> str:
    off = ",".join(rule.text for step in steps for rule in step.rules if not rule.runs(level, use, opset))
    passes = ",".join(step.text for step in steps)
    return f"simplify{{passes={passes}{f' off={off}' if off else ''}}}" if passes else ""


def _steps(table: Sequence[Step | Worklist]) -> Iterator[Step]:
    for entry in table:
        yield from (entry,) if isinstance(entry, Step) else entry.steps
