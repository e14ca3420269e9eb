"""Keys at preferred frames: against every selection of short inputs, for every kind of input and constraint."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import keypose as kp
from keypose import _core
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.methods.salient import COST_PENALTY, NEAR_PENALTY, PreferredSearch, compute_missed_weights, salient
from keypose.model import EdgeCosts, Features
from reference import naive

N = 13
SLACK = 1.3
MOTION = kp.demo_motion(fps=15)[40 : 40 + N]
POINTS = MOTION.world_positions().reshape(N, -1)


def edges(seed: int) -> np.ndarray:
    """Return random costs that grow with the gap."""
    gaps = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    return gaps * np.random.default_rng(seed).uniform(0.5, 1.5, (N, N))


def source(kind: str):
    """Return the input of the search and its costs (N, N)."""
    if kind == "edges":
        costs = edges(3)
        table = np.array([[costs[i, min(i + gap, N - 1)] for gap in range(1, N)] for i in range(N)])
        return EdgeCosts(N, N - 1, table), costs
    if kind == "inbetween":
        costs = np.zeros((N, N))
        inbetween = compute_inbetween_costs(MOTION)
        for i, j in itertools.combinations(range(N), 2):
            costs[i, j] = inbetween.span_costs(np.array([i, j]))[0]
        return inbetween, costs
    chords = naive.chord_costs(POINTS, "max", "integrated" if kind == "integrated" else "largest")
    return Features(POINTS, 15.0), chords if kind == "integrated" else np.sqrt(chords)


CONSTRAINTS = {
    "none": {},
    "pins": {"pins": (4, 9)},
    "excluded": {"excluded": (2, 3, 6)},
    "gaps": {"min_gap_frames": 2, "max_gap_frames": 5},
}


def is_allowed(keys, *, pins=(), excluded=(), min_gap_frames=1, max_gap_frames=N) -> bool:
    gaps = np.diff(keys)
    is_free = set(pins) <= set(keys) and not set(excluded) & set(keys)
    return is_free and gaps.min() >= min_gap_frames and gaps.max() <= max_gap_frames


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("kind", ["chord", "integrated", "inbetween", "edges"])
def test_the_search_finds_the_best_of_all_selections(kind: str, constraint: str) -> None:
    features, costs = source(kind)
    rules = CONSTRAINTS[constraint]
    options = {"cost": kind} if kind in ("chord", "integrated") else {}
    weights = np.zeros(N)
    weights[[3, 5, 8, 10]] = 0.2, 0.7, 0.3, 0.4
    for n_keys, near in ((5, 1.0), (6, 2.4), (7, 0.5)):
        keys = salient(features, n_keys, **options, **rules).at(n_keys).frames
        limit = SLACK * max(costs[i, j] for i, j in itertools.pairwise(keys.tolist())) * (1 + 1e-9)
        search = PreferredSearch(features, keys, weights, near, slack=SLACK, **options, **rules)
        for forbidden in ((), (search.find()[:2],)):
            for start, stop in forbidden:
                search.forbid(int(start), int(stop))
            spans = {tuple(map(int, pair)) for pair in forbidden}
            penalties = {
                (0, *inner, N - 1): naive.preferred_penalty(
                    (0, *inner, N - 1), costs, limit, weights, near, NEAR_PENALTY, COST_PENALTY
                )
                for inner in itertools.combinations(range(1, N - 1), n_keys - 2)
                if is_allowed((0, *inner, N - 1), **rules) and not spans & set(itertools.pairwise((0, *inner, N - 1)))
            }
            best = min(penalties.values(), default=np.inf)
            found = search.find()
            if best == np.inf:
                assert found is None
            else:
                assert penalties[tuple(found.tolist())] == pytest.approx(best, rel=1e-6)
                assert search.cost(found) <= limit


def test_keys_move_to_preferred_frames_within_the_costs() -> None:
    times = np.linspace(0, 1, 101)
    points = np.stack([np.sin(2 * np.pi * times), times], axis=1)
    features = Features(points, 30.0)
    keys = salient(features, 9).at(9).frames
    weights = np.zeros(101)
    weights[[25, 75]] = 1.0
    search = PreferredSearch(features, keys, weights, 2.0, slack=1.05)
    found = search.find()
    assert {25, 75} <= set(found.tolist()) and len(found) == 9
    assert search.cost(found) <= 1.05 * search.cost(keys)
    assert not {25, 75} <= set(keys.tolist())


def test_selections_can_run_out() -> None:
    features = Features(np.arange(4.0)[:, None] ** 2, 30.0)
    search = PreferredSearch(features, np.array([0, 1, 3], np.int32), np.ones(4), 1.0, slack=10.0)
    assert search.find() is not None
    for start, stop in ((0, 1), (0, 2)):
        search.forbid(start, stop)
    assert search.find() is None


def test_costs_without_errors_need_no_limit() -> None:
    features = Features(np.ones((21, 1)), 30.0)
    weights = np.zeros(21)
    weights[7] = 1.0
    search = PreferredSearch(features, np.array([0, 10, 20], np.int32), weights, 2.0)
    assert search.find().tolist() == [0, 7, 20]


@pytest.mark.parametrize("near", [0.5, 1.0, 2.5, 4.0, 30.0])
def test_missed_weights_are_those_of_the_twin(near: float) -> None:
    weights = np.random.default_rng(1).uniform(0, 1, 16) * (np.arange(16) % 3 > 0)
    penalties = compute_missed_weights(weights, near, 15)
    for i, j in itertools.combinations(range(16), 2):
        inside = weights.copy()
        inside[: i + 1] = inside[j:] = 0
        expected = naive.preferred_penalty((i, j), np.zeros((16, 16)), 0.0, inside, max(near, 1e-9), NEAR_PENALTY, 0.0)
        assert penalties[i, j - i - 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_costs_within_a_limit(threads: int) -> None:
    points = np.cumsum(np.random.default_rng(2).normal(size=(90, 6)), axis=0)
    pinned = np.zeros(90, np.uint8)
    pinned[40] = 1
    expected = naive.chord_costs(points, "max", "largest")
    for limit in (np.inf, float(np.median(expected))):
        costs = _core.chord_costs_within(points, False, 30, pinned, limit, threads)
        for i, j in itertools.combinations(range(90), 2):
            if j - i <= 30:
                is_valid = not i < 40 < j and expected[i, j] <= limit
                assert costs[i, j - i - 1] == (pytest.approx(expected[i, j], rel=1e-9) if is_valid else np.inf)
    assert np.isinf(costs[89]).all()
    for wrong in ((0, pinned), (90, pinned), (30, pinned[:5])):
        with pytest.raises(ValueError):
            _core.chord_costs_within(points, False, wrong[0], wrong[1], 1.0, 1)


def test_costs_can_be_limited_later() -> None:
    features, costs = source("chord")
    keys = salient(features, 6).at(6).frames
    weights = np.where(np.arange(N) % 2, 1.0, 0.0)
    search = PreferredSearch(features, keys, weights, 0.5, slack=2.0)
    unlimited = search.find()
    limit = search.cost(keys)
    assert search.cost(unlimited) > limit
    expensive = [(i, j) for i, j in itertools.pairwise(unlimited.tolist()) if costs[i, j] > limit]
    search.limit_costs(limit * (1 + 1e-9), expensive)
    assert search.find().tolist() == unlimited.tolist()
    search.limit_costs(limit * (1 + 1e-9), ())
    assert search.cost(search.find()) <= limit * (1 + 1e-9)
