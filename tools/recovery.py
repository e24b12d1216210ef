"""Compiling goes on when an optimisation fails: the module is put back, and the pass or rule is left out.

A fault in a pass that only makes a model faster should not keep anybody from running the model. The module before the
stage is kept; when a pass raises an error, or leaves a module that is not valid, the stage starts again without the
rule (or else the pass) at fault, which is named in a warning. ``--strict`` makes the first fault an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge.ir.errors import GeError
from ge.ir.registry import context
from ge.ir.rewrite_log import RewriteLog, logger
from ge.ir.verifier import verify_module
from ge.passes.pipelines import needed_passes
from ge.tools.fusion_report import ModuleWatcher
from ge.tools.pipeline import PassRunner


def run_optional(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    log: RewriteLog,
    watcher: ModuleWatcher | None,
) -> None:
    """Run passes of an optimising stage without those that fail. Raises what passes raise that cannot be left out."""
    backup = module.clone()
    so_far, reported = log.copy(), watcher.size if watcher is not None else (0, 0)
    observers = [] if watcher is None else [watcher]
    verify_each = False
    while True:
        runner = PassRunner(verify_module, str, verify_each=verify_each, observers=observers)
        try:
            runner.run(context(), module, passes)
            return
        except GeError as error:
            if error.code != "GE3012" and not verify_each and runner.failed:
                verify_each = True  # the module may be at fault since an earlier pass: look closer
            elif runner.failed in ("", *needed_passes()) or log.switches.states.get(runner.failed) is False:
                raise
            else:
                logger.warning("'%s' is left out, because it fails: %s", runner.failed, error.what)
                states = {**log.switches.states, runner.failed: False}
                so_far.switches = replace(log.switches, states=states)
        log.take_back(so_far)
        if watcher is not None:
            watcher.take_back(reported)
        _restore(module, backup.clone())


def _restore(module: ModuleOp, backup: ModuleOp) -> None:
    """Give a module the contents of another one, which is left empty."""
    module.detach_region(module.body)
    module.add_region(backup.detach_region(backup.body))
    module.attributes = backup.attributes
