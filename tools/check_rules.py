"""ge-opt --check-rules: every rule of a file tried on models made from its own pattern."""

from __future__ import annotations

import numpy as np

from ge.ir.errors import GeError
from ge.passes.onnx.fusion_rules import shipped_rules
from ge.rules import load_rules
from ge.rules.proof import Counterexample, Verdict, prove, summary


def check_rules(file: str | None, seed: int) -> str:
    """Try the rules of a file, or those of this project: the report.

    Raises GE3022 when a rule changes numbers, with the first counterexample, GE3005 when one applies to its own result
    for ever, and GE3023 when one could not be tried, or there is none.
    """
    rules = shipped_rules() if file is None else load_rules(file)
    if not rules:
        raise GeError("GE3023", "the file has no rules", file, remedy="docs/rules.md shows how to write one.")
    verdicts = prove(rules, seed=seed)
    report = summary(verdicts)
    wrong = [verdict for verdict in verdicts if verdict.counterexample is not None]
    untried = [verdict for verdict in verdicts if verdict.untried]
    if wrong:
        print(report)
        print(counterexample(wrong[0]))
        names = ", ".join(f"'{verdict.rule}'" for verdict in wrong)
        raise GeError("GE3022", f"{len(wrong)} of {len(verdicts)} rules change numbers: {names}", wrong[0].place)
    endless = [verdict for verdict in verdicts if verdict.is_endless]
    if endless:
        print(report)
        what = f"rule '{endless[0].rule}' applies to its own result again and again"
        raise GeError("GE3005", what, endless[0].place)
    if untried:
        print(report)
        names = ", ".join(f"'{verdict.rule}'" for verdict in untried)
        undefined = sorted(set[str]().union(*(verdict.undefined for verdict in untried)))
        if undefined:
            what = f"nothing says what {', '.join(undefined)} computes, in the pattern of {names}"
            raise GeError("GE3023", what, untried[0].place, remedy="Give its plug-in with --load-plugin.")
        first = untried[0]
        if first.refused:
            what = f"the replacement of '{first.rule}' cannot be made: {first.refused}"
            raise GeError("GE3023", what, first.place, remedy="Correct the replacement, or the conditions.")
        raise GeError("GE3023", f"no model fulfils the conditions of {names}", first.place)
    return report


def counterexample(verdict: Verdict) -> str:
    """The model and the inputs on which a rule is wrong."""
    found = verdict.counterexample
    assert found is not None
    lines = [f"\nrule '{verdict.rule}' ({verdict.place}) is wrong for", str(found.instance.module)]
    lines += [f"with %{name} = {_array(value)}" for name, value in found.inputs.items()]
    return "\n".join([*lines, _outcome(found)])


def _outcome(found: Counterexample) -> str:
    if found.problem or found.before is None or found.after is None:
        return f"after the rule: {found.problem}"
    at = f" at {list(found.position)}" if found.position else ""
    return f"before the rule{at}: {found.before[found.position]!s}, after it: {found.after[found.position]!s}"


def _array(value: object) -> str:
    return np.array2string(np.asarray(value), threshold=64, separator=", ")
