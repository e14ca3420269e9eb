"""The rivals of the benchmark of unbaking: honest ones, that lose nothing when they may store everything."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
import naive_inbetween as twin

sys.path.append(str(Path(__file__).parents[1]))  # benchmarks/ lies beside the package
from benchmarks.unbake import rivals


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:80]


@pytest.fixture(scope="module")
def columns(motion: kp.Motion) -> rivals.Columns:
    return rivals.Columns.of(motion)


@pytest.fixture(scope="module")
def reductions(columns: rivals.Columns) -> rivals.Reductions:
    return rivals.Reductions(columns)


def test_columns_hold_what_moves(motion, columns):
    assert columns.values.shape[1] + columns.still == 6 * motion.n_joints
    assert (np.ptp(columns.values, axis=0) > 0).all()
    assert kp.score(motion, columns.rebuilt(columns.values)).max_mm < 1e-9


def test_a_turn_weighs_by_what_it_moves(motion, columns):
    reach = motion.mm_per_unit * rivals.reaches(motion)
    assert reach.argmax() == 0 or reach[0] > 500  # the hips carry all
    hand, arm = motion.joint("left_hand"), motion.joint("left_upper_arm")
    assert 30 <= reach[hand] < reach[arm] < 1000


def test_a_key_on_every_frame_reproduces_the_clip(motion, columns, reductions):
    rebuilt, stored = reductions.within(10**9)
    assert kp.score(motion, rebuilt).max_mm < 1e-9
    assert stored == 4 * columns.values.size + columns.still


def test_keys_that_cost_nothing_are_not_kept():
    t = np.arange(40.0)
    path = rivals.removals(0.01 * (t - 11) ** 3 - t)
    assert len(path.frames) == 38 and path.costs.max() < 1e-9 < path.flat
    assert sorted(path.frames.tolist()) == list(range(1, 39))


@pytest.mark.parametrize("gap", [2, 3, 4, 9])
def test_spans_are_fitted_like_those_of_poses(gap):
    curve = np.random.default_rng(gap).normal(size=20).cumsum()
    start, end = twin.span_slopes(curve, 3, 3 + gap)
    left = [
        curve[t] - twin.hermite((t - 3) / gap, gap, curve[3], curve[3 + gap], start, end) for t in range(4, 3 + gap)
    ]
    assert rivals.span_error(curve, 3, 3 + gap) == pytest.approx(np.abs(left).max(), abs=1e-12)
    rebuilt = rivals.rebuilt_curve(curve, np.array([0, 3, 3 + gap, 19]))
    np.testing.assert_allclose(curve[4 : 3 + gap] - rebuilt[4 : 3 + gap], left, atol=1e-12)


def test_removal_takes_the_cheapest_key_first():
    curve = np.random.default_rng(5).normal(size=25).cumsum()
    path = rivals.removals(curve)
    keys = list(range(25))
    for frame, cost in zip(path.frames.tolist(), path.costs.tolist(), strict=True):
        costs = [rivals.span_error(curve, keys[k - 1], keys[k + 1]) for k in range(1, len(keys) - 1)]
        assert cost == pytest.approx(min(costs), abs=1e-12)
        keys.remove(frame)
    assert keys == [0, 24]


@pytest.mark.parametrize("part", [0.9, 0.5, 0.2])
def test_stored_values_match_the_budget(motion, columns, reductions, part):
    whole = columns.values.size
    budget = round(part * whole)
    rebuilt, stored = reductions.within(budget)
    assert 0.98 * budget <= stored <= budget
    errors = kp.score(motion, rebuilt)
    assert errors.max_mm > 0
    more, _ = reductions.within(round(1.5 * budget))
    assert kp.score(motion, more).mean_mm < errors.mean_mm
    principal, used = rivals.pca(columns, budget)
    assert budget - sum(columns.values.shape) < used <= budget
    assert kp.score(motion, principal).max_mm > 0


def test_curves_stay_within_the_tolerance_that_was_found(columns, reductions):
    errors = columns.weights * np.abs(reductions.curves_at(5.0) - columns.values).max(axis=0)
    assert 4.5 < errors.max() <= 5.0 + 1e-9
    assert reductions.stored(5.0) < reductions.stored(4.0)


def test_with_a_number_for_each_curve_the_figure_stands_still(columns, reductions):
    least = columns.values.shape[1] + columns.still
    for rebuilt, stored in (reductions.within(least), rivals.pca(columns, least)):
        assert stored == least
        assert (rebuilt.rotations == rebuilt.rotations[0]).all() and (
            rebuilt.translations == rebuilt.translations[0]
        ).all()


def test_all_principal_poses_reproduce_the_clip(motion, columns):
    frames, width = columns.values.shape
    rebuilt, stored = rivals.pca(columns, 10**9)
    assert kp.score(motion, rebuilt).max_mm < 1e-6
    assert stored == min(frames, width) * (frames + width) + width + columns.still


def test_budgets_that_hold_nothing_are_refused(columns, reductions):
    with pytest.raises(ValueError, match="the mean pose"):
        rivals.pca(columns, 50)
    with pytest.raises(ValueError, match="one for each curve"):
        reductions.within(50)
