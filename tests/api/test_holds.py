"""Holds: spans in which nothing moves get keys at their first and last frame, so that curves stay still in them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.api.method_input import HOLD_SLACK
from keypose.clip_edit import SelectionSpec, compute_ladder_view, select_keys
from keypose.extremes import MAX_HOLD_GAP_S, MAX_HOLD_MM_PER_S, MIN_HOLD_S, find_holds
from reference.naive_selection import naive_holds

HOLD_FRAMES = 60  # two seconds
SMOOTH_DRIFT_MM = 3.0  # smooth curves of few keys come to rest after the first frame of a hold


def hold(motion: kp.Motion, frame: int) -> kp.Motion:
    """Return the motion with a frame repeated for two seconds."""
    order = [*range(frame), *[frame] * HOLD_FRAMES, *range(frame + 1, motion.n_frames)]
    return replace(motion, rotations=motion.rotations[order], translations=motion.translations[order])


@pytest.fixture(scope="module")
def walk() -> kp.Motion:
    return kp.demo_motion(fps=30)[:150]


@pytest.fixture(scope="module")
def end_hold(walk: kp.Motion) -> kp.Motion:
    return hold(walk, 149)


@pytest.fixture(scope="module")
def middle_hold(walk: kp.Motion) -> kp.Motion:
    return hold(walk, 75)


def drift_mm(motion: kp.Motion, keyed: kp.KeyedMotion, first: int) -> float:
    """Return how far a joint of the curves moves in the hold from ``first`` on."""
    held = keyed.sample(residual=0.0).world_positions()[first : first + HOLD_FRAMES]
    return float(np.linalg.norm(held - held[0], axis=-1).max() * motion.mm_per_unit)


def optimum(motion: kp.Motion, keys: int) -> kp.Selection:
    return kp.select(motion, "salient", cost="inbetween", keys=keys)


@pytest.mark.parametrize("keys", [8, 12, 16])
def test_a_hold_at_the_end_is_still(end_hold: kp.Motion, keys: int) -> None:
    keyed = kp.unbake(end_hold, keys=keys)
    assert keyed.n_keys == keys and 149 in keyed.keys
    assert drift_mm(end_hold, keyed, 149) < SMOOTH_DRIFT_MM
    assert drift_mm(end_hold, kp.unbake(end_hold, keys=keys, smooth=False), 149) < 0.1


@pytest.mark.parametrize("keys", [10, 16])
def test_a_hold_between_movements_is_still(middle_hold: kp.Motion, keys: int) -> None:
    keyed = kp.unbake(middle_hold, keys=keys)
    assert keyed.n_keys == keys and {75, 134} <= set(keyed.keys.tolist())
    assert drift_mm(middle_hold, keyed, 75) < SMOOTH_DRIFT_MM
    assert drift_mm(middle_hold, kp.unbake(middle_hold, keys=keys, smooth=False), 75) < 0.1


def test_the_smallest_error_alone_leaves_drift(end_hold: kp.Motion, middle_hold: kp.Motion) -> None:
    assert drift_mm(end_hold, kp.unbake(end_hold, optimum(end_hold, 8)), 149) > 20
    assert drift_mm(middle_hold, kp.unbake(middle_hold, optimum(middle_hold, 10)), 75) > 20


def test_auto_and_tolerance_keep_holds_still(end_hold: kp.Motion) -> None:
    assert drift_mm(end_hold, kp.unbake(end_hold), 149) < 1
    assert drift_mm(end_hold, kp.unbake(end_hold, tolerance_mm=5), 149) < 1


def test_without_holds_keys_are_those_with_the_smallest_error(walk: kp.Motion) -> None:
    assert not find_holds(walk)
    for keys in (6, 15):
        assert kp.unbake(walk, keys=keys).keys.tolist() == optimum(walk, keys).frames.tolist()


@pytest.mark.parametrize("keys", range(3, 17))
def test_holds_cost_at_most_the_slack(middle_hold: kp.Motion, keys: int) -> None:
    """Keys are at the hold exactly where the optimum with these pins costs no more than the slack allows."""
    free = kp.ladder(middle_hold, "salient", cost="inbetween", max_keys=keys, max_gap_frames=209)
    expected = free.at(keys).frames
    if keys >= 4:
        pinned = kp.ladder(middle_hold, "salient", cost="inbetween", max_keys=keys, max_gap_frames=209, pins=(75, 134))
        if pinned.costs[keys] <= HOLD_SLACK * free.costs[keys]:
            expected = pinned.at(keys).frames
    assert kp.unbake(middle_hold, keys=keys, max_gap_frames=209).keys.tolist() == expected.tolist()


def test_the_longest_holds_come_first(walk: kp.Motion) -> None:
    """With too few keys for all holds, the longer half of them have keys."""
    order = [*range(30), *[30] * 20, *range(30, 90), *[90] * 90, *range(90, 150)]
    motion = replace(walk, rotations=walk.rotations[order], translations=walk.translations[order])
    (first, last), (long_first, long_last) = find_holds(motion)
    with_long = [
        set(keyed.keys.tolist()) >= {long_first, long_last}
        for keyed in (kp.unbake(motion, keys=keys) for keys in range(4, 20))
    ]
    with_both = [
        set(keyed.keys.tolist()) >= {first, last, long_first, long_last}
        for keyed in (kp.unbake(motion, keys=keys) for keys in range(4, 20))
    ]
    assert with_both[-1] and any(long and not both for long, both in zip(with_long, with_both, strict=True))


def test_pins_and_excluded_frames_come_before_holds(end_hold: kp.Motion) -> None:
    assert 40 in kp.unbake(end_hold, keys=12, pins=(40,)).keys
    keyed = kp.unbake(end_hold, keys=12, pins=(40,))
    assert {40, 149} <= set(keyed.keys.tolist())
    excluded = kp.unbake(end_hold, keys=12, excluded=(149,))
    assert 149 not in excluded.keys and excluded.n_keys == 12
    apart = kp.unbake(end_hold, keys=6, min_gap_frames=30)
    assert apart.n_keys == 6 and np.diff(apart.keys).min() >= 30


def test_keys_at_extremes_leave_holds_still(middle_hold: kp.Motion) -> None:
    keyed = kp.unbake(middle_hold, keys=14, extremes_first=True)
    assert {75, 134} <= set(keyed.keys.tolist())
    assert drift_mm(middle_hold, keyed, 75) < SMOOTH_DRIFT_MM


def test_a_clip_that_never_moves_is_one_hold(walk: kp.Motion) -> None:
    still = hold(walk[:1], 0)
    assert find_holds(still) == ((0, HOLD_FRAMES - 1),)
    assert kp.unbake(still, keys=2).keys.tolist() == [0, HOLD_FRAMES - 1]


def test_the_ladder_of_a_clip_has_keys_at_holds(end_hold: kp.Motion) -> None:
    spec = SelectionSpec(max_keys=16)
    view = compute_ladder_view(end_hold, spec)
    for keys in (8, 12, 16):
        assert 149 in view.ladder.at(keys).frames and len(view.ladder.at(keys)) == keys
    free = kp.ladder(end_hold, "salient", max_keys=16, **view.options)
    assert view.ladder.counts.tolist() == free.counts.tolist()
    assert (view.ladder.cost_values <= HOLD_SLACK * free.cost_values).all()
    assert 149 in select_keys(end_hold, SelectionSpec(first_frame=100), 6).frames


@pytest.mark.parametrize("seed", range(20))
def test_holds_match_the_slow_search(seed: int) -> None:
    """Motion that stops and goes on, at random speeds around the limits."""
    random = np.random.default_rng(seed)
    motion = kp.demo_motion(fps=30)
    steps = itertools.chain.from_iterable(
        [[speed] * int(n) for speed, n in zip(random.choice([0, 1], 30), random.integers(1, 25, 30), strict=True)]
    )
    order = np.minimum(np.cumsum(list(steps)), motion.n_frames - 1)
    stopping = replace(motion, rotations=motion.rotations[order], translations=motion.translations[order])
    expected = naive_holds(stopping, MAX_HOLD_MM_PER_S, MIN_HOLD_S, MAX_HOLD_GAP_S)
    assert expected and find_holds(stopping) == tuple(expected)


def test_a_figure_without_height_has_no_holds() -> None:
    point = kp.Skeleton(("Point",), [-1], [[0, 0, 0]])
    still = kp.Motion("point", point, 30.0, np.zeros((90, 1, 3)), np.tile([1.0, 0, 0, 0], (90, 1, 1)))
    assert still.height == 0 and not find_holds(still)
    assert kp.unbake(still, keys=3).n_keys == 3
