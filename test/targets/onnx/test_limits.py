"""Small files that ask for much: what they may take is bounded, and the message says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, parser

from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.ir.registry import context, registry
from ge.ir.verifier import verify_module
from ge.targets.onnx.foreign_errors import error_of
from ge.targets.onnx.importer import import_model
from ge.tools.pipeline import PassRunner, parse_pipeline

RELU = '<ir_version: 8, opset_import: ["": 17]>\nm (float[2] x) => (float[2] y) { y = Relu (x) }'


def refused(data: bytes, folder: Path) -> str:
    """What is said of a file."""
    path = folder / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(GeError) as error:
        import_model(path)
    return f"{error.value.code} {error.value.what}"


def test_empty_messages_are_counted_before_they_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ge.targets.onnx.limits.MAX_PARTS", 1000)
    model = parser.parse_model(RELU)
    model.graph.initializer.extend(TensorProto() for _ in range(1001))
    assert "GE1020" in (said := refused(model.SerializeToString(), tmp_path)) and "more than 1000 messages" in said


def test_texts_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ge.targets.onnx.limits.MAX_PARTS", 1000)
    model = parser.parse_model(RELU)
    model.graph.initializer.add(name="s", data_type=TensorProto.STRING, dims=[1001], string_data=[b""] * 1001)
    assert "GE1020" in refused(model.SerializeToString(), tmp_path)
    del model.graph.initializer[0].string_data[900:]
    model.graph.initializer[0].dims[0] = 900
    (tmp_path / "few.onnx").write_bytes(model.SerializeToString())
    import_model(tmp_path / "few.onnx")


def test_nodes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ge.targets.onnx.limits.MAX_EXPANDED_NODES", 100)
    model = parser.parse_model(RELU)
    model.graph.node.extend(NodeProto(op_type="T", domain="d") for _ in range(100))
    with pytest.raises(GeError, match=r"GE1020.*has 101 nodes"):
        import_model(model)


def field(number: int, payload: bytes) -> bytes:
    """A field of a message as protobuf writes it."""
    length = b""
    size = len(payload)
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


@pytest.mark.parametrize("depth", [40, 400])
def test_graphs_that_are_nested_deeply(depth: int, tmp_path: Path) -> None:
    graph = field(2, b"g")
    for _ in range(depth):
        graph = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, graph)))
    said = refused(ModelProto(ir_version=8).SerializeToString() + field(7, graph), tmp_path)
    assert said[:6] in ("GE1011", "GE1020") and ("nested" in said or "MaxDepth" in said)


BIG = 2**30

LARGE = {
    "ConstantOfShape": ("%y = onnx.ConstantOfShape(%s) : (tensor<2xi64>) -> TYPE", "tensor<?x?xf32>"),
    "Expand": ("%y = onnx.Expand(%x, %s) : (tensor<1x1xf32>, tensor<2xi64>) -> TYPE", "tensor<?x?xf32>"),
    "Tile": ("%y = onnx.Tile(%x, %s) : (tensor<1x1xf32>, tensor<2xi64>) -> TYPE", "tensor<?x?xf32>"),
    "CenterCropPad": ("%y = onnx.CenterCropPad(%x, %s) : (tensor<1x1xf32>, tensor<2xi64>) -> TYPE", "tensor<?x?xf32>"),
    "OneHot": ("%y = onnx.OneHot(%s, %n, %v) : (tensor<2xi64>, tensor<i64>, tensor<2xf32>) -> TYPE", "tensor<2x?xf32>"),
    "HannWindow": ("%y = onnx.HannWindow(%n) : (tensor<i64>) -> TYPE", "tensor<?xf32>"),
    "Range": ("%y = onnx.Range(%o, %n, %o) : (tensor<i64>, tensor<i64>, tensor<i64>) -> TYPE", "tensor<?xi64>"),
    "Pad": ("%y = onnx.Pad(%x, %p) : (tensor<1x1xf32>, tensor<4xi64>) -> TYPE", "tensor<?x?xf32>"),
    "MatMul": ("%y = onnx.MatMul(%a, %b) : (tensor<65536x1xf32>, tensor<1x65536xf32>) -> TYPE", "tensor<?x?xf32>"),
}


@pytest.mark.parametrize(("text", "type"), LARGE.values(), ids=LARGE.keys())
@pytest.mark.parametrize("passes", ["constant-fold", "infer-shapes,constant-fold"])
def test_large_results_are_not_folded(text: str, type: str, passes: str) -> None:
    constants = {
        "s": f"dense<[{BIG}, 4]> : tensor<2xi64>",
        "n": f"dense<{BIG}> : tensor<i64>",
        "o": "dense<1> : tensor<i64>",
        "x": "dense<1.0> : tensor<1x1xf32>",
        "v": "dense<[0.0, 1.0]> : tensor<2xf32>",
        "p": f"dense<[{BIG}, 0, 0, 3]> : tensor<4xi64>",
        "a": "dense<1.0> : tensor<65536x1xf32>",
        "b": "dense<1.0> : tensor<1x65536xf32>",
    }
    lines = [f"%{name} = onnx.Constant {value}" for name, value in constants.items()]
    lines += [text.replace("TYPE", type), f"func.return %y : {type}"]
    module = parse_module("func.func @main() -> " + type + " {\n" + "\n".join(lines) + "\n}")
    PassRunner(verify_module, dump=str).run(context(), module, parse_pipeline(passes, registry()))
    op_type = text.partition("onnx.")[2].partition("(")[0]
    assert f"onnx.{op_type}" in {op.name for op in module.walk()}


def test_a_constant_that_is_doubled_again_and_again_stays_small() -> None:
    lines = ["%v0 = onnx.Constant dense<1.0> : tensor<1000xf32>"]
    types = ["tensor<1000xf32>"] + ["tensor<?xf32>"] * 30
    for level in range(30):
        type = f"({types[level]}, {types[level]}) -> tensor<?xf32>"
        lines.append(f"%v{level + 1} = onnx.Concat(%v{level}, %v{level}) {{axis = 0}} : {type}")
    lines += ["%y = onnx.Relu(%v30) : (tensor<?xf32>) -> tensor<?xf32>", "func.return %y : tensor<?xf32>"]
    module = parse_module("func.func @main() -> tensor<?xf32> {\n" + "\n".join(lines) + "\n}")
    PassRunner(verify_module, dump=str).run(context(), module, parse_pipeline("constant-fold", registry()))
    assert sum(op.name == "onnx.Concat" for op in module.walk()) > 15


def test_what_an_exception_means() -> None:
    assert error_of(MemoryError(), "m.onnx").code == "GE6009"
    assert error_of(RecursionError(), "m.onnx").code == "GE1020"
    assert error_of(OverflowError("int too large"), "m.onnx").code == "GE1020"
    fault = error_of(KeyError("lost"), "m.onnx")
    assert (fault.code, fault.what) == ("GE9001", "import of 'm.onnx': internal error: KeyError: 'lost'")
    try:
        helper.make_tensor("t", TensorProto.FLOAT, [3], [1.0])
    except ValueError as error:
        assert error_of(error, "m.onnx").code == "GE1020"


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("ge.targets.onnx.importer.domain_versions", fault)
    with pytest.raises(GeError, match=r"GE9001.*KeyError: 'lost'") as error:
        import_model(parser.parse_model(RELU))
    assert isinstance(error.value.__cause__, KeyError)
