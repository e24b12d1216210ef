"""The pass `select-implementation`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge.dialects.graph import ActivationAttr, UnaryKind, main_function
from ge.ir.errors import GeError
from ge.ir.locations import node_names
from ge.ir.rewrite_log import logger

FAST: Mapping[str, tuple[UnaryKind, UnaryKind]] = {"Gelu": (UnaryKind.GELU, UnaryKind.GELU_TANH)}
"""The types of operators with two implementations: the one that every level uses, and one that takes fewer cycles.

`Gelu` by tanh instead of the error function differs by at most 4.8e-4, near 2.7; float16 has steps of 2e-3 there.
"""


@dataclass(frozen=True)
class SelectImplementationPass(ModulePass):
    """Let operators of the device compute by a formula that takes fewer cycles and is less exact: `types=Gelu`.

    `graph.unary <gelu>`, and gelu as the activation of another operation, become gelu_tanh.

    Left alone: types that are not named; operators on the host. Refused (GE2047): a type with one implementation only.
    """

    name = "select-implementation"

    types: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_types(self.types)
        exact = dict(FAST[name] for name in self.types)
        for each in main_function(op).body.block.ops:
            for place in ("function", "activation"):
                function = each.properties.get(place)
                if isinstance(function, ActivationAttr) and function.kind in exact:
                    each.properties[place] = ActivationAttr(exact[function.kind])
                    _log(each, function.kind)


def check_types(types: tuple[str, ...]) -> None:
    """Raise GE2047 for a type of operators that has one implementation only."""
    for name in types:
        if name not in FAST:
            raise GeError("GE2047", f"'{name}' has one implementation; {', '.join(FAST)} has two")


def _log(op: Operation, kind: UnaryKind) -> None:
    logger.info("%s of %s: the implementation of fewest cycles", kind.value, ", ".join(node_names(op)) or op.name)
