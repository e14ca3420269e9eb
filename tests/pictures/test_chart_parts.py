"""The parts of charts against slow, obvious twins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from keypose.pictures.chart import Axis, Scale, scale_of
from keypose.pictures.chart.labels import spread
from keypose.pictures.chart.strokes import MOST_OFF_PX, simplified, thinned
from keypose.pictures.chart.ticks import linear_ticks, log_ticks, tick_text, whole_ticks

RANGES = [(0, 1), (0, 100), (-3.7, 12.2), (0.001, 0.0023), (99.5, 100.5), (-1e-9, 1e-9), (2, 2e6), (1e14, 1e14 + 7)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("most", [2, 5, 9, 20])
def test_linear_ticks_are_round_inside_and_not_too_many(low: float, high: float, most: int) -> None:
    ticks = linear_ticks(low, high, most)
    assert 1 <= len(ticks) <= most + 1
    assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in ticks)
    steps = np.diff(ticks)
    if len(steps):
        step = float(steps[0])
        np.testing.assert_allclose(steps, step, rtol=1e-6)
        digit = step / 10 ** math.floor(math.log10(step) + 1e-9)
        assert min(abs(digit - round_one) for round_one in (1, 2, 2.5, 5, 10)) < 1e-5
        assert low > ticks[0] - step  # none is missing at either end
        assert high < ticks[-1] + step * (1 + 1e-9)


def test_ticks_carry_no_rounding() -> None:
    assert linear_ticks(0, 1, 10) == tuple(float(Fraction(n, 10)) for n in range(11))
    assert [tick_text(t) for t in linear_ticks(0, 0.7, 7)] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]


def test_whole_ticks_know_no_half() -> None:
    assert whole_ticks(0, 3, 10) == (0, 1, 2, 3)
    assert whole_ticks(2, 100, 6) == (20, 40, 60, 80, 100)


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0.3, 40), (1e-12, 1e12), (5, 9), (1e-300, 1e300), (7, 7.2)])
@pytest.mark.parametrize("most", [3, 6, 12])
def test_log_ticks_are_inside_and_not_too_many(low: float, high: float, most: int) -> None:
    ticks = log_ticks(low, high, most)
    assert 1 <= len(ticks) <= most + 1
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
def test_how_numbers_are_written(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_a_scale_is_a_straight_line_or_a_logarithm() -> None:
    rng = np.random.default_rng(4)
    values = rng.uniform(-7, 22, 50)
    np.testing.assert_allclose(Scale(-7, 22, 10, 300).px(values), 10 + (values + 7) / 29 * 290, rtol=1e-12)
    values = 10 ** rng.uniform(-2, 5, 50)
    expected = 300 - (np.log10(values) + 2) / 7 * 290
    np.testing.assert_allclose(Scale(1e-2, 1e5, 300, 10, log=True).px(values), expected, rtol=1e-9)
    assert np.isnan(Scale(1, 10, 0, 1, log=True).px([0.0, -1.0, np.nan, np.inf])).all()


def test_a_scale_covers_what_it_is_told() -> None:
    scale = scale_of(Axis(), [[3.0, np.nan], [9.0, np.inf]], 0, 100)
    assert (scale.low, scale.high) == (3.0, 9.0)
    assert scale_of(Axis(low=0.0), [[3.0, 9.0]], 0, 100).low == 0.0
    flat = scale_of(Axis(), [[5.0, 5.0]], 0, 100)
    assert flat.low < 5.0 < flat.high


@pytest.mark.parametrize("seed", range(5))
def test_thinning_keeps_the_least_and_greatest_of_each_px(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xs = np.sort(rng.uniform(20, 90, 3_000))
    ys = rng.normal(size=3_000)
    wanted = {0, len(xs) - 1}
    for column in range(20, 91):
        inside = [i for i in range(len(xs)) if math.floor(xs[i]) == column]
        if inside:
            wanted |= {min(inside, key=lambda i: ys[i]), max(inside, key=lambda i: ys[i])}
    x, y = thinned(xs, ys)
    assert x.tolist() == xs[sorted(wanted)].tolist()
    assert y.tolist() == ys[sorted(wanted)].tolist()


def test_few_points_are_all_kept() -> None:
    xs, ys = np.linspace(0, 100, 300), np.random.default_rng(0).normal(size=300)
    assert thinned(xs, ys)[0] is xs


@pytest.mark.parametrize("seed", range(4))
def test_simplifying_moves_nothing_that_can_be_seen(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xs = np.linspace(0, 500, 2_000)
    ys = 80 * np.sin(xs / rng.uniform(5, 60)) + np.cumsum(rng.normal(size=2_000)) * 0.02
    x, y = simplified(xs, ys)
    assert (x[0], x[-1]) == (xs[0], xs[-1])
    assert len(x) < 0.75 * len(xs)
    assert np.abs(np.interp(xs, x, y) - ys).max() <= MOST_OFF_PX


@pytest.mark.parametrize("seed", range(20))
def test_spread_places_keep_their_distance_and_move_no_more_than_they_must(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wanted = rng.uniform(0, 100, rng.integers(1, 7)).tolist()
    places = spread(wanted, 0, 100, 10)
    in_order = sorted(places)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(in_order))
    assert min(places) >= -1e-9
    assert max(places) <= 100 + 1e-9
    assert np.argsort(places).tolist() == np.argsort(wanted, kind="stable").tolist()
    if len(wanted) <= 3:  # the twin: try all on a grid
        every = np.array(np.meshgrid(*[np.arange(0, 100.5, 2.0)] * len(wanted))).T.reshape(-1, len(wanted))
        every = every[(np.diff(every, axis=1) >= 10).all(axis=1)]
        best = ((every - sorted(wanted)) ** 2).sum(axis=1).min()
        own = sum((p - w) ** 2 for p, w in zip(in_order, sorted(wanted), strict=True))
        assert own <= best + 1.0


def test_too_many_places_share_what_there_is() -> None:
    places = spread([50.0] * 21, 0, 100, 15)
    np.testing.assert_allclose(np.diff(sorted(places)), 5.0)
