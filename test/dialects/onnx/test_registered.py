"""Operators of plug-ins: what a registration must have, and what follows from it at every level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from ge.custom import Cost, elements, like_input, register_operator, unregister_operator
from ge.dialects.onnx import Custom
from ge.dialects.onnx.meaning import run_module
from ge.dialects.onnx.registered import registered
from ge.dialects.onnx.shapes.node import Node
from ge.dialects.onnx.shapes.values import Tensor
from ge.ir.errors import GeError
from ge.ir.registry import Registry
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

DOMAIN = "test.registered"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    unregister_operator(DOMAIN, "Op")


def meaning(x: Any, bias: Any = None, *, factor: float = 1.0, mode: str = "") -> Any:
    return x * x.dtype.type(factor) if bias is None else x * x.dtype.type(factor) + bias


def register(function: Any = meaning, signature: str = "x: T, bias?: T -> y: T", **changes: Any) -> None:
    options: dict[str, Any] = {
        "since": 3,
        "attributes": ["factor: float = 2.0", "mode: string?"],
        "types": {"T": "f16 f32"},
        "shapes": like_input,
        **changes,
    }
    register_operator(DOMAIN, "Op", signature, **options)(function)


def model(version: int = 3, element: int = TensorProto.FLOAT, count: int = 1, **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node("Op", ["x"] * count, ["y"], name="node", domain=DOMAIN, **attributes)
    x = helper.make_tensor_value_info("x", element, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, version)])


def custom(module: ModuleOp) -> Custom:
    return next(op for op in module.walk() if isinstance(op, Custom))


# Registration


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"shapes": None}, "it has no function for 'shapes'"),
        ({"shapes": [2, 3]}, "it has no function for 'shapes'"),
        ({"function": "no function"}, "the function that it computes is no function"),
        ({"function": lambda x: x}, "does not take 2 arguments and the attributes factor, mode by keyword"),
        ({"function": lambda x, bias: x}, "got an unexpected keyword argument 'factor'"),
        ({"decomposition": lambda ops, x: x}, "the decomposition does not take 3 arguments"),
        ({"decomposition": "nothing.gerules"}, "there is no file '"),
        ({"cost": 3}, "'cost' is no function"),
        ({"signature": "x: T, bias?: T"}, "has no ' -> ' between inputs and outputs"),
        ({"signature": "x, bias?: T -> y: T"}, "cannot be read"),
        ({"signature": "x: T, bias?: T -> "}, "it has no output"),
        ({"signature": "x: U, bias?: T -> y: T"}, "'x' has type 'U', which neither types= nor the standard defines"),
        ({"types": {"T": "float32"}}, "'x' has type 'float32'"),
        ({"attributes": ["factor float"]}, "cannot be read"),
        ({"attributes": ["factor: double = 1.0", "mode: string?"]}, "attribute 'factor' is of kind 'double'"),
        ({"attributes": ["factor: float = one", "mode: string?"]}, "cannot be read"),
        ({"attributes": ["factor: float = 'one'", "mode: string?"]}, "default of attribute 'factor' is no float"),
        ({"attributes": ["body: graph", "mode: string?"]}, "attribute 'body' is of kind 'graph'"),
        ({"since": 0}, "since=0 is not a version"),
    ],
)
def test_a_wrong_registration_is_one_error_with_operator_and_file(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(GeError) as error:
        register(**changes)
    assert error.value.code == "GE2011"
    assert f"operator '{DOMAIN}::Op'" in error.value.what and problem in error.value.what
    assert "test_registered.py:" in str(error.value.where)
    assert registered(DOMAIN, "Op") is None


def test_a_decorator_that_decorates_nothing_is_an_error_when_the_operator_is_met() -> None:
    register_operator(DOMAIN, "Op", "x: f32 -> y: f32", shapes=like_input)
    with pytest.raises(GeError, match="it has no function that computes it") as error:
        import_model(model())
    assert error.value.code == "GE2011" and "test_registered.py:" in str(error.value.where)


@pytest.mark.parametrize("domain", ["", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training"])
def test_operators_of_the_standard_are_not_redefined(domain: str) -> None:
    with pytest.raises(GeError, match="belongs to the ONNX standard"):
        register_operator(domain, "Op", "x: f32 -> y: f32", shapes=like_input)(lambda x: x)


def test_a_second_definition_is_refused_and_names_the_first() -> None:
    register()
    with pytest.raises(GeError, match=r"registered already, in .*test_registered\.py:\d+") as error:
        register_operator(DOMAIN, "Op", "x: f32 -> y: f32", shapes=like_input)(lambda x: x)
    assert error.value.code == "GE2011"


def test_a_plugin_file_may_be_loaded_again_but_not_define_twice(tmp_path: Path) -> None:
    once = (
        "from ge.custom import register_operator, like_input\n"
        f"register_operator('{DOMAIN}', 'Op', 'x: f32 -> y: f32', shapes=like_input)(lambda x: x)\n"
    )
    plugin = tmp_path / "plugin.py"
    plugin.write_text(once)
    Registry().load_plugin(plugin)
    Registry().load_plugin(plugin)
    plugin.write_text(once + once)
    with pytest.raises(GeError, match="registered already") as error:
        Registry().load_plugin(plugin)
    assert error.value.code == "GE2011"


# Import and verification


def test_the_importer_infers_and_knows_names_and_defaults() -> None:
    register()
    op = custom(import_model(model()))
    assert str(op.results[0].type) == "tensor<2x3xf32>"
    assert op.attribute("factor") == 2.0 and op.attribute("mode") is None
    assert op.operand("x") is op.operands[0] and op.operand("bias") is None


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (model(fctor=1.0), "'fctor' is not an attribute of Op"),
        (model(factor=1), "attribute 'factor' must be of kind float"),
        (model(element=TensorProto.INT32), "'x' cannot have type"),
        (model(count=3), "3 inputs, but the operator has at most 2"),
        (model(version=2), "Op does not exist at version 2 of domain 'test.registered', first at 3"),
    ],
)
def test_the_importer_checks_a_node_against_the_definition(made: onnx.ModelProto, problem: str) -> None:
    import_model(made)
    register()
    with pytest.raises(GeError) as error:
        import_model(made)
    assert error.value.code == "GE1017" and problem in error.value.what and "node" in str(error.value.where)


def test_a_result_that_the_shape_function_excludes_does_not_verify() -> None:
    register(shapes=lambda node: [(7,)])
    made = model()
    made.graph.output[0].type.tensor_type.shape.dim.add(dim_value=2)
    with pytest.raises(GeError) as error:
        import_model(made)
    assert error.value.code == "GE3016"


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        (lambda node: 1 / 0, "the shape function failed: ZeroDivisionError: division by zero"),
        (lambda node: node.shape(0)[9], "the shape function failed: IndexError"),
        (lambda node: None, "it returned None, not a list with a shape for each result"),
        (lambda node: [], "it returned 0 shapes for 1 results"),
        (lambda node: [node.shape(0)] * 2, "it returned 2 shapes for 1 results"),
        (lambda node: [(2.5, 3)], "'float' object cannot be interpreted as an integer"),
        (lambda node: ["2x3"], "'2x3' is not a shape"),
    ],
)
def test_a_shape_function_that_fails_is_one_error(shapes: Any, problem: str) -> None:
    register(shapes=shapes)
    with pytest.raises(GeError) as error:
        import_model(model())
    assert error.value.code == "GE3017" and problem in error.value.what
    assert f"{DOMAIN}::Op" in error.value.what and "test_registered.py:" in str(error.value.where)


def test_a_shape_may_be_a_list() -> None:
    register(shapes=lambda node: [[np.int64(2), 3]])
    assert str(custom(import_model(model())).results[0].type) == "tensor<2x3xf32>"


def test_a_shape_function_may_refuse() -> None:
    register(shapes=lambda node: node.fail("it must not be square"))
    with pytest.raises(GeError, match="it must not be square") as error:
        import_model(model())
    assert error.value.code == "GE3015"


# Meaning


def run(made: onnx.ModelProto) -> Any:
    return run_module(import_model(made), {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})["y"]


def test_the_meaning_gets_inputs_by_position_and_attributes_by_keyword() -> None:
    register()
    np.testing.assert_array_equal(run(model()), np.arange(6, dtype=np.float32).reshape(2, 3) * 2)
    np.testing.assert_array_equal(run(model(factor=3.0, count=2)), np.arange(6, dtype=np.float32).reshape(2, 3) * 4)


@pytest.mark.parametrize(
    ("function", "code", "problem"),
    [
        (
            lambda x, b, *, factor, mode=0: x.astype(np.float64),
            "GE6010",
            "result 0 is f64[2, 3], the definition says f32",
        ),
        (lambda x, b, *, factor, mode=0: x[:1], "GE6010", "result 0 is f32[1, 3], the definition says f32[2, 3]"),
        (lambda x, b, *, factor, mode=0: (), "GE6010", "0 results instead of 1"),
        (lambda x, b, *, factor, mode=0: (x, x), "GE6010", "2 results instead of 1"),
        (lambda x, b, *, factor, mode=0: x / (1 // 0), "GE6006", "ZeroDivisionError"),
    ],
)
def test_a_meaning_that_contradicts_the_definition_is_one_error(function: Any, code: str, problem: str) -> None:
    register(function)
    with pytest.raises(GeError) as error:
        run(model())
    assert error.value.code == code and problem in error.value.what and f"{DOMAIN}::Op" in error.value.what


def test_a_meaning_cannot_change_what_others_read() -> None:
    def in_place(x: Any, bias: Any, *, factor: float, mode: str = "") -> Any:
        x *= factor
        return x

    register(in_place)
    with pytest.raises(GeError, match="read-only") as error:
        run(model())
    assert error.value.code == "GE6006"


def test_a_result_can_be_changed_without_changing_the_input() -> None:
    register(lambda x, bias, *, factor, mode="": x)
    x = np.zeros((2, 3), np.float32)
    y = run_module(import_model(model()), {"x": x})["y"]
    y += 1
    assert not x.any()


def test_an_operator_that_nobody_defines_is_one_error() -> None:
    with pytest.raises(GeError) as error:
        run(model())
    assert error.value.code == "GE6011" and f"{DOMAIN}::Op" in error.value.what


def test_cost_is_a_function_of_the_node() -> None:
    register(cost=lambda node: Cost(flops=2 * elements(node.shape(0))))
    node = Node("Op", [Tensor("f32", (2, 3))])
    definition = registered(DOMAIN, "Op")
    assert definition is not None and definition.cost_of(node) == Cost(flops=12)
    register(cost=None)
    definition = registered(DOMAIN, "Op")
    assert definition is not None and definition.cost_of(node) == Cost()
    register(cost=lambda node: 3)
    definition = registered(DOMAIN, "Op")
    assert definition is not None
    with pytest.raises(GeError, match="the cost function failed: TypeError: it returned 3, not a Cost") as error:
        definition.cost_of(node)
    assert error.value.code == "GE3017"


# Export


def test_the_export_writes_the_operator_back_in_its_domain() -> None:
    register()
    made = model(factor=4.0)
    exported = export_model(import_model(made))
    assert exported.graph.node[0].domain == DOMAIN and exported.graph.node[0].attribute == made.graph.node[0].attribute
    assert {entry.domain: entry.version for entry in exported.opset_import}[DOMAIN] == 3


def test_text_does_not_depend_on_the_registration() -> None:
    module = import_model(model(factor=4.0, mode="a"))
    before = str(custom(module))
    register()
    assert str(custom(module)) == before
