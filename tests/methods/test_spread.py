"""The largest sum of neighbour distances: against brute force, and on a sine wave, where it repeats poses."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features
from keypose.methods import spread as spread_module
from keypose.methods.farthest import farthest
from keypose.methods.spread import METHOD, spread
from keypose.model import Features
from reference import naive
from support.errors import raises

CASES = {
    "noise": lambda rng, n: rng.normal(size=(n, 3)),
    "walk": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0),
    "far from the origin": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0) + 1e7,
    "whole numbers": lambda rng, n: rng.integers(-3, 4, (n, 1)).astype(float),
    "repeated frames": lambda rng, n: rng.integers(0, 3, (4, 1)).astype(float)[rng.integers(0, 4, n)],
    "no movement": lambda rng, n: np.full((n, 2), 0.1),
}


def sum_of(values, frames) -> float:
    return float(np.linalg.norm(np.diff(values[frames], axis=0), axis=1).sum())


@pytest.mark.parametrize("chunk", [2, 128])
@pytest.mark.parametrize("case", CASES)
def test_optimal_for_every_number_of_keys(case, chunk, monkeypatch):
    monkeypatch.setattr(spread_module, "CHUNK_FRAMES", chunk)
    rng = np.random.default_rng(list(CASES).index(case))
    for n in (2, 3, 5, 8, 10):
        values = CASES[case](rng, n)
        ladder = spread(Features(values, 30))
        length = sum_of(values, np.arange(n))
        assert ladder.counts.tolist() == list(range(2, n + 1))
        for selection in ladder:
            chosen, best = naive.spread_keys(values, len(selection))
            assert tuple(selection) == chosen
            assert ladder.costs[len(selection)] == pytest.approx(length - best, rel=1e-12, abs=1e-12 * (length or 1))


def max_sums(values, n_keys) -> np.ndarray:
    """The same recurrence in plain loops, without skipping chunks."""
    distance = np.linalg.norm(values[:, None] - values[None], axis=2)
    best = np.zeros(len(values))
    sums = []
    for _ in range(n_keys - 1):
        best = np.array([max((best[i] + distance[i, j] for i in range(j)), default=-np.inf) for j in range(len(best))])
        sums.append(best.max())
    return np.array(sums)


@pytest.mark.parametrize("case", ["noise", "walk", "repeated frames"])
def test_omitted_chunks_change_nothing(case, monkeypatch):
    monkeypatch.setattr(spread_module, "CHUNK_FRAMES", 16)
    values = CASES[case](np.random.default_rng(5), 150)
    ladder = spread(Features(values, 30), 60)
    sums = [sum_of(values, selection.frames) for selection in ladder]
    np.testing.assert_allclose(sums, max_sums(values, 60), rtol=1e-12)


def test_ends_are_keys_only_where_that_is_best():
    ladder = spread(Features(np.array([[0.0], [10.0], [0.0], [1.0]]), 30))
    assert [tuple(selection) for selection in ladder] == [(0, 1), (0, 1, 2), (0, 1, 2, 3)]
    assert ladder.cost_values.tolist() == [11.0, 1.0, 0.0]


def test_costs_fall_to_exactly_zero():
    features = compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)[:120]
    ladder = spread(features, 120)
    assert (np.diff(ladder.cost_values) <= 0).all()
    assert ladder.cost_values[-2] > 0
    assert ladder.cost_values[-1] == 0


def test_sine_wave_repeats_values():
    """Tanuwijaya & Ohno's figure 3: crests and troughs repeat, where `farthest` has distinct values."""
    wave = np.sin(np.linspace(0, 6 * np.pi, 200))[:, None]
    repeated, distinct = spread(Features(wave, 30), 7), farthest(Features(wave, 30), 7)
    for count in (5, 7):
        ours, theirs = (np.sort(wave[ladder.at(count).frames, 0]) for ladder in (repeated, distinct))
        assert (np.diff(ours) < 0.01).sum() >= count // 2
        assert np.diff(theirs).min() > 0.2


def test_not_nested():
    """As the paper states: a key of a small selection is not always a key of a larger one."""
    ladder = spread(compute_features(kp.demo_motion(), METHOD.feature_kind, METHOD.joints)[:200], 20)
    chosen = [set(selection) for selection in ladder]
    assert not all(few <= more for few, more in itertools.pairwise(chosen))


def test_few_frames_and_few_keys():
    assert spread(Features(np.zeros((1, 2)), 30)).at(1).frames.tolist() == [0]
    assert spread(Features(np.zeros((2, 2)), 30)).at(2).frames.tolist() == [0, 1]
    values = np.random.default_rng(0).normal(size=(9, 2))
    assert spread(Features(values, 30), 100).counts.tolist() == list(range(2, 10))


def test_a_clip_too_long_is_rejected_at_once():
    values = np.random.default_rng(0).normal(size=(30_000, 1))
    start = time.perf_counter()
    with raises(OptionError, expected="at most 2e+10"):
        spread(Features(values, 30))
    with raises(OptionError, expected="at most 2e+10"):
        spread(Features(np.zeros((200_000, 1)), 30), 2)
    assert time.perf_counter() - start < 5


def test_default_number_of_keys(monkeypatch):
    values = np.random.default_rng(0).normal(size=(600, 1))
    assert spread(Features(values, 30)).counts[-1] == 120
    monkeypatch.setattr(spread_module, "DEFAULT_STEPS", 110 * 600**2 // 2)
    assert spread(Features(values, 30)).counts[-1] == 110
    monkeypatch.setattr(spread_module, "DEFAULT_STEPS", 1)
    assert spread(Features(values, 30)).counts[-1] == 100


@pytest.mark.data
def test_real_clip_beats_every_other_choice_tried(data_dir):
    features = compute_features(kp.load(data_dir / "cmu120" / "09_01.bvh"), METHOD.feature_kind, METHOD.joints)
    ladder, rng = spread(features, 8), np.random.default_rng(0)
    rivals = [np.sort(rng.choice(features.n_frames, 8, replace=False)) for _ in range(2000)]
    best = sum_of(features.values, ladder.at(8).frames)
    assert best > max(sum_of(features.values, frames) for frames in rivals)
    assert best >= sum_of(features.values, farthest(features, 8).at(8).frames)
