"""A short motion made in code, and its bench."""

from __future__ import annotations

import pytest

import keypose as kp
from keypose.workbench import Bench


@pytest.fixture(scope="session")
def motion() -> kp.Motion:
    """Four seconds of a figure that walks and kicks."""
    return kp.demo_motion(fps=30)[200:320]


@pytest.fixture
def bench(motion: kp.Motion) -> Bench:
    return Bench(motion)
