"""Curve saliency against its slow twin, the reference figures, and on unusual data."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features
from keypose.methods.saliency import METHOD, saliency, saliency_counts
from keypose.model import Column, Features
from reference import naive
from support.errors import raises

CLIPS = ("02_07", "07_05", "09_01", "131_04", "135_07", "38_03", "49_02", "49_06", "86_01")


@pytest.fixture(scope="module")
def clip(data_dir):
    loaded = {}

    def of(name):
        if name not in loaded:
            loaded[name] = kp.load(next((data_dir / "cmu120").glob(f"{name}*.bvh")))
        return loaded[name]

    return of


def joint_features(values, fps=120.0):
    return Features(values, fps, tuple(Column("hip", f"axis {d}") for d in range(values.shape[1])))


def hold_ends(values, rng):
    """Return the values with many frames that repeat the one before."""
    for t in range(1, len(values)):
        values[t] = np.where(rng.random(values.shape[1]) < 0.4, values[t - 1], values[t])
    return values


def mean_error(features, frames):
    """Return the mean absolute error of the curves after linear interpolation between the keys."""
    t = np.arange(features.n_frames)
    return np.mean([np.abs(np.interp(t, frames, curve[frames]) - curve).mean() for curve in features.values.T])


def evenly(n_frames, keys):
    return np.arange(keys) * (n_frames - 1) // (keys - 1)


# Against the slow twin


@pytest.mark.parametrize("seed", range(40))
def test_the_same_as_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(3, 160)), int(rng.integers(1, 5))
    values = rng.normal(size=(n, width)).cumsum(axis=0)
    if seed % 2:
        values = hold_ends(values, rng)  # many flat tops
    sigma, cut = float(rng.choice([1.0, 1.75, 3.5, 7.0])), float(rng.choice([1.5, 2.0, 3.0]))
    rank, extremes = ("joint", "body")[seed % 4 // 2], ("flat", "strict")[seed % 8 // 4]
    gap = int(rng.integers(1, 15))
    options = {"sigma_s": sigma / 120, "cut_sigmas": cut, "min_gap_s": gap / 120, "rank": rank, "extremes": extremes}

    per_curve, accepted, order = naive.saliency_keys(values, sigma, cut, gap, rank, extremes)
    ladder = saliency(Features(values, 120.0), **options)
    assert ladder.natural == len(accepted)
    assert ladder.at(ladder.natural).order.tolist() == accepted
    assert ladder.at(n).order.tolist() == order
    assert saliency_counts(Features(values, 120.0), **options) == (
        tuple(len(result) + 2 for result in per_curve),
        len(set().union(*per_curve)) + 2,
        len(accepted),
    )


# The reference figures


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "x", "y", "z", "union", "final"),
    [
        ("02_07", 7, 17, 20, 40, 31),
        ("49_02", 20, 16, 26, 52, 31),
        ("135_07", 15, 18, 13, 41, 25),
        ("07_05", 9, 11, 15, 28, 19),
    ],
)
@pytest.mark.parametrize("extremes", ["flat", "strict"])
def test_reference_counts_of_the_left_upper_leg(clip, name, x, y, z, union, final, extremes):
    """First and last frame count on every axis, in the union and in the final number."""
    features = compute_features(clip(name), "euler", ["LeftUpLeg"])[:800]
    counts = saliency_counts(features, extremes=extremes)
    by_axis = {column.channel: count for column, count in zip(features.columns, counts.per_column, strict=True)}
    assert by_axis == {"Xrotation": x, "Yrotation": y, "Zrotation": z}
    assert (counts.union, counts.final) == (union, final)
    assert saliency(features, extremes=extremes).natural == final


@pytest.mark.data
def test_whole_body_keys_per_800_frames(clip):
    """ref: about 28 to 34."""
    for name in CLIPS:
        features = compute_features(clip(name), METHOD.feature_kind, METHOD.joints)[:800]
        if features.n_frames > 500:
            assert 27 <= saliency_counts(features).final * 800 / features.n_frames <= 36, name


@pytest.mark.data
def test_whole_body_keys_beat_uniform_ones_on_every_clip(clip):
    for name in CLIPS:
        features = compute_features(clip(name), METHOD.feature_kind, METHOD.joints)
        ladder = saliency(features)
        ours = mean_error(features, ladder.at(ladder.natural).frames)
        assert ours < 0.96 * mean_error(features, evenly(features.n_frames, ladder.natural)), name


@pytest.mark.data
def test_keys_of_one_joint_beat_uniform_ones_over_the_clips(clip):
    """Not on each clip: with the sword, where the leg hardly moves, uniform keys are better."""
    ratios = []
    for name in CLIPS:
        features = compute_features(clip(name), "euler", ["LeftUpLeg"])[:800]
        ladder = saliency(features)
        uniform = mean_error(features, evenly(features.n_frames, ladder.natural))
        ratios.append(mean_error(features, ladder.at(ladder.natural).frames) / uniform)
    assert np.mean(ratios) < 0.92
    assert sum(ratio < 1 for ratio in ratios) >= 7


@pytest.mark.data
def test_twice_the_keys_are_still_as_good_as_uniform_ones(clip):
    ratios = []
    for name in CLIPS:
        features = compute_features(clip(name), METHOD.feature_kind, METHOD.joints)
        ladder = saliency(features)
        keys = 2 * ladder.natural
        uniform = mean_error(features, evenly(features.n_frames, keys))
        ratios.append(mean_error(features, ladder.at(keys).frames) / uniform)
    assert np.mean(ratios) < 1.0


@pytest.mark.data
def test_half_the_keys_are_worse_than_uniform_ones(clip):
    """A limit that the documentation names: the most important keys crowd where there is most movement."""
    ratios = []
    for name in CLIPS:
        features = compute_features(clip(name), METHOD.feature_kind, METHOD.joints)
        ladder = saliency(features)
        keys = ladder.natural // 2
        uniform = mean_error(features, evenly(features.n_frames, keys))
        ratios.append(mean_error(features, ladder.at(keys).frames) / uniform)
    assert 1.1 < np.mean(ratios) < 1.5


# The ladder


def test_own_motion_has_keys_that_follow_it():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)
    ladder = saliency(features)
    assert 5 < ladder.natural < features.n_frames / 10
    assert mean_error(features, ladder.at(ladder.natural).frames) < mean_error(
        features, evenly(features.n_frames, ladder.natural)
    )


def test_keys_keep_their_distance_and_more_keys_fill_the_gaps():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)
    ladder = saliency(features)
    min_gap = int(np.ceil(20 / 120 * features.fps))
    assert np.diff(ladder.at(ladder.natural).frames).min() >= min_gap
    more = ladder.at(ladder.natural * 3 // 2).frames
    assert np.diff(more).min() >= min_gap // 2
    assert np.diff(more).max() < np.diff(ladder.at(ladder.natural).frames).max() * 1.01


def test_costs_are_the_importance_of_the_next_key():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)
    ladder = saliency(features)
    costs = ladder.cost_values
    assert (np.diff(costs) <= 0).all()
    assert costs[0] > 0
    assert costs[-1] == 0  # all frames are keys
    few = saliency(features, 20)
    assert few.counts[-1] == 20
    assert np.array_equal(few.cost_values, costs[:19])
    assert np.array_equal(few.frames, ladder.frames[:20])


def test_its_own_count_is_not_claimed_beyond_the_budget():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)
    natural = saliency(features).natural
    assert saliency(features, natural).natural == natural
    assert saliency(features, natural - 1).natural is None


def test_one_joint_or_the_whole_body_by_the_features_or_by_choice():
    values = np.random.default_rng(3).normal(size=(400, 3)).cumsum(axis=0) * [1.0, 5.0, 0.2]
    joint, body = joint_features(values), Features(values, 120.0)
    assert np.array_equal(saliency(joint).frames, saliency(body, rank="joint").frames)
    assert np.array_equal(saliency(body).frames, saliency(joint, rank="body").frames)
    assert not np.array_equal(saliency(joint).frames, saliency(body).frames)
    assert np.diff(saliency(joint).at(saliency(joint).natural).frames)[:-1].min() >= 10
    assert np.diff(saliency(body).at(saliency(body).natural).frames)[:-1].min() >= 20


def test_each_axis_counts_alike_for_one_joint_and_by_size_for_several():
    values = np.random.default_rng(4).normal(size=(300, 3)).cumsum(axis=0)
    scaled = values * [1.0, 1000.0, 1.0]
    assert np.array_equal(saliency(joint_features(values)).frames, saliency(joint_features(scaled)).frames)
    assert not np.array_equal(saliency(Features(values, 120.0)).frames, saliency(Features(scaled, 120.0)).frames)


def test_options_are_times_so_that_other_rates_give_the_same_keys():
    t = np.arange(0, 12, 1 / 120)
    curve = 40 * np.sin(2 * np.pi * 0.9 * t + 0.3)
    full = saliency(joint_features(curve[:, None], 120.0))
    half = saliency(joint_features(curve[::2, None], 60.0))
    assert full.natural == half.natural > 20
    assert np.abs(full.at(full.natural).frames - 2 * half.at(half.natural).frames)[1:-1].max() <= 2


def test_every_extremum_of_a_cluster_on_request():
    t = np.arange(600)
    curve = 30 * np.sin(t / 50) + 0.8 * np.sin(t / 3)
    single, every = (saliency_counts(joint_features(curve[:, None]), keys_per_cluster=each) for each in ("one", "all"))
    assert every.per_column[0] > 2 * single.per_column[0]
    assert every.final >= single.final


# Unusual data


@pytest.mark.parametrize("level", [0.0, 0.1, -37.3, 1e6 / 3, 1e15])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 5000])
def test_a_constant_curve_has_no_candidates(level, n):
    counts = saliency_counts(joint_features(np.full((n, 2), level)))
    assert counts.final == counts.union == min(n, 2)
    ladder = saliency(joint_features(np.full((n, 2), level)))
    assert ladder.natural == min(n, 2)
    assert ladder.counts.tolist() == list(range(min(n, 2), n + 1))
    assert not ladder.cost_values.any()


def test_a_curve_that_only_rounds_is_constant():
    rng = np.random.default_rng(5)
    still = 100 * (1 + rng.integers(-2, 3, size=500) * np.finfo(float).eps)
    hinge = rng.normal(size=500) * 1e-14  # an axis without rotation, in degrees, beside one with
    moving = 40 * np.sin(np.arange(500) / 20)
    assert saliency_counts(joint_features(still[:, None])).final == 2
    alone = saliency_counts(joint_features(moving[:, None]))
    assert alone.final > 5
    assert saliency_counts(joint_features(np.stack((hinge, moving), axis=1))).per_column == (2, *alone.per_column)


def test_columns_of_zero_weight_change_nothing():
    values = np.random.default_rng(6).normal(size=(300, 2)).cumsum(axis=0)
    padded = np.concatenate((values, np.zeros((300, 3))), axis=1)
    for rank in ("joint", "body"):
        alone, beside = (saliency(Features(v, 120.0), rank=rank) for v in (values, padded))
        assert np.array_equal(alone.frames, beside.frames)


def test_a_flat_top_counts_once_as_its_last_frame():
    curve = np.concatenate((np.linspace(0, 30, 40), [30.0, 30.0], np.linspace(30, 0, 40)))
    keys = saliency(joint_features(curve[:, None]))
    assert keys.at(keys.natural).frames.tolist() == [0, 42, 81]
    assert saliency(joint_features(curve[:, None]), extremes="strict").natural == 2


def test_a_steady_rise_has_no_keys_of_its_own():
    curve = np.tanh((np.arange(300) - 150) / 30)
    assert saliency(joint_features(curve[:, None])).natural == 2


def test_so_few_frames_a_second_that_a_window_would_hold_one_frame():
    """The finer window then has three frames."""
    curve = 10 * np.sin(np.arange(200) / 2.0)
    assert saliency(joint_features(curve[:, None], 1.0)).natural > 20


def test_input_is_not_changed_and_twice_is_the_same():
    values = np.random.default_rng(7).normal(size=(200, 4)).cumsum(axis=0)
    features = Features(values, 120.0)
    original = features.values.copy()
    first, second = saliency(features), saliency(features)
    assert np.array_equal(first.frames, second.frames)
    assert np.array_equal(features.values, original)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sigma_s": 0}, "a number above 0"),
        ({"sigma_s": float("nan")}, "a number above 0"),
        ({"cut_sigmas": -1}, "a number above 0"),
        ({"min_gap_s": -0.1}, "a number of at least 0"),
        ({"rank": "x"}, "one of auto, joint, body"),
        ({"keys_per_cluster": "two"}, "one of one, all"),
        ({"extremes": None}, "one of flat, strict"),
        ({"max_keys": 0}, "at least 2"),
    ],
)
def test_bad_option_errors_name_the_valid_range(options, expected):
    ((option, value),) = options.items()
    with raises(OptionError, option=option, value=value, expected=expected):
        saliency(Features(np.zeros((5, 1)), 120.0), **options)


@pytest.mark.parametrize(
    "options", [{"sigma_s": 1e300}, {"sigma_s": 1e-300}, {"min_gap_s": 1e300}, {"cut_sigmas": 1e9}]
)
def test_absurd_but_possible_options_end_well(options):
    values = np.random.default_rng(8).normal(size=(100, 2)).cumsum(axis=0)
    ladder = saliency(Features(values, 120.0), **options)
    assert ladder.counts.tolist() == list(range(2, 101))


def test_every_option_has_help():
    assert set(METHOD.options) == set(METHOD.options_help)
