"""Writing the nodes that take the place of one node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from ge.targets.onnx.adapters.graphs import OPSET_NOTE, own_opset
from ge.targets.onnx.adapters.inference import infer_types
from ge.targets.onnx.adapters.schemas import attribute_type, histories
from ge.targets.onnx.adapters.values import Node, Scope

ALLOWS_ZERO = 14
"""The opset since which a shape may say that a size is 0."""


class Builder:
    """Collects new nodes of one opset; the type of each new value is inferred as soon as it is there."""

    def __init__(self, node: Node, opset: int) -> None:
        self.node = node
        self.opset = opset
        """That the new nodes are written for."""
        self.nodes: list[NodeProto] = []
        self._label = node.proto.name or next(filter(None, node.outputs), node.op_type)

    @property
    def scope(self) -> Scope:
        """Where the new values are."""
        return self.node.scope

    def add(self, op_type: str, inputs: Sequence[str], outputs: int | Sequence[str] = 1, **attributes: Any) -> str:
        """Add a node; its first output. ``outputs`` is their number, or their names. None is no attribute."""
        if isinstance(outputs, int):
            outputs = [self.name(op_type) for _ in range(outputs)]
        node = helper.make_node(op_type, inputs, outputs)
        node.attribute.extend(_attributes(op_type, attributes))
        self.append(node)
        return outputs[0]

    def name(self, kind: str) -> str:
        """A new name for a value."""
        return self.scope.unique(f"{self._label}_{kind}")

    def replace(
        self,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        without: Sequence[str] = (),
        op_type: str | None = None,
        **attributes: Any,
    ) -> None:
        """Add the node itself with other inputs, outputs or attributes; it keeps all others, and its notes."""
        node = NodeProto()
        node.CopyFrom(self.node.proto)
        if op_type is not None:
            node.op_type = op_type
        if inputs is not None:
            node.input[:] = _trimmed(inputs)
        if outputs is not None:
            node.output[:] = outputs
        changed = {*without, *attributes}
        kept = [attribute for attribute in node.attribute if attribute.name not in changed]
        del node.attribute[:]
        node.attribute.extend(kept)
        node.attribute.extend(_attributes(node.op_type, attributes))
        self.append(node)

    def append(self, node: NodeProto) -> None:
        """Add a finished node. One that defines an output of the replaced node has its name, others a new one."""
        own = set(self.node.outputs)
        taken = any(name in own for earlier in self.nodes for name in earlier.output)
        if not own.isdisjoint(node.output) and not taken:
            node.name = self.node.proto.name
        elif self.node.proto.name:
            node.name = next(filter(None, node.output), node.op_type)
        else:
            node.name = ""
        self.nodes.append(node)
        opset = own_opset(node, self.opset)
        self.scope.add_node(node, opset)
        infer_types(node, opset, self.scope)

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        """A constant of a NumPy type, or of an element type of ``TensorProto``."""
        name = self.name("Constant")
        if isinstance(dtype, int):
            dtype = helper.tensor_dtype_to_np_dtype(dtype)
        tensor = numpy_helper.from_array(np.array(values, dtype), name)
        return self.add("Constant", [], [name], value=tensor)

    def cast(self, value: str, element: int, outputs: int | Sequence[str] = 1) -> str:
        """The value in another element type."""
        return self.add("Cast", [value], outputs, to=element)

    def rank(self, value: str) -> int | None:
        """The number of dimensions of a value, if it is known."""
        shape = self.scope.shape(value)
        return None if shape is None else len(shape)

    def unsqueeze(self, value: str, axes: Sequence[int], outputs: int | Sequence[str] = 1) -> str:
        """Dimensions of size 1 at ``axes`` of the result; opset 13 made them an input."""
        if self.opset < 13:
            return self.add("Unsqueeze", [value], outputs, axes=list(axes))
        return self.add("Unsqueeze", [value, self.constant(axes)], outputs)

    def squeeze(self, value: str, axes: Sequence[int], outputs: int | Sequence[str] = 1) -> str:
        """Without the dimensions ``axes``, which have size 1; opset 13 made them an input."""
        if self.opset < 13:
            return self.add("Squeeze", [value], outputs, axes=list(axes))
        return self.add("Squeeze", [value, self.constant(axes)], outputs)

    def reshape(self, value: str, sizes: str, shape: list[int | None] | None, outputs: int | Sequence[str] = 1) -> str:
        """The value in the shape that ``sizes`` holds; ``shape`` is what is known of it.

        Where a size behind the first could be 0, that 0 must not stand for a size of the value, which opset 14 brought
        with ``allowzero``: then the node is one of opset 14. The first size may be 0 only if that of the value is, too.
        """
        if isinstance(outputs, int):
            outputs = [self.name("Reshape") for _ in range(outputs)]
        node = helper.make_node("Reshape", [value, sizes], outputs)
        if shape is None or not all(shape[1:]):
            node.attribute.extend(_attributes("Reshape", {"allowzero": 1}))
            if self.opset < ALLOWS_ZERO:
                node.metadata_props.add(key=OPSET_NOTE, value=str(ALLOWS_ZERO))
        self.append(node)
        return outputs[0]

    def reduce(
        self, kind: str, value: str, axes: Sequence[int], keepdims: bool = True, outputs: int | Sequence[str] = 1
    ) -> str:
        """``Reduce<kind>`` over ``axes``; opset 18 made them an input, of ReduceSum opset 13."""
        if self.opset < (13 if kind == "Sum" else 18):
            return self.add(f"Reduce{kind}", [value], outputs, axes=list(axes), keepdims=int(keepdims))
        return self.add(f"Reduce{kind}", [value, self.constant(axes)], outputs, keepdims=int(keepdims))

    def declare(self, value: str, element: int, shape: Sequence[int | None] | None = None) -> str:
        """State the type of a value that inference cannot find."""
        self.scope.types[value] = helper.make_tensor_type_proto(element, shape)
        return value


def _attributes(op_type: str, attributes: Mapping[str, Any]) -> Iterator[AttributeProto]:
    """The attributes of a node, in the types they have in the standard; None is no attribute."""
    for name, value in attributes.items():
        if value is None:
            continue
        known = (schema.attributes[name] for schema in histories()[op_type][::-1] if name in schema.attributes)
        yield helper.make_attribute(name, value, attr_type=attribute_type(next(known)))


def _trimmed(inputs: Sequence[str]) -> list[str]:
    """Inputs without those at the end that are absent."""
    count = max((position for position, name in enumerate(inputs, 1) if name), default=0)
    return list(inputs[:count])


def attribute_named(node: NodeProto, name: str) -> AttributeProto | None:
    """The attribute of a node, or None."""
    return next((attribute for attribute in node.attribute if attribute.name == name), None)


FLOATS = frozenset({TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE})
SIGNED = frozenset({TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64})
UNSIGNED = frozenset({TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64})
INTEGERS = SIGNED | UNSIGNED
FLOAT8 = frozenset(
    {
        TensorProto.FLOAT8E4M3FN,
        TensorProto.FLOAT8E4M3FNUZ,
        TensorProto.FLOAT8E5M2,
        TensorProto.FLOAT8E5M2FNUZ,
        TensorProto.FLOAT8E8M0,
    }
)
