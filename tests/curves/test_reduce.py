"""Keys of plain curves: optimal among all subsets of samples, within the tolerance at every sample, no overshoot."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from keypose.arrays import freeze
from keypose.curves.reduce import CurveGroup, CurveSamples, GroupSearch, reduce_within
from reference import naive_reduce as naive
from support.errors import raises

SHAPES = ("walk", "noise", "smooth", "steps", "holds", "constant", "line", "far from zero", "two samples")


def make_curve(shape: str, rng: np.random.Generator, times: np.ndarray) -> np.ndarray:
    n = len(times)
    walk = np.cumsum(rng.normal(size=n))
    return {
        "noise": rng.normal(size=n),
        "smooth": np.sin(4 * times + rng.uniform(0, 6)) + 0.3 * np.cos(9 * times),
        "steps": rng.integers(0, 2, n).astype(float),
        "holds": np.repeat(walk, 3)[:n],
        "constant": np.full(n, 1.7),
        "line": 3 - 2 * times,
        "far from zero": walk + 1e4,
    }.get(shape, walk)


def make_times(rng: np.random.Generator, n: int, *, even: bool) -> np.ndarray:
    return np.arange(n) / 24 + 100 if even else np.cumsum(rng.uniform(0.01, 0.1, n)) - 3


def cases(count: int):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        for shape in SHAPES:
            n = 2 if shape == "two samples" else int(rng.integers(2, 10))
            times = make_times(rng, n, even=seed % 2 == 0)
            rows = [make_curve(shape, rng, times) for _ in range(1 + seed % 3)]
            yield rng, times, np.array(rows)


@pytest.mark.parametrize("straight", [False, True])
def test_costs_are_those_of_the_twin(straight):
    for rng, times, values in cases(8):
        scales, size = rng.uniform(0.5, 2, len(values)), np.abs(values).max()
        limits = np.where(rng.random(len(values)) < 0.5, np.inf, rng.uniform(0, 1, len(values)))
        n = len(times)
        expected = naive.span_costs(times, values, scales, limits, straight=straight)
        costs = _core.plain_costs(times, values, scales, limits, straight, n - 1, np.inf, 2)
        for i in range(n):
            np.testing.assert_allclose(costs[i, : n - 1 - i], expected[i, i + 1 :], rtol=1e-7, atol=1e-9 * size)
            assert np.isinf(costs[i, n - 1 - i :]).all()
        half = float(np.median(costs[np.isfinite(costs)])) * 1.01
        limited = _core.plain_costs(times, values, scales, limits, straight, n - 1, half, 1)
        np.testing.assert_array_equal(limited, np.where(costs <= half, costs, np.inf))


@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
def test_keys_are_the_best_of_all_subsets(interpolation):
    """Every number of keys, the fewest within a tolerance, and at most a given number."""
    for rng, times, values in cases(8):
        names = tuple(f"c{i}" for i in range(len(values)))
        source = CurveSamples(freeze(times), names, freeze(values), (CurveGroup("all", tuple(range(len(names)))),))
        spans = naive.span_costs(
            times, values, np.ones(len(values)), np.full(len(values), np.inf), straight=interpolation == "linear"
        )
        best, slack = naive.best_costs(spans), 1e-9 * np.abs(values).max()
        search = GroupSearch.of_group(source, source.groups[0], interpolation, None)
        ladder = search.ladder(len(times))
        np.testing.assert_allclose([ladder.costs[m] for m in range(2, len(times) + 1)], best, rtol=1e-7, atol=slack)
        is_constant = (np.ptp(values, axis=1) == 0).all()
        for tolerance in (*rng.choice(best, 3) * rng.uniform(1, 1.5, 3) + 2 * slack, 1e-5 + slack):
            reduced = reduce_within(source, np.full(len(names), tolerance), interpolation)
            fewest = next(m for m, cost in enumerate(best, 2) if cost <= tolerance)
            keys = reduced.curves[0].samples.tolist()
            assert len(keys) == (1 if is_constant else fewest)
            cost = max((spans[a, b] for a, b in pairwise(keys)), default=0.0)
            assert cost == pytest.approx(best[len(keys) - 2] if len(keys) > 1 else 0, rel=1e-7, abs=slack)
        for count in range(2, len(times) + 1):
            keys = search.find_cheapest_keys(count).tolist()
            cost = max((spans[a, b] for a, b in pairwise(keys)), default=0.0)
            assert len(keys) <= count
            assert cost == pytest.approx(min(best[: count - 1]), rel=1e-7, abs=slack)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from(SHAPES),
    st.floats(1e-6, 2.0),
    st.booleans(),
    st.sampled_from(["bezier", "linear"]),
)
def test_every_sample_is_within_the_tolerance(seed, shape, tolerance, grouped, interpolation):
    """Exactly, without a slack for rounding; tangents and keys give the stated errors."""
    rng = np.random.default_rng(seed)
    times = make_times(rng, 2 if shape == "two samples" else int(rng.integers(2, 120)), even=bool(seed % 2))
    values = {name: make_curve(shape, rng, times) for name in "abc"}
    tolerances = {"a": tolerance, "*": tolerance / 3}
    reduced = kp.reduce_curves(
        times, values, tolerance=tolerances, groups="all" if grouped else None, interpolation=interpolation
    )
    assert list(reduced) == list("abc") and reduced.n_keys == sum(map(len, reduced.values()))
    for name, curve in reduced.items():
        errors = np.abs(curve.sample(times) - values[name])
        assert errors.max() == curve.max_error <= tolerances.get(name, tolerance / 3)
        np.testing.assert_array_equal(values[name][curve.samples], curve.values)
        np.testing.assert_array_equal(curve.sample(curve.times), curve.values)
        np.testing.assert_array_equal(times[curve.samples], curve.times)
    if grouped:
        assert len({tuple(curve.samples) for curve in reduced.values()}) == 1


def test_curves_are_the_cubics_of_their_tangents():
    rng = np.random.default_rng(3)
    times = make_times(rng, 80, even=False)
    curve = kp.reduce_curves(times, {"a": make_curve("smooth", rng, times)}, tolerance=0.05)["a"]
    assert len(curve) > 3
    for k in range(len(curve) - 1):
        tangents = np.array([curve.out_tangents[k], curve.in_tangents[k + 1]])
        cubic = naive.cubic(curve.times[k + 1] - curve.times[k], curve.values[k], curve.values[k + 1], tangents)
        between = np.linspace(curve.times[k], curve.times[k + 1], 13)
        np.testing.assert_allclose(curve.sample(between), cubic(between - curve.times[k]), atol=1e-12)
    assert curve.in_tangents[0] == curve.out_tangents[-1] == 0
    np.testing.assert_array_equal(curve.sample([-100.0, 100.0]), curve.values[[0, -1]])
    assert curve.sample(times[3]).shape == () and curve.sample(np.zeros((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("tolerance", [1e-6, 0.01, 0.2])
def test_steps_do_not_overshoot(tolerance):
    """Channels that switch on and off: two keys for each switch, nothing beyond the tolerance between samples."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        switches = np.sort(rng.choice(np.arange(1, 199), 12, replace=False))
        values = (np.searchsorted(switches, np.arange(200), side="right") % 2).astype(float)
        curve = kp.reduce_curves(np.arange(200) / 30, {"on": values}, tolerance=tolerance)["on"]
        between = curve.sample(np.linspace(0, 199 / 30, 20001))
        assert between.min() >= -tolerance and between.max() <= 1 + tolerance
        assert len(curve) <= 2 + 2 * len(switches)
        np.testing.assert_allclose(curve.sample(np.arange(200) / 30), values, atol=tolerance)


