"""Ticks, scales, point reduction and label positions of charts, compared with slow reference code."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from keypose.pictures.chart import Axis, Scale, build_scale
from keypose.pictures.chart.draw import spread_positions
from keypose.pictures.chart.scale import (
    MAX_ERROR_PX,
    format_tick,
    integer_ticks,
    linear_ticks,
    log_ticks,
    simplify_points,
    thin_points,
)

RANGES = [(0, 1), (0, 100), (-3.7, 12.2), (0.001, 0.0023), (99.5, 100.5), (-1e-9, 1e-9), (2, 2e6), (1e14, 1e14 + 7)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("max_ticks", [2, 5, 9, 20])
def test_linear_ticks_are_round_inside_and_not_too_many(low: float, high: float, max_ticks: int) -> None:
    ticks = linear_ticks(low, high, max_ticks)
    assert 1 <= len(ticks) <= max_ticks + 1
    assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in ticks)
    steps = np.diff(ticks)
    if len(steps):
        step = float(steps[0])
        np.testing.assert_allclose(steps, step, rtol=1e-6)
        digit = step / 10 ** math.floor(math.log10(step) + 1e-9)
        assert min(abs(digit - round_digit) for round_digit in (1, 2, 2.5, 5, 10)) < 1e-5
        assert low > ticks[0] - step  # none is missing at either end
        assert high < ticks[-1] + step * (1 + 1e-9)


def test_ticks_have_no_rounding_error() -> None:
    assert linear_ticks(0, 1, 10) == tuple(float(Fraction(n, 10)) for n in range(11))
    assert [format_tick(t) for t in linear_ticks(0, 0.7, 7)] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]


def test_integer_ticks() -> None:
    assert integer_ticks(0, 3, 10) == (0, 1, 2, 3)
    assert integer_ticks(2, 100, 6) == (20, 40, 60, 80, 100)


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0.3, 40), (1e-12, 1e12), (5, 9), (1e-300, 1e300), (7, 7.2)])
@pytest.mark.parametrize("max_ticks", [3, 6, 12])
def test_log_ticks_are_inside_and_not_too_many(low: float, high: float, max_ticks: int) -> None:
    ticks = log_ticks(low, high, max_ticks)
    assert 1 <= len(ticks) <= max_ticks + 1
    assert all(low * (1 - 1e-9) <= tick <= high * (1 + 1e-9) for tick in ticks)
    assert list(ticks) == sorted(set(ticks))
    if high / low > 100:
        assert all(f"{tick:e}".startswith(("1.000", "2.000", "5.000", "3.000")) for tick in ticks)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12, "12"),
        (1200, "1,200"),
        (0.25, "0.25"),
        (-3, "-3"),
        (1e7, "1e7"),
        (2.5e-9, "2.5e-9"),
        (1e300, "1e300"),
    ],
)
def test_format_tick(value: float, text: str) -> None:
    assert format_tick(value) == text


def test_scale_is_linear_or_logarithmic() -> None:
    rng = np.random.default_rng(4)
    values = rng.uniform(-7, 22, 50)
    np.testing.assert_allclose(Scale(-7, 22, 10, 300).px(values), 10 + (values + 7) / 29 * 290, rtol=1e-12)
    values = 10 ** rng.uniform(-2, 5, 50)
    expected = 300 - (np.log10(values) + 2) / 7 * 290
    np.testing.assert_allclose(Scale(1e-2, 1e5, 300, 10, log=True).px(values), expected, rtol=1e-9)
    assert np.isnan(Scale(1, 10, 0, 1, log=True).px([0.0, -1.0, np.nan, np.inf])).all()


def test_scale_covers_its_values() -> None:
    scale = build_scale(Axis(), [[3.0, np.nan], [9.0, np.inf]], 0, 100)
    assert (scale.low, scale.high) == (3.0, 9.0)
    assert build_scale(Axis(low=0.0), [[3.0, 9.0]], 0, 100).low == 0.0
    flat = build_scale(Axis(), [[5.0, 5.0]], 0, 100)
    assert flat.low < 5.0 < flat.high


@pytest.mark.parametrize("seed", range(5))
def test_thin_points_keeps_extremes_of_each_px(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xs = np.sort(rng.uniform(20, 90, 3_000))
    ys = rng.normal(size=3_000)
    expected = {0, len(xs) - 1}
    for column in range(20, 91):
        inside = [i for i in range(len(xs)) if math.floor(xs[i]) == column]
        if inside:
            expected |= {min(inside, key=lambda i: ys[i]), max(inside, key=lambda i: ys[i])}
    x, y = thin_points(xs, ys)
    assert x.tolist() == xs[sorted(expected)].tolist()
    assert y.tolist() == ys[sorted(expected)].tolist()


def test_few_points_are_not_thinned() -> None:
    xs, ys = np.linspace(0, 100, 300), np.random.default_rng(0).normal(size=300)
    assert thin_points(xs, ys)[0] is xs


@pytest.mark.parametrize("seed", range(4))
def test_simplify_points_stays_within_tolerance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xs = np.linspace(0, 500, 2_000)
    ys = 80 * np.sin(xs / rng.uniform(5, 60)) + np.cumsum(rng.normal(size=2_000)) * 0.02
    x, y = simplify_points(xs, ys)
    assert (x[0], x[-1]) == (xs[0], xs[-1])
    assert len(x) < 0.75 * len(xs)
    assert np.abs(np.interp(xs, x, y) - ys).max() <= MAX_ERROR_PX


@pytest.mark.parametrize("seed", range(20))
def test_spread_positions_keep_distance_and_move_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets = rng.uniform(0, 100, rng.integers(1, 7)).tolist()
    positions = spread_positions(targets, 0, 100, 10)
    in_order = sorted(positions)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(in_order))
    assert min(positions) >= -1e-9
    assert max(positions) <= 100 + 1e-9
    assert np.argsort(positions).tolist() == np.argsort(targets, kind="stable").tolist()
    if len(targets) <= 3:  # reference: try all positions on a grid
        candidates = np.array(np.meshgrid(*[np.arange(0, 100.5, 2.0)] * len(targets))).T.reshape(-1, len(targets))
        candidates = candidates[(np.diff(candidates, axis=1) >= 10).all(axis=1)]
        best = ((candidates - sorted(targets)) ** 2).sum(axis=1).min()
        own = sum((p - w) ** 2 for p, w in zip(in_order, sorted(targets), strict=True))
        assert own <= best + 1.0


def test_spread_positions_share_too_little_space() -> None:
    positions = spread_positions([50.0] * 21, 0, 100, 15)
    np.testing.assert_allclose(np.diff(sorted(positions)), 5.0)
