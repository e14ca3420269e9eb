"""The reference figures of the method, on windows of real clips."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import keypose as kp
from keypose.features import compute_features
from keypose.methods.refine import refine, refine_table
from keypose.methods.refine.curve import RefineOptions, find_curve_keys
from reference import naive

RULES = RefineOptions(threshold=0.13, min_error=0.05, straight_range=0.01, straight_frames=5, prominence=0.05, jump=0.5)
SIDED_PARTS = ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
BODY_PARTS = [
    "Hips",
    "LowerBack",
    "Spine",
    "Spine1",
    "Neck",
    "Head",
    *("Left" + p for p in SIDED_PARTS),
    *("Right" + p for p in SIDED_PARTS),
]
WINDOWS = {  # clip, first frame at 30 fps, frames: overlap %, removed %
    ("135_07_kicking", 13, 51): (60, 53),
    ("135_07_kicking", 176, 62): (60, 54),
    ("86_01_mixed-jumps-kicks-punches", 227, 62): (65, 55),
    ("86_01_mixed-jumps-kicks-punches", 540, 48): (72, 50),
    ("49_06_cartwheel", 48, 51): (70, 52),
    ("02_07_sword", 461, 56): (52, 59),
}


@pytest.fixture(scope="session")
def tables(data_dir):
    results = {}
    for clip, start, frames in WINDOWS:
        motion = kp.load(data_dir / "cmu120" / f"{clip}.bvh").at_fps(30)[start : start + frames]
        results[clip, start, frames] = refine_table(compute_features(motion, "euler", BODY_PARTS))
    return results


@pytest.mark.data
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{w[0][:6]}-{w[1]}")
def test_reference_windows(tables, window):
    table, (overlap, removed) = tables[window], WINDOWS[window]
    assert len(table.rows) == 18
    assert 100 * table.mean_overlap_ratio == pytest.approx(overlap, abs=4)
    assert 100 * table.mean_removed_ratio == pytest.approx(removed, abs=4)


@pytest.mark.data
def test_reference_means(tables):
    assert 100 * np.mean([t.mean_overlap_ratio for t in tables.values()]) == pytest.approx(63, abs=2)
    assert 100 * np.mean([t.mean_removed_ratio for t in tables.values()]) == pytest.approx(54, abs=1)


@pytest.mark.data
def test_a_real_window_as_the_slow_twin_finds_it(data_dir):
    motion = kp.load(data_dir / "cmu120" / "49_06_cartwheel.bvh").at_fps(30)[48:99]
    features = compute_features(motion, "euler", BODY_PARTS)
    keys, fixed = find_curve_keys(features.values, RULES)
    for d, y in enumerate(features.values.T):
        if np.ptp(y) > 1e-6:
            twin_keys, twin_fixed, _ = naive.refine_curve(y.tolist(), **asdict(RULES))
            assert set(np.flatnonzero(keys[d])) == twin_keys
            assert set(np.flatnonzero(fixed[d])) == twin_fixed


@pytest.mark.data
def test_the_whole_body_has_a_key_nearly_everywhere(data_dir):
    """Some joint always rotates: a limit stated in the docstring."""
    motion = kp.load(data_dir / "cmu120" / "86_01_mixed-jumps-kicks-punches.bvh").at_fps(30)
    ladder = refine(compute_features(motion, "euler", "body"))
    assert ladder.natural is not None
    assert ladder.natural > 0.9 * motion.n_frames
