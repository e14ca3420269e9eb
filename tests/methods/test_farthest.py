"""Farthest-first traversal against its slow twin, reference keys and claims of the paper."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features, gaussian_filter
from keypose.methods import farthest as farthest_module
from keypose.methods.farthest import METHOD, FarthestSearch, farthest
from keypose.model import Features
from reference import naive
from support.errors import raises

CASES = {
    "noise": lambda rng, n: rng.normal(size=(n, 6)),
    "walk": lambda rng, n: np.cumsum(rng.normal(size=(n, 5)), axis=0),
    "one column": lambda rng, n: rng.normal(size=(n, 1)),
    "far from the origin": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0) + 1e7,
    "far in one column": lambda rng, n: np.cumsum(rng.normal(size=(n, 4)), axis=0) + [0, 0, 0, 1e12],
    "tiny steps": lambda rng, n: 100 + np.cumsum(1e-7 * rng.normal(size=(n, 4)), axis=0),
    "one outlier": lambda rng, n: np.concatenate([1e-6 * rng.normal(size=(n - 1, 3)), [[1e6, 0, 0]]]),
    "repeated frames": lambda rng, n: rng.normal(size=(7, 27))[rng.integers(0, 7, n)],
    "repeated far away": lambda rng, n: rng.normal(size=(7, 27))[rng.integers(0, 7, n)] + 1e6,
    "whole numbers": lambda rng, n: rng.integers(-2, 3, (n, 3)).astype(float),
    "ramp": lambda rng, n: np.arange(n)[:, None] * [0.1, 0.7],
    "corners": lambda rng, n: np.eye(n),
    "zero columns": lambda rng, n: rng.normal(size=(n, 4)) * [1, 0, 2, 0],
}


def search_of(values) -> FarthestSearch:
    return FarthestSearch(Features(values, 30))


@pytest.mark.parametrize("block", [5, 8192])
@pytest.mark.parametrize("case", CASES)
def test_same_as_the_slow_twin(case, block, monkeypatch):
    monkeypatch.setattr(farthest_module, "BLOCK_FRAMES", block)
    rng = np.random.default_rng(list(CASES).index(case))
    for n in (2, 3, 8, 17, 40):
        values = CASES[case](rng, n)
        keys, radii = naive.farthest_first(values, n)
        ladder = farthest(Features(values, 30))
        assert ladder.frames.tolist() == keys
        np.testing.assert_allclose(ladder.cost_values, radii, rtol=1e-7, atol=0)


def test_a_square_that_rounding_would_hide_is_exact():
    """The width of the second cluster is 1e-9 of its distance from the mean: an expanded square loses it."""
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(size=(20, 3)), [100, 100, 100] + 1e-7 * rng.normal(size=(20, 3))])
    keys, radii = naive.farthest_first(values, 40)
    ladder = farthest(Features(values, 30))
    assert ladder.frames.tolist() == keys
    np.testing.assert_allclose(ladder.cost_values, radii, rtol=1e-9, atol=0)


def test_near_ties_are_decided_by_differences():
    """Two small rings of nearly equal poses far apart: the expanded squares are right to 1e-8, the ties closer."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        angle = np.arange(24) * np.pi / 12
        radius = 2e-3 * (1 + 1e-11 * rng.normal(size=24))
        ring = np.stack([np.ones(24), radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        values = np.concatenate([ring, -ring])
        keys, radii = naive.farthest_first(values, 48)
        ladder = farthest(Features(values, 30))
        assert ladder.frames.tolist() == keys
        np.testing.assert_allclose(ladder.cost_values, radii, rtol=1e-8, atol=1e-15)


def test_keys_are_nested_and_costs_fall():
    features = compute_features(kp.demo_motion(), "root_matched", "major")
    ladder = farthest(features)
    assert ladder.counts.tolist() == list(range(1, features.n_frames + 1))
    assert (np.diff(ladder.cost_values) <= 0).all()
    for n_keys in (1, 2, 9, 30):
        part = farthest(features, n_keys)
        assert part.counts.tolist() == list(range(1, n_keys + 1))
        assert part.at(n_keys).order.tolist() == ladder.frames[:n_keys].tolist()
        assert part.cost_values.tolist() == ladder.cost_values[:n_keys].tolist()


def test_extending_equals_starting_over():
    features = compute_features(kp.demo_motion(), "root_matched", "major")
    search = FarthestSearch(features)
    new_keys = search.more() + search.more(4) + search.more() + search.more(20)
    assert new_keys == search.keys == tuple(farthest(features, 26).frames.tolist())
    assert search.radius == farthest(features, 26).costs[26]
    assert search.selection().order.tolist() == list(search.keys)
    assert search.ladder().at(5).order.tolist() == list(search.keys[:5])
    assert "26 keys" in repr(search)


def test_search_before_its_first_key_and_after_its_last():
    search = search_of(np.array([[0.0], [4.0], [5.0]]))
    assert search.keys == ()
    assert search.radius == 3.0  # from the mean
    with raises(OptionError, hint="ask for some with more()"):
        search.ladder()
    with raises(OptionError, option="n", value=0):
        search.more(0)
    assert search.more(10) == (0, 2, 1)
    assert search.radius == 0
    assert search.more(3) == ()


def test_copies_end_the_search_and_ties_go_to_the_lowest_frame():
    poses = np.random.default_rng(1).normal(size=(5, 27)) * 30
    values = np.tile(poses, (400, 1)) + 50
    search = search_of(values)
    assert sorted(search.more(100)) == [0, 1, 2, 3, 4]
    assert search.radius == 0


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3e8])
def test_no_movement_is_one_key(value):
    ladder = farthest(Features(np.full((50, 3), value), 30))
    assert ladder.frames.tolist() == [0]
    assert ladder.costs[1] == 0


