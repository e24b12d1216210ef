"""Many nodes that an opset cannot express are one message of a few lines."""

import pytest
from onnx import TensorProto, helper

from ge.ir.errors import GeError
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model


def test_nodes_that_are_refused_for_one_reason_are_counted() -> None:
    nodes = [helper.make_node("BitwiseNot", [f"x{i}"], [f"x{i + 1}"], name=f"invert{i}") for i in range(9)]
    values = [helper.make_tensor_value_info(name, TensorProto.INT32, [2]) for name in ("x0", "x9")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
    with pytest.raises(GeError) as error:
        export_model(module, 13)
    assert error.value.code == "GE1021" and "'invert0'" in str(error.value.where)
    why = error.value.why
    assert why is not None and "node 'invert3' (BitwiseNot) and 5 more: " in why and "invert4" not in why
