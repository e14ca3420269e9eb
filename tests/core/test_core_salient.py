"""The kernel of optimal keyframes against its slow twin: every number of keys, both totals, both measures."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

from keypose import _core
from reference import naive

CASES = [
    "walk",
    "noise",
    "far from the origin",
    "frames repeated",
    "constant",
    "two frames",
    "on a line",
    "closed loop",
]


def make_points(case: str, rng: np.random.Generator) -> np.ndarray:
    walk = np.cumsum(rng.normal(size=(int(rng.integers(3, 48)), int(rng.integers(1, 8)))), axis=0)
    points = {
        "noise": rng.normal(size=walk.shape),
        "far from the origin": walk + 1e4,
        "frames repeated": np.repeat(walk, 3, axis=0)[: len(walk) + 5],
        "constant": np.zeros_like(walk) + 3.0,
        "two frames": walk[:2],
        "on a line": np.outer(np.arange(len(walk)), np.ones(walk.shape[1])),
        "closed loop": np.concatenate((walk, walk[:1])),
    }
    return np.ascontiguousarray(points.get(case, walk))


def paths(points, max_keys, total, measure, *, min_gap=1, max_gap=None, allowed=None, pinned=(), threads=1):
    n = len(points)
    may = np.ones(n, np.uint8) if allowed is None else allowed.astype(np.uint8)
    must = np.zeros(n, np.uint8)
    must[list(pinned)] = 1
    reach = n - 1 if max_gap is None else max_gap
    return _core.salient_paths(
        points, max_keys, total == "sum", measure == "integrated", min_gap, reach, may, must, threads
    )


def by_count(keys: np.ndarray, max_keys: int) -> dict[int, list[int]]:
    starts = np.concatenate(([0], np.cumsum(np.arange(2, max_keys + 1))))
    return {m: keys[starts[m - 2] : starts[m - 1]].tolist() for m in range(2, max_keys + 1)}


def check(points, total, measure, **rules) -> None:
    max_keys = len(points)
    costs, keys = paths(points, max_keys, total, measure, **rules)
    expected = naive.salient_costs(naive.chord_costs(points, total, measure), max_keys, total, **rules)
    np.testing.assert_array_equal(np.isfinite(costs[2:]), np.isfinite(expected[2:]))
    result = np.isfinite(expected)
    diameter = float(((points - points.mean(axis=0)) ** 2).sum(axis=1).max()) * 4
    rooted = total == "sum" and measure == "largest"
    slack = 1e-7 * np.sqrt(diameter) * len(points) if rooted else 1e-14 * diameter * len(points)
    np.testing.assert_allclose(costs[result][1:], expected[result][1:], rtol=1e-9, atol=slack)
    for m, frames in by_count(keys, max_keys).items():
        if not result[m]:
            assert frames == [-1] * m
            continue
        gaps = np.diff(frames)
        assert frames[0] == 0 and frames[-1] == len(points) - 1 and (gaps >= rules.get("min_gap", 1)).all()
        assert (gaps <= (rules.get("max_gap") or len(points))).all() and set(rules.get("pinned", ())) <= set(frames)
        assert rules.get("allowed") is None or rules["allowed"][frames].all()
    repeated, same = paths(points, max_keys, total, measure, threads=2, **rules)
    np.testing.assert_array_equal(same, keys)
    np.testing.assert_array_equal(repeated, costs)


@pytest.mark.parametrize("measure", ["largest", "integrated"])
@pytest.mark.parametrize("total", ["max", "sum"])
@pytest.mark.parametrize("case", CASES)
def test_every_number_of_keys(case, total, measure):
    rng = np.random.default_rng(CASES.index(case))
    for _ in range(3):
        check(make_points(case, rng), total, measure)


@pytest.mark.parametrize("total", ["max", "sum"])
@pytest.mark.parametrize("seed", range(8))
def test_pins_gaps_and_excluded_frames(total, seed):
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(size=(40, 4)), axis=0)
    pinned = tuple(sorted(rng.choice(np.arange(1, 39), 2, replace=False).tolist()))
    allowed = rng.random(40) > 0.2
    allowed[[0, 39, *pinned]] = True
    min_gap = int(rng.integers(1, 4))
    check(points, total, "largest", pinned=pinned, allowed=allowed, min_gap=min_gap, max_gap=min_gap + 9)


@pytest.mark.one_python
def test_clips_longer_than_a_block_and_a_sample_on_any_number_of_threads():
    """Bounds by every 16th frame and blocks of 64 are used; the reported costs are those of the keys."""
    rng = np.random.default_rng(9)
    points = np.cumsum(rng.normal(size=(400, 9)), axis=0)
    edges = naive.chord_costs(points, "max", "largest")
    costs, keys = paths(points, 40, "max", "largest")
    for m, frames in by_count(keys, 40).items():
        own = max(edges[a, b] for a, b in itertools.pairwise(frames))
        assert own == pytest.approx(costs[m], rel=1e-9)
    best = np.where(np.arange(400) == 0, 0.0, np.inf)
    for m in range(2, 41):
        best = np.array([np.maximum(best[:j], edges[:j, j]).min() if j else np.inf for j in range(400)])
        assert costs[m] == pytest.approx(best[-1], rel=1e-9)
    for threads in (2, 3, 5):
        np.testing.assert_array_equal(paths(points, 40, "max", "largest", threads=threads)[1], keys)


@pytest.mark.parametrize("measure", ["largest", "integrated"])
@pytest.mark.parametrize("total", ["max", "sum"])
def test_little_memory_gives_the_same_keys(total, measure):
    """Distances window by window and parents stage by stage, as for an hour of motion, against all at once."""
    points = np.cumsum(np.random.default_rng(4).normal(size=(700, 5)), axis=0)
    flags = np.ones(700, np.uint8), np.zeros(700, np.uint8)
    rules = points, 90, total == "sum", measure == "integrated", 2, 37, *flags
    costs, keys = _core.salient_paths(*rules, 1)
    for threads in (1, 2):
        for little in ({"max_parents": 7000}, {"max_distances": 6000}, {"max_distances": 1, "max_parents": 1}):
            repeated, same = _core.salient_paths(*rules, threads, **little)
            np.testing.assert_array_equal(same, keys)
            np.testing.assert_array_equal(repeated, costs)
    assert np.isfinite(costs[21:]).all() and np.isinf(costs[:20]).all()


@pytest.mark.parametrize("seed", range(40))
def test_any_rules_on_any_number_of_threads(seed):
    """Strips without any path, which are many when few keys are possible, must not break the order of threads."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 700))
    points = np.cumsum(rng.normal(size=(n, 3)), axis=0)
    min_gap = int(rng.integers(1, 25))
    max_gap = int(rng.choice([n - 1, 3 * min_gap + 20]))
    allowed, pinned = np.ones(n, np.uint8), np.zeros(n, np.uint8)
    pinned[rng.integers(0, n, 2)] = rng.random() < 0.5
    max_keys = int(rng.integers(40, n))
    rules = points, max_keys, bool(seed % 2), False, min_gap, max_gap, allowed, pinned
    costs, keys = _core.salient_paths(*rules, 1)
    for threads in (2, 3, 4):
        repeated, same = _core.salient_paths(*rules, threads)
        np.testing.assert_array_equal(repeated, costs)
        np.testing.assert_array_equal(same, keys)


