"""Slopes of cubics: against dense least squares, one channel at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_inbetween as twin
from keypose.features.spline import natural_spline
from keypose.inbetween.fitted import RIDGE, basis, fitted, natural
from keypose.model import Curves
from keypose.model.curves import Place


def curves_of(frames: int, joints: int = 2, channels: int = 3, seed: int = 0) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(frames, joints, channels))
    return np.cumsum(np.cumsum(0.1 * steps, axis=0), axis=0)


def at(curves: Curves, keys: np.ndarray, frames: int) -> np.ndarray:
    return curves.at(Place.of(keys, np.arange(frames, dtype=float)))


@st.composite
def some_keys(draw: st.DrawFn) -> tuple[int, np.ndarray, int]:
    """A number of frames, keys among them, a seed."""
    frames = draw(st.integers(2, 40))
    keys = draw(st.sets(st.integers(0, frames - 1), min_size=2))
    return frames, np.array(sorted(keys), np.int32), draw(st.integers(0, 1000))


@given(some_keys())
@settings(max_examples=60, deadline=None)
def test_each_span_is_the_least_squares_fit_of_its_two_slopes(case):
    frames, keys, seed = case
    values = curves_of(frames, seed=seed)
    curves = fitted(values, keys)
    np.testing.assert_array_equal(curves.values, values[keys])
    for n, (i, j) in enumerate(zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True)):
        for joint in range(2):
            for c in range(3):
                start, end = twin.span_slopes(values[:, joint, c], i, j)
                assert curves.leaving[n, joint, c] == pytest.approx(start, rel=1e-7, abs=1e-9)
                assert curves.arriving[n + 1, joint, c] == pytest.approx(end, rel=1e-7, abs=1e-9)
    assert not curves.leaving[-1].any() and not curves.arriving[0].any()  # outside of the keys poses hold


@given(some_keys(), st.sampled_from([1e-4, 0.01, 1.0, math.inf]))
@settings(max_examples=60, deadline=None)
def test_coupled_slopes_are_a_dense_least_squares_problem(case, penalty):
    frames, keys, seed = case
    values = curves_of(frames, joints=1, channels=2, seed=seed)
    shared = math.isinf(penalty)
    curves = fitted(values, keys, shared=shared, jump_penalty=0.0 if shared else penalty)
    for c in range(2):
        slopes = twin.all_slopes(values[:, 0, c], keys.tolist(), penalty, RIDGE)
        np.testing.assert_allclose(curves.leaving[:-1, 0, c], slopes[::2], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(curves.arriving[1:, 0, c], slopes[1::2], rtol=1e-6, atol=1e-8)
    if shared:
        np.testing.assert_array_equal(curves.leaving[1:-1], curves.arriving[1:-1])


def test_a_jump_penalty_leads_from_separate_slopes_to_shared_ones():
    values, keys = curves_of(60), np.array([0, 7, 20, 31, 45, 59], np.int32)
    separate, one = fitted(values, keys), fitted(values, keys, shared=True)
    jumps, errors = [], []
    for penalty in (0.0, 1e-3, 0.1, 10.0, 1e6):
        curves = fitted(values, keys, jump_penalty=penalty)
        jumps.append(np.abs(curves.leaving - curves.arriving)[1:-1].max())
        errors.append(((at(curves, keys, 60) - values) ** 2).sum())
    assert jumps == sorted(jumps, reverse=True) and jumps[-1] < 1e-4 * jumps[0]
    assert errors == sorted(errors)
    np.testing.assert_array_equal(fitted(values, keys, jump_penalty=0.0).leaving, separate.leaving)
    np.testing.assert_allclose(curves.leaving, one.leaving, atol=1e-3)


@given(some_keys())
@settings(max_examples=40, deadline=None)
def test_natural_slopes_are_those_of_the_natural_spline(case):
    frames, keys, seed = case
    values = curves_of(frames, seed=seed)
    expected = natural_spline(keys.astype(float), values[keys], np.arange(frames, dtype=float))
    np.testing.assert_allclose(at(natural(values, keys), keys, frames), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"jump_penalty": 0.01}])
def test_a_cubic_is_found_again(options):
    t = np.arange(50.0)
    values = np.stack((0.001 * (t - 20) ** 3 - 0.5 * t, 3 - 0.2 * t + 0.01 * t * t), axis=1)[:, None]
    for keys in ([0, 49], [0, 12, 49], [0, 3, 21, 22, 24, 49]):
        rebuilt = at(fitted(values, np.array(keys, np.int32), **options), np.array(keys), 50)
        # coupled slopes are pulled to the chord a little, so that all of them are determined
        np.testing.assert_allclose(rebuilt, values, atol=1e-9 if not options else 2e-4 * np.ptp(values))


def test_with_a_key_on_every_second_frame_nothing_is_lost():
    values = curves_of(41)
    keys = np.arange(0, 41, 2, dtype=np.int32)
    np.testing.assert_allclose(at(fitted(values, keys), keys, 41), values, atol=1e-12)


def test_one_key_and_two_neighbouring_keys():
    values = curves_of(9)
    one = fitted(values, np.array([4], np.int32))
    assert not one.arriving.any() and not one.leaving.any()
    assert (at(one, np.array([4]), 9) == values[4]).all()
    for options in ({}, {"shared": True}, {"jump_penalty": 0.1}):
        two = fitted(values, np.array([4, 5], np.int32), **options)
        np.testing.assert_allclose(two.leaving[0], values[5] - values[4])
        np.testing.assert_allclose(two.arriving[1], values[5] - values[4])
    straight = natural(values, np.array([2, 6], np.int32))
    np.testing.assert_allclose(straight.leaving[0], (values[6] - values[2]) / 4)


def test_still_channels_stay_still():
    values = curves_of(30)
    values[:, 1] = 0.1  # a number that has no short binary form
    keys = np.array([0, 8, 9, 11, 29], np.int32)
    for curves in (fitted(values, keys), fitted(values, keys, shared=True), natural(values, keys)):
        assert curves.still().tolist() == [False, True]
        assert (at(curves, keys, 30)[:, 1] == 0.1).all()


@pytest.mark.parametrize("gap", [1, 2, 5, 40])
def test_the_basis_is_that_of_a_cubic(gap):
    climb, start, end = basis(gap)
    for t in range(1, gap):
        assert climb[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 1, 0, 0))
        assert start[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 0, 1, 0))
        assert end[t - 1] == pytest.approx(twin.hermite(t / gap, gap, 0, 0, 0, 1))
    assert len(climb) == len(start) == len(end) == gap - 1
