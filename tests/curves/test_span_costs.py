"""Costs of in-betweens, computed in C++, against a slow twin that samples one channel of one frame at a time."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import keypose as kp
from keypose.curves.cubic_fit import build_channels, compute_inbetween_costs
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.metrics import position_errors_mm
from keypose.rotations import exp
from reference import naive_inbetween as twin

WEIGHTS = {"Hips": 1.0, "Chest": 0.25, "Head": 4.0}
SKELETON = kp.Skeleton(
    ("Hips", "Chest", "Head", "Tail"),
    [-1, 0, 1, 0],
    [[0, 0, 0], [0, 9, 0], [0, 4, 1], [0, -5, -3]],
    end_offsets=[[0, 2, 0]],
    end_joints=[2],
)


def build_motion(frames: int, seed: int = 0) -> kp.Motion:
    rng = np.random.default_rng(seed)
    path = np.cumsum(np.cumsum(rng.normal(scale=0.03, size=(frames, 4, 6)), axis=0), axis=0)
    signs = rng.choice([-1.0, 1.0], size=(frames, 4, 1))
    return kp.Motion("made", SKELETON, 60.0, SKELETON.offsets + path[..., 3:], signs * exp(path[..., :3]))


def naive_cost(motion: kp.Motion, i: int, j: int, interpolation: str, weights: np.ndarray) -> float:
    """In mm; weights are on the squared errors."""
    channels = build_channels(motion)
    if interpolation == "linear":
        off = twin.slerp_span_error(motion, i, j, np.sqrt(weights))
    else:
        off = twin.fitted_span_error(motion, channels.translations, channels.rotations, i, j, np.sqrt(weights))
    return motion.mm_per_unit * off


@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_span_costs_its_largest_error(interpolation, is_weighted, threads):
    motion, max_gap = build_motion(14, 1), 9
    joints, named_weights = (list(WEIGHTS), WEIGHTS) if is_weighted else ("all", None)
    costs = compute_inbetween_costs(motion, joints, named_weights, interpolation=interpolation)
    weights = np.array([*WEIGHTS.values(), 0.0]) if is_weighted else np.ones(4)
    table = costs.build_table(max_gap, threads)
    for i in range(14):
        for j in range(i + 1, min(14, i + max_gap + 1)):
            expected = naive_cost(motion, i, j, interpolation, weights)
            assert table.costs[i, j - i - 1] == pytest.approx(expected, rel=1e-6, abs=1e-7), (i, j)
            assert costs.span_costs([i, j])[0] == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
def test_costs_are_the_errors_of_the_exported_curves(interpolation):
    motion, keys = build_motion(90, 2), np.array([0, 1, 3, 20, 50, 51, 89], np.int32)
    keyed = build_keyed_motion(motion, keys, interpolation)
    errors = position_errors_mm(motion, keyed.sample())
    spans = compute_inbetween_costs(motion, interpolation=interpolation).span_costs(keys)
    expected = [errors[i : j + 1].max() for i, j in pairwise(keys.tolist())]
    np.testing.assert_allclose(spans, expected, rtol=1e-6, atol=1e-6)
    means = compute_inbetween_costs(motion, interpolation=interpolation, measure="mean").span_costs(keys)
    assert means.sum() == pytest.approx(errors.mean(), rel=1e-6)


@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
def test_ladder_costs_match_the_score_of_the_keyed_motion(interpolation):
    motion = kp.demo_motion(fps=30)[:120]
    ladder = kp.ladder(motion, "salient", cost="inbetween", interpolation=interpolation, max_keys=30)
    for count in (12, 20, 30):
        keyed = kp.unbake(motion, ladder.at(count), interpolation=interpolation, polish=False, jump_penalty=0.0)
        assert kp.score(motion, keyed).max_mm == pytest.approx(ladder.costs[count], rel=1e-6)


def test_no_other_keys_are_closer():
    """Every way to place three keys between the ends of a short clip."""
    motion = build_motion(16, 5)
    costs = compute_inbetween_costs(motion).build_table(15)
    off = {(i, j): costs.costs[i, j - i - 1] for i in range(16) for j in range(i + 1, 16)}
    best = min(
        max(off[0, a], off[a, b], off[b, c], off[c, 15])
        for a in range(1, 13)
        for b in range(a + 1, 14)
        for c in range(b + 1, 15)
    )
    ladder = kp.ladder(motion, "salient", cost="inbetween", max_keys=5, max_gap_frames=15)
    assert ladder.costs[5] == pytest.approx(best, rel=1e-6)


def test_a_turn_that_moves_nothing_costs_nothing():
    motion = build_motion(30, 6)
    rotations = motion.rotations.copy()
    rotations[:, 2] = exp(np.random.default_rng(0).normal(size=(30, 3)))  # the head, on which no joint hangs
    other = dataclasses.replace(motion, rotations=rotations)
    keys = [0, 11, 29]
    np.testing.assert_allclose(
        compute_inbetween_costs(other).span_costs(keys), compute_inbetween_costs(motion).span_costs(keys), rtol=1e-9
    )
