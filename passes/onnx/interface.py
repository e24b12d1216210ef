"""The outputs of a model by name: what the passes share that change them.

A user names an output of a node as ``node:0``, or by its own name, as ATC has it in ``--out_nodes`` and
``--output_type``.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ge.dialects.onnx import ABSENT, Constant, OnnxOp, yielded
from ge.dialects.onnx.graph_builder import result_name
from ge.dialects.onnx.protos import text_notes
from ge.ir.errors import GeError
from ge.ir.functions import body_of, update_type
from ge.ir.locations import node_names

Output: TypeAlias = tuple[str, SSAValue]
"""An output of a model: its name, and its value."""


def read_outputs(function: FuncOp) -> list[Output]:
    """The outputs of a function; those that have no names are called by their place: ``y0``, ``y1``, ..."""
    values = yielded(body_of(function))
    names = text_notes(function, "output_names") or [f"y{place}" for place in range(len(values))]
    return list(zip(names, values, strict=True))


def write_outputs(function: FuncOp, outputs: Sequence[Output]) -> None:
    """Let a function return these outputs instead. What is noted of a value that it returned before stays noted."""
    block = body_of(function)
    old = yielded(block)
    notes = function.res_attrs.data if function.res_attrs is not None else [DictionaryAttr({})] * len(old)
    noted = dict(zip(old, notes, strict=True))
    entries = [noted.get(value, DictionaryAttr({})) for _, value in outputs]
    values = [value for _, value in outputs]
    assert block.last_op is not None, "a function ends with its return"
    block.last_op.operands = values
    update_type(function)
    function.res_attrs = ArrayAttr(entries) if any(entry.data for entry in entries) else None
    function.attributes["onnx.output_names"] = ArrayAttr(StringAttr(name) for name, _ in outputs)


class NamedValues:
    """The values of a model that may be outputs, by the names that a user may give them."""

    def __init__(self, function: FuncOp) -> None:
        self.by_name: dict[str, SSAValue] = {}
        """By their own names: outputs that there are, and results of nodes."""
        self.nodes: dict[str, list[OnnxOp]] = {}
        """By the names of nodes; several may have the same."""
        for op in body_of(function).ops:
            if isinstance(op, OnnxOp) and not isinstance(op, Constant):
                for label in node_names(op)[:1]:
                    self.nodes.setdefault(label, []).append(op)
                for index, result in enumerate(op.results):
                    if result.type != ABSENT:
                        self.by_name.setdefault(result_name(op, index), result)
        self.by_name |= dict(read_outputs(function))

    def find(self, text: str) -> Output:
        """The value that ``node:0``, or a name alone, stands for, and its own name. Raises GE2040 for none, or two."""
        node, colon, number = text.rpartition(":")
        found: dict[SSAValue, str] = {}
        if text in self.by_name:
            found[self.by_name[text]] = text
        if colon and number.isdecimal() and node in self.nodes:
            value = self._result(text, node, int(number))
            found.setdefault(value, self.own_name(value))
        if len(found) != 1:
            raise self._missing(text, node if number.isdecimal() else text) if not found else _both(text)
        ((value, name),) = found.items()
        return name, value

    def own_name(self, value: SSAValue) -> str:
        """The name of a value: the one that the model gives it as an output, otherwise that of the result."""
        names = [name for name, each in self.by_name.items() if each is value]
        return names[-1]

    def _result(self, text: str, node: str, index: int) -> SSAValue:
        if len(self.nodes[node]) > 1:
            what = f"'{text}' may be the output of any of {len(self.nodes[node])} nodes called '{node}'"
            raise GeError("GE2040", what, remedy="Name the output instead of the node.")
        (op,) = self.nodes[node]
        results = [result for result in op.results if result.type != ABSENT]
        if index >= len(op.results) or op.results[index].type == ABSENT:
            raise GeError(
                "GE2040", f"'{text}': node '{node}' ({op.op_type}) has no output {index}: it has {len(results)}"
            )
        return op.results[index]

    def _missing(self, text: str, node: str) -> GeError:
        near = [f"{name}:0" for name in get_close_matches(node, self.nodes, n=3)]
        near += [name for name in get_close_matches(text, self.by_name, n=3) if name not in near]
        hint = f"; near it are {', '.join(map(repr, near[:3]))}" if near else ""
        if node in self.nodes and node == text:
            hint = f"; outputs of the node are named like '{node}:0'"
        return GeError("GE2040", f"'{text}' is neither an output of a node nor the name of a value{hint}")


def _both(text: str) -> GeError:
    what = f"'{text}' is the name of a value, and of the output of another node"
    return GeError("GE2040", what, remedy="Rename the node or the value in the model.")
