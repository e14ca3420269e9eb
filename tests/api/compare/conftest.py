"""A small comparison that many tests use."""

from __future__ import annotations

import pytest

import keypose as kp
from keypose.api.compare import CompareOptions, Comparison, compare_motion

SETTINGS = CompareOptions(
    methods=("salient", "salient-inbetween", "farthest", "uniform"), removed_percent=(80.0, 90.0), curves=True
)


@pytest.fixture(scope="session")
def short() -> kp.Motion:
    return kp.demo_motion(fps=30)[:90]


@pytest.fixture(scope="session")
def comparison(short: kp.Motion) -> Comparison:
    return Comparison(compare_motion(short, SETTINGS), SETTINGS)
