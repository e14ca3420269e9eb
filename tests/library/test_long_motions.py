"""Motions that would become huge when resampled for comparison."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.library import canonical as bodies
from keypose.library.canonical import MAX_FRAMES, canonical_body
from keypose.library.library import Library
from keypose.model import Motion
from support.errors import raises


def slow(n_frames: int, fps: float) -> Motion:
    walk = kp.demo_motion(fps=30)
    return replace(walk.at_frames(np.arange(n_frames) % walk.n_frames), fps=fps, name="slow")


def test_a_small_file_of_many_hours_takes_little_memory() -> None:
    hours = slow(20_000, 2.0)  # 300,000 frames at 30 a second
    tracemalloc.start()
    try:
        with raises(OptionError, code="too_long", subject="slow"):
            canonical_body(hours)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_too_long_motions_are_stored_and_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_FRAMES", 3000)
    hours = slow(400, 2.0)
    with Library(tmp_path / "clips.db") as library:
        library.add(hours)
        library.add(kp.demo_motion(fps=30), name="walk")
        assert library.search("walk") == () and len(library) == 2 and library.verify() == ()
        for query in (hours, "slow"):
            with raises(OptionError, code="too_long", subject="slow"):
                library.search(query)


@pytest.mark.parametrize("fps", [0.003, 1.5])
def test_too_low_frame_rates_are_refused_as_query(tmp_path: Path, fps: float) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(kp.demo_motion(fps=30), name="walk")
        library.add(slow(20, fps))
        for query in (slow(20, fps), "slow"):
            problem = f"{fps:g} frames in a second"
            with raises(OptionError, code="too_slow", subject="slow", problem=problem):
                library.search(query)
            with raises(OptionError, code="too_slow", subject="slow", problem=problem):
                library.search_pose(query, 3)
            with raises(OptionError, code="too_slow", subject="slow", problem=problem):
                library.search_part(query, 3, 5)
        assert len(library.search_pose(slow(1, fps))) == 1  # a posed figure has no rate


def test_long_motions_are_processed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for fps in (30.0, 24.0, 60.0):
        motion = kp.demo_motion(fps=fps)
        full_body = canonical_body(motion)
        with monkeypatch.context() as patched:
            patched.setattr(bodies, "CHUNK_FRAMES", 37)
            parts = canonical_body(motion)
        assert full_body is not None and parts is not None and full_body.n_frames < MAX_FRAMES
        np.testing.assert_allclose(parts.positions, full_body.positions, atol=1e-9)
