"""One small comparison that many tests look at."""

from __future__ import annotations

import pytest

import keypose as kp
from keypose.verbs.comparing import Comparison, Settings, compare_motion

SETTINGS = Settings(
    methods=("salient", "salient-inbetween", "farthest", "uniform"), removed_percent=(80.0, 90.0), curves=True
)


@pytest.fixture(scope="session")
def short() -> kp.Motion:
    return kp.demo_motion(fps=30)[:90]


@pytest.fixture(scope="session")
def compared(short: kp.Motion) -> Comparison:
    return Comparison(compare_motion(short, SETTINGS), SETTINGS)
