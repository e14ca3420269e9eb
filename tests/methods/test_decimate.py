"""Frame decimation against its slow twin and the papers."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.features import compute_features
from keypose.methods.decimate import METHOD, decimate
from keypose.model import Features
from reference import naive
from support.errors import raises
from support.point_cases import CASES, make_points


def interpolation_error(values: np.ndarray, keys: np.ndarray) -> float:
    """Return the summed distance of all frames to linear interpolation between the keys."""
    frames = np.arange(len(values))
    between = np.column_stack([np.interp(frames, keys, column[keys]) for column in values.T])
    return float(np.linalg.norm(values - between, axis=1).sum())


@pytest.fixture(scope="module")
def demo() -> Features:
    return compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)


@pytest.mark.parametrize("error", ["distance", "squared"])
@pytest.mark.parametrize("case", CASES)
def test_slow_twin(case, error):
    rng = np.random.default_rng(CASES.index(case))
    for _ in range(6):
        values = make_points(case, rng, 26)
        ladder = decimate(Features(values, 30.0), error=error)
        order, costs = naive.decimate(values, error == "squared")
        assert ladder.counts.tolist() == list(range(2, len(values) + 1))
        assert ladder.frames.tolist() == order
        np.testing.assert_allclose(ladder.cost_values, costs, rtol=1e-7, atol=1e-7 * costs[0])


def test_cost_is_the_error_of_linear_interpolation(demo):
    ladder = decimate(demo)
    for keys in (2, 5, 20, 60, demo.n_frames):
        expected = interpolation_error(demo.values, ladder.at(keys).frames)
        assert ladder.costs[keys] == pytest.approx(expected, rel=1e-9, abs=1e-9 * ladder.costs[2])


def test_every_removal_is_the_cheapest_one(demo):
    """Along the demo motion: no other key's merged span has a smaller summed error."""
    clip = demo[:60]
    ladder = decimate(clip)
    for selection in ladder:
        keys = selection.frames
        if len(keys) == 2:
            continue
        removed = selection.order[-1]
        merged = {
            int(b): interpolation_error(clip.values[a : c + 1], np.array([0, c - a]))
            for a, b, c in zip(keys, keys[1:-1], keys[2:], strict=False)
        }
        assert merged[removed] <= min(merged.values()) * (1 + 1e-9)


def test_corners_are_left_over():
    corners = np.array([[0.0, 0.0], [3.0, 10.0], [9.0, -4.0], [20.0, 2.0]])
    at = np.array([0, 30, 45, 100])
    values = np.column_stack([np.interp(np.arange(101), at, corners[:, d]) for d in range(2)])
    for error in ("distance", "squared"):
        ladder = decimate(Features(values, 30.0), error=error)
        assert set(ladder.at(4)) == {0, 30, 45, 100}
        assert ladder.costs[3] > 1.0 and ladder.costs[4] < 1e-9


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_what_lies_on_a_line_is_thinned_evenly(offset):
    """Rounding must not decide, and a held pose must not become one growing span, which would take n^2 steps."""
    line = offset + np.outer(np.arange(65) / 7.0, [1.0, -3.0, 0.1])
    for values in (line, np.full((65, 3), offset)):
        ladder = decimate(Features(values, 30.0))
        assert not ladder.cost_values.any()
        assert np.diff(ladder.at(33).frames).max() <= 2
        assert np.diff(ladder.at(17).frames).max() <= 4


def test_options(demo):
    all_joints, some = decimate(demo), decimate(demo, 7)
    assert some.counts.tolist() == [2, 3, 4, 5, 6, 7]
    assert some.frames.tolist() == all_joints.frames[:7].tolist()
    assert some.cost_values.tolist() == all_joints.cost_values[:6].tolist()
    assert decimate(demo, error="squared").frames.tolist() != all_joints.frames.tolist()
    for wrong in (0, -3, 2.5, "7"):
        with raises(kp.OptionError, option="max_keys"):
            decimate(demo, wrong)
    for wrong in ("squares", "", None, ["distance"]):
        with raises(kp.OptionError, option="error"):
            decimate(demo, error=wrong)


@pytest.mark.data
def test_real_clips_are_nearer_than_with_uniform_keys(data_dir):
    """The summed error of linear interpolation at two numbers of keys, where rest and action alternate."""
    for name in ("49_02_jump-hop", "135_07_kicking", "86_01_mixed-jumps-kicks-punches"):
        motion = kp.load(data_dir / f"cmu120/{name}.bvh")
        features = compute_features(motion, METHOD.feature_kind, METHOD.joints)
        ladder = decimate(features)
        for keys in (motion.n_frames // 10, motion.n_frames // 20):
            uniform = np.arange(keys) * (motion.n_frames - 1) // (keys - 1)
            assert ladder.costs[keys] < 0.9 * interpolation_error(features.values, uniform)
