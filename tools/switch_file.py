"""The file that switches single passes and rules off, in the form of ATC.

::

    {"Switch": {"GraphFusion": {"ALL": "on", "swish": "off", "eliminate-identity.transpose": "off"},
                "UBFusion": {"ALL": "off", "fuse-conv-bn-relu": "on"}}}

A name is that of a pass, of a rule in a .gerules file, or of a rule in Python as ``pass.rule``; it may stand in either
section. ``ALL`` is about every pass of its section that has no switch of its own: those that join operations of the
device in one kernel in ``UBFusion``, all others in ``GraphFusion``. Passes that nothing compiles without stay on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from xdsl.passes import ModulePass

from ge.ir.registry import Registry
from ge.ir.rewrite_log import Switches
from ge.ir.rule_pass import RulePass
from ge.passes.onnx.fusion_rules import FusionRulesPass
from ge.passes.onnx.simplify import SimplifyPass
from ge.passes.pipelines import buffer_fusions, graph_fusions
from ge.tools.compilation import NEEDED
from ge.tools.json_file import JsonFile, kind
from ge.tools.rule_names import rule_names

ROOT, EVERYTHING = "Switch", "ALL"
SECTIONS = {"GraphFusion": graph_fusions, "UBFusion": buffer_fusions}
STATES = {"on": True, "off": False}

logger = logging.getLogger("ge.fusion")


def read_switch_file(path: str, registry: Registry, rule_files: Sequence[str] = ()) -> Switches:
    """What a switch file switches; ``rule_files`` have rules besides those of the passes. Raises GE1001 or GE2030."""
    file = JsonFile.read(path, "GE2030")
    known = {*registry.passes, *rule_names(registry, rule_files)}
    states: dict[str, bool] = {}
    defaults: dict[str, bool] = {}
    root = file.root()
    file.only_keys(root, (), [ROOT])
    sections = file.table(root.get(ROOT, {}), (ROOT,))
    file.only_keys(sections, (ROOT,), SECTIONS)
    for section, entries in sections.items():
        where = (ROOT, section)
        for name, value in file.table(entries, where).items():
            state = _state(file, value, (*where, name))
            if name == EVERYTHING:
                defaults |= dict.fromkeys(SECTIONS[section](), state)
            elif name in states:
                file.fail((*where, name), f"'{name}' is there twice, in both sections")
            elif name not in known:
                file.unknown((*where, name), f"there is no pass or rule '{name}'", {*known, EVERYTHING})
            elif name in NEEDED and not state:
                logger.warning("pass '%s' stays on: nothing compiles without it", name)
            else:
                states[name] = state
    return Switches(states, defaults)


def switched(passes: Iterable[ModulePass], switches: Switches) -> Iterator[ModulePass]:
    """What is left of passes: the same without switches. Of a pass that lacks some of its rules, `simplify` is left."""
    for each in passes:
        if not isinstance(each, RulePass):
            if switches.allow_pass(each.name):
                yield each
            continue
        rules = each.own_rules()
        off = tuple(rule.name for rule in rules if not switches.allow_rule(rule.name, rule.owner, each.name))
        if not off:
            yield each
        elif len(off) < len(rules):
            has_off = isinstance(each, SimplifyPass | FusionRulesPass)
            yield replace(each, off=(*each.off, *off)) if has_off else SimplifyPass((each.name,), off)


def _state(file: JsonFile, value: Any, path: tuple[str, ...]) -> bool:
    if not isinstance(value, str) or value not in STATES:
        file.fail(path, f'\'{path[-1]}\' is {kind(value)}, not "on" or "off"')
    return STATES[value]
