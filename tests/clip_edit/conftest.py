"""A short generated motion and its editor."""

from __future__ import annotations

import pytest

import keypose as kp
from keypose.clip_edit import ClipEditor


@pytest.fixture(scope="session")
def motion() -> kp.Motion:
    """Four seconds of a figure that walks and kicks."""
    return kp.demo_motion(fps=30)[200:320]


@pytest.fixture
def editor(motion: kp.Motion) -> ClipEditor:
    return ClipEditor(motion)
