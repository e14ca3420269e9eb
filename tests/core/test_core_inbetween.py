"""The search over lazily computed costs of in-betweens, against the slow search over all of them."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose import _core
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.rotations import exp
from reference import naive
from support.errors import Pattern, raises

SKELETON = kp.Skeleton(
    ("Hips", "Chest", "Arm", "Hand", "Leg"),
    [-1, 0, 1, 2, 0],
    [[0, 0, 0], [0, 9, 0], [4, 1, 0], [3, 0, 0], [0, -9, 0]],
)


def build_motion(frames: int, seed: int, case: str = "smooth") -> kp.Motion:
    rng = np.random.default_rng(seed)
    path = np.cumsum(np.cumsum(rng.normal(scale=0.02, size=(frames, 5, 6)), axis=0), axis=0)
    if case == "noise":
        path = rng.normal(scale=0.5, size=path.shape)
    if case == "still":
        path[:] = 0
    if case == "holds":
        path = path[np.maximum(0, np.arange(frames) - frames // 3)]
    shifts = path[..., 3:] * np.array([1, 0, 0, 0, 0])[:, None]  # the root alone moves
    return kp.Motion(case, SKELETON, 30.0, SKELETON.offsets + shifts, exp(path[..., :3]))


def full_table(costs: np.ndarray) -> np.ndarray:
    n, reach = costs.shape
    full = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(i + 1, min(n, i + reach + 1)):
            full[i, j] = costs[i, j - i - 1]
    return full


@pytest.mark.parametrize("case", ["smooth", "noise", "still", "holds"])
@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
@pytest.mark.parametrize(("measure", "total"), [("max", "max"), ("mean", "sum"), ("max", "sum")])
def test_every_number_of_keys_is_optimal(case, interpolation, measure, total):
    n, reach = 40, 17
    inbetween_costs = compute_inbetween_costs(build_motion(n, 3, case), interpolation=interpolation, measure=measure)
    table = inbetween_costs.build_table(reach)
    is_allowed, is_pinned = np.ones(n, np.uint8), np.zeros(n, np.uint8)
    is_pinned[[11, 30]] = 1
    is_allowed[5:9] = 0
    results = {}
    for threads in (1, 3):
        costs, keys = _core.inbetween_paths(
            *inbetween_costs.kernel_arguments, n, total == "sum", 2, reach, is_allowed, is_pinned, threads
        )
        results[threads] = (costs.tolist(), keys.tolist())
    assert results[1] == results[3]
    expected = naive.salient_costs(
        full_table(table.costs),
        n,
        total,
        min_gap=2,
        max_gap=reach,
        allowed=is_allowed.astype(bool),
        pinned=(11, 30),
    )
    actual = np.array(results[1][0]) * inbetween_costs.scale
    expected_costs = np.array([expected[m] for m in range(2, n + 1)])
    np.testing.assert_allclose(actual[2:], expected_costs, rtol=1e-9, atol=1e-9)
    assert np.isfinite(expected_costs).any() and np.isinf(expected_costs).any()


@pytest.mark.parametrize("max_keys", [9, 40])
def test_a_long_clip_is_searched_alike_by_bounds_and_by_the_whole_table(max_keys):
    costs = compute_inbetween_costs(kp.demo_motion(fps=60)[:400])
    n, reach = 400, 60
    flags = np.ones(n, np.uint8), np.zeros(n, np.uint8)
    lazy = _core.inbetween_paths(*costs.kernel_arguments, max_keys, False, 1, reach, *flags, 2)
    table = _core.table_paths(costs.build_table(reach, 2).costs, max_keys, False, 1, *flags, 2)
    assert lazy[1].tolist() == table[1].tolist()
    np.testing.assert_allclose(lazy[0], table[0], rtol=1e-12)


@pytest.mark.parametrize(("measure", "objective"), [("max", "max"), ("mean", "sum")])
@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
def test_a_cost_limit_changes_nothing_else(measure, objective, interpolation):
    options = {"cost": "inbetween", "measure": measure, "objective": objective, "interpolation": interpolation}
    motion = kp.demo_motion(fps=30)[:150]
    full = kp.ladder(motion, "salient", max_keys=40, **options)
    limit = full.costs[22] * 1.01
    cheap = kp.ladder(motion, "salient", max_keys=40, limit_mm=limit, **options)
    assert cheap.counts.tolist() == [n for n in full.counts.tolist() if full.costs[n] <= limit]
    top = kp.ladder(motion, "salient", max_keys=40, top_only=True, **options)
    assert top.counts[-1] == 40 and len(top.counts) < len(full.counts)
    for part in (cheap, top):
        for keys in part.counts.tolist():
            assert part.at(keys).frames.tolist() == full.at(keys).frames.tolist()
            assert part.costs[keys] == pytest.approx(full.costs[keys], rel=1e-12)
    with raises(kp.OptionError, code="no_selection", problem=Pattern("a cost of at most 1e-06 mm")):
        kp.ladder(motion, "salient", max_keys=20, limit_mm=1e-6, **options)


def test_two_keys_far_apart_take_no_time_for_the_gaps_between():
    motion = kp.demo_motion(fps=480)
    costs = compute_inbetween_costs(motion)
    expected = kp.score(motion, kp.unbake(motion, (0, motion.n_frames - 1), polish=False)).max_mm
    assert costs.span_costs(np.array([0, motion.n_frames - 1]))[0] == pytest.approx(expected, rel=1e-9)


def test_kernels_reject_bad_arguments():
    costs = compute_inbetween_costs(build_motion(9, 0))
    flags = np.ones(9, np.uint8), np.zeros(9, np.uint8)
    parents, translations, rotations, positions, weights, straight, mean = costs.kernel_arguments
    with pytest.raises(ValueError, match="some joint must count"):
        _core.inbetween_costs(parents, translations, rotations, positions, weights * 0, straight, mean, 3, 1)
    with pytest.raises(ValueError, match="one weight a joint"):
        _core.inbetween_costs(parents, translations, rotations, positions, weights[:2].copy(), straight, mean, 3, 1)
    with pytest.raises(ValueError, match="rotations must be"):
        _core.inbetween_costs(parents, translations, translations, positions, weights, straight, mean, 3, 1)
    with pytest.raises(ValueError, match="parents must come before"):
        _core.inbetween_costs(parents[::-1].copy(), translations, rotations, positions, weights, straight, mean, 3, 1)
    with pytest.raises(ValueError, match="max_keys"):
        _core.inbetween_paths(*costs.kernel_arguments, 99, False, 1, 8, *flags, 1)
    for keys, problem in (([0], "two keys"), ([0, 9], "no such frame"), ([4, 2], "must increase")):
        with pytest.raises(ValueError, match=problem):
            _core.inbetween_spans(*costs.kernel_arguments, np.array(keys, np.int32))


def test_a_loop_is_cut_at_the_best_frame():
    """On a circle the best keys are those of the best of all cuts."""
    angle = np.linspace(0, 2 * np.pi, 25)
    wobble = np.stack([np.sin(angle), np.cos(3 * angle + 0.4), np.sin(2 * angle)], axis=-1)
    rotations = exp(0.8 * wobble[:, None] * np.array([0.2, 0.5, 1, 0.3, 0.7])[:, None])
    shifts = np.zeros((25, 5, 3))
    shifts[:, 0] = wobble
    motion = kp.Motion("loop", SKELETON, 30.0, SKELETON.offsets + shifts, rotations)
    ladder = kp.ladder(motion, "salient", cost="inbetween", loop=True, max_keys=6)
    best = np.inf
    for start in range(24):
        around = np.append(np.arange(start, 24), np.arange(start + 1))
        cut = kp.Motion("cut", SKELETON, 30.0, motion.translations[around], motion.rotations[around])
        best = min(best, kp.ladder(cut, "salient", cost="inbetween", max_keys=6).costs[6])
    assert ladder.costs[5] == pytest.approx(best, rel=1e-9)
    cheap = kp.ladder(motion, "salient", cost="inbetween", loop=True, max_keys=6, limit_mm=ladder.costs[5])
    assert cheap.counts.tolist() == [n for n in ladder.counts.tolist() if ladder.costs[n] <= ladder.costs[5]]
    assert kp.ladder(motion, "salient", cost="inbetween", loop=True, max_keys=5, top_only=True).counts[-1] == 5
    with raises(kp.OptionError, option="loop", problem=Pattern("^needs a last pose like the first")):
        kp.ladder(motion[:20], "salient", cost="inbetween", loop=True)