@pytest.mark.parametrize("little", [{}, {"max_distances": 1}])
@pytest.mark.parametrize("apart", [0.0, 1e-14, 1e-12, 1e-10, 1e-7, 1e-4])
def test_keys_that_nearly_coincide(apart, little):
    """The two ends of a loop that is not quite closed: distances from a line whose direction is ill-conditioned."""
    angle = np.linspace(0, 2 * np.pi, 51)[:, None]
    points = np.ascontiguousarray(np.column_stack((np.cos(angle), np.sin(angle), 0.3 * np.sin(2 * angle))))
    points[-1] = points[0] + [0.0, apart, 0.0]
    flags = np.ones(51, np.uint8), np.zeros(51, np.uint8)
    reach = 50
    for measure in ("largest", "integrated"):
        costs, _ = _core.salient_paths(points, 12, False, measure == "integrated", 1, reach, *flags, 1, **little)
        expected = naive.salient_costs(naive.chord_costs(points, "max", measure), 12, "max")
        np.testing.assert_allclose(costs[2:], expected[2:13], rtol=1e-9, atol=1e-14 * 4 * 50)


@pytest.mark.one_python
@pytest.mark.parametrize("corner", [70, 2000, 4095, 4096, 4120, 4160, 4800])
def test_parents_are_found_in_any_block(corner):
    """A path with two corners over more frames than one block bound covers: 64 blocks of 64."""
    corners = np.array([[0.0, 0, 0], [9, 1, 4], [2, 8, 1], [7, 7, 7]])
    at = [0, corner, 4900, 4999]
    points = np.concatenate(
        [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(corners[:-1], corners[1:], np.diff(at), strict=True)]
        + [corners[-1:]]
    )
    costs, keys = paths(np.ascontiguousarray(points), 4, "max", "largest", threads=2)
    assert by_count(keys, 4)[4] == at and costs[4] < 1e-12 < costs[3]


