"""Tangents of cubics against dense least squares, one channel at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keypose.curves.cubic_fit import RIDGE, fit_cubics, fit_natural_spline, hermite_basis
from keypose.features import natural_spline
from keypose.model import Curves
from keypose.model.keyed_motion import SpanPosition
from reference import naive_inbetween as twin


def random_curves(frames: int, joints: int = 2, channels: int = 3, seed: int = 0) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(frames, joints, channels))
    return np.cumsum(np.cumsum(0.1 * steps, axis=0), axis=0)


def sample(curves: Curves, keys: np.ndarray, frames: int) -> np.ndarray:
    return curves.at(SpanPosition.locate(keys, np.arange(frames, dtype=float)))


@st.composite
def key_cases(draw: st.DrawFn) -> tuple[int, np.ndarray, int]:
    """A number of frames, keys among them, a seed."""
    frames = draw(st.integers(2, 40))
    keys = draw(st.sets(st.integers(0, frames - 1), min_size=2))
    return frames, np.array(sorted(keys), np.int32), draw(st.integers(0, 1000))


@given(key_cases())
@settings(max_examples=60, deadline=None)
def test_each_span_is_a_least_squares_fit(case):
    frames, keys, seed = case
    values = random_curves(frames, seed=seed)
    curves = fit_cubics(values, keys)
    np.testing.assert_array_equal(curves.values, values[keys])
    for n, (i, j) in enumerate(zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True)):
        for joint in range(2):
            for c in range(3):
                start, end = twin.fit_span_tangents(values[:, joint, c], i, j)
                assert curves.out_tangents[n, joint, c] == pytest.approx(start, rel=1e-7, abs=1e-9)
                assert curves.in_tangents[n + 1, joint, c] == pytest.approx(end, rel=1e-7, abs=1e-9)
    assert not curves.out_tangents[-1].any() and not curves.in_tangents[0].any()  # outside of the keys poses hold


@given(key_cases(), st.sampled_from([1e-4, 0.01, 1.0, math.inf]))
@settings(max_examples=60, deadline=None)
def test_coupled_tangents_match_dense_least_squares(case, penalty):
    frames, keys, seed = case
    values = random_curves(frames, joints=1, channels=2, seed=seed)
    shared = math.isinf(penalty)
    curves = fit_cubics(values, keys, shared=shared, jump_penalty=0.0 if shared else penalty)
    for c in range(2):
        tangents = twin.fit_all_tangents(values[:, 0, c], keys.tolist(), penalty, RIDGE)
        np.testing.assert_allclose(curves.out_tangents[:-1, 0, c], tangents[::2], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(curves.in_tangents[1:, 0, c], tangents[1::2], rtol=1e-6, atol=1e-8)
    if shared:
        np.testing.assert_array_equal(curves.out_tangents[1:-1], curves.in_tangents[1:-1])


def test_jump_penalty_goes_from_separate_to_shared_tangents():
    values, keys = random_curves(60), np.array([0, 7, 20, 31, 45, 59], np.int32)
    separate, shared = fit_cubics(values, keys), fit_cubics(values, keys, shared=True)
    jumps, errors = [], []
    for penalty in (0.0, 1e-3, 0.1, 10.0, 1e6):
        curves = fit_cubics(values, keys, jump_penalty=penalty)
        jumps.append(np.abs(curves.out_tangents - curves.in_tangents)[1:-1].max())
        errors.append(((sample(curves, keys, 60) - values) ** 2).sum())
    assert jumps == sorted(jumps, reverse=True) and jumps[-1] < 1e-4 * jumps[0]
    assert errors == sorted(errors)
    np.testing.assert_array_equal(fit_cubics(values, keys, jump_penalty=0.0).out_tangents, separate.out_tangents)
    np.testing.assert_allclose(curves.out_tangents, shared.out_tangents, atol=1e-3)


@given(key_cases())
@settings(max_examples=40, deadline=None)
def test_natural_tangents_match_the_natural_spline(case):
    frames, keys, seed = case
    values = random_curves(frames, seed=seed)
    expected = natural_spline(keys.astype(float), values[keys], np.arange(frames, dtype=float))
    np.testing.assert_allclose(sample(fit_natural_spline(values, keys), keys, frames), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"jump_penalty": 0.01}])
def test_a_cubic_is_reproduced(options):
    t = np.arange(50.0)
    values = np.stack((0.001 * (t - 20) ** 3 - 0.5 * t, 3 - 0.2 * t + 0.01 * t * t), axis=1)[:, None]
    for keys in ([0, 49], [0, 12, 49], [0, 3, 21, 22, 24, 49]):
        rebuilt = sample(fit_cubics(values, np.array(keys, np.int32), **options), np.array(keys), 50)
        # coupled tangents are pulled to the chord a little, so that all of them are determined
        np.testing.assert_allclose(rebuilt, values, atol=1e-9 if not options else 2e-4 * np.ptp(values))


def test_with_a_key_on_every_second_frame_nothing_is_lost():
    values = random_curves(41)
    keys = np.arange(0, 41, 2, dtype=np.int32)
    np.testing.assert_allclose(sample(fit_cubics(values, keys), keys, 41), values, atol=1e-12)


def test_one_key_and_two_neighbouring_keys():
    values = random_curves(9)
    single = fit_cubics(values, np.array([4], np.int32))
    assert not single.in_tangents.any() and not single.out_tangents.any()
    assert (sample(single, np.array([4]), 9) == values[4]).all()
    for options in ({}, {"shared": True}, {"jump_penalty": 0.1}):
        pair = fit_cubics(values, np.array([4, 5], np.int32), **options)
        np.testing.assert_allclose(pair.out_tangents[0], values[5] - values[4])
        np.testing.assert_allclose(pair.in_tangents[1], values[5] - values[4])
    straight = fit_natural_spline(values, np.array([2, 6], np.int32))
    np.testing.assert_allclose(straight.out_tangents[0], (values[6] - values[2]) / 4)


def test_still_channels_stay_still():
    values = random_curves(30)
    values[:, 1] = 0.1  # a number that has no short binary form
    keys = np.array([0, 8, 9, 11, 29], np.int32)
    for curves in (fit_cubics(values, keys), fit_cubics(values, keys, shared=True), fit_natural_spline(values, keys)):
        assert curves.still_joints().tolist() == [False, True]
        assert (sample(curves, keys, 30)[:, 1] == 0.1).all()


@pytest.mark.parametrize("gap", [1, 2, 5, 40])
def test_the_basis_is_that_of_a_cubic(gap):
    rise, start, end = hermite_basis(gap)
    for t in range(1, gap):
        assert rise[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 1, 0, 0))
        assert start[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 0, 1, 0))
        assert end[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 0, 0, 1))
    assert len(rise) == len(start) == len(end) == gap - 1
