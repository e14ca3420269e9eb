"""Splitting at the frame farthest from its segment's mean, checked step by step against the slow twin."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features
from keypose.methods import synopsis as synopsis_module
from keypose.methods.synopsis import METHOD, synopsis
from keypose.model import Features
from reference import naive
from support.errors import raises

CASES = {
    "noise": lambda rng, n: rng.normal(size=(n, 3)),
    "walk": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0),
    "far from the origin": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0) + 1e7,
    "repeated frames": lambda rng, n: rng.normal(size=(5, 3))[rng.integers(0, 5, n)],
    "whole numbers": lambda rng, n: rng.integers(-3, 4, (n, 2)).astype(float),
    "zero columns": lambda rng, n: rng.normal(size=(n, 3)) * [0, 1, 0],
}


@pytest.mark.parametrize("case", CASES)
def test_each_key_is_the_farthest_at_its_step(case):
    rng = np.random.default_rng(list(CASES).index(case))
    for n in (3, 4, 9, 30):
        values = CASES[case](rng, n)
        rounding = 1e-13 * np.abs(values).max()
        ladder = synopsis(Features(values, 30), candidates="all")
        order = ladder.frames.tolist()
        assert order[:2] == [0, n - 1]
        for count in range(2, n):
            distances = naive.synopsis_distances(values, order[:count])
            max_distance = max(distances.values())
            assert ladder.costs[count] == pytest.approx(max_distance, rel=1e-12, abs=rounding)
            assert distances[order[count]] >= max_distance - rounding
        assert ladder.costs[n] == 0


@pytest.mark.parametrize("case", ["noise", "walk"])
def test_same_order_as_the_slow_twin(case):
    rng = np.random.default_rng(20)
    for n in (5, 20, 40):
        values = CASES[case](rng, n)
        order = [0, n - 1]
        while len(order) < n:
            distances = naive.synopsis_distances(values, order)
            order.append(max(distances, key=distances.get))
        assert synopsis(Features(values, 30), candidates="all").frames.tolist() == order


def test_extremes_first():
    """Each key is the farthest of those that are farther than both neighbours, as long as there is one."""
    rng = np.random.default_rng(4)
    for n in (6, 25, 40):
        values = np.cumsum(rng.normal(size=(n, 2)), axis=0)
        ladder = synopsis(Features(values, 30), candidates="extreme")
        order = [0, n - 1]
        while True:
            extremes = naive_extremes(values, order)
            if not extremes:
                break
            order.append(max(extremes, key=extremes.get))
        assert ladder.natural == len(order)
        assert ladder.frames[: len(order)].tolist() == order
        assert ladder.counts.tolist() == list(range(2, n + 1))


def naive_extremes(values, keys) -> dict[int, float]:
    """Return frames, other than keys, that are farther from their segment's mean than both neighbours."""
    frames = {}
    for first, last in zip(sorted(keys), sorted(keys)[1:], strict=False):
        mean = values[first : last + 1].mean(axis=0)
        away = {t: float(np.linalg.norm(values[t] - mean)) for t in range(first, last + 1)}
        frames |= {t: away[t] for t in range(first + 1, last) if away[t] > max(away[t - 1], away[t + 1])}
    return frames


def test_extremes_keep_apart_where_all_frames_crowd():
    """candidates="all" crowds keys, as the docstring states, on a wave with a clear number of extremes."""
    t = np.linspace(0, 1, 241)
    values = np.stack([np.sin(6 * np.pi * t) * (1 + t), 0.1 * t], axis=1)
    crowded = synopsis(Features(values, 30), 8, candidates="all").at(8).frames
    apart = synopsis(Features(values, 30), 8, candidates="extreme").at(8).frames
    assert np.diff(crowded).min() == 1
    assert np.diff(apart).min() >= 10


def test_nested_and_repeatable():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)
    ladder = synopsis(features)
    assert ladder.counts.tolist() == list(range(2, features.n_frames + 1))
    for n_keys in (2, 3, 17):
        part = synopsis(features, n_keys)
        assert part.frames.tolist() == ladder.frames[:n_keys].tolist()
        assert part.cost_values.tolist() == ladder.cost_values[: n_keys - 1].tolist()


def test_cost_can_rise():
    """The step's upper half is farther from the mean of its own segment than any frame from the mean of all."""
    values = np.array([0, 6, 0, 0, 10, 10, 0, 0, 0, 6, 0], float)[:, None]
    assert (np.diff(synopsis(Features(values, 30), candidates="all").cost_values) > 0).any()


@pytest.mark.parametrize("candidates", ["all", "extreme"])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.3e8])
def test_no_movement_costs_nothing_and_goes_in_order(value, candidates):
    ladder = synopsis(Features(np.full((12, 3), value), 30), candidates=candidates)
    assert ladder.frames.tolist() == [0, 11, *range(1, 11)]
    assert not ladder.cost_values.any()
    assert ladder.natural == (2 if candidates == "extreme" else None)


def test_few_frames_and_few_keys():
    assert synopsis(Features(np.zeros((1, 2)), 30)).at(1).frames.tolist() == [0]
    assert synopsis(Features(np.zeros((2, 2)), 30)).at(2).order.tolist() == [0, 1]
    values = np.random.default_rng(0).normal(size=(9, 2))
    assert synopsis(Features(values, 30), 100).counts.tolist() == list(range(2, 10))


def test_options():
    features = Features(np.zeros((3, 1)), 30)
    with raises(OptionError, option="candidates", value="some"):
        synopsis(features, candidates="some")
    assert set(METHOD.options) == set(METHOD.options_help)


def test_long_takes_get_fewer_keys_by_default(monkeypatch):
    monkeypatch.setattr(synopsis_module, "MAX_VISITS", 5000)
    monkeypatch.setattr(synopsis_module, "MIN_DEFAULT_KEYS", 10)
    values = np.random.default_rng(0).normal(size=(1000, 2))
    assert synopsis(Features(values[:400], 30)).counts[-1] == 12
    assert synopsis(Features(values, 30)).counts[-1] == 10
    assert synopsis(Features(values, 30), 300).counts[-1] == 300


@pytest.mark.data
def test_first_split_of_a_real_clip(data_dir):
    """The frame farthest from the mean of all is the first key of `farthest` too: 77."""
    features = compute_features(kp.load(data_dir / "cmu120" / "09_01.bvh"), METHOD.feature_kind, METHOD.joints)
    assert synopsis(features).frames[:3].tolist() == [0, 147, 77]


def test_mirrored_frames_tie_and_the_lowest_wins():
    ladder = synopsis(Features(np.array([[0.0], [0], [1], [0], [0]]), 30))
    assert ladder.at(4).order.tolist() == [0, 4, 2, 1]
