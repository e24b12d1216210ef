"""Functions of a model: private ``func.func`` of the module, which ``onnx.Call`` calls.

    func.func private @"local::scaled"(%x: !onnx.unknown) -> !onnx.unknown
        attributes {onnx.input_names = ["x"], onnx.output_names = ["y"], onnx.attributes = ["factor"], ...} {
      %f = onnx.Custom "" "Constant"() {value_float = #onnx.ref<float "factor">} : () -> !onnx.unknown
      %y = onnx.Mul(%x, %f) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
      func.return %y : !onnx.unknown
    }

A function works on any types, so that those in it are not known. An operation that refers to an attribute of the
function is an ``onnx.Custom`` until the function is inlined. A call may leave out inputs at the end, and attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ge.dialects.onnx.attributes import TensorAttr, literal_of, to_python
from ge.dialects.onnx.base import OnnxOp, RegionGroup
from ge.dialects.onnx.custom import Call, Custom, name_regions
from ge.dialects.onnx.graph_builder import result_name
from ge.dialects.onnx.ops import OP_CLASSES, Constant, constant_from_literal, set_inputs, yielded
from ge.dialects.onnx.protos import dictionary_note, plain_attributes
from ge.dialects.onnx.rare_attributes import RefAttr
from ge.dialects.onnx.types import ABSENT, UNKNOWN
from ge.ir.errors import GeError
from ge.ir.locations import name_loc, node_names, where
from ge.maths.expansion import MAX_EXPANDED_NODES, expanded_size


def local_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions of the model, without the main one."""
    return (op for op in module.ops if isinstance(op, FuncOp) and op.sym_visibility == StringAttr("private"))


def inline_functions(module: ModuleOp) -> bool:
    """Replace all calls by what they call, and drop the functions. Whether there were any.

    Raises GE1020 for functions that call each other in a circle, or come to too many operations.
    """
    functions = list(local_functions(module))
    for main in module.ops:
        if main not in functions:
            refuse_expansion(main)
            for op in list(main.walk()):
                if isinstance(op, Call):
                    inline_call(op, instantiate(op))
    for function in functions:
        function.detach()
        function.erase()
    return bool(functions)


def refuse_expansion(root: Operation) -> None:
    """Refuse an operation whose calls come to too many operations, or call each other in a circle (GE1020)."""
    module = root.get_toplevel_object()
    functions = [op for op in module.ops if isinstance(op, FuncOp)] if isinstance(module, ModuleOp) else []
    if all(op is root for op in functions):
        return
    bodies: dict[str, Operation] = {op.sym_name.data: op for op in functions} | {"": root}
    inner = {name: list(body.walk()) for name, body in bodies.items()}
    calls = {name: [op.callee for op in ops if isinstance(op, Call)] for name, ops in inner.items()}
    try:
        size = expanded_size("", {name: len(ops) for name, ops in inner.items()}, calls)
    except ValueError as error:
        raise GeError("GE1020", str(error), where(root)) from error
    if size > MAX_EXPANDED_NODES:
        what = f"the functions of the model come to {size} operations when they are inlined"
        raise GeError("GE1020", what, where(root), f"More than {MAX_EXPANDED_NODES} operations are refused.")


def inline_call(call: Call, body: Region) -> None:
    """Put the body of the function that is called in the place of a call; nodes are called ``<call>/<node>``."""
    block = body.block
    for arg, value in zip(block.args, _arguments(call, block), strict=True):
        _replace_argument(arg, value, call)
    results, terminator = list(yielded(block)), block.last_op
    label = next(iter(node_names(call)), call.op_type)
    for op in body.walk():
        _rename(op, label)
    for index in range(len(call.results)):
        old, new = results[index], _take_name_and_type(call, index, results[index])
        results = [new if value is old else value for value in results]
    if terminator is not None:
        terminator.detach()
        terminator.erase()
    ops = list(block.ops)
    for op in ops:
        op.detach()
    parent = call.parent
    assert parent is not None
    parent.insert_ops_before(ops, call)
    for old, new in zip(call.results, results, strict=False):
        old.replace_all_uses_with(new)
    call.detach()
    call.erase()


def _arguments(call: Call, block: Block) -> list[SSAValue | None]:
    """What a call gives for each argument of the function, None for what it leaves out."""
    given = call.input_list()
    return [*given, *[None] * (len(block.args) - len(given))]


def _replace_argument(arg: SSAValue, value: SSAValue | None, call: Call) -> None:
    if value is not None:
        arg.replace_all_uses_with(value)
        return
    for user in {use.operation for use in arg.uses}:
        if not isinstance(user, OnnxOp):
            raise GeError("GE1020", f"function @{call.callee} returns an input that is not given", where(call))
        set_inputs(user, [None if operand is arg else operand for operand in user.input_list()])


def _rename(op: Operation, label: str) -> None:
    """Name an operation after the call, and forget the names that it had in the function."""
    if isinstance(op, OnnxOp):
        op.location = name_loc(f"{label}/{next(iter(node_names(op)), op.op_type)}")
        for note in ("onnx.name", "onnx.outputs", "onnx.node"):
            op.attributes.pop(note, None)


