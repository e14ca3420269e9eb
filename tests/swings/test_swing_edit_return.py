"""Edited joints return to the capture within a second, or the change says where they do not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks.swings.edits import try_random_edits

import keypose as kp
from keypose.errors import OptionError
from keypose.rotations import angle_between
from keypose.swings.edit import Displacement
from support.errors import raises
from support.swing_edit_cases import ARM, X, Y, edit

OPERATIONS = ("scale", "set_angle", "set_axis", "turn_axis", "shift", "lengthen", "shorten", "delete", "copy", "retime")
CLIPS = (
    "02_07_sword", "07_05_walk", "09_01", "131_04_dance-hop", "135_07_kicking", "38_03_run-circle", "49_02_jump-hop",
    "49_06_cartwheel", "86_01_mixed-jumps-kicks-punches", *(f"swings/{name}" for name in (
        "09_02", "09_03", "118_01", "127_03", "141_04", "16_02", "16_05", "16_09", "16_45", "35_18", "35_20", "49_04")),
)  # fmt: skip
MAX_FRAMES = 1500


def assert_none_is_silent(motion: kp.Motion, n_edits: int, seed: int) -> None:
    outcomes = list(try_random_edits(motion, n_edits, seed))
    assert not [outcome for outcome in outcomes if outcome.outcome == "silent"]
    counts = Counter(outcome.outcome for outcome in outcomes)
    assert counts["returns"] >= 0.6 * n_edits, counts
    assert {outcome.operation for outcome in outcomes} == set(OPERATIONS)


@pytest.mark.parametrize("seed", range(3))
def test_edits_of_the_demo_return(seed):
    assert_none_is_silent(kp.demo_motion(fps=60), 20, seed)


@pytest.mark.data
@pytest.mark.parametrize("clip", CLIPS)
def test_edits_of_real_clips_return(data_dir, clip):
    motion = kp.load(data_dir / "cmu120" / f"{clip}.bvh")
    assert_none_is_silent(motion[:MAX_FRAMES], len(OPERATIONS), seed=CLIPS.index(clip))


def test_a_joint_returns_after_the_last_swing():
    e = edit(**{ARM: [(5, 14, X, 60)]})
    before = e.swings.play().rotations
    change = e.scale(e.swings[ARM][0], 1.5)
    after = e.swings.play().rotations
    returned = angle_between(before, after)[:, e.swings.skeleton.joint(ARM)] < 1e-9
    assert not returned[14:30].any() and returned[14 + 30 :].all() and change.displacements == ()


def test_delete_the_only_swing():
    e = edit(**{ARM: [(25, 30, X, 60)]})
    before = e.swings.play().rotations
    change = e.delete(ARM)
    assert angle_between(before[[0, -1]], e.swings.play().rotations[[0, -1]]).max() < 1e-9
    assert change.displacements == () and not e.swings[ARM]


def test_a_joint_without_time_is_reported_with_numbers():
    e = edit(**{ARM: [(5, 14, X, 60), (50, 59, Y, 60)]})
    change = e.scale(e.swings[ARM][1], 1.5)
    (displacement,) = change.displacements
    assert displacement == Displacement(ARM, 59, 59, pytest.approx(30))
    assert change.note == (
        "LeftArm cannot return to the motion before the edit within 1 s: up to 30 degrees off in frames 59 to 59"
    )


def test_a_slow_joint_takes_longer_and_is_reported():
    e = edit(**{ARM: [(0, 29, X, 30), (40, 60, Y, 20)]}, n_frames=200)
    e.scale(e.swings[ARM][0], 3.0, return_s=0.5)
    (displacement,) = e.last_change.displacements
    assert displacement.start == 29 + 15 + 1 and displacement.end < 199 and displacement.max_deg > 20
    assert e.history == ("scale(swings['LeftArm'][0], 3, return_s=0.5)",)


@pytest.mark.parametrize("return_s", (0.2, 0.5, 2.0))
def test_the_time_is_an_option(return_s):
    motion = kp.demo_motion(fps=60)
    swings = kp.swings(motion)
    swing = max(swings["right_thigh"], key=lambda some: some.angle)
    e = swings.edit(motion)
    change = e.scale(swing, 1.1, return_s=return_s)
    angles = angle_between(e.play(keep_feet=False).rotations, motion.rotations).max(axis=1)
    margin = round(return_s * 60)
    outside = np.ones(motion.n_frames, bool)
    outside[max(0, swing.start - margin) : swing.end + margin + 1] = False
    assert change.displacements or angles[outside].max() < np.deg2rad(0.1)
    with raises(OptionError, option="return_s", value=-1):
        e.scale(swing, 1.1, return_s=-1)


def test_whole_joints_and_the_whole_clip_do_not_return():
    motion = kp.demo_motion(fps=60)[:300]
    for operation in (lambda e: e.intensify("arms", 1.5), lambda e: e.retime("all", 1.5)):
        assert operation(kp.swings(motion).edit(motion)).displacements == ()
