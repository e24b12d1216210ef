"""Changes of parsed modules: what they give parses again, and is wrong for verifiers and passes to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from bench.fuzz.byte_mutations import INTEGERS
from bench.fuzz.message_mutations import FLOATS, TEXTS
from bench.fuzz.text_mutations import ATTRIBUTES, TYPES
from ge.ir.parser import GeParser
from ge.ir.registry import context

Mutation = Callable[[ModuleOp, Random], None]


def mutate(module: ModuleOp, random: Random) -> None:
    """Change a module in one of the ways below."""
    random.choice(MUTATIONS)(module, random)


def _operation(module: ModuleOp, random: Random) -> Operation:
    """An operation of the module, not the module itself where it has others."""
    return random.choice(list(module.walk())[1:] or [module])


def change_attribute(module: ModuleOp, random: Random) -> None:
    """Give an attribute of an operation another value, or take it away."""
    op = _operation(module, random)
    for table in random.sample((op.properties, op.attributes), 2):
        if table:
            name = random.choice(list(table))
            if random.random() < 0.1:
                del table[name]
            else:
                table[name] = _other(table[name], module, random)
            return


def add_attribute(module: ModuleOp, random: Random) -> None:
    """Copy an attribute to an operation that may not have it."""
    op, other = _operation(module, random), _operation(module, random)
    found = {**other.properties, **other.attributes}
    if found:
        name = random.choice(list(found))
        random.choice((op.properties, op.attributes))[name] = found[name]


def change_operand(module: ModuleOp, random: Random) -> None:
    """Let an operation use another value, or one more, or one less."""
    op = _operation(module, random)
    values = _values_before(op) if random.random() < 0.7 else _values(module)
    if not values:
        return
    operands = list(op.operands)
    choice = random.random()
    if not operands or choice < 0.1:
        operands.insert(random.randrange(len(operands) + 1), random.choice(values))
    elif choice < 0.2:
        operands.pop(random.randrange(len(operands)))
    else:
        position = random.randrange(len(operands))
        alike = [value for value in values if value.type == operands[position].type]
        operands[position] = random.choice(alike if choice < 0.6 and alike else values)
    op.operands = operands


def change_type(module: ModuleOp, random: Random) -> None:
    """Give a value another type, everywhere that it is used."""
    values = _values(module)
    if values:
        value = random.choice(values)
        Rewriter.replace_value_with_new_type(value, cast(Any, _other_type(value.type, module, random)))


def drop_operation(module: ModuleOp, random: Random) -> None:
    """Take out an operation; other values take the place of its results."""
    op = _operation(module, random)
    if op.parent is None:
        return
    values = [value for value in _values(module) if value not in op.results]
    inside = {result for inner in op.walk() for result in inner.results}
    values = [value for value in values if value not in inside]
    if op.results and not values:
        return
    for result in op.results:
        alike = [value for value in values if value.type == result.type]
        result.replace_all_uses_with(random.choice(alike or values))
    op.detach()


def copy_operation(module: ModuleOp, random: Random) -> None:
    """Put a copy of an operation somewhere."""
    op = _operation(module, random)
    place = _operation(module, random)
    if op.parent is not None and place.parent is not None:
        place.parent.insert_op_before(op.clone(), place)


def move_operation(module: ModuleOp, random: Random) -> None:
    """Move an operation to another place in its block, or into another block."""
    op = _operation(module, random)
    place = _operation(module, random)
    if op.parent is None or place.parent is None or op is place or _is_inside(place, op):
        return
    op.detach()
    place.parent.insert_op_before(op, place)


def change_block(module: ModuleOp, random: Random) -> None:
    """Add an argument to a block, take one away, or empty the block."""
    blocks = [block for op in module.walk() for region in op.regions for block in region.blocks]
    block = random.choice(blocks)
    choice = random.random()
    if choice < 0.4:
        values = _values(module)
        type = random.choice(values).type if values else IntegerType(1)
        block.insert_arg(type, random.randrange(len(block.args) + 1))
    elif choice < 0.7 and block.args:
        _drop_argument(block, random, module)
    elif random.random() < 0.3:
        for op in reversed(list(block.ops)):
            if not any(result.has_one_use() or list(result.uses) for result in op.results):
                op.detach()


def _drop_argument(block: Block, random: Random, module: ModuleOp) -> None:
    arg = random.choice(block.args)
    others = [value for value in _values(module) if value is not arg]
    if others:
        arg.replace_all_uses_with(random.choice(others))
        block.erase_arg(arg)


def _is_inside(op: Operation, ancestor: Operation) -> bool:
    each: Operation | None = op
    while each is not None:
        if each is ancestor:
            return True
        each = each.parent_op()
    return False


def _values(module: ModuleOp) -> list[SSAValue]:
    """Every value of a module."""
    values: list[SSAValue] = []
    for op in module.walk():
        values += op.results
        values += [arg for region in op.regions for block in region.blocks for arg in block.args]
    return values


def _values_before(op: Operation) -> list[SSAValue]:
    """The values of the block of an operation that are defined before it."""
    if op.parent is None:
        return []
    values: list[SSAValue] = list(op.parent.args)
    for each in op.parent.ops:
        if each is op:
            break
        values += each.results
    return values


# ---------------------------------------------------------------- attributes


def _other(attribute: Attribute, module: ModuleOp, random: Random) -> Attribute:
    """Another value for an attribute: mostly of its own kind."""
    choice = random.random()
    if choice < 0.1:
        return _parsed(random.choice(ATTRIBUTES))
    if choice < 0.25:
        return random.choice(_alike(attribute, module))
    match attribute:
        case IntegerAttr():
            return _integer(attribute, random)
        case FloatAttr():
            return FloatAttr(random.choice(FLOATS[:6]), attribute.type)
        case StringAttr():
            return StringAttr(random.choice(TEXTS))
        case DenseArrayBase():
            return _array(attribute, random)
        case ArrayAttr():
            items: list[Attribute] = list(attribute)
            return ArrayAttr(_changed(items, random, lambda item: _other(item, module, random)))
        case _:
            return random.choice(_alike(attribute, module))


def _integer(attribute: IntegerAttr[Any], random: Random) -> Attribute:
    value = random.choice((attribute.value.data - 1, attribute.value.data + 1, *INTEGERS))
    try:
        return IntegerAttr(value, attribute.type)
    except Exception:  # outside the range of its type
        return IntegerAttr(value, IntegerType(65))


def _array(attribute: DenseArrayBase[Any], random: Random) -> Attribute:
    type: Any = attribute.elt_type
    if not isinstance(type, IntegerType):
        return attribute
    values = _changed([int(value) for value in attribute.get_values()], random, lambda _: random.choice(INTEGERS[:25]))
    try:
        return DenseArrayBase.from_list(cast(Any, type), values)
    except Exception:  # outside the range of its type
        return attribute


def _changed(items: list[Any], random: Random, change: Callable[[Any], Any]) -> list[Any]:
    """A list with an element changed, added or taken away."""
    choice = random.random()
    if not items:
        return items
    position = random.randrange(len(items))
    if choice < 0.6:
        return [*items[:position], change(items[position]), *items[position + 1 :]]
    return items[:position] + items[position + 1 :] if choice < 0.8 else [*items, items[position]]


def _alike(attribute: Attribute, module: ModuleOp) -> Sequence[Attribute]:
    """The attributes of the same class in a module."""
    tables = [table for op in module.walk() for table in (op.properties, op.attributes)]
    return [found for table in tables for found in table.values() if type(found) is type(attribute)] or [attribute]


def _other_type(old: Attribute, module: ModuleOp, random: Random) -> Attribute:
    """Another type: one of the module, the same with another dimension or element, or any."""
    choice = random.random()
    if choice < 0.1:
        return _parsed(random.choice(TYPES))
    if choice < 0.3 or not isinstance(old, TensorType):
        return random.choice(_values(module)).type
    tensor = cast("TensorType[Attribute]", old)
    shape = list(tensor.get_shape())
    element = tensor.element_type
    if choice < 0.5:
        types: list[Any] = [type for type in (value.type for value in _values(module)) if isinstance(type, TensorType)]
        element = random.choice(types).element_type
    else:
        sizes = (0, 1, 2, 3, 5, 16, 17, 1000, 1 << 20, 1 << 40, DYNAMIC_INDEX)
        shape = _changed(shape, random, lambda size: random.choice((size + 1, *sizes)))
    return TensorType(cast(Any, element), shape, tensor.encoding)


def _parsed(text: str) -> Attribute:
    try:
        return GeParser(context(), text).parse_attribute()
    except Exception:  # some of the list are wrong everywhere
        return StringAttr(text)


MUTATIONS: tuple[Mutation, ...] = (
    *(change_attribute, change_attribute, change_attribute, change_operand, change_operand, change_type, change_type),
    *(add_attribute, drop_operation, copy_operation, move_operation, change_block),
)