def _take_name_and_type(call: Call, index: int, new: SSAValue) -> SSAValue:
    """The value that a function returns, with the name, and for an unknown type the type, of the result of the call."""
    owner, type = new.owner, call.results[index].type
    if not isinstance(owner, OnnxOp) or type == ABSENT:
        return new
    names = [result_name(owner, position) for position in range(len(owner.results))]
    position = list(owner.results).index(new)  # pyright: ignore[reportArgumentType]
    names[position] = result_name(call, index)
    if isinstance(owner, Constant):
        owner.location = name_loc(names[position])
    else:
        owner.attributes["onnx.outputs"] = ArrayAttr(map(StringAttr, names))
    if new.type == UNKNOWN and type != UNKNOWN:
        new = Rewriter.replace_value_with_new_type(new, type)
    new.name_hint = call.results[index].name_hint
    return new


# Copies of bodies


def instantiate(call: Call, module: ModuleOp | None = None, callers: Sequence[str] = ()) -> Region:
    """A copy of the body of the function that is called, with the attributes that the call gives, and without calls.

    ``module`` has the functions, if not the module around the call; ``callers`` are the functions around. Raises GE1017
    when an operation is not valid with these attributes, GE1020 when a function calls itself, GE3002 for none at all.
    """
    module = call.module if module is None else module
    function = call.function(module)
    if call.callee in callers:
        raise GeError("GE1020", f"function @{call.callee} calls itself", where(call))
    defaults = plain_attributes(dictionary_note(function, "attribute_defaults"))
    given = {**defaults, **plain_attributes(call.attributes)}
    graphs = _graphs(call)
    body = function.body.clone()
    for op in list(body.walk()):
        if isinstance(op, Custom) and _refers(op):
            _fill_in(op, given, graphs)
    for op in list(body.walk()):
        if isinstance(op, Call):
            inline_call(op, instantiate(op, module, (*callers, call.callee)))
    return body


def _refers(op: Custom) -> bool:
    return any(isinstance(attribute, RefAttr) for attribute in plain_attributes(op.attributes).values())


def _graphs(op: OnnxOp) -> dict[str, tuple[RegionGroup, list[Region]]]:
    """The graph attributes of an operation by name."""
    regions = iter(op.regions)
    return {group.name: (group, [next(regions) for _ in range(group.size)]) for group in op.region_groups}


def _fill_in(
    op: Custom, given: Mapping[str, Attribute], graphs: Mapping[str, tuple[RegionGroup, list[Region]]]
) -> None:
    """Replace an operation by one that refers to nothing."""
    known = OP_CLASSES.get((op.domain, op.op_type))
    own = {name: (group, [op.detach_region(r) for r in regions]) for name, (group, regions) in _graphs(op).items()}
    attributes: dict[str, Attribute] = {}
    for name, attribute in op.attributes.items():
        if not isinstance(attribute, RefAttr):
            attributes[name] = attribute
        elif (target := attribute.target.data) in given:
            attributes[name] = given[target]
        elif target in graphs:
            group, regions = graphs[target]
            own[name] = RegionGroup(name, group.count), [region.clone() for region in regions]
    if known is Constant:
        new: OnnxOp = _constant(op, attributes)
    else:
        new = _create(op, known, attributes, own)
    hints = [result.name_hint for result in op.results]
    Rewriter.replace_op(op, new)
    for result, hint in zip(new.results, hints, strict=True):
        result.name_hint = hint


def _create(
    op: Custom,
    known: type[OnnxOp] | None,
    attributes: Mapping[str, Attribute],
    graphs: Mapping[str, tuple[RegionGroup, list[Region]]],
) -> OnnxOp:
    cls = type(op) if known is None else known
    properties = {name: value for name, value in op.properties.items() if known is None or name == "absent"}
    names = list(graphs) if known is None else [name for name in known.OPERATOR.region_names if name in graphs]
    if known is None and names:
        properties["regions_named"] = name_regions([graphs[name][0] for name in names])
    new = cls.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=properties,
        attributes=dict(attributes),
        regions=[region for name in names for region in graphs[name][1]],
        location=op.location,
    )
    try:
        new.verify_()
    except VerifyException as error:
        raise GeError("GE1017", f"{op.op_type}: {error}", where(op)) from error
    return new


def _constant(op: Custom, attributes: Mapping[str, Attribute]) -> OnnxOp:
    """The constant that a Constant node with a reference becomes."""
    values = {name: attribute for name, attribute in attributes.items() if "." not in name}
    if len(values) != 1:
        raise GeError("GE1017", "Constant has no value", where(op))
    ((name, attribute),) = values.items()
    literal, type = constant_literal(name, attribute)
    new = constant_from_literal(literal, type, location=op.location)
    new.attributes.update({name: note for name, note in attributes.items() if "." in name})
    return new


def constant_literal(name: str, attribute: Attribute) -> tuple[Attribute, Attribute]:
    """The literal and the type of a Constant node whose value is in the attribute ``name``.

    Raises GE1017 when the attribute holds something else than its name says, as in a damaged file.
    """
    if isinstance(attribute, TensorAttr):
        return attribute.literal, attribute.type
    dtypes: Mapping[str, Any] = {"float": np.float32, "int": np.int64}
    kind = name.removeprefix("value_").removesuffix("s")
    value: Any = to_python(attribute)
    elements: Any = value if name.endswith("s") else [value]
    if not isinstance(elements, Sequence) or not all(map(_is_scalar, cast("Sequence[Any]", elements))):
        raise GeError("GE1017", f"Constant: attribute '{name}' does not hold a value of its kind")
    array = np.empty(len(value) if name.endswith("s") else (), dtypes.get(kind, object))
    array[...] = value
    return literal_of(array)


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str | bytes)
