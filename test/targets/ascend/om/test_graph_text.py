"""The graph in an OM file: read with care, and of no weight for what runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.dialects.om import GraphOp
from ge.ir.errors import GeError
from ge.ir.parser import parse_module
from ge.targets.ascend.om.container import PartitionType, pack_container, read_container
from ge.targets.ascend.om.graph_text import graph_text, read_graph
from ge.targets.ascend.om.proto import ge_ir_pb2 as ir
from ge.targets.ascend.om.reader import read_model, read_module
from ge.targets.ascend.om.writer import model_bytes

SMALL = Path(__file__).parent / "inputs" / "small.mlir"
MAIN = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"


def with_graph(text: bytes) -> bytes:
    """The small model with a graph."""
    container = read_container(model_bytes(parse_module(SMALL)), "")
    definition = ir.ModelDef.FromString(bytes(container.partition(PartitionType.MODEL_DEF)))
    definition.attr["ge_graph"].s = text
    parts = {PartitionType(kind): bytes(part) for kind, part in container.partitions.items()}
    parts[PartitionType.MODEL_DEF] = definition.SerializeToString(deterministic=True)
    return b"".join(bytes(memoryview(piece)) for piece in pack_container("small", [*parts.items()]))


def test_what_is_written_is_read() -> None:
    graph = read_graph(MAIN, "here")
    assert graph_text(read_graph(graph_text(graph), "here")) == graph_text(graph)
    data = with_graph(graph_text(graph).encode())
    assert any(isinstance(op, GraphOp) for op in read_module(data).walk())
    assert model_bytes(read_module(data)) == data


@pytest.mark.parametrize(
    "text",
    [
        "what is this",
        MAIN + MAIN.replace("@main", "@other"),
        "builtin.module {\n}",
        'func.func @main() {\n  %w = graph.constant #ge.weights<"/etc/passwd", 0, 4, "00"> : tensor<1xf32>\n}',
        "func.func @main(" + "(" * 5000,
    ],
)
def test_what_is_no_graph_is_one_error_of_who_asks_for_it(text: str) -> None:
    with pytest.raises(GeError) as error:
        read_module(with_graph(text.encode()))
    assert error.value.code == "GE5007"
    assert [*read_model(with_graph(text.encode())).outputs] == ["y", "count"]
