"""The operator table says what the installed onnx package says."""

from pathlib import Path
from typing import Any, cast

import onnx
import pytest
from onnx import defs
from onnx.defs import OpSchema

from ge.dialects.onnx import ML_OPSET, OP_CLASSES, OPSET, Onnx
from ge.dialects.onnx import operators as table
from ge.dialects.onnx.schema import Operator, expand_type_set
from ge.tools.generate_onnx_dialect import single_type
from ge.tools.generate_onnx_dialect import table as generate

OPERATORS = [*table.OPERATORS, *table.ML_OPERATORS]


def test_the_committed_table_is_what_the_generator_writes() -> None:
    assert onnx.__version__ in (table.__doc__ or ""), "the table was generated from another version of onnx"
    assert Path(table.__file__).read_text(encoding="utf-8") == "\n".join(generate()) + "\n"


def test_every_current_operator_has_a_class() -> None:
    current = {
        (schema.domain, schema.name)
        for schema in defs.get_all_schemas()
        if schema.domain in ("", "ai.onnx.ml") and not schema.deprecated
    }
    assert current == set(OP_CLASSES)
    assert defs.onnx_opset_version() == OPSET
    assert max(schema.since_version for schema in defs.get_all_schemas() if schema.domain == "ai.onnx.ml") == ML_OPSET


def test_names_of_operations_differ() -> None:
    names = [op.name for op in Onnx.operations]
    assert len(names) == len(set(names))


def decoded(value: Any) -> Any:
    """The value of an attribute with strings for bytes."""
    if isinstance(value, list):
        return [decoded(item) for item in cast("list[Any]", value)]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_counts_defaults_and_types_agree_with_onnx(operator: Operator) -> None:
    schema = defs.get_schema(operator.name, domain=operator.domain)
    assert operator.since == schema.since_version
    for ours, theirs in ((operator.inputs, schema.inputs), (operator.outputs, schema.outputs)):
        assert [parameter.name for parameter in ours] == [formal.name for formal in theirs]
        for parameter, formal in zip(ours, theirs, strict=True):
            assert parameter.optional == (formal.option == OpSchema.FormalParameterOption.Optional)
            assert parameter.variadic == (formal.option == OpSchema.FormalParameterOption.Variadic)
            assert operator.type_set(parameter) == {single_type(text) for text in formal.types}
    assert set(operator.attributes) == set(schema.attributes)
    for name, spec in operator.attributes.items():
        theirs = schema.attributes[name]
        assert spec.required == theirs.required
        assert f"AttrType.{spec.kind.upper().replace('TYPE', 'TYPE_PROTO')}" == str(theirs.type)
        expected = decoded(onnx.helper.get_attribute_value(theirs.default_value)) if theirs.default_value.name else None
        assert spec.default == (pytest.approx(expected, rel=1e-7) if isinstance(expected, float) else expected)


def test_type_sets_expand_groups_and_nested_types() -> None:
    assert expand_type_set("bool f32") == {"i1", "f32"}
    assert expand_type_set("seq(f32 optional(int4)) string") == {
        "seq(f32)",
        "seq(optional(i4))",
        "seq(optional(ui4))",
        "string",
    }
    assert expand_type_set("map(i64 f32) complex") == {"map(i64 f32)", "complex<f32>", "complex<f64>"}
