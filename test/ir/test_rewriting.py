"""The rewrite driver: rules reach a fixed point, names survive, and level boundaries are checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from xdsl.dialects import arith, func, test
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Operation

from ge.ir.errors import GeError
from ge.ir.locations import fused_loc, name_loc, node_names, where
from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.ir.rewriting import (
    Guard,
    Replacement,
    RewriteRule,
    apply_rules,
    check_legal,
    erase_if_unused,
    lower_ops,
    replace,
    rewrite_rule,
)


@rewrite_rule(arith.AddiOp)
def drop_add_of_zero(op: arith.AddiOp) -> bool:
    zero = op.rhs.owner
    if not isinstance(zero, arith.ConstantOp) or zero.value != IntegerAttr(0, i32):
        return False
    replace(op, [], [op.lhs])
    return True


@rewrite_rule(arith.MuliOp)
def double_instead_of_times_two(op: arith.MuliOp) -> bool:
    two = op.rhs.owner
    if not isinstance(two, arith.ConstantOp) or two.value != IntegerAttr(2, i32):
        return False
    replace(op, arith.AddiOp(op.lhs, op.lhs))
    return True


@rewrite_rule(arith.ConstantOp)
def drop_unused_constant(op: arith.ConstantOp) -> bool:
    return erase_if_unused(op)


CHAIN = """
func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %a = arith.addi %x, %zero : i32 loc("a")
  %b = arith.addi %a, %zero : i32 loc("b")
  %c = arith.muli %b, %two : i32 loc("c")
  func.return %c : i32
}
"""


def test_rules_reach_a_fixed_point() -> None:
    module = parse_module(CHAIN)
    rules = [drop_unused_constant, drop_add_of_zero, double_instead_of_times_two]
    assert apply_rules(module, rules)
    assert "\n".join(print_module(module).splitlines()[2:-2]) == (
        '    %c = arith.addi %x, %x : i32 loc("c")\n    func.return %c : i32'
    )
    assert not apply_rules(module, rules)


def test_a_guard_is_asked_anew_in_each_walk_and_only_where_its_operations_are() -> None:
    started: list[str] = []

    def start() -> Callable[[Operation], bool]:
        started.append("a walk")
        return lambda op: "a" in node_names(op)

    def guarded(about: type[Operation]) -> RewriteRule[arith.AddiOp]:
        return dataclasses.replace(drop_add_of_zero, guard=Guard(frozenset({about}), start))

    module = parse_module(CHAIN)
    assert apply_rules(module, [guarded(arith.MuliOp)])
    assert [node_names(op) for op in module.walk() if isinstance(op, arith.AddiOp)] == [("a",)]
    assert len(started) == 2, "the second walk finds nothing to change"
    module = parse_module(CHAIN)
    assert apply_rules(module, [guarded(arith.SubiOp)])
    assert not any(isinstance(op, arith.AddiOp) for op in module.walk())
    assert len(started) == 2


def test_new_operations_are_visited() -> None:
    """A rule may leave work for another rule on the operations it makes."""

    @rewrite_rule(arith.MuliOp)
    def times_to_add_of_zero(op: arith.MuliOp) -> bool:
        zero = arith.ConstantOp(IntegerAttr(0, i32))
        replace(op, [zero, inner := arith.AddiOp(op.lhs, zero), arith.AddiOp(inner, zero)])
        return True

    module = parse_module(CHAIN)
    apply_rules(module, [times_to_add_of_zero, drop_add_of_zero, drop_unused_constant])
    assert [op.name for op in module.walk()] == ["builtin.module", "func.func", "func.return"]


def test_rules_that_undo_each_other_are_reported() -> None:
    @rewrite_rule(arith.AddiOp)
    def swap_forever(op: arith.AddiOp) -> bool:
        replace(op, arith.AddiOp(op.rhs, op.lhs))
        return True

    with pytest.raises(GeError, match="rule 'swap-forever' still applies") as error:
        apply_rules(parse_module(CHAIN), [swap_forever])
    assert error.value.code == "GE3005"
    assert "node 'a'" in str(error.value.where) or "node 'b'" in str(error.value.where)


def test_a_rule_may_erase_the_operations_around() -> None:
    """An operation on the worklist that another rule has erased is not visited."""

    @rewrite_rule(func.ReturnOp)
    def drop_everything_before(op: func.ReturnOp) -> bool:
        found = op.prev_op
        if found is None:
            return False
        for result in found.results:
            result.replace_all_uses_with(op.parent.args[0])  # pyright: ignore[reportOptionalMemberAccess]
        found.detach()
        found.erase()
        return True

    module = parse_module(CHAIN)
    apply_rules(module, [drop_everything_before, drop_add_of_zero])
    assert [op.name for op in module.walk()] == ["builtin.module", "func.func", "func.return"]


def test_replacement_keeps_locations_and_names() -> None:
    module = parse_module(CHAIN)
    _, _, a, b, _, _ = next(op for op in module.ops).regions[0].block.ops
    lone = test.TestOp([], [i32])
    replace(b, [lone, arith.AddiOp(lone.results[0], a.results[0])], fused=[a])
    text = print_module(module)
    assert '%0 = "test.op"() : () -> i32 loc(fused["b", "a"])' in text
    assert '%b = arith.addi %0, %a : i32 loc(fused["b", "a"])' in text


def test_replacement_keeps_a_location_that_is_there() -> None:
    module = parse_module(CHAIN)
    b = list(next(op for op in module.ops).regions[0].block.ops)[3]
    new = arith.AddiOp(b.operands[0], b.operands[0])
    new.location = name_loc("mine")
    replace(b, new)
    assert node_names(new) == ("mine",)


def test_replacement_checks_its_results() -> None:
    module = parse_module(CHAIN)
    b = list(next(op for op in module.ops).regions[0].block.ops)[3]
    with pytest.raises(ValueError, match="has 1 results, 0 given"):
        replace(b, [], [])
    with pytest.raises(ValueError, match="needs a replacement"):
        replace(b, [], [None])


def test_lowering_sees_lowered_operands() -> None:
    """Operations are lowered in program order: each sees the results of the lowerings before it."""
    seen: list[str] = []

    def lower_add(op: arith.AddiOp) -> Operation:
        seen.append(str(op.lhs.owner.name if isinstance(op.lhs.owner, Operation) else "argument"))
        return test.TestOp([op.lhs, op.rhs], [i32])

    def lower_mul(op: arith.MuliOp) -> Replacement:
        first = test.TestOp([op.lhs], [i32, i32])
        return Replacement([first], [first.results[1]])

    module = parse_module(CHAIN)
    assert lower_ops(module, {arith.AddiOp: lower_add, arith.MuliOp: lower_mul, arith.ConstantOp: lambda _: None})
    assert seen == ["argument", "test.op"]
    assert '%1, %c = "test.op"(%b) : (i32) -> (i32, i32) loc("c")' in print_module(module).replace("%0", "%1")
    assert not lower_ops(module, {arith.AddiOp: lower_add})


def test_level_boundary() -> None:
    module = parse_module(CHAIN)
    check_legal(module, {"func", "arith"}, level="arith")
    check_legal(module, {func.FuncOp, "func.return", "arith"}, level="arith")
    with pytest.raises(GeError, match=r"'arith.muli' may not remain at level 'sums'") as error:
        check_legal(module, {"func", arith.AddiOp, arith.ConstantOp}, level="sums")
    assert error.value.where == "<text>:7:3 (node 'c')"
    with pytest.raises(
        GeError, match=r"'arith.constant' \(2 times\), 'arith.addi' \(2 times\), 'arith.muli' may"
    ) as error:
        check_legal(module, {"func"}, level="nothing")


def test_fused_locations_keep_order_once() -> None:
    ops = [test.TestOp() for _ in range(3)]
    for op, name in zip(ops, ["b", "a", "b"], strict=True):
        op.location = name_loc(name)
    fused = fused_loc(ops)
    assert node_names(fused) == ("b", "a")
    assert fused_loc([fused, ops[2]]) == fused
    assert fused_loc([ops[1]]) == name_loc("a")
    assert node_names(fused_loc([test.TestOp()])) == ()


def test_where_names_nodes_and_position() -> None:
    module = parse_module(CHAIN, name="m.mlir")
    add = list(next(op for op in module.ops).regions[0].block.ops)[2]
    assert where(add) == "m.mlir:5:3 (node 'a')"
    op = test.TestOp(attributes={"x": StringAttr("y")})
    assert where(op) == "operation 'test.op'"
    op.location = fused_loc([name_loc(name) for name in "abcd"])
    assert where(op) == "node 'a', node 'b', node 'c' and 1 more"
    assert where(ModuleOp([])) == "operation 'builtin.module'"
