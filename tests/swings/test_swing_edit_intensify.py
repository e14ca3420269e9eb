"""Intensify: scale the motion of a joint about its mean, however far it rotates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from keypose.errors import OptionError
from keypose.swings import KeyedSpan, Track
from keypose.swings.edit import SwingEdit
from keypose.swings.fallback import mean_rotation, span_mean_rotations
from reference import naive_swings_edit as twin
from support.errors import raises
from support.swing_edit_cases import ARM, OTHER, X, Z, assert_same_rotation, edit, rotation_at


def test_intensify_scales_all_that_a_joint_does_about_its_mean():
    e = edit(**{ARM: [(5, 14, X, 40), (20, 29, X, 10)], OTHER: [[(0, X, 0), (10, X, 20), (30, X, -20)]]})
    mean = twin.rotate((1, 0, 0, 0), X, math.radians(30))
    arm = e.swings.skeleton.joint(ARM)
    e = SwingEdit(e.swings.replace_tracks({arm: replace(e.swings.tracks[arm], mean_rotation=np.array(mean))}))
    e.intensify((ARM, OTHER), 1.5)
    assert math.isclose(e.swings[ARM][0].angle_deg, 60) and math.isclose(e.swings[ARM][1].angle_deg, 15)
    # from 0 and 40 degrees, 30 being the mean
    assert_same_rotation(twin.rotate((1, 0, 0, 0), X, math.radians(-15)), e.swings[ARM][0].start_rotation)
    assert_same_rotation(twin.rotate((1, 0, 0, 0), X, math.radians(45)), e.swings[ARM][0].end_rotation)
    keys = e.swings.track(OTHER).keyed[0].rotations
    for rotation, degrees in zip(keys, (0, 30, -30), strict=True):
        assert_same_rotation(rotation, twin.rotate((1, 0, 0, 0), X, math.radians(degrees)))
    e.intensify(ARM, 0)
    for frame in (0, 10, 20, 50):
        assert_same_rotation(rotation_at(e, frame), mean)


def test_keys_that_get_far_apart_get_keys_between_them():
    e = edit(**{OTHER: [[(0, X, -70), (20, X, 70), (40, X, -70)]]})
    e.intensify(OTHER, 1.5)
    top, low = twin.rotate((1, 0, 0, 0), X, math.radians(70)), twin.rotate((1, 0, 0, 0), X, math.radians(-70))
    assert len(e.swings.track(OTHER).keyed[0].frames) == 5
    assert twin.angle_of(rotation_at(e, 10, OTHER), top) > math.radians(50)
    assert twin.angle_of(rotation_at(e, 20, OTHER), rotation_at(e, 40, OTHER)) < twin.angle_of(top, low) * 1.5
    steps = [twin.angle_of(rotation_at(e, frame, OTHER), rotation_at(e, frame + 1, OTHER)) for frame in range(40)]
    assert np.allclose(steps, math.radians(10.5), rtol=0.01)  # 1.5 times 7 degrees, evenly


def spin_head(total: float, lean: float, n: int = 80):
    """Keys on every frame of a head that turns evenly by so many degrees, leaning more and less meanwhile."""
    keys = []
    for frame in range(n):
        round_z = twin.rotate((1, 0, 0, 0), Z, math.radians(total) * frame / (n - 1))
        keys.append(twin.rotate(round_z, X, math.radians(lean) * (1 + math.sin(0.21 * frame))))
    still = twin.build_swings({}, n_frames=n)
    track = Track.build("Head", mean_rotation(np.array(keys)), keyed=(KeyedSpan(np.arange(n), np.array(keys)),))
    return still.replace_tracks({still.skeleton.joint("Head"): track})


@pytest.mark.parametrize("lean", (0.0, 10.0))
@pytest.mark.parametrize("total", (150, 299, 400, 720, 800, 1080))
def test_intensify_does_not_tear_keys_that_turn_far(total, lean):
    swings = spin_head(total, lean)
    e, head = SwingEdit(swings), swings.skeleton.joint("Head")
    e.intensify("Head", 1.2)
    before, after = twin.largest_step(swings.play(), head), twin.largest_step(e.swings.play(), head)
    assert 1.1 * before < after < 1.21 * before
    if not lean:  # about the middle of the turn
        for frame in (0, 30, 79):
            expected = twin.rotate((1, 0, 0, 0), Z, math.radians(total) * (0.5 + 1.2 * (frame / 79 - 0.5)))
            assert_same_rotation(rotation_at(e, frame, "Head"), expected, 1e-6)


def test_the_mean_of_a_long_turn_is_its_middle():
    rotations = np.array([twin.rotate((1, 0, 0, 0), X, math.radians(degrees)) for degrees in range(300)])
    middle = twin.rotate((1, 0, 0, 0), X, math.radians(149.5))
    assert_same_rotation(mean_rotation(rotations), middle)
    both = np.stack((rotations, rotations[::-1]), axis=1)
    assert_same_rotation(mean_rotation(both)[1], middle)
    means = span_mean_rotations(both, np.array((0, 0, 1)), np.array((0, 0, 0)), np.array((299, 99, 99)))
    for mean, degrees in zip(means, (149.5, 49.5, 249.5), strict=True):
        assert_same_rotation(mean, twin.rotate((1, 0, 0, 0), X, math.radians(degrees)))
    full_turns = np.array([twin.rotate((1, 0, 0, 0), X, math.radians(degrees)) for degrees in range(0, 720, 5)])
    assert_same_rotation(mean_rotation(full_turns), twin.rotate((1, 0, 0, 0), X, math.radians(360)))


def test_intensify_leaves_hips_alone_unless_they_are_named():
    rows = {"Hips": [(5, 14, X, 20)], "LeftUpLeg": [(5, 14, X, 20)]}
    e = edit(**rows)
    e.intensify("body", 2)
    assert math.isclose(e.swings["hips"][0].angle_deg, 20) and math.isclose(e.swings["left_thigh"][0].angle_deg, 40)
    e.intensify(("hips", "arms"), 2)
    assert math.isclose(e.swings["hips"][0].angle_deg, 40) and math.isclose(e.swings["left_thigh"][0].angle_deg, 40)
    with raises(OptionError, value="arms", problem="'arms': neither a swing nor a key"):
        e.intensify("arms", 2)