def test_smooth_extremes_between_samples_are_allowed():
    """Coarse samples of a sine need no keys at its peaks, which lie beyond the samples beside them."""
    times = np.arange(0, 40) / 4
    curve = kp.reduce_curves(times, {"a": np.sin(times * 1.1)}, tolerance=0.01)["a"]
    assert len(curve) <= 8


def test_constant_and_short_curves():
    times = np.arange(50) / 24
    reduced = kp.reduce_curves(times, {"a": np.full(50, 2.5), "b": times}, tolerance=0.1)
    assert len(reduced["a"]) == 1 and len(reduced["b"]) == 2
    np.testing.assert_array_equal(reduced["a"].sample(times), np.full(50, 2.5))
    assert reduced.ladder("a").costs[1] == 0 and reduced.ladder("b").counts[0] == 2
    one = kp.reduce_curves([3.0], {"a": [7.0]}, keys=5)
    assert len(one["a"]) == 1 and one["a"].sample([0.0, 9.0]).tolist() == [7, 7]
    assert len(one.ladder("a")) == 1 and len(one.at(1)["a"]) == 1


def test_ladders_and_other_numbers_of_keys():
    rng = np.random.default_rng(5)
    times = np.arange(150) / 60
    values = {name: np.cumsum(np.cumsum(rng.normal(size=150))) for name in "abcd"}
    reduced = kp.reduce_curves(times, values, tolerance=2.0, groups={"pair": ["b", "d"]})
    for name, curve in (("a", reduced["a"]), ("pair", reduced["b"])):
        ladder = reduced.ladder(name, max_keys=len(curve))
        assert ladder.costs[len(curve)] <= 2.0 < min(cost for keys, cost in ladder.costs.items() if keys < len(curve))
        keys = ladder.at(len(curve)).frames
        again = reduced.at({name: len(curve)})
        assert max(again["b"].max_error, again["d"].max_error, again["a"].max_error) <= 2.0
        assert keys[0] == 0 and keys[-1] == 149
    fewer = reduced.at({"pair": 5, "a": 7})
    assert [len(fewer[name]) for name in "abcd"] == [7, 5, len(reduced["c"]), 5]
    assert fewer.at({"c": 4, "*": 3}).n_keys == 3 + 3 + 4 + 3
    assert fewer["b"].max_error == pytest.approx(max(np.abs(fewer["b"].sample(times) - values["b"])))
    np.testing.assert_array_equal(reduced.ladder("d").frames, reduced.ladder("pair").frames)


