"""Whether a module reads back from its text as it was written."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from bench.fuzz.verdict import Mismatch
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.verifier import verify_module


def check_round_trip(module: ModuleOp, *, generic: bool = False) -> None:
    """Print, parse and verify a module. Raises Mismatch when the text was of another module.

    When it is printed again, names of values may have other numbers; nothing else may differ.
    """
    text = print_module(module, generic=generic)
    again = parse_module(text)
    verify_module(again)
    if print_module(again, generic=generic) != text and not module.is_structurally_equivalent(again):
        raise Mismatch("the text of the module reads back as another module")