def test_long_takes_in_a_band_are_exact():
    rng = np.random.default_rng(11)
    n, gap = 4500, 24
    points = np.cumsum(rng.normal(size=(n, 3)), axis=0)
    table = np.zeros((n, gap))
    for g in range(2, gap + 1):
        start, along = points[: n - g], points[g:] - points[: n - g]
        square = (along**2).sum(axis=1)
        for t in range(1, g):
            off = points[t : n - g + t] - start
            off -= ((off * along).sum(axis=1) / square)[:, None] * along
            table[: n - g, g - 1] = np.maximum(table[: n - g, g - 1], (off**2).sum(axis=1))
    best = np.where(np.arange(n) == 0, 0.0, np.inf)
    expected = []
    for _ in range(2, 261):
        after = np.full(n, np.inf)
        for g in range(1, gap + 1):
            after[g:] = np.minimum(after[g:], np.maximum(best[:-g], table[: n - g, g - 1]))
        best = after
        expected.append(best[-1])
    costs, _ = paths(points, 260, "max", "largest", max_gap=gap, threads=2)
    np.testing.assert_array_equal(np.isfinite(costs[2:]), np.isfinite(expected))
    np.testing.assert_allclose(costs[2:][np.isfinite(expected)], np.array(expected)[np.isfinite(expected)], rtol=1e-9)


@pytest.mark.parametrize("total", ["max", "sum"])
def test_of_equal_costs_the_smallest_frames_win(total):
    points = np.zeros((700, 2))
    for threads in (1, 2, 3):
        _, keys = paths(points, 120, total, "largest", threads=threads)
        assert by_count(keys, 120)[5] == [0, 1, 2, 3, 699] and by_count(keys, 120)[120] == [*range(119), 699]


def test_an_interrupt_ends_the_work():
    """Ctrl-C in the middle of a long search raises KeyboardInterrupt quickly, on any number of threads."""
    code = """
import os, signal, threading, time, sys
import numpy as np
from keypose import _core
n = 6000
points = np.random.default_rng(0).normal(size=(n, 40))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    _core.salient_paths(points, n, True, False, 1, n - 1, np.ones(n, np.uint8), np.zeros(n, np.uint8), int(sys.argv[1]))
except KeyboardInterrupt:
    print("stopped", time.perf_counter() - start)
"""
    for threads in ("1", "2"):
        run = subprocess.run([sys.executable, "-c", code, threads], capture_output=True, text=True, timeout=60)
        assert run.stdout.startswith("stopped"), run.stderr
        assert float(run.stdout.split()[1]) < 5


def test_arguments_are_checked():
    points, flags = np.zeros((4, 2)), np.ones(4, np.uint8)
    for wrong in ((1, 1, 3), (5, 1, 3), (2, 0, 3), (2, 3, 2), (2, 4, 9), (2, 2**60, 2**61)):
        with pytest.raises(ValueError, match="must"):
            _core.salient_paths(points, wrong[0], False, False, wrong[1], wrong[2], flags, flags, 1)
    with pytest.raises(ValueError, match="flag"):
        _core.salient_paths(points, 2, False, False, 1, 3, flags[:3], flags, 1)
