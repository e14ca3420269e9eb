from __future__ import annotations

import numpy as np
import pytest

from keypose.features import curvatures, natural_spline
from reference import naive


def random_keys(rng, frames):
    return np.unique(np.concatenate(([0, frames - 1], rng.integers(0, frames, rng.integers(0, frames)))))


def test_same_as_the_slow_twin():
    rng = np.random.default_rng(1)
    for _ in range(200):
        frames = int(rng.integers(2, 80))
        keys = random_keys(rng, frames)
        values = rng.normal(size=len(keys)) * 100
        at = np.concatenate((np.arange(frames), rng.uniform(0, frames - 1, 20)))
        np.testing.assert_allclose(
            natural_spline(keys, values, at), naive.natural_spline(keys, values, at), atol=1e-11, rtol=0
        )


def test_uneven_gaps_need_no_more_reductions():
    """Gaps from a millionth to a million beside each other: the bound of six reductions does not depend on them."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        keys = np.cumsum(10.0 ** rng.uniform(-6, 6, 300))
        values = rng.normal(size=300)
        second = curvatures(keys, values)
        gaps, chords = np.diff(keys), np.diff(values) / np.diff(keys)
        terms = gaps[:-1] * second[:-2], 2 * (gaps[:-1] + gaps[1:]) * second[1:-1], gaps[1:] * second[2:]
        size = sum(map(np.abs, terms)) + 6 * (np.abs(chords[:-1]) + np.abs(chords[1:]))
        assert (np.abs(sum(terms) - 6 * np.diff(chords)) <= 1e-14 * size).all()
        assert second[0] == second[-1] == 0


def test_columns_are_independent():
    rng = np.random.default_rng(3)
    keys = random_keys(rng, 60)
    values = rng.normal(size=(len(keys), 2, 3))
    together = natural_spline(keys, values, np.arange(60))
    assert together.shape == (60, 2, 3)
    for i in range(2):
        for j in range(3):
            alone = natural_spline(keys, values[:, i, j], np.arange(60))
            np.testing.assert_allclose(together[:, i, j], alone, atol=1e-13)


def test_passes_through_its_keys_and_keeps_a_line():
    keys = np.array([0.0, 1.0, 4.0, 5.5, 20.0])
    values = np.array([3.0, -1.0, 7.0, 7.0, 2.0])
    np.testing.assert_allclose(natural_spline(keys, values, keys), values, atol=1e-14)
    at = np.linspace(0, 20, 101)
    np.testing.assert_allclose(natural_spline(keys, 2 * keys + 1, at), 2 * at + 1, atol=1e-12)


def test_smooth_and_without_curvature_at_the_ends():
    keys, values = np.arange(0.0, 50, 7), np.random.default_rng(4).normal(size=8)
    at, step = keys[1:-1], 1e-4
    rise = [natural_spline(keys, values, at + k * step) for k in (-1, 0, 1)]
    np.testing.assert_allclose(rise[2] - rise[1], rise[1] - rise[0], atol=10 * step**2)
    ends = natural_spline(keys, values, np.array([0, step, 2 * step]))
    assert abs(ends[2] - 2 * ends[1] + ends[0]) < 1e-11  # second difference: curvature times step squared


def test_the_ends_hold():
    spline = natural_spline(np.array([2, 5, 6]), np.array([1.0, 4.0, 2.0]), np.array([-3.0, 2.0, 6.0, 99.0]))
    assert spline.tolist() == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("keys", ([7], [0, 9]))
def test_few_keys(keys):
    values = np.arange(1.0, len(keys) + 1)
    expected = np.interp(np.arange(10), keys, values)
    np.testing.assert_allclose(natural_spline(np.array(keys), values, np.arange(10)), expected, atol=1e-15)


def test_curves_one_after_another_do_not_touch():
    rng = np.random.default_rng(5)
    a, b = random_keys(rng, 40), random_keys(rng, 30)
    left, right = rng.normal(size=len(a)), rng.normal(size=len(b))
    ends = np.zeros(len(a) + len(b), bool)
    ends[[0, len(a) - 1, len(a), -1]] = True
    both = curvatures(np.concatenate((a, b + 40)), np.concatenate((left, right)), ends)
    np.testing.assert_allclose(both, np.concatenate((curvatures(a, left), curvatures(b, right))), atol=1e-13)
