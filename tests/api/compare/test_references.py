"""The references of a comparison: they lose nothing if they may store everything."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.api.compare import references
from keypose.api.compare import references as columns_room
from keypose.api.compare.references import Columns, PerCurve, PrincipalPoses
from reference import naive_inbetween as twin
from support.errors import raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:80]


@pytest.fixture(scope="module")
def columns(motion: kp.Motion) -> Columns:
    return Columns.build(motion)


@pytest.fixture(scope="module")
def reduced_curves(columns: Columns) -> PerCurve:
    return PerCurve(columns)


@pytest.fixture(scope="module")
def principal(columns: Columns) -> PrincipalPoses:
    return PrincipalPoses(columns)


def test_columns_hold_changing_channels_only(motion, columns):
    assert columns.values.shape[1] + columns.n_still == 6 * motion.n_joints
    assert (np.ptp(columns.values, axis=0) > 0).all()
    assert kp.score(motion, columns.rebuild(columns.values)).max_mm < 1e-9


def test_a_rotation_is_weighted_by_its_reach(motion):
    reach = columns_room.compute_reaches_mm(motion)
    assert reach.argmax() == 0 or reach[0] > 500  # the hips are above all joints
    hand, arm = motion.joint("left_hand"), motion.joint("left_upper_arm")
    assert 30 <= reach[hand] < reach[arm] < 1000


def test_reaches_are_those_of_the_farthest_point_below(motion):
    skeleton, mm = motion.skeleton, motion.mm_per_unit
    rest, parents = skeleton.rest_positions, (*skeleton.parents.tolist(), *skeleton.end_joints.tolist())
    for joint in range(skeleton.n_joints):
        farthest = columns_room.MIN_REACH_MM
        for point in range(len(parents)):
            above = parents[point]
            while above not in (-1, joint):
                above = parents[above]
            if above == joint:
                farthest = max(farthest, mm * float(np.linalg.norm(rest[point] - rest[joint])))
        assert columns_room.compute_reaches_mm(motion)[joint] == pytest.approx(farthest)


def test_a_key_on_every_frame_reproduces_the_clip(motion, columns, reduced_curves):
    rebuilt, stored = reduced_curves.rebuild_within(10**9)
    assert kp.score(motion, rebuilt).max_mm < 1e-9
    assert stored == 4 * columns.values.size + columns.n_still


def test_keys_that_cost_nothing_are_removed():
    t = np.arange(40.0)
    path = references.remove_keys(0.01 * (t - 11) ** 3 - t)
    assert len(path.frames) == 38 and path.costs.max() < 1e-9 < path.flat
    assert sorted(path.frames.tolist()) == list(range(1, 39))


@pytest.mark.parametrize("gap", [2, 3, 4, 9])
def test_spans_are_fitted_like_those_of_poses(gap):
    curve = np.random.default_rng(gap).normal(size=20).cumsum()
    start, end = twin.fit_span_tangents(curve, 3, 3 + gap)
    left = [
        curve[t] - twin.hermite((t - 3) / gap, gap, curve[3], curve[3 + gap], start, end) for t in range(4, 3 + gap)
    ]
    assert references.span_error(curve, 3, 3 + gap) == pytest.approx(np.abs(left).max(), abs=1e-12)
    rebuilt = references.rebuild_curve(curve, np.array([0, 3, 3 + gap, 19]))
    np.testing.assert_allclose(curve[4 : 3 + gap] - rebuilt[4 : 3 + gap], left, atol=1e-12)


def slow_keys(curve: np.ndarray, tolerance: float) -> list[int]:
    """Return the keys of one curve at a tolerance, slowly: try all removals each time and do the cheapest."""
    keys = list(range(len(curve)))
    while len(keys) > 2:
        errors = []
        for k in range(1, len(keys) - 1):
            i, j = keys[k - 1], keys[k + 1]
            start, end = twin.fit_span_tangents(curve, i, j)
            drawn = [twin.hermite((t - i) / (j - i), j - i, curve[i], curve[j], start, end) for t in range(i + 1, j)]
            error = float(np.abs(curve[i + 1 : j] - drawn).max())
            errors.append(0.0 if error < 1e-12 else error)
        if min(errors) > tolerance:
            break
        del keys[1 + int(np.argmin(errors))]
    return keys


def test_reduction_agrees_with_the_reference():
    curve = np.random.default_rng(5).normal(size=25).cumsum()
    path = references.remove_keys(curve)
    for tolerance in (0.05, 0.3, 1.0):
        # both stop at the first removal that costs more than the tolerance
        count = int(np.searchsorted(np.maximum.accumulate(path.costs), tolerance, side="right"))
        keys = sorted(set(range(25)) - set(path.frames[:count].tolist()))
        assert keys == slow_keys(curve, tolerance)


@pytest.mark.parametrize("part", [0.9, 0.5, 0.2])
def test_stored_values_match_the_budget(motion, columns, reduced_curves, principal, part):
    whole = columns.values.size
    budget = round(part * whole)
    rebuilt, stored = reduced_curves.rebuild_within(budget)
    assert 0.98 * budget <= stored <= budget
    errors = kp.score(motion, rebuilt)
    assert errors.max_mm > 0
    more, _ = reduced_curves.rebuild_within(round(1.5 * budget))
    assert kp.score(motion, more).mean_mm < errors.mean_mm
    poses, used = principal.rebuild_within(budget)
    assert budget - sum(columns.values.shape) < used <= budget
    assert kp.score(motion, poses).max_mm > 0


def test_principal_poses_agree_with_the_reference(columns, principal):
    """Compare with the best sum of k poses, by the eigenvectors of the covariance, added one by one."""
    frames, width = columns.values.shape
    weighed = (columns.values - columns.values.mean(axis=0)) * columns.weights
    _, vectors = np.linalg.eigh(weighed.T @ weighed)
    rebuilt = np.zeros_like(weighed)
    for pose in vectors.T[::-1][:3]:
        for frame in range(frames):
            rebuilt[frame] += (weighed[frame] @ pose) * pose
    motion, stored = principal.rebuild_within(3 * (frames + width) + width + columns.n_still)
    assert stored == 3 * frames + 3 * width + width + columns.n_still
    expected = columns.rebuild(columns.values.mean(axis=0) + rebuilt / columns.weights)
    assert kp.score(expected, motion).max_mm < 1e-6


def test_curves_stay_within_the_tolerance(columns, reduced_curves):
    errors = columns.weights * np.abs(reduced_curves.rebuild_curves(5.0) - columns.values).max(axis=0)
    assert 4.5 < errors.max() <= 5.0 + 1e-9
    assert reduced_curves.count_values(5.0) < reduced_curves.count_values(4.0)


def test_with_a_number_for_each_curve_the_figure_stands_still(columns, reduced_curves, principal):
    smallest = columns.values.shape[1] + columns.n_still
    for rebuilt, stored in (reduced_curves.rebuild_within(smallest), principal.rebuild_within(smallest)):
        assert stored == smallest
        assert (rebuilt.rotations == rebuilt.rotations[0]).all() and (
            rebuilt.translations == rebuilt.translations[0]
        ).all()


def test_all_principal_poses_reproduce_the_clip(motion, columns, principal):
    frames, width = columns.values.shape
    rebuilt, stored = principal.rebuild_within(10**9)
    assert kp.score(motion, rebuilt).max_mm < 1e-6
    assert stored == min(frames, width) * (frames + width) + width + columns.n_still


def test_budgets_that_hold_nothing_are_refused(reduced_curves, principal):
    with raises(kp.OptionError, expected="at least 156: the mean pose"):
        principal.rebuild_within(50)
    with raises(kp.OptionError, expected="at least 156: one for each curve"):
        reduced_curves.rebuild_within(50)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_hardly_any_frames(motion, frames):
    few = motion[:frames]
    columns = Columns.build(few)
    for reference in (PerCurve(columns), PrincipalPoses(columns)):
        rebuilt, _ = reference.rebuild_within(10**9)
        assert kp.score(few, rebuilt).max_mm < 1e-6


def test_a_clip_that_stands_still(motion):
    pose = np.zeros(10, int)
    still = kp.concatenate([motion[:1]] * 10)
    columns = Columns.build(still)
    assert columns.values.shape == (len(pose), 0)
    for reference in (PerCurve(columns), PrincipalPoses(columns)):
        rebuilt, stored = reference.rebuild_within(10**6)
        assert kp.score(still, rebuilt).max_mm < 1e-9 and stored == columns.n_still
