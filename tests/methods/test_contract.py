"""The contract of all methods."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Features
from support.errors import Pattern, raises

FROM_THE_ENDS = [
    name for name in METHODS if name not in ("farthest", "spread")
]  # the first and the last frame are keys


def random_walk(frames: int = 90, columns: int = 6, seed: int = 0) -> Features:
    return Features(np.cumsum(np.random.default_rng(seed).normal(size=(frames, columns)), axis=0), fps=30.0)


def check(ladder: kp.Ladder, n_frames: int) -> None:
    assert ladder.n_frames == n_frames and ladder.counts[-1] <= n_frames
    for selection in ladder:
        frames = selection.frames
        assert frames[0] >= 0 and frames[-1] < n_frames and (np.diff(frames) > 0).all()
        assert selection.order is None or sorted(selection.order) == frames.tolist()
    assert np.isfinite(ladder.cost_values).all() and (ladder.cost_values >= 0).all()


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def test_increasing_frames_in_range_for_every_number_of_keys(method):
    ladder = method.ladder(random_walk(), 40)
    check(ladder, 90)
    assert ladder.counts.tolist() == list(range(ladder.counts[0], 41)) and ladder.counts[0] <= 2
    if method.name in FROM_THE_ENDS:
        assert all(selection.frames[0] == 0 and selection.frames[-1] == 89 for selection in ladder)


def test_the_same_result_twice_and_the_input_unchanged(method):
    features = random_walk(seed=3)
    before = features.values.copy()
    first, second = method.ladder(features, 30), method.ladder(features, 30)
    np.testing.assert_array_equal(first.frames, second.frames)
    np.testing.assert_array_equal(first.cost_values, second.cost_values)
    np.testing.assert_array_equal(features.values, before)


def test_smaller_max_keys_gives_the_same_keys(method):
    """The selection of n keys does not depend on max_keys."""
    features = random_walk(seed=4)
    long, short = method.ladder(features, 30), method.ladder(features, 11)
    for count in short.counts.tolist():
        np.testing.assert_array_equal(short.at(count).frames, long.at(count).frames)
        assert short.costs[count] == pytest.approx(long.costs[count])


def test_nested_methods_keep_the_keys_they_have(method):
    ladder = method.ladder(random_walk(seed=5), 30)
    if ladder.is_nested:
        for count in range(ladder.counts[0], 30):
            assert set(ladder.at(count)) < set(ladder.at(count + 1))
            np.testing.assert_array_equal(ladder.at(count + 1).order[:-1], ladder.at(count).order)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_clips(method, frames):
    ladder = method.ladder(random_walk(frames))
    check(ladder, frames)
    assert ladder.counts[-1] == frames
    assert ladder.at(frames).frames.tolist() == list(range(frames))


@pytest.mark.parametrize("value", [0.0, 1.0, -12345.678, 1e9])
def test_constant_motion(method, value):
    check(method.ladder(Features(np.full((50, 4), value), 30.0), 20), 50)


def test_columns_of_zero_weight_do_not_matter(method):
    """A column of zeros beside others changes nothing; all zeros are a constant motion."""
    features = random_walk(seed=6)
    beside = Features(np.column_stack((features.values, np.zeros((90, 2)))), 30.0)
    np.testing.assert_array_equal(method.ladder(beside, 20).frames, method.ladder(features, 20).frames)


def test_more_keys_than_frames(method):
    ladder = method.ladder(random_walk(25), 1000)
    check(ladder, 25)
    assert ladder.counts[-1] == 25
    with raises(OptionError, value=26, expected=Pattern("^[12] to 25$")):
        ladder.at(26)


def test_frames_that_repeat(method):
    check(method.ladder(Features(np.repeat(random_walk(20).values, 3, axis=0), 30.0)), 60)


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "many"])
def test_invalid_max_keys(method, wrong):
    with raises(OptionError, option="max_keys"):
        method.ladder(random_walk(), wrong)


def test_one_key_where_the_method_has_at_least_two(method):
    if method.name == "farthest":
        assert method.ladder(random_walk(), 1).counts.tolist() == [1]
    else:
        with raises(OptionError, option="max_keys", value=1):
            method.ladder(random_walk(), 1)


def test_numbers_whose_squares_underflow_are_rejected(method):
    tiny = random_walk().values * 1e-162
    with raises(kp.ModelError, subject="features", expected="numbers whose squares do not vanish"):
        kp.ladder(tiny, method.name, fps=30)
    small = kp.ladder(random_walk().values * 1e-90, method.name, fps=30, max_keys=9)
    np.testing.assert_array_equal(small.frames, method.ladder(random_walk(), 9).frames)


ODD = [np.array([1, 2]), [1], {}, None, 1j, object(), "x", 10**400, float("nan"), float("inf"), True]


def test_odd_values_of_options_end_in_our_errors(method):
    values = random_walk(40).values
    for option in (*method.options, "max_keys", "smoothing_s", "fps", "features", "joints", "weights", "frames"):
        for odd in ODD:
            with contextlib.suppress(kp.KeyposeError):  # anything else fails the test, warnings too
                kp.ladder(values, method.name, **{"fps": 30, option: odd})


def test_memory_is_bounded_by_the_budget_on_long_takes(method):
    long = Features(np.cumsum(np.random.default_rng(0).normal(size=(60_000, 1)), axis=0), 120.0)
    options = {"max_gap_frames": 400} if method.name == "salient" else {}
    if method.name == "spread":
        return  # rejected: see its own tests
    assert method.ladder(long, 160, **options).counts[-1] == 160
    if method.name == "uniform":
        with raises(OptionError, option="max_keys", value=60000):
            method.ladder(long, 60_000)


def test_options_have_help(method):
    assert set(method.options) == set(method.options_help) and method.summary and method.paper
    assert all(len(text) < 120 and not text.endswith(".") for text in method.options_help.values())


def test_unknown_option_lists_the_options(method):
    with raises(OptionError, code="unknown_option", value="thresold") as info:
        kp.ladder(random_walk().values, method.name, thresold=3)
    known = info.value.hint.split("known: ")[1].split(", ")
    assert set(known) >= {*method.options, "max_keys"}


def test_on_a_motion_with_weights_of_zero(method):
    motion = kp.demo_motion(fps=30)[:120]
    check(kp.ladder(motion, method.name, max_keys=12, joints="all", weights={"hands": 0}), 120)
    check(kp.ladder(motion, method.name, max_keys=12, joints="all", weights={"all": 0}), 120)


def test_any_frame_rate(method):
    for fps in (0.5, 1.0, 24.0, 500.0):
        check(method.ladder(Features(random_walk(70).values, fps), 20), 70)
