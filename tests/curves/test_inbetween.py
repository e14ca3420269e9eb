"""Linear in-betweens."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.curves import interpolate_linear
from keypose.errors import ModelError, OptionError
from keypose.rotations import angle_between
from support.errors import raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:90]


def test_keys_are_unchanged_and_with_all_frames_everything_is(motion):
    rebuilt = interpolate_linear(motion, [0, 20, 33, 89])
    for frame in (0, 20, 33, 89):
        np.testing.assert_array_equal(rebuilt.rotations[frame], motion.rotations[frame])
        np.testing.assert_array_equal(rebuilt.translations[frame], motion.translations[frame])
    np.testing.assert_array_equal(interpolate_linear(motion, range(90)).rotations, motion.rotations)


def test_between_keys_speed_is_constant(motion):
    rebuilt = interpolate_linear(motion, [10, 50])
    steps = np.diff(rebuilt.translations[10:51], axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[:1], steps.shape), atol=1e-9)
    angles = angle_between(rebuilt.rotations[10:50], rebuilt.rotations[11:51])
    np.testing.assert_allclose(angles, np.broadcast_to(angles[:1], angles.shape), atol=1e-6)
    total = angle_between(motion.rotations[10], motion.rotations[50])
    np.testing.assert_allclose(angles.sum(axis=0), total, atol=1e-6)  # the shorter way


def test_outside_the_keys_the_nearest_pose_holds(motion):
    rebuilt = interpolate_linear(motion, [30, 40])
    assert (rebuilt.rotations[:30] == motion.rotations[30]).all() and (
        rebuilt.rotations[41:] == motion.rotations[40]
    ).all()
    held = interpolate_linear(motion, [45])
    assert (held.translations == motion.translations[45]).all()


@pytest.mark.parametrize("keys", [[], [5, 5], [9, 3], [-1, 4], [0, 90]])
def test_bad_keys_are_rejected(motion, keys):
    with raises(OptionError, problem=f"keys {keys}", expected="increasing frames from 0 to 89"):
        interpolate_linear(motion, keys)


@pytest.mark.parametrize("keys", [[0.5, 3.0], "all"])
def test_keys_that_are_no_integers_are_rejected(motion, keys):
    with raises(ModelError, option="keys", expected="integers"):
        interpolate_linear(motion, keys)
