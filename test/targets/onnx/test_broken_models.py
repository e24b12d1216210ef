"""Broken models: each message says what is wrong, at which node and operator, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import AttributeProto, ModelProto, TensorProto, parser

from ge.ir.errors import GeError
from ge.targets.onnx.importer import import_model
from ge.tools.cli import describe
from ge.tools.compilation import LOWER, OPTIMISE, import_static, run_stage
from ge.tools.compile_options import CompileOptions


def model(body: str, inputs: str = "float[2, 3] x", outputs: str = "float[a, b] y", opset: int = 17) -> ModelProto:
    """A model of a few nodes in the syntax of onnx.parser."""
    head = f'<ir_version: 8, opset_import: ["": {opset}, "com.example": 1]>'
    return parser.parse_model(f"{head}\nbroken ({inputs}) => ({outputs})\n{{\n{body}\n}}")


def changed(change: Callable[[ModelProto], object], body: str = "[n1] y = Relu (x)") -> ModelProto:
    """A model that something is done to that its syntax does not allow."""
    proto = model(body)
    change(proto)
    return proto


def initializer(**fields: object) -> Callable[[ModelProto], object]:
    """Add an initializer `w` with these fields."""
    return lambda proto: proto.graph.initializer.append(TensorProto(name="w", **fields))  # pyright: ignore[reportArgumentType]


def attribute(kind: AttributeProto.AttributeType) -> Callable[[ModelProto], object]:
    """Give an attribute of the first node another kind."""
    return lambda proto: setattr(proto.graph.node[0].attribute[0], "type", kind)


def external(location: str) -> Callable[[ModelProto], object]:
    def change(proto: ModelProto) -> None:
        tensor = TensorProto(name="w", dims=[2], data_type=1, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=location)
        proto.graph.initializer.append(tensor)

    return change


def slope_of_no_type() -> ModelProto:
    """A model of an old opset, where a slope gets the dimensions that it lacks."""
    proto = model("[n1] y = PRelu (x, w)", opset=6)
    initializer(dims=[3], data_type=0, raw_data=bytes(12))(proto)
    return proto


GRAPH_OUTPUT = "output of graph 'broken'"

BROKEN: dict[str, tuple[ModelProto, str, tuple[str, ...]]] = {
    "axis outside the rank": (
        model("[n1] y = Softmax <axis = 7> (x)"),
        "GE3015",
        ("Softmax", "axis is 7", "rank is 2", "node 'n1'"),
    ),
    "axis of a concatenation": (
        model("[n1] y = Concat <axis = 4> (x, x)"),
        "GE3015",
        ("Concat", "axis is 4", "rank is 2", "node 'n1'"),
    ),
    "attribute of another kind": (
        changed(attribute(AttributeProto.STRING), "[n1] y = Softmax <axis = 1> (x)"),
        "GE1017",
        ("Softmax", "axis", "node 'n1'"),
    ),
    "attribute that the operator does not have": (
        model("[n1] y = Relu <alpha = 1.0> (x)"),
        "GE1017",
        ("Relu", "alpha", "node 'n1'"),
    ),
    "attribute that is missing": (model("[n1] y = Concat (x, x)"), "GE1017", ("Concat", "axis", "node 'n1'")),
    "a node that reads itself": (model("[n1] y = Add (x, y)"), "GE1018", ("'y'", "node 'n1' (Add)")),
    "nodes in a circle": (
        model("[n1] h = Add (x, y)\n[n2] y = Relu (h)"),
        "GE1018",
        ("'y'", "node 'n1' (Add)"),
    ),
    "value that nothing defines": (model("[n1] y = Add (x, lost)"), "GE1018", ("'lost'", "node 'n1' (Add)")),
    "output that nothing defines": (model("[n1] h = Relu (x)"), "GE1018", ("'y'", GRAPH_OUTPUT)),
    "input that is left out": (model("[n1] y = MatMul (x)"), "GE1017", ("MatMul", "input 'B'", "node 'n1'")),
    "input too many": (model("[n1] y = Relu (x, x)"), "GE1017", ("Relu", "at most 1 inputs, not 2", "node 'n1'")),
    "result too many": (model("[n1] y, z = Relu (x)"), "GE1017", ("Relu", "at most 1 outputs, not 2", "node 'n1'")),
    "result that is left out": (
        model("[n1] y = TopK (x, k)", "float[2, 3] x, int64[1] k"),
        "GE1017",
        ("TopK", "node 'n1'"),
    ),
    "wrong rank": (
        model("[n1] y = Conv (x, w)", "float[3] x, float[4, 3, 3, 3] w"),
        "GE3015",
        ("Conv", "shape [3]", "3 dimensions", "node 'n1'"),
    ),
    "shapes that do not multiply": (
        model("[n1] y = MatMul (x, w)", "float[2, 3] x, float[4, 5] w"),
        "GE3015",
        ("MatMul", "3", "4", "node 'n1'"),
    ),
    "shapes that do not broadcast": (
        model("[n1] y = Add (x, w)", "float[2, 3] x, float[4] w"),
        "GE3015",
        ("Add", "3", "4", "node 'n1'"),
    ),
    "element types that differ": (
        model("[n1] y = Add (x, w)", "float[2, 3] x, int64[3] w"),
        "GE1017",
        ("Add", "i64", "f32", "node 'n1'"),
    ),
    "element type that the operator does not take": (
        model("[n1] y = Sqrt (x)", "int64[2, 3] x", "int64[2, 3] y"),
        "GE1017",
        ("Sqrt", "i64", "node 'n1'"),
    ),
    "reshape to another size": (
        model("s = Constant <value_ints = [4, 2]> ()\n[n1] y = Reshape (x, s)"),
        "GE3015",
        ("Reshape", "node 'n1'"),
    ),
    "huge dimensions": (
        changed(initializer(dims=[2**40, 2**40], data_type=1, raw_data=b"1234")),
        "GE1014",
        ("'w'", str(2**40)),
    ),
    "element type that a conversion of the opset meets": (
        slope_of_no_type(),
        "GE1020",
        ("'w'", "element type number 0"),
    ),
    "negative dimensions": (changed(initializer(dims=[-2], data_type=1, raw_data=b"1234")), "GE1014", ("'w'", "[-2]")),
    "tensor that is too short": (
        changed(initializer(dims=[3], data_type=1, raw_data=b"1234")),
        "GE1014",
        ("'w'",),
    ),
    "element type that does not exist": (
        changed(initializer(dims=[1], data_type=99, raw_data=b"1234")),
        "GE1020",
        ("'w'", "99"),
    ),
    "two values of one name": (
        model("[n1] y = Relu (x)\n[n2] y = Neg (x)"),
        "GE1020",
        ("'y'", "defined twice", "node 'n2' (Neg)"),
    ),
    "an input of the name of a result": (
        model("[n1] x = Relu (x)\n[n2] y = Neg (x)"),
        "GE1020",
        ("'x'", "defined twice", "node 'n1' (Relu)"),
    ),
    "output that is listed twice": (
        changed(lambda proto: proto.graph.output.append(proto.graph.output[0])),
        "GE1020",
        ("output 'y'", "listed twice"),
    ),
    "operator that does not exist": (model("[n1] y = Lost (x)"), "GE4001", ("Lost", "n1")),
    "operator of an unknown domain": (model("[n1] y = com.example.Lost (x)"), "GE4001", ("com.example", "Lost", "n1")),
    "operator that is newer than the opset": (
        model("[n1] y = Gelu (x)"),
        "GE1017",
        ("Gelu", "opset 17", "first at 20", "node 'n1' (Gelu)"),
    ),
    "opset of the future": (model("[n1] y = Relu (x)", opset=999), "GE1015", ("opset 999", "newest known")),
    "opset of the past": (model("[n1] y = Relu (x)", opset=0), "GE1015", ("opset 0", "oldest is 1")),
    "opset that has no room": (
        changed(lambda proto: setattr(proto.opset_import[1], "version", 2**40)),
        "GE1015",
        (str(2**40), "com.example"),
    ),
    "two versions of one domain": (
        changed(lambda proto: proto.opset_import.add(domain="ai.onnx", version=11)),
        "GE1015",
        ("twice", "17", "11"),
    ),
    "external data that are missing": (changed(external("lost.bin")), "GE1012", ("'w'", "lost.bin", "No such file")),
    "external data elsewhere": (changed(external("../secret.bin")), "GE1013", ("'w'", "../secret.bin")),
    "stated type that cannot be": (
        model("[n1] y = Relu (x)", "float[2, 3] x", "int64[2, 3] y"),
        "GE3016",
        ("Relu", "'y'", "i64", "f32", "node 'n1'"),
    ),
    "condition that is no condition": (
        model(
            "[n1] y = If (x) <then_branch = a () => (float[2, 3] p) { p = Relu (x) }, "
            "else_branch = b () => (float[2, 3] q) { q = Neg (x) }>"
        ),
        "GE1017",
        ("If", "f32", "node 'n1'"),
    ),
    "branch that is missing": (
        model("[n1] y = If (c) <then_branch = a () => (float[2, 3] p) { p = Relu (x) }>", "float[2, 3] x, bool c"),
        "GE1017",
        ("If", "else_branch", "node 'n1'"),
    ),
}
"""Model, error code, and what the message must contain."""


def compiled(path: Path) -> None:
    """What ge-compiler does first: import the model and bring it to the graph level."""
    options = CompileOptions(path)
    module = import_static(options)
    for stage in (OPTIMISE, LOWER):
        run_stage(stage, module, options)


@pytest.mark.parametrize(("proto", "code", "parts"), BROKEN.values(), ids=BROKEN.keys())
def test_message_of_a_broken_model(proto: ModelProto, code: str, parts: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(GeError) as error:
        compiled(path)
    text = describe(error.value)
    assert (error.value.code, [part for part in parts if part not in text]) == (code, []), text
    assert error.value.why and error.value.remedy
    first, why, fix = text.splitlines()
    assert first.endswith(f"[{code}]") and why.startswith("  why: ") and fix.startswith("  fix: ")


FILES = {
    "empty": (b"", "GE1010", "is empty"),
    "text": (b"<html>Not found</html>", "GE1010", "broken.onnx"),
    "truncated": (None, "GE1011", "breaks off at byte"),
    "no graph": (ModelProto(ir_version=8).SerializeToString(), "GE1010", "has no graph"),
}


@pytest.mark.parametrize(("data", "code", "part"), FILES.values(), ids=FILES.keys())
def test_message_of_a_broken_file(data: bytes | None, code: str, part: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(model("[n1] y = Relu (x)").SerializeToString()[:-9] if data is None else data)
    with pytest.raises(GeError) as error:
        import_model(path)
    text = describe(error.value)
    assert error.value.code == code and part in text and str(path) in text
