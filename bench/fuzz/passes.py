"""Single passes on the module of a case, at whatever level it is: each ends in a valid module or in a clear message."""

from __future__ import annotations

from random import Random

from xdsl.dialects.builtin import ModuleOp

from bench.fuzz.sandbox import Progress
from bench.fuzz.verdict import REFUSED, judge
from ge.ir.errors import GeError
from ge.ir.registry import PASSES, context, registry
from ge.ir.verifier import verify_module
from ge.tools.pipeline import PassRunner, parse_pipeline

_PASSES_OF_A_CASE = 2
"""Passes that a case tries; all passes get their turn in a campaign."""


def run_passes(module: ModuleOp, random: Random, progress: Progress) -> None:
    """Run some passes, each on a copy of the module. What they refuse is left to them."""
    for name in random.sample(sorted(PASSES), _PASSES_OF_A_CASE):
        progress.at(f"pass {name}")
        try:
            runner = PassRunner(verify_module, dump=str)
            runner.run(context(), module.clone(), parse_pipeline(name, registry()))
        except GeError as error:
            if judge(error) != REFUSED:
                raise