def test_sine_wave_gives_distinct_values():
    """The paper's figure 3: `spread` repeats poses, `farthest` does not."""
    wave = np.sin(np.linspace(0, 6 * np.pi, 200))[:, None]
    ladder = farthest(Features(wave, 30), 7)
    for count in (5, 7):
        values = np.sort(wave[ladder.at(count).frames, 0])
        assert np.diff(values).min() > 0.2


def test_weights_move_the_keys():
    motion = kp.demo_motion()
    plain, hands, feet = (
        compute_features(motion, "root_matched", "major", weights)
        for weights in (None, {"hands": 30.0}, {"feet": 30.0})
    )
    orders = [farthest(features, 6).frames.tolist() for features in (plain, hands, feet)]
    assert orders[1] != orders[2]
    assert orders[0] != orders[1] or orders[0] != orders[2]


def test_smoothing_takes_an_outlier_out():
    """A weakness that the paper names, and its remedy: a noisy frame is the first key unless it is smoothed."""
    values = np.repeat(np.sin(np.linspace(0, 3, 240))[:, None], 3, axis=1)
    values[120] += 3
    rough = farthest(Features(values, 120), 1)
    smooth = farthest(Features(gaussian_filter(values, 12.0), 120), 1)
    assert rough.frames.tolist() == [120]
    assert abs(int(smooth.frames[0]) - 120) > 50


def test_long_takes_get_fewer_keys_by_default(monkeypatch):
    monkeypatch.setattr(farthest_module, "MAX_VISITS", 5000)
    monkeypatch.setattr(farthest_module, "MIN_DEFAULT_KEYS", 10)
    values = np.random.default_rng(0).normal(size=(400, 2))
    assert len(farthest(Features(values, 30))) == 12
    assert len(farthest(Features(np.tile(values, (3, 1))[:1000], 30))) == 10
    assert len(farthest(Features(values, 30), 300)) == 300


@pytest.mark.data
@pytest.mark.parametrize(
    ("clip", "order"),
    [
        ("09_01", [77, 120, 61, 3, 43, 20, 52, 10]),
        ("135_07_kicking", [772, 442, 801, 1261, 1154]),
        ("02_07_sword", [2030, 1344, 94, 1846, 934]),
    ],
)
def test_reference_keys(data_dir, clip, order):
    motion = kp.load(data_dir / "cmu120" / f"{clip}.bvh")
    ladder = farthest(compute_features(motion, METHOD.feature_kind, METHOD.joints), len(order))
    assert ladder.at(len(order)).order.tolist() == order


@pytest.mark.data
def test_slow_twin_on_a_real_clip(data_dir):
    features = compute_features(kp.load(data_dir / "cmu120" / "09_01.bvh"), METHOD.feature_kind, METHOD.joints)
    keys, radii = naive.farthest_first(features.values, features.n_frames)
    ladder = farthest(features)
    assert ladder.frames.tolist() == keys
    np.testing.assert_allclose(ladder.cost_values, radii, rtol=1e-7)
