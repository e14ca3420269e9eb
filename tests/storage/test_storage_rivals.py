"""The alternatives in the storage benchmark stay within the bound at which they are measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.storage import acl_like, fitted_keys
from benchmarks.storage.bits import BitReader, pack_bits
from benchmarks.storage.figure import largest_error_mm

import keypose as kp
from keypose.storage.error import largest_error

TOLERANCES_MM = (0.1, 1.0, 5.0)


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:80]


def test_numbers_come_back_from_their_bits():
    rng = np.random.default_rng(1)
    widths = rng.integers(0, 33, 200)
    numbers = np.array([rng.integers(0, 1 << width) for width in widths.tolist()])
    data = pack_bits(numbers, widths)
    assert len(data) == (widths.sum() + 7) // 8
    np.testing.assert_array_equal(BitReader(data).read_ints(widths), numbers)


def test_both_measures_agree(motion):
    turned = motion.rotations + np.random.default_rng(2).normal(0, 1e-3, motion.rotations.shape)
    other = replace(motion, rotations=turned / np.linalg.norm(turned, axis=-1, keepdims=True))
    assert largest_error_mm(motion, other) == pytest.approx(largest_error(motion, other).mm, rel=1e-9)


@pytest.mark.parametrize("tolerance_mm", TOLERANCES_MM)
def test_acl_like_keeps_its_bound_and_uses_it(motion, tolerance_mm):
    error = largest_error_mm(motion, acl_like.decode(acl_like.encode(motion, tolerance_mm), motion))
    assert 0.5 * tolerance_mm < error <= tolerance_mm


def test_acl_like_stays_within_its_bound_through_half_turns(motion):
    """There w is close to 0 and cannot be computed from x, y and z."""
    angles = np.linspace(0.9 * np.pi, 1.1 * np.pi, motion.n_frames)
    rotation_vectors = motion.rotations.copy()
    rotation_vectors[:, 0] = np.stack((np.cos(angles / 2), 0 * angles, np.sin(angles / 2), 0 * angles), axis=1)
    rotating_motion = replace(motion, rotations=rotation_vectors)
    assert (
        largest_error_mm(rotating_motion, acl_like.decode(acl_like.encode(rotating_motion, 0.1), rotating_motion))
        <= 0.1
    )


def test_acl_like_of_one_frame(motion):
    first = motion[:1]
    assert largest_error_mm(first, acl_like.decode(acl_like.encode(first, 1.0), first)) <= 1.0


@pytest.mark.parametrize("tolerance_mm", TOLERANCES_MM)
def test_fitted_keys_stay_within_their_bound(motion, tolerance_mm):
    result = fitted_keys.store(motion, tolerance_mm)
    assert result.error_mm <= tolerance_mm
    assert 2 <= result.n_keys < motion.n_frames
