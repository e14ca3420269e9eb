"""Optimal keys: against the slow twin for every number of keys, on real, noisy, repeated, constant and far data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import keypose as kp
from keypose.errors import ModelError, OptionError
from keypose.methods.salient import check_memory, salient
from keypose.model import EdgeCosts, Features
from reference import naive
from support.errors import Pattern, raises

RNG = np.random.default_rng


def features(values) -> Features:
    return Features(np.asarray(values, float), 30.0)


def random_walk(frames=60, columns=5, seed=0) -> Features:
    return features(np.cumsum(RNG(seed).normal(size=(frames, columns)), axis=0))


def data(case: str) -> np.ndarray:
    motion = kp.demo_motion(fps=30)
    real = motion.world_positions()[:70].reshape(70, -1)
    return {
        "motion": real,
        "noisy": real + RNG(1).normal(scale=0.05 * real.std(), size=real.shape),
        "repeated": np.repeat(real[:25], 3, axis=0),
        "constant": np.full((30, 6), 3.25),
        "far": real + 1e5,
        "loop": np.concatenate((real[:30], real[:1])),
    }[case]


@pytest.mark.one_python
@pytest.mark.parametrize("cost", ["chord", "integrated"])
@pytest.mark.parametrize("objective", ["max", "sum"])
@pytest.mark.parametrize("case", ["motion", "noisy", "repeated", "constant", "far", "loop"])
def test_the_cheapest_keys_for_every_number_of_keys(case, objective, cost):
    points = data(case)
    compare_with_twin(points, objective, cost)


def compare_with_twin(points, objective, cost):
    n = len(points)
    measure = "largest" if cost == "chord" else "integrated"
    expected = naive.salient_costs(naive.chord_costs(points, objective, measure), n, objective)
    ladder = salient(features(points), n, objective=objective, cost=cost)
    assert ladder.counts.tolist() == list(range(2, n + 1))
    diameter = 2 * np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).max())
    if cost == "chord" and objective == "max":  # the twin returns squares
        np.testing.assert_allclose(ladder.cost_values**2, expected[2:], rtol=1e-9, atol=1e-14 * diameter**2)
    elif cost == "chord":
        np.testing.assert_allclose(ladder.cost_values, expected[2:], rtol=1e-9, atol=1e-7 * diameter * n)
    else:
        np.testing.assert_allclose(ladder.cost_values, expected[2:], rtol=1e-9, atol=1e-14 * diameter**2 * n)


@pytest.mark.one_python
@pytest.mark.data
@pytest.mark.parametrize("clip", ["09_01.bvh", "49_06_cartwheel.bvh", "135_07_kicking.bvh"])
def test_the_cheapest_keys_of_real_clips(data_dir, clip):
    motion = kp.load(data_dir / "cmu120" / clip)
    points = motion.world_positions()[::2][:110].reshape(-1, motion.n_joints * 3)
    for objective in ("max", "sum"):
        compare_with_twin(points, objective, "chord")


def test_the_cost_is_that_of_the_selection():
    walk = random_walk(80, seed=3)
    edges = np.sqrt(naive.chord_costs(walk.values, "max", "largest"))
    ladder = salient(walk, 40)
    for selection in ladder:
        worst = max(edges[a, b] for a, b in itertools.pairwise(selection))
        assert worst == pytest.approx(ladder.costs[len(selection)], rel=1e-9)


def test_the_same_keys_on_any_number_of_threads():
    walk = random_walk(900, 12, seed=4)
    single = salient(walk, 90, threads=1)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(salient(walk, 90, threads=threads).frames, single.frames)
    np.testing.assert_array_equal(salient(walk, 90).frames, single.frames)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("objective", ["max", "sum"])
def test_pins_are_globally_optimal(seed, objective):
    """Keys are distributed optimally between the pinned sections, against brute force."""
    walk = random_walk(26, 3, seed)
    pins = sorted(RNG(seed).choice(np.arange(1, 25), 2, replace=False).tolist())
    edges = naive.chord_costs(walk.values, "sum", "largest")
    ladder = salient(walk, 7, pins=pins, objective=objective)
    assert ladder.counts.tolist() == [4, 5, 6, 7]
    for count in (4, 5, 6):
        free = [f for f in range(1, 25) if f not in pins]
        total = max if objective == "max" else sum
        best = min(
            total(edges[a, b] for a, b in itertools.pairwise(sorted({0, 25, *pins, *more})))
            for more in itertools.combinations(free, count - 4)
        )
        assert ladder.costs[count] == pytest.approx(best, rel=1e-9) and set(pins) <= set(ladder.at(count))


def test_gaps_and_excluded_frames():
    walk = random_walk(100, seed=5)
    excluded = [k for k in range(1, 99) if k % 3 == 0]
    ladder = salient(walk, 40, min_gap_frames=4, max_gap_frames=9, excluded=excluded, pins=[50])
    assert ladder.counts[0] >= 12
    for selection in ladder:
        gaps = np.diff(selection.frames)
        assert gaps.min() >= 4 and gaps.max() <= 9 and not set(excluded) & set(selection) and 50 in selection


def test_impossible_constraints_are_explained():
    walk = random_walk(50)
    with raises(
        OptionError,
        code="no_selection",
        value=50,
        problem=Pattern("gaps of 30 to 49 frames, at most 2 keys: loosen one"),
    ):
        salient(walk, 10, min_gap_frames=30, pins=[10])
    with raises(OptionError, option="excluded", problem="frame 7 is both pinned and excluded"):
        salient(walk, pins=[7], excluded=[7])
    with raises(OptionError, option="pins", problem="frame 50", expected="0 to 49"):
        salient(walk, pins=[50])
    with raises(
        OptionError,
        code="no_selection",
        value="excluded",
        problem=Pattern("^the first and the last frame are always keys"),
    ):
        salient(walk, excluded=[0])
    for option, value in {
        "objective": "least",
        "cost": "bezier",
        "min_gap_frames": 0,
        "max_gap_frames": 0,
        "threads": 0,
    }.items():
        with raises(OptionError, option=option, value=value):
            salient(walk, **{option: value})
    with raises(OptionError, option="pins", value="x"):
        salient(walk, pins=["x"])
    with raises(OptionError, option="excluded", value=1.5):
        salient(walk, excluded=[1.5])


def test_more_pins_than_keys():
    with raises(OptionError, option="max_keys", value=4, problem=Pattern("need at least 5 keys of 50 frames$")):
        salient(random_walk(50), 4, pins=[10, 20, 30])
    assert salient(random_walk(50), pins=range(1, 49)).counts.tolist() == [50]


@pytest.mark.parametrize("objective", ["max", "sum"])
@pytest.mark.parametrize("seed", range(6))
def test_any_edge_costs(objective, seed):
    """Arbitrary costs, some edges forbidden, against the slow twin; with pins, gaps and excluded frames."""
    rng = RNG(seed)
    n, gap = 34, int(rng.integers(6, 33))
    full = np.triu(rng.choice([0.0, 1.0, 2.5, 7.0, np.inf], size=(n, n), p=[0.1, 0.3, 0.3, 0.2, 0.1]), 1)
    table = np.array([[full[i, i + g] if i + g < n else 0.0 for g in range(1, gap + 1)] for i in range(n)])
    pins, excluded = [11], [5, 20]
    allowed = np.ones(n, bool)
    allowed[excluded] = False
    rules = {"pinned": tuple(pins), "allowed": allowed, "min_gap": 2, "max_gap": gap}
    expected = naive.salient_costs(full, n, objective, **rules)
    possible = np.isfinite(expected)
    possible[:2] = False
    ladder = salient(EdgeCosts(n, gap, table), n, objective=objective, pins=pins, excluded=excluded, min_gap_frames=2)
    assert ladder.counts.tolist() == np.flatnonzero(possible).tolist()
    np.testing.assert_allclose(ladder.cost_values, expected[possible])
    for selection in ladder:
        costs = [full[a, b] for a, b in itertools.pairwise(selection)]
        assert (max(costs) if objective == "max" else sum(costs)) == pytest.approx(ladder.costs[len(selection)])


def test_edge_costs_are_checked():
    with raises(ModelError, subject="edge costs", expected="(4, 2)"):
        EdgeCosts(4, 2, np.zeros((3, 2)))
    for wrong in (-1.0, np.nan):
        with raises(ModelError, subject="edge costs", expected="numbers of at least 0"):
            EdgeCosts(2, 1, [[0.0], [wrong]])
    edges = EdgeCosts(30, 5, np.ones((30, 5)))
    assert salient(edges).counts[0] == 7 and len(edges[10:20]) == 10
    with raises(OptionError, option="min_gap_frames", value=8, expected="at most 5 here"):
        salient(edges, min_gap_frames=8)
    with raises(OptionError, option="loop", value=True):
        salient(edges, loop=True)
    with raises(OptionError, option="cost", value="integrated"):
        salient(edges, cost="integrated")


def around(period: int = 24, seed: int = 0) -> np.ndarray:
    """Return a closed curve, whose last pose equals its first."""
    angle = np.linspace(0, 2 * np.pi, period + 1)[:, None]
    rng = RNG(seed)
    waves = [np.cos(k * angle + rng.uniform(0, 6, 4)) * rng.normal(size=4) / k for k in (1, 2, 3)]
    curve = np.sum(waves, axis=0)
    curve[-1] = curve[0]
    return curve


@pytest.mark.parametrize("objective", ["max", "sum"])
def test_loops_find_the_best_start_too(objective):
    """The optimum of all sets of keys on the circle, against brute force."""
    points = around(16)
    ladder = salient(features(points), 4, loop=True, objective=objective)
    twice = np.concatenate((points[:-1], points[:-1], points[:1]))
    edges = naive.chord_costs(twice, "sum", "largest")
    for count in (1, 2, 3, 4):
        best = np.inf
        for keys in itertools.combinations(range(16), count):
            circle = [*keys, keys[0] + 16]
            costs = [edges[a, b] for a, b in itertools.pairwise(circle)]
            best = min(best, max(costs) if objective == "max" else sum(costs))
        assert ladder.costs[count] == pytest.approx(best, rel=1e-9)


def test_loops_with_pins_gaps_and_excluded_frames():
    ladder = salient(features(around(30, 2)), 8, loop=True, pins=[30], excluded=[5, 6], max_gap_frames=9)
    assert ladder.counts[0] == 4
    for selection in ladder:
        frames = selection.frames
        gaps = np.diff([*frames, frames[0] + 30])
        assert 0 in selection and gaps.max() <= 9 and not {5, 6, 30} & set(selection)


def test_loops_do_not_depend_on_where_the_circle_is_cut():
    points = around(28, 3)
    costs = salient(features(points), 9, loop=True).cost_values
    rotated = np.concatenate((points[11:-1], points[:12]))
    np.testing.assert_allclose(salient(features(rotated), 9, loop=True).cost_values, costs, rtol=1e-9)


def test_the_two_ends_of_a_loop_are_one_pose():
    curve = features(around(20, 1))
    assert all(0 not in selection for selection in salient(curve, 6, loop=True, excluded=[20]))
    assert all(0 in selection for selection in salient(curve, 6, loop=True, pins=[20]))
    with raises(
        OptionError, option="excluded", problem=Pattern("^the first and the last frame of a loop are one pose")
    ):
        salient(curve, loop=True, pins=[0], excluded=[20])
    nearly = around(20, 1)
    nearly[-1] += 0.01
    with raises(OptionError, option="loop", problem=Pattern("^needs a last pose like the first; it is 0.02 away")):
        salient(features(nearly), loop=True)


def test_an_open_clip_is_no_loop():
    with raises(OptionError, option="loop", problem=Pattern("^needs a last pose like the first; it is 17.7")):
        salient(random_walk(50), loop=True)


def test_a_closed_clip_needs_no_special_care():
    ladder = salient(features(np.repeat(around(20), 2, axis=0)))
    assert np.isfinite(ladder.cost_values).all()


def test_long_takes_in_a_band():
    """Twenty minutes at 30 fps with a maximum gap: memory for the band, not for frames squared."""
    values = np.cumsum(RNG(1).normal(size=(36_000, 3)), axis=0)
    ladder = salient(features(values), 1300, max_gap_frames=30)
    assert ladder.counts[0] == 1201 and np.diff(ladder.at(1250).frames).max() <= 30


def test_too_much_memory_is_rejected_before_the_search():
    hint = Pattern("^give max_gap_frames= .*, fewer max_keys=")
    with raises(OptionError, code="too_much_memory", value=5_000_000, hint=hint):
        check_memory(5_000_000, 93, 4_999_999, 100, 2)
    with raises(OptionError, code="too_much_memory", value=10**9, hint=hint):
        check_memory(10**9, 1, 10, 100, 2)
    check_memory(432_000, 93, 240, 4000, 2)  # an hour at 120 fps, keys within two seconds
