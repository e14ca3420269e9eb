"""Errors in millimetres on a figure of 1.7 m."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.inbetween import linear
from keypose.metrics import position_errors_mm


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:60]


def test_a_motion_is_no_distance_from_itself(motion):
    score = kp.score(motion, motion)
    assert score.mean_mm == score.p95_mm == score.max_mm == 0.0
    assert score.per_joint_mm.shape == (motion.n_joints,) and score.per_frame_mm.shape == (60,)


def test_a_shift_is_what_it_is_on_a_figure_of_170_cm(motion):
    shifted = motion.translations.copy()
    shifted[:, 0, 0] += 0.01 * motion.height
    score = kp.score(motion, dataclasses.replace(motion, translations=shifted))
    assert score.mean_mm == pytest.approx(17.0) and score.max_mm == pytest.approx(17.0)
    np.testing.assert_allclose(score.per_joint_mm, 17.0)


def test_the_figures_belong_together(motion):
    rebuilt = linear(motion, [0, 25, 59])
    errors = position_errors_mm(motion, rebuilt)
    score = kp.score(motion, rebuilt)
    assert 0 < score.mean_mm < score.p95_mm < score.max_mm
    world, other = motion.world_positions(), rebuilt.world_positions()
    off = np.linalg.norm(other[7, 3] - world[7, 3]) * 1700 / motion.height
    assert errors[7, 3] == pytest.approx(off)
    assert score.p95_mm == pytest.approx(np.sort(errors.ravel())[int(0.95 * errors.size)], rel=0.02)
    np.testing.assert_allclose(score.per_frame_mm, errors.mean(axis=1))
    np.testing.assert_allclose(score.per_joint_mm, errors.mean(axis=0))


def test_keys_are_scored_with_straight_in_betweens(motion):
    keys = kp.select(motion, keys=7)
    assert kp.score(motion, keys).max_mm == kp.score(motion, linear(motion, keys.frames)).max_mm
    with pytest.raises(OptionError, match="list, expected a Motion or a Selection"):
        kp.score(motion, [0, 20, 59])


def test_motions_that_cannot_be_compared(motion):
    with pytest.raises(OptionError, match=r"60 frames.*30"):
        kp.score(motion, motion[:30])
    names = tuple(f"j{i}" for i in range(motion.n_joints))
    other = dataclasses.replace(motion, skeleton=dataclasses.replace(motion.skeleton, names=names))
    with pytest.raises(OptionError, match="different joints"):
        kp.score(motion, other)
