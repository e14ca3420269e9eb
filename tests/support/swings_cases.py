"""Helpers for tests of ``keypose swings``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import keypose as kp


def document(result) -> dict:
    return json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def same_motion(path: Path, expected: kp.Motion) -> bool:
    """Return whether a file that rounds to six decimals holds this motion."""
    written = kp.load(path)
    off = np.abs(written.world_positions() - expected.world_positions()).max()
    return written.n_frames == expected.n_frames and off < 1e-4


def same_swings(one: kp.Swings, other: kp.Swings) -> bool:
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for a, b in zip(one.tracks, other.tracks, strict=True)
        for part in ("starts", "ends", "start_rotations", "rotation_vectors")
    )
