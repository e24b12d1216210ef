"""A fixed part of the node tests of the standard, written for older opsets; `python -m bench.opsets` runs all."""

from __future__ import annotations

import pytest

from bench.opsets import Case, cases, check_with_constants

PART = cases()[::16]

TARGETS = (11, 13, 16, 18, 20)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", PART, ids=[case.name for case in PART])
def test_case(case: Case) -> None:
    assert not check_with_constants(case, TARGETS).failures
