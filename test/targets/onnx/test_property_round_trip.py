"""Random models come back: onnx -> module -> text -> module -> onnx, identical but for the canonical form.

GE_EXAMPLES=5000 in the environment looks further than the suite does.
"""

from __future__ import annotations

import os

from exact import check_exact
from hypothesis import HealthCheck, given, settings
from onnx import ModelProto
from random_models import models

LARGE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@given(models())
@settings(
    max_examples=int(os.environ.get("GE_EXAMPLES", "50")), derandomize=True, database=None, suppress_health_check=LARGE
)
def test_models_come_back(model: ModelProto) -> None:
    check_exact(model)
