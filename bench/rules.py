"""What rules from text cost beside the same patterns written in Python, in one run.

::

    python bench/rules.py [--operations 4000] [--repeats 15]

Two kinds of modules: one in which nothing matches (the usual case: every operation is looked at), and one in which
every place is rewritten. Times are CPU time per operation of the module, the best of the repeats; the ratio is rule /
Python, the median of all repeats, in which the two take turns.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ge.dialects.onnx import Constant, OnnxOp, constant_value, make_constant, make_op, op_class
from ge.ir.locations import fused_loc, name_loc
from ge.ir.rewriting import RewriteRule, apply_rules, erase_if_unused, replace, rewrite_rule
from ge.rules import compile_file

TEXT = """
rule swish
match
    y = Mul(x, Sigmoid(x))
rewrite
    y = Swish(x)

rule divide
match
    y = Div(x, c)
where
    constant(c)
    is_float(x)
rewrite
    y = Mul(x, 1 / c)

rule gelu
match
    gate = Add(Erf(Div(x, sqrt(2))), 1)
    y = Mul(Mul(x, gate), 1 / 2)
rewrite
    y = Gelu(x)
"""

TYPE = TensorType(f32, [4, 8])
SMALLEST = 2.0**-126


@rewrite_rule(op_class("Mul"))
def swish(op: OnnxOp) -> bool:
    a, b = op.operands
    for x, gate in ((a, b), (b, a)):
        sigmoid = gate.owner
        if not isinstance(sigmoid, op_class("Sigmoid")) or sigmoid.operands[0] is not x or not gate.has_one_use():
            continue
        location = fused_loc([sigmoid, op])
        replace(op, make_op("Swish", [x], [op.results[0].type], location=location))
        erase_if_unused(sigmoid)
        return True
    return False


@rewrite_rule(op_class("Div"))
def divide(op: OnnxOp) -> bool:
    x, c = op.operands
    type = op.results[0].type
    if not isinstance(c.owner, Constant) or not isinstance(type, TensorType) or type.element_type != f32:
        return False
    inverse = (1.0 / constant_value(c).astype(np.float64)).astype(np.float32)
    if not np.isfinite(inverse).all() or (np.abs(inverse) < SMALLEST).any():
        return False
    constant = make_constant(inverse, location=op.location)
    owner = c.owner
    replace(op, [constant, make_op("Mul", [x, constant.results[0]], [type], location=op.location)])
    erase_if_unused(owner)
    return True


@rewrite_rule(op_class("Mul"))
def gelu(op: OnnxOp) -> bool:
    for product, half in (tuple(op.operands), tuple(op.operands)[::-1]):
        inner = product.owner
        if not isinstance(inner, op_class("Mul")) or not product.has_one_use() or not is_number(half, 0.5):
            continue
        for x, gate in (tuple(inner.operands), tuple(inner.operands)[::-1]):
            if (chain := gate_of(x, gate)) is not None:
                location = fused_loc([*chain, inner, op])
                constants = [each.owner for each in (half, *(o for c in chain for o in c.operands))]
                replace(op, make_op("Gelu", [x], [op.results[0].type], location=location))
                for each in (inner, *chain[::-1], *dict.fromkeys(constants)):
                    if isinstance(each, OnnxOp) and each.parent is not None:
                        erase_if_unused(each)
                return True
    return False


def gate_of(x: SSAValue, gate: SSAValue) -> list[OnnxOp] | None:
    """The operations of 1 + erf(x / √2)."""
    add = gate.owner
    if not isinstance(add, op_class("Add")) or not gate.has_one_use():
        return None
    for erf_value, one in (tuple(add.operands), tuple(add.operands)[::-1]):
        erf = erf_value.owner
        if not isinstance(erf, op_class("Erf")) or not erf_value.has_one_use() or not is_number(one, 1.0):
            continue
        div = erf.operands[0].owner
        if not isinstance(div, op_class("Div")) or not erf.operands[0].has_one_use() or div.operands[0] is not x:
            continue
        if is_number(div.operands[1], math.sqrt(2)):
            return [div, erf, add]
    return None


def is_number(value: SSAValue, number: float) -> bool:
    array = constant_value(value)
    return array is not None and array.size == 1 and math.isclose(array.item(), number, rel_tol=1e-6)


PATTERNS: dict[str, RewriteRule[Any]] = {"swish": swish, "divide": divide, "gelu": gelu}


class Chain:
    """A function that is one long chain of operations."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[TYPE])
        self.value: SSAValue = self.block.args[0]
        self.count = 0

    def add(self, op_type: str, *inputs: SSAValue) -> SSAValue:
        self.count += 1
        return self._append(make_op(op_type, inputs, [TYPE], location=name_loc(f"node{self.count}")))

    def constant(self, number: float) -> SSAValue:
        return self._append(make_constant(np.asarray(number, np.float32)))

    def _append(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def module(self) -> ModuleOp:
        self.block.add_op(ReturnOp(self.value))
        return ModuleOp([FuncOp("main", ([TYPE], [TYPE]), Region(self.block))])


def matching(name: str, operations: int) -> ModuleOp:
    """A chain of places where a rule applies."""
    chain = Chain()
    while chain.count < operations:
        x = chain.value
        match name:
            case "swish":
                chain.value = chain.add("Mul", x, chain.add("Sigmoid", x))
            case "divide":
                chain.value = chain.add("Div", x, chain.constant(3.0))
            case _:
                erf = chain.add("Erf", chain.add("Div", x, chain.constant(math.sqrt(2))))
                gate = chain.add("Add", erf, chain.constant(1.0))
                chain.value = chain.add("Mul", chain.add("Mul", x, gate), chain.constant(0.5))
    return chain.module()


def without_match(operations: int) -> ModuleOp:
    """A chain that begins like every pattern and ends otherwise."""
    chain = Chain()
    while chain.count < operations:
        x = chain.value
        quotient = chain.add("Div", x, chain.add("Tanh", x))
        product = chain.add("Mul", chain.add("Mul", quotient, x), chain.add("Sigmoid", x))
        chain.value = chain.add("Add", product, x)
    return chain.module()


def seconds(module: Callable[[], ModuleOp], rules: Sequence[RewriteRule[Any]], expected: bool) -> float:
    """The CPU time of one application of rules to a new module."""
    fresh = module()
    start = time.process_time()
    changed = apply_rules(fresh, rules)
    taken = time.process_time() - start
    assert changed is expected
    return taken


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    compiled = {rule.name: rule.rewrite for rule in compile_file(TEXT, "bench")}
    print(f"{'case':<22}{'rule':>10}{'Python':>10}{'ratio':>8}   (µs per operation, {arguments.operations} operations)")
    cases: list[tuple[str, ModuleOp, Sequence[str], bool]] = [
        (f"{name}, every place", matching(name, arguments.operations), [name], True) for name in PATTERNS
    ]
    cases.append(("all three, no match", without_match(arguments.operations), list(PATTERNS), False))
    for title, module, names, changes in cases:
        times: list[tuple[float, float]] = []
        for _ in range(arguments.repeats):
            rule, python = (
                seconds(module.clone, [table[name] for name in names], changes) for table in (compiled, PATTERNS)
            )
            times.append((rule, python))
        rule, python = (1e6 * min(each) / arguments.operations for each in zip(*times, strict=True))
        ratio = statistics.median(rule / python for rule, python in times)
        print(f"{title:<22}{rule:>10.2f}{python:>10.2f}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
