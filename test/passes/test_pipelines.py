"""The optimisation levels: every pass has a place in them, and every text is a pipeline."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import shipped_rules
from ge.passes.pipelines import (
    COMPUTE,
    LEVELS,
    RECOGNISE,
    SCALE_SHIFT,
    SIMPLIFY,
    buffer_fusions,
    fusion_passes,
    graph_fusions,
    graph_pipeline,
    kernel_pipeline,
    needed_passes,
    onnx_pipeline,
    parse_level,
    program_pipeline,
)
from ge.tools.compilation import ASSIGN, PROGRAM
from ge.tools.pipeline import make_pass, parse_pipeline, pipeline_text, split_pass_flags
from ge.tools.rule_names import rules_of

BESIDES = {
    "dump-shapes": "prints, and changes nothing",
    "simplify": "runs the passes of the tables",
    "conv-to-fc": "another form of the same product, for targets that have the one and not the other",
    "fc-to-conv": "the same the other way round",
    "insert-aipp": "makes the inputs images; the user says which and how",
    "select-outputs": "the user names the outputs",
    "convert-outputs": "the user names their types",
    "select-implementation": "the user names types of operators that are to be fast and less exact",
    "assign-streams": "ge-compiler runs it where a level and an option say so; it needs cycles, which a tool estimates",
    "fusion-rules": "runs rules of the user; those of this project are in passes of their own",
}
"""Passes on models and graphs that no level runs, and why."""

ASKED_FOR = {"roi-align", "roi-align-max"}
"""Rules of this project that no level applies: what they make has no kernel, and the model gets larger."""

TEXTS = [
    *(onnx_pipeline(level, use) for level in LEVELS for use in ("model", "device")),
    *(graph_pipeline(level) for level in LEVELS),
    *(kernel_pipeline(level) for level in LEVELS),
    *(program_pipeline(level) for level in LEVELS),
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_is_a_pipeline_that_prints_as_itself(text: str) -> None:
    passes = parse_pipeline(text, registry())
    assert pipeline_text(passes).replace(",\n", ",") == text


@pytest.mark.parametrize("step", [*SIMPLIFY, *RECOGNISE, *COMPUTE], ids=lambda step: step.text)
def test_worklists_have_passes_that_consist_of_rules_which_say_what_they_are_called(step: object) -> None:
    pass_type = registry().passes[getattr(step, "text", "")]()
    assert issubclass(pass_type, RulePass)
    names = {rule.name for rule in rules_of(pass_type.name, registry())}
    assert {rule.text for rule in getattr(step, "rules", ())} <= names


def names_of(text: str) -> set[str]:
    """The passes of a text, those of worklists included."""
    found: set[str] = set()
    for each in parse_pipeline(text, registry()):
        found |= {each.name, *getattr(each, "passes", ())} - {"simplify"}
    return found


def test_levels_grow() -> None:
    for lower, higher in pairwise(LEVELS):
        for use in ("model", "device"):
            assert names_of(onnx_pipeline(lower, use)) < names_of(onnx_pipeline(higher, use))
        assert names_of(graph_pipeline(lower)) < names_of(graph_pipeline(higher))


def test_older_opsets_leave_out_what_they_have_no_operator_for() -> None:
    older, newest = names_of(onnx_pipeline(3, "model", 17)), names_of(onnx_pipeline(3, "model"))
    assert newest - older == {"recognise-gelu", "recognise-swish", "recognise-attention"} | {
        "recognise-rms-norm",
        "recognise-rotary",
        "recognise-group-norm",
    }
    assert "mish" in onnx_pipeline(3, "model", 17).partition(" off=")[2]
    assert names_of(onnx_pipeline(3, "model", 24)) == newest


@pytest.mark.parametrize("flags", [["--target-opset=17"], ["--target-opset", "17"], ["--target_opset=17"]])
def test_the_target_opset_decides_on_the_passes_of_a_level(flags: list[str]) -> None:
    passes, others = split_pass_flags(["-O2", *flags], registry())
    assert [name for name, _ in passes] == [
        each.name for each in parse_pipeline(onnx_pipeline(2, "model", 17), registry())
    ]
    assert others == flags
    assert "recognise-gelu" in str(split_pass_flags(["-O2"], registry())) and "recognise-gelu" not in str(passes)


def test_every_pass_on_models_and_graphs_has_a_level() -> None:
    in_levels = {name for text in TEXTS for name in names_of(text)}
    fixed = {each.partition("{")[0] for stage in (ASSIGN, PROGRAM) for each in stage.passes}
    own = {
        name
        for name in registry().own_passes
        if registry().passes[name]().__module__.startswith(("ge.passes.onnx.", "ge.passes.graph."))
    }
    assert own - in_levels - fixed == set(BESIDES), "add the pass to a table of ge/passes/pipelines.py"


def test_every_rule_of_this_project_is_applied_at_the_highest_level() -> None:
    steps = [*SIMPLIFY, *RECOGNISE, *COMPUTE, SCALE_SHIFT]
    applied = {rule.name for step in steps for rule in rules_of(step.text, registry())}
    assert {rule.name for rule in shipped_rules()} - applied == ASKED_FOR


def test_switches_by_section_are_about_different_passes() -> None:
    assert not graph_fusions() & buffer_fusions()
    assert not needed_passes() & (graph_fusions() | buffer_fusions())
    assert {"fuse-conv-bn-relu", "autofuse"} <= buffer_fusions() <= fusion_passes()
    assert {"eliminate-identity", "onnx-cse"} <= graph_fusions() - fusion_passes()


@pytest.mark.parametrize(("text", "level"), [("0", 0), ("O1", 1), ("o2", 2), ("3", 3)])
def test_spellings_of_levels(text: str, level: int) -> None:
    assert parse_level(text) == level


@pytest.mark.parametrize("text", ["", "O", "4", "-1", "fast", "OO1", "1.0"])
def test_no_levels(text: str) -> None:
    with pytest.raises(GeError, match="no optimisation level"):
        parse_level(text)


def test_rules_are_left_out_of_simplify() -> None:
    simplify = make_pass("simplify", "passes=recognise-swish,strength-reduction off=swish,square", registry())
    assert isinstance(simplify, RulePass)
    names = {rule.name for rule in simplify.rules()}
    assert "swish-scaled" in names and "divide-one" in names and not {"swish", "square"} & names
    wrong = make_pass("simplify", "passes=recognise-swish off=swisch", registry())
    assert isinstance(wrong, RulePass)
    with pytest.raises(GeError, match="no rule 'swisch', did you mean 'swish'"):
        wrong.rules()
