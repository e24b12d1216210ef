"""Random models come back: onnx -> module -> text -> module -> onnx, identical but for the canonical form.

GE_EXAMPLES=5000 in the environment looks further than the suite does.
"""

from __future__ import annotations

import os

from exact import assert_same, check_exact
from hypothesis import HealthCheck, given, settings
from onnx import ModelProto
from random_models import models, numbered

from ge.ir.parser import parse_module
from ge.ir.printer import print_module
from ge.targets.onnx.exporter import export_model
from ge.targets.onnx.importer import import_model

LARGE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


EXAMPLES = settings(
    max_examples=int(os.environ.get("GE_EXAMPLES", "40")), derandomize=True, database=None, suppress_health_check=LARGE
)


@given(models())
@EXAMPLES
def test_models_come_back(model: ModelProto) -> None:
    check_exact(model)


@given(models(hiding=True))
@EXAMPLES
def test_names_that_hide_others_get_new_ones(model: ModelProto) -> None:
    """Everything is still computed from the same: the models are the same when values are numbered."""
    module = import_model(model)
    exported = export_model(parse_module(print_module(module)))
    assert_same(numbered(exported), numbered(model))
    check_exact(exported)
