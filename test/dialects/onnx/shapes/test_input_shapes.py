"""Shapes that users ask for: what can be written, what is refused and where, and what it means for a model."""

from __future__ import annotations

from typing import Any, cast

import pytest
from onnx import TensorProto, helper

from ge.dialects.onnx.shapes.input_shapes import Asked, Range, fix_shapes, parse_input_shapes
from ge.ir.errors import GeError
from ge.maths.symbols import Size, bounds, symbol
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

BATCH, SEQ = symbol("batch"), symbol("seq")


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x:1,3,224,224", {"x": (1, 3, 224, 224)}),
        ("x:1,3;y:batch,1~8", {"x": (1, 3), "y": ("batch", Range(1, 8))}),
        (" x : 1 , 3 ; y : 2 ; ", {"x": (1, 3), "y": (2,)}),
        ("a:b:1,2;c:", {"a:b": (1, 2), "c": ()}),
        ("serving/default-x:0:?,-1", {"serving/default-x:0": (None, None)}),
        ("输入:4~-1", {"输入": (Range(4, None),)}),
        ("input 1:2", {"input 1": (2,)}),
    ],
)
def test_forms(text: str, shapes: dict[str, tuple[Asked, ...]]) -> None:
    assert parse_input_shapes(text) == shapes


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("x", 1, "expected an input of the form"),
        ("1,3", 1, "expected an input of the form"),
        (":1", 1, "expected an input of the form"),
        ("", 1, "got the end"),
        ("x:1,,2", 5, "a number, got ',2'"),
        ("x:1.5", 3, "got '1.5'"),
        ("x:-2", 3, "got '-2'"),
        ("x:1 2", 5, "expected ',' or ';' or '~', got '2'"),
        ("x:1~", 5, "expected '-1' or a number, got the end"),
        ("x:1;;y:2", 5, "expected an input"),
        ("x:0", 3, "'0': a size is a positive number"),
        ("x:2,8~3", 5, "'8~3': a range ends at a greater number"),
        ("x:1;x:2", 5, "input 'x' is there twice"),
    ],
)
def test_errors_have_a_column(text: str, column: int, message: str) -> None:
    with pytest.raises(GeError) as caught:
        parse_input_shapes(text, "--input_shape")
    assert caught.value.code == "GE2006"
    assert caught.value.where == f"--input_shape, column {column}"
    assert message in caught.value.what


def test_a_name_has_one_size_in_all_inputs() -> None:
    declared = {"x": (BATCH, 3), "y": (BATCH, SEQ), "z": (2 * BATCH,)}
    fixed = fix_shapes(declared, {"x": (4, 3)})
    assert fixed.shapes == {"x": (4, 3), "y": (4, SEQ), "z": (8,)}


def test_a_name_with_two_sizes_means_nothing_elsewhere() -> None:
    fixed = fix_shapes({"x": (BATCH,), "y": (BATCH, SEQ), "z": (BATCH,)}, {"x": (4,), "y": (5, None)})
    assert fixed.shapes == {"x": (4,), "y": (5, SEQ), "z": (None,)}


def test_names_and_ranges() -> None:
    fixed = fix_shapes({"x": (BATCH, None, 3), "y": (BATCH,)}, {"x": (Range(1, 8), Range(2, None), Range(1, 4))})
    batch, width, three = cast("tuple[Size, Size, Size]", fixed.shapes["x"])
    assert (bounds(batch), str(width), bounds(width), three) == ((1, 8), "x_1", (2, None), 3)
    assert fixed.shapes["y"] == (batch,)
    assert fixed.bounds == {"batch": (1, 8), "x_1": (2, None)}
    assert fix_shapes({"x": (BATCH, None)}, {"x": ("n", "m")}).shapes == {"x": (symbol("n"), symbol("m"))}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"z": (1,)}, r"'z' is not an input of the model; its inputs are x\[batch, 3\]"),
        ({"x": (1,)}, r"'x' cannot have shape 1: it is x\[batch, 3\]"),
        ({"x": (1, 4)}, r"'x' cannot have shape 1,4"),
        ({"x": (None, Range(4, 8))}, r"'x' cannot have shape \?,4~8"),
    ],
)
def test_what_does_not_fit(asked: dict[str, tuple[Asked, ...]], message: str) -> None:
    with pytest.raises(GeError, match=f"GE1019.*{message}"):
        fix_shapes({"x": (BATCH, 3)}, asked)


def model(*outputs: Any) -> Any:
    """y = x + x and its transposed z, of which a model states the types ``outputs``."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Transpose", ["y"], ["z"])]
    y, z = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in zip("yz", outputs, strict=True)
    )
    return helper.make_model(
        helper.make_graph(nodes, "g", [x], [z], value_info=[y]), opset_imports=[helper.make_opsetid("", 20)]
    )


def test_signature_of_an_import() -> None:
    """An output is named like the input that it depends on; the export has the name that the model had."""
    original = model(None, [4, "m"])
    module = import_model(original)
    text = str(module)
    assert '(%x: tensor<?x4xf32> {onnx.dims = ["n", ""]})' in text
    assert '-> (tensor<4x?xf32> {onnx.dims = ["", "n"]' in text
    assert export_model(module).graph.output == original.graph.output
    assert "(%x: tensor<2x4xf32>) -> (tensor<4x2xf32>)" in str(import_model(original, {"x": (2, None)}))
    assert "onnx.bounds = {n = array<i64: 1, 8>}" in str(import_model(original, parse_input_shapes("x:1~8,4")))


def test_a_stated_type_that_is_wrong_names_both_sides() -> None:
    with pytest.raises(GeError) as caught:
        import_model(model([2, 5], None))
    assert caught.value.code == "GE3016"
    assert caught.value.what == "Add: value 'y' is stated as f32[2, 5], but is f32[n, 4] by rule 'broadcast'"
    assert "node 'y'" in str(caught.value.where)


@pytest.mark.parametrize("stated", [[5, 2], [4, "m", 1]])
def test_a_wrong_shape_of_an_output_is_a_warning(
    stated: list[int | str | None], caplog: pytest.LogCaptureFixture
) -> None:
    """Models that exporters wrote have such; the export states what is right."""
    module = import_model(model(None, stated))
    assert "node 'z': Transpose: value 'z' is stated as f32[" in caplog.text
    assert "but is f32[4, n] by rule 'transpose': what is inferred counts" in caplog.text
    dims = export_model(module).graph.output[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in dims] == [4, "n"]


def test_a_wrong_element_type_of_an_output_names_both_sides() -> None:
    wrong = model(None, [4, "m"])
    wrong.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    with pytest.raises(GeError, match="value 'z' is stated as i64\\[4, m\\], but is f32\\[4, n\\] by rule 'transpose'"):
        import_model(wrong)


def test_stated_types_of_results_do_not_count_for_other_input_shapes() -> None:
    assert "-> tensor<4x7xf32>" in str(import_model(model([2, 5], [5, 2]), {"x": (7, 4)}))


def test_a_number_where_a_name_is_inferred_is_what_tracing_left() -> None:
    assert "tensor<4x?xf32>" in str(import_model(model([1, 4], [4, 1])))
