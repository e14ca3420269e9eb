"""The reference figures of the method, on windows of real clips."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import keypose as kp
from keypose.features import compute_features
from keypose.methods.refine import refine
from keypose.methods.refine.curve import RefineOptions, find_curve_keys
from keypose.model import Features
from reference import naive

RULES = RefineOptions(threshold=0.13, min_range=0.25, straight_range=0.01, straight_frames=5, prominence=0.05, jump=0.5)
SIDED_PARTS = ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
BODY_PARTS = [
    *("Hips", "LowerBack", "Spine", "Spine1", "Neck", "Head"),
    *(f"{side}{part}" for side in ("Left", "Right") for part in SIDED_PARTS),
]  # 18
WINDOWS = (  # clip, first frame at 30 fps, frames
    ("135_07_kicking", 13, 51),
    ("135_07_kicking", 176, 62),
    ("86_01_mixed-jumps-kicks-punches", 227, 62),
    ("86_01_mixed-jumps-kicks-punches", 540, 48),
    ("49_06_cartwheel", 48, 51),
    ("02_07_sword", 461, 56),
)
# threshold: overlap %, removed %, and the largest error of a curve / A: its median and what 90 % do not exceed
REFERENCE = {
    0.0: (99.7, 41.3, 0.05, 0.13),
    0.06: (83.2, 43.6, 0.06, 0.13),
    0.13: (69.3, 47.6, 0.06, 0.13),
    0.2: (59.3, 51.8, 0.06, 0.14),
    0.3: (49.2, 57.1, 0.07, 0.16),
    0.5: (39.3, 63.5, 0.11, 0.22),
    0.8: (32.9, 68.0, 0.15, 0.35),
}


@pytest.fixture(scope="session")
def windows(data_dir):
    """The windows at 30 fps."""
    return [
        kp.load(data_dir / "cmu120" / f"{clip}.bvh").at_fps(30)[start : start + n_frames]
        for clip, start, n_frames in WINDOWS
    ]


@pytest.fixture(scope="session")
def tables(windows):
    """The tables of all windows by threshold."""
    return {
        threshold: [kp.refine_table(motion, joints=BODY_PARTS, threshold=threshold) for motion in windows]
        for threshold in REFERENCE
    }


@pytest.mark.data
@pytest.mark.parametrize("threshold", REFERENCE)
def test_reference_table(tables, threshold):
    own = tables[threshold]
    overlap, removed, median, p90 = REFERENCE[threshold]
    assert [len(table.rows) for table in own] == [18] * 6
    assert 100 * np.mean([table.mean_overlap_ratio for table in own]) == pytest.approx(overlap, abs=1)
    assert 100 * np.mean([table.mean_removed_ratio for table in own]) == pytest.approx(removed, abs=1)
    errors = np.concatenate([table.max_error_ratios for table in own])
    assert np.median(errors) == pytest.approx(median, abs=0.01)
    assert np.percentile(errors, 90) == pytest.approx(p90, abs=0.01)


@pytest.mark.data
def test_a_higher_threshold_never_leaves_more_keys_of_all_parts(tables):
    for window in range(len(WINDOWS)):
        sums = [sum(row.keys for row in tables[threshold][window].rows) for threshold in REFERENCE]
        assert sums == sorted(sums, reverse=True)
        assert sums[0] > 1.5 * sums[-1]


@pytest.mark.data
def test_a_single_part_may_gain_a_key(tables):
    """Stated in the documentation: the sum over the parts does not grow, the number of one part may."""
    counts = np.array([[[row.keys for row in table.rows] for table in tables[threshold]] for threshold in REFERENCE])
    gains = np.diff(counts, axis=0)
    assert 0 < (gains > 0).mean() < 0.1
    assert gains.max() <= 3


@pytest.mark.data
def test_errors_at_the_default_threshold(tables):
    errors = np.concatenate([table.max_error_ratios for table in tables[0.13]])
    assert np.median(errors) <= 0.07
    assert np.percentile(errors, 90) <= 0.15


@pytest.mark.data
def test_a_real_window_as_the_slow_twin_finds_it(windows):
    features = compute_features(windows[4], "euler", BODY_PARTS)
    keys, fixed = find_curve_keys(features.values, RULES)
    for d, y in enumerate(features.values.T):
        if np.ptp(y) > 1e-6:
            twin_keys, twin_fixed, _ = naive.refine_curve(y.tolist(), **asdict(RULES))
            assert set(np.flatnonzero(keys[d])) == twin_keys
            assert set(np.flatnonzero(fixed[d])) == twin_fixed


@pytest.mark.data
def test_windows_at_120_fps_have_the_keys_of_every_fourth_frame(data_dir):
    for clip, start, n_frames in WINDOWS:
        motion = kp.load(data_dir / "cmu120" / f"{clip}.bvh")[4 * start : 4 * (start + n_frames - 1) + 1]
        features = compute_features(motion, "euler", BODY_PARTS)
        assert features.fps == pytest.approx(120, rel=1e-3)
        every_fourth = Features(features.values[::4], 30, features.columns)
        for slow, fast in zip(kp.refine_table(every_fourth).rows, kp.refine_table(features).rows, strict=True):
            assert [4 * frame for frame in slow.key_frames] == list(fast.key_frames)
            assert slow[1:5] == fast[1:5]


@pytest.mark.data
def test_keys_per_joint_are_those_of_the_table(windows):
    motion = windows[0]
    keyed = kp.unbake(motion, per="joint", method="refine", threshold=0.13)
    rows = {row.joint: row for row in kp.refine_table(motion).rows}
    moving = [row for row in rows.values() if row.joint != "Hips" and any(row.max_error_ratios)]
    assert len(moving) > 15
    for row in moving:
        assert keyed.joint_keys(row.joint).tolist() == list(row.key_frames), row.joint


@pytest.mark.data
def test_the_whole_body_has_a_key_nearly_everywhere(data_dir):
    """Some joint always rotates: a limit stated in the docstring."""
    motion = kp.load(data_dir / "cmu120" / "86_01_mixed-jumps-kicks-punches.bvh").at_fps(30)
    ladder = refine(compute_features(motion, "euler", "body"))
    assert ladder.natural is not None
    assert ladder.natural > 0.9 * motion.n_frames