def test_costs_of_a_group_with_several_tolerances_are_multiples_of_them():
    rng = np.random.default_rng(6)
    times = np.arange(60) / 60
    values = {"mm": 1000 * make_curve("walk", rng, times), "m": make_curve("walk", rng, times)}
    reduced = kp.reduce_curves(times, values, tolerance={"mm": 800.0, "m": 0.8}, groups="all")
    assert reduced["mm"].max_error <= 800 and reduced["m"].max_error <= 0.8
    ladder = reduced.ladder("all")
    n = len(reduced["m"])
    assert ladder.costs[n] <= 1 < ladder.costs[n - 1]


def test_results_are_frozen_and_can_be_pickled():
    times = np.arange(30) / 30
    reduced = kp.reduce_curves(times, {"a": np.sin(7 * times), "b": times}, tolerance=0.02)
    copy = pickle.loads(pickle.dumps(reduced))
    for each in (reduced, copy):
        with pytest.raises(ValueError, match="read-only"):
            each["a"].values[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            each.source.values[0] = 1
    assert repr(copy) == repr(reduced) == f"ReducedCurves(2 curves of 30 samples: {reduced.n_keys} keys)"
    np.testing.assert_array_equal(copy["a"].out_tangents, reduced["a"].out_tangents)
    assert set(reduced.sample(times)) == {"a", "b"}
    assert "a" in reduced and "c" not in reduced and reduced.get("c") is None
    with raises(kp.OptionError, option="name", value="c"):
        reduced["c"]


def test_threads_do_not_change_the_keys():
    rng = np.random.default_rng(9)
    times = np.arange(300) / 60
    values = np.cumsum(rng.normal(size=(300, 8)), axis=0)
    for options in ({"tolerance": 0.7}, {"keys": 40}):
        one, two = (kp.reduce_curves(times, values, threads=threads, **options) for threads in (1, 2))
        assert [curve.samples.tolist() for curve in one.curves] == [curve.samples.tolist() for curve in two.curves]
        assert list(one) == [str(i) for i in range(8)]
