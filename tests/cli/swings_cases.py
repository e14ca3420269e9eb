"""What tests of ``keypose swings`` share."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import keypose as kp


def document(ran) -> dict:
    return json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def same_motion(path: Path, wanted: kp.Motion) -> bool:
    """Whether a file that rounds to six decimals holds this motion."""
    written = kp.load(path)
    off = np.abs(written.world_positions() - wanted.world_positions()).max()
    return written.n_frames == wanted.n_frames and off < 1e-4


def same_swings(one: kp.Swings, other: kp.Swings) -> bool:
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for a, b in zip(one.tracks, other.tracks, strict=True)
        for part in ("starts", "ends", "start_rotations", "turns")
    )
