"""The pass `cancel-transpose`."""

from __future__ import annotations

from dataclasses import dataclass

from ge.passes.onnx.rule_file_pass import RuleFilePass


@dataclass(frozen=True)
class CancelTransposePass(RuleFilePass):
    """Make one `Transpose` of two that follow each other, or none when the second undoes the first.

    1. Permutations that are given, or left out, which turns all axes around.

    A first transpose that something else uses, too, stays for that use.

    Left alone: transposes with something in between (`sink-transpose`), and of values of unknown rank.
    """

    name = "cancel-transpose"
    EXACT = ("transpose-twice",)
