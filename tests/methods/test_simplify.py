"""Whole-pose curve simplification against its slow twin and against Lim & Thalmann's recursion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import keypose as kp
from keypose.features import compute_features
from keypose.methods.simplify import METHOD, simplify
from keypose.model import Features
from reference import naive
from support.errors import raises
from support.point_cases import CASES, make_points


def tolerance_keys(values: np.ndarray, tolerance: float, first: int, last: int) -> set[int]:
    """The recursion of the paper: split while the frames exceed the tolerance."""
    off = values[first + 1 : last] - values[first]
    along = values[last] - values[first]
    length = np.linalg.norm(along)
    if length > 0:
        off = off - np.outer(off @ along, along) / length**2
    distances = np.linalg.norm(off, axis=1)
    if not len(distances) or distances.max() <= tolerance:
        return {first, last}
    split = first + 1 + int(distances.argmax())
    return tolerance_keys(values, tolerance, first, split) | tolerance_keys(values, tolerance, split, last)


@pytest.fixture(scope="module")
def demo() -> Features:
    return compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)


@pytest.mark.parametrize("case", CASES)
def test_slow_twin(case):
    rng = np.random.default_rng(CASES.index(case))
    for _ in range(12):
        values = make_points(case, rng, 40)
        ladder = simplify(Features(values, 30.0))
        order, costs = naive.simplify(values)
        assert ladder.counts.tolist() == list(range(2, len(values) + 1))
        assert ladder.frames.tolist() == order
        np.testing.assert_allclose(ladder.cost_values, costs, rtol=1e-9, atol=naive.rounding_error(values))


def test_a_tolerance_splits_the_same_segments_as_the_paper_does(demo):
    ladder = simplify(demo)
    values = demo.values
    for part in (0.3, 0.1, 0.03, 0.01):
        tolerance = part * ladder.costs[2]
        keys = next(n for n in ladder.costs if ladder.costs[n] <= tolerance)
        assert keys > 2
        assert set(ladder.at(keys)) == tolerance_keys(values, tolerance, 0, len(values) - 1)


def test_corners_come_first():
    corners = np.array([[0.0, 0.0], [3.0, 10.0], [9.0, -4.0], [20.0, 2.0]])
    at = np.array([0, 30, 45, 100])
    values = np.column_stack([np.interp(np.arange(101), at, corners[:, d]) for d in range(2)])
    ladder = simplify(Features(values, 30.0))
    assert set(ladder.at(4)) == {0, 30, 45, 100}
    assert ladder.costs[3] > 1.0 and ladder.costs[4] == 0.0
    assert ladder.costs[101] == 0.0 and len(ladder.at(101)) == 101


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_what_lies_on_a_line_is_split_in_its_middle(offset):
    """Rounding must not decide: the longest segment is halved, the first of ties."""
    line = offset + np.outer(np.arange(9) / 7.0, [1.0, -3.0, 0.1])
    for values in (line, np.full((9, 3), offset)):
        ladder = simplify(Features(values, 30.0))
        assert ladder.frames.tolist() == [0, 8, 4, 2, 6, 1, 3, 5, 7]
        assert not ladder.cost_values.any()


def test_equal_distances_take_the_lowest_frame():
    up = [[0.0, 0.0], [3.0, 2.0], [3.0, 4.0], [0.0, 6.0], [0.0, 8.0]]
    values = np.array(up + up[-2::-1])
    assert simplify(Features(values, 30.0)).frames.tolist()[:5] == [0, 8, 4, 1, 6]


def test_one_more_key_can_cost_more():
    values = np.array([[0.0, 0.0], [4.0, 0.9], [0.0, 1.0], [0.1, 0.0]])
    costs = simplify(Features(values, 30.0)).costs
    assert costs[2] == pytest.approx(1.0) and costs[3] > 3.0 and costs[4] == 0.0


def test_budget(demo):
    ladder, some = simplify(demo), simplify(demo, 7)
    assert some.counts.tolist() == [2, 3, 4, 5, 6, 7]
    assert some.frames.tolist() == ladder.frames[:7].tolist()
    assert some.cost_values.tolist() == ladder.cost_values[:6].tolist()
    for wrong in (0, -3, 2.5, "7"):
        with raises(kp.OptionError, option="max_keys"):
            simplify(demo, wrong)


@pytest.mark.data
def test_real_clips_are_better_off_than_with_uniform_keys(data_dir):
    """The largest remaining chord distance at a tenth of the frames, where rest and action alternate."""
    for name in ("49_02_jump-hop", "135_07_kicking", "86_01_mixed-jumps-kicks-punches"):
        motion = kp.load(data_dir / f"cmu120/{name}.bvh")
        values = compute_features(motion, METHOD.feature_kind, METHOD.joints).values
        keys = motion.n_frames // 10
        uniform = np.arange(keys) * (motion.n_frames - 1) // (keys - 1)
        worst = max(_off(values, a, b) for a, b in itertools.pairwise(uniform))
        assert simplify(Features(values, motion.fps)).costs[keys] < 0.4 * worst


def _off(values: np.ndarray, first: int, last: int) -> float:
    along = (values[last] - values[first]) / np.linalg.norm(values[last] - values[first])
    off = values[first + 1 : last] - values[first]
    return float(np.linalg.norm(off - np.outer(off @ along, along), axis=1).max())
