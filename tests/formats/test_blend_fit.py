"""Fitted curves and retimed residuals of edited .blend files, without Blender."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.curves.cubic_fit import fit_cubics
from keypose.formats.blend.evaluated_curves import _find_strides, _fit_rotations, _refine_directions
from keypose.formats.blend.read_keyed import warp_residual
from keypose.model import Curves, Residual
from keypose.model.keyed_motion import SpanPosition
from keypose.rotations import angle_between, normalise

FRAMES = 40


def _detail(**timing) -> Residual:
    """Return a residual whose value at each frame is the frame number."""
    rotations = np.tile(np.arange(float(FRAMES))[:, None, None] / 1000, (1, 1, 3))
    return Residual(rotations, rotations, **timing)


def _slow_source(frame: float, before, after, rate: float) -> float:
    """Return the frame of the residual, span by span."""
    if frame <= after[0]:
        old = before[0] - rate * (after[0] - frame)
    elif frame >= after[-1]:
        old = before[-1] + rate * (frame - after[-1])
    else:
        k = next(k for k in range(len(after)) if after[k + 1] >= frame)
        part = (frame - after[k]) / (after[k + 1] - after[k])
        old = before[k] + part * (before[k + 1] - before[k])
    return min(max(old, 0.0), FRAMES - 1.0)


frames = st.integers(-30, 90)
pairs = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, FRAMES - 1), min_size=n, max_size=n, unique=True).map(sorted),
        st.lists(frames, min_size=n, max_size=n, unique=True).map(sorted),
    )
)


@given(pairs, st.sampled_from((0.5, 1.0, 2.0)), st.integers(1, 80))
def test_detail_follows_keys_and_goes_on_beyond_them(moved, rate, n_frames):
    before, after = (np.array(part, float) for part in moved)
    result = warp_residual(_detail(), before, after, rate, n_frames).source_frames(np.arange(float(n_frames)))
    expected = [_slow_source(frame, before, after, rate) for frame in range(n_frames)]
    np.testing.assert_allclose(result, expected, atol=1e-4)  # frames a millionth apart are one


@given(pairs, pairs)
def test_detail_that_was_moved_twice(first, second):
    """Two retimings equal their composition, also between the keys of the second one."""
    before, after = (np.array(part, float) for part in first)
    once = warp_residual(_detail(), before, after, 1.0, FRAMES)
    again, later = (np.array(part, float) for part in second)
    twice = warp_residual(once, again, later, 1.0, FRAMES)
    at = np.arange(float(FRAMES))
    came_from = np.array([_map_frame(frame, again, later) for frame in at])
    np.testing.assert_allclose(twice.source_frames(at), once.source_frames(came_from), atol=1e-3)


def _map_frame(frame: float, before, after) -> float:
    beyond = min(0.0, frame - after[0]) + max(0.0, frame - after[-1])
    return float(np.interp(frame, after, before) + beyond)


def test_detail_of_keys_that_stayed_is_the_very_same():
    detail, keys = _detail(), np.array([0.0, 9.0])
    assert warp_residual(detail, keys, keys, 1.0, 99) is detail


def _random_cubic(rng: np.random.Generator, gap: int, wild: float) -> Curves:
    """Return a quaternion cubic through unit keys with any length between them."""
    ends = normalise(rng.normal(size=(1, 1, 4)) + rng.normal(0, 0.3, (2, 1, 4)))
    tangents = rng.normal(0, wild / gap, (2, 2, 1, 4))
    return Curves(ends, tangents[0], tangents[1])


@pytest.mark.parametrize("seed", range(8))
def test_directions_are_fitted_whatever_the_lengths(seed):
    """From the directions of a cubic alone, a cubic with the same directions is found; the plain fit is far off."""
    gap = 24
    keys, at = np.array([0, gap], np.int32), np.arange(gap + 1.0)
    curves = _random_cubic(np.random.default_rng(seed), gap, wild=1.0)
    unit = normalise(curves.at(SpanPosition.locate(keys, at)))

    def error(result: Curves) -> float:
        return float(np.rad2deg(angle_between(normalise(result.at(SpanPosition.locate(keys, at))), unit)).max())

    plain = fit_cubics(unit, keys)
    assert error(_refine_directions(plain, unit, keys)) < 0.2 * error(plain)


def test_a_cubic_of_any_length_stays_unchanged():
    """With quaternions of length 1 at the keys the tangents stay unchanged bit by bit."""
    keys = np.array([0, 24], np.int32)
    curves = _random_cubic(np.random.default_rng(3), 24, wild=1.0)
    rotations = curves.at(SpanPosition.locate(keys, np.arange(25.0)))
    result = _fit_rotations(rotations, curves, keys)
    assert np.array_equal(result.in_tangents, curves.in_tangents)
    assert np.array_equal(result.out_tangents, curves.out_tangents)


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 30))
def test_strides_are_few_and_short_enough(start, stop, longest):
    frames = _find_strides(start, stop, lambda a, b: abs(a - b) <= longest)
    steps = np.diff(frames)
    assert (frames[0], frames[-1]) == (start, stop)
    assert np.abs(steps).max() <= longest
    assert len(steps) == max(1, -(-abs(stop - start) // longest))
    assert start == stop or (np.sign(steps) == np.sign(stop - start)).all()
