"""Foot contacts are restored when a dense motion is edited."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit.feet import FADE_S, SLACK, contact_levels, contact_weights
from keypose.curves.edit.foot_plants import plant_feet
from keypose.curves.edit.reach import find_limbs
from keypose.errors import OptionError
from keypose.rotations import angle_between, exp, multiply, normalise
from support.errors import raises

FILES = {"walk": "07_05_walk", "kicking": "135_07_kicking"}
CLIPS = ("walk", "kicking", "swings of walk", "swings of kicking")
LEG = ("thigh", "shin", "foot")
AT_BORDERS = 1.25  # times the largest change per frame of the edited or unedited leg: measured 1.23 at most


@lru_cache
def real(data_dir, clip):
    """A real clip or its swings played, and the contacts of the capture."""
    of, _, name = clip.rpartition(" ")
    motion = kp.load(data_dir / "cmu120" / f"{FILES[name]}.bvh")[:600]
    return kp.swings(motion).play() if of else motion, motion.foot_contacts()


@lru_cache
def demo():
    motion = kp.demo_motion(fps=60)[60:240]
    return motion, motion.foot_contacts()


def rotate_joint(motion, joint, degrees, first, last, axis=(1, 0, 0)):
    """Return a motion with a joint rotated between two frames, most in the middle."""
    part = np.clip((np.arange(motion.n_frames) - first) / (last - first), 0, 1)
    share = np.sin(np.pi * part)[:, None] ** 2
    share[(part == 0) | (part == 1)] = 0.0
    j, rotations = motion.joint(joint), motion.rotations.copy()
    more = normalise(multiply(rotations[:, j], exp(np.deg2rad(degrees) * share * np.array(axis))))
    rotations[:, j] = np.where(share > 0, more, rotations[:, j])
    return replace(motion, rotations=rotations)


def foot_errors_mm(old, new, contacts, side):
    """Return the distances of the ankle from before, over the frames of contact."""
    stands, j = contacts.in_contact[:, contacts.feet.index(side)], old.joint(f"{side}_foot")
    return (
        np.linalg.norm(new.world_positions()[stands, j] - old.world_positions()[stands, j], axis=-1) * old.mm_per_unit
    )


def excess_reach_mm(old, edited, contacts, side):
    """Return how far the old position is beyond the reach of the edited leg less its slack."""
    stands, leg = contacts.in_contact[:, contacts.feet.index(side)], find_limbs(old.skeleton)[f"{side}_foot"]
    hip, knee, ankle = (edited.world_positions()[stands, j] for j in leg.joints)
    full_length = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
    far = np.linalg.norm(old.world_positions()[stands, leg.end] - hip, axis=-1)
    return np.maximum(far - (1 - SLACK) * full_length, 0.0) * old.mm_per_unit


def steps_deg(motion, joint):
    """(T - 1,) how far a joint turns from frame to frame."""
    rotations = motion.rotations[:, motion.joint(joint)]
    return np.rad2deg(angle_between(rotations[1:], rotations[:-1]))


def borders(contacts, side, reach=3):
    """The steps around the frames where a contact begins or ends."""
    stands = contacts.in_contact[:, contacts.feet.index(side)]
    edges = np.flatnonzero(np.diff(stands.astype(int)))
    return np.unique(np.clip((edges[:, None] + np.arange(-reach, reach + 1)).ravel(), 0, len(stands) - 2))


EDITS = [
    (clip, joint, degrees, first, axis)
    for clip in CLIPS
    for joint, degrees in (("left_thigh", 15), ("right_thigh", -25), ("left_shin", -20), ("hips", 12))
    for first, axis in ((60, (1, 0, 0)), (250, (1, 0, 0)), (200, (0, 0, 1)))
]


@pytest.mark.data
@pytest.mark.parametrize(("clip", "joint", "degrees", "first", "axis"), EDITS)
def test_real_feet_stay_and_nothing_else_moves(data_dir, clip, joint, degrees, first, axis):
    motion, contacts = real(data_dir, clip)
    edited = rotate_joint(motion, joint, degrees, first, first + 180, axis)
    planted = plant_feet(motion, edited, contacts)
    assert max(foot_errors_mm(motion, edited, contacts, side).max() for side in contacts.feet) > 50
    worst = 0.0
    for side in contacts.feet:
        away = foot_errors_mm(motion, planted.motion, contacts, side)
        assert (away <= 1.0 + excess_reach_mm(motion, edited, contacts, side)).all()
        worst = max(worst, away.max())
        now, reference = (
            max(steps_deg(m, f"{side}_{part}")[borders(contacts, side)].max() for m in some for part in LEG)
            for some in ((planted.motion,), (motion, edited))
        )
        assert now <= AT_BORDERS * reference
    assert planted.missed_mm == pytest.approx(worst, abs=1e-6)
    others = [j for j in range(motion.n_joints) if j not in motion.joints("legs")]
    assert (planted.motion.rotations[:, others] == edited.rotations[:, others]).all()
    assert planted.motion.translations.tobytes() == edited.translations.tobytes()
    if joint != "hips":  # the other leg is left alone
        assert planted.moved_legs == (joint.split("_")[0],)
        other = list(motion.joints("right_leg" if joint.startswith("left") else "left_leg"))
        assert (planted.motion.rotations[:, other] == edited.rotations[:, other]).all()


@pytest.mark.data
@pytest.mark.parametrize("clip", CLIPS)
def test_feet_keep_their_rotation_and_do_not_sink(data_dir, clip):
    motion, contacts = real(data_dir, clip)
    edited = rotate_joint(rotate_joint(motion, "left_thigh", 20, 40, 260), "hips", -10, 200, 420)
    planted = plant_feet(motion, edited, contacts)
    for side in contacts.feet:
        stands = contacts.in_contact[:, contacts.feet.index(side)]
        foot, toes = (motion.joint(f"{side}_{part}") for part in ("foot", "toes"))
        turn = angle_between(planted.motion.world_rotations()[stands, foot], motion.world_rotations()[stands, foot])
        assert turn.max() < 1e-6
        for j in (foot, toes):
            old, new = (m.world_positions()[:, j, 1] * m.mm_per_unit for m in (motion, planted.motion))
            floor = np.minimum(old, contact_levels(old[:, None], stands)[:, 0])
            assert (np.where(stands, old, floor) - new).max() < 1.0 + planted.missed_mm


@pytest.mark.data
def test_far_from_contacts_a_foot_goes_where_the_edit_takes_it(data_dir):
    motion, contacts = real(data_dir, "swings of kicking")
    column = contacts.feet.index("left")
    free = contact_weights(contacts.in_contact[:, column], FADE_S * motion.fps) == 0
    assert free.any()
    edited = rotate_joint(motion, "left_thigh", -15, 0, 599)
    planted = plant_feet(motion, edited, contacts).motion
    j = motion.joint("left_foot")
    lifted = planted.world_positions()[free, j] - edited.world_positions()[free, j]
    assert np.abs(lifted[:, [0, 2]]).max() == 0 and lifted[:, 1].min() >= 0
    sooner = plant_feet(motion, edited, contacts, fade_s=0.05).motion
    off = [np.abs(m.rotations - edited.rotations).max(axis=(1, 2)) > 1e-9 for m in (planted, sooner)]
    assert off[1].sum() < off[0].sum()


def test_unchanged_frames_keep_exact_values():
    motion, contacts = demo()
    edited = rotate_joint(motion, "left_thigh", 20, 60, 120)
    planted = plant_feet(motion, edited, contacts)
    assert planted.moved_legs == ("left",)
    same = np.r_[0:61, 120:180]
    assert planted.motion.rotations[same].tobytes() == edited.rotations[same].tobytes()
    assert planted.motion.rotations[61:120].tobytes() != edited.rotations[61:120].tobytes()
    arms = rotate_joint(motion, "left_upper_arm", 20, 60, 120)
    for untouched in (motion, arms):
        result = plant_feet(motion, untouched, contacts)
        assert result.motion is untouched and not result.moved_legs and result.missed_mm == 0 and not result.note


def test_a_knee_bent_backwards_does_not_snap():
    """Edited by more than it is bent, the knee passes through straight; the leg that is put back must not."""
    motion, contacts = demo()
    edited = rotate_joint(motion, "left_shin", 40, 20, 170)
    both = [
        plant_feet(motion, rotate_joint(motion, "left_shin", degrees, 20, 170), contacts).motion
        for degrees in (40, -40)
    ]
    reference = max(steps_deg(m, "left_shin").max() for m in (motion, edited))
    assert max(steps_deg(m, "left_shin").max() for m in both) < 1.5 * reference


def test_feet_of_a_retimed_motion_stand_where_they_stood():
    motion, contacts = demo()
    for count in (120, 180, 301):
        source = np.linspace(0, motion.n_frames - 1, count)
        slow = at_frames(motion, source)
        assert plant_feet(motion, slow, contacts, source=source).moved_legs == ()
        edited = rotate_joint(slow, "hips", 8, 10, count - 10)
        planted = plant_feet(motion, edited, contacts, source=source)
        stands = contacts.in_contact[np.floor(source + 0.5).astype(int)]
        for column, side in enumerate(contacts.feet):
            j = motion.joint(f"{side}_foot")
            away = [
                np.linalg.norm(m.world_positions()[stands[:, column], j] - slow.world_positions()[stands[:, column], j], axis=-1)
                for m in (edited, planted.motion)
            ]  # fmt: skip
            assert away[0].max() * motion.mm_per_unit > 20
            assert away[1].max() * motion.mm_per_unit <= planted.missed_mm + 1e-6
        assert planted.missed_mm < 1.0


def at_frames(motion, frames):
    """Each pose by itself: nearest rows mixed, as a player would."""
    from keypose.rotations import slerp

    translations, rotations = [], []
    for f in frames.tolist():
        low = int(f)
        high, part = min(low + 1, motion.n_frames - 1), f - int(f)
        translations.append((1 - part) * motion.translations[low] + part * motion.translations[high])
        blended = slerp(motion.rotations[low], motion.rotations[high], np.full((motion.n_joints, 1), part))
        rotations.append(normalise(blended) if part else motion.rotations[low])
    return replace(motion, translations=np.array(translations), rotations=np.array(rotations))


def test_whole_source_frames_are_the_very_frames():
    motion, contacts = demo()
    twice = np.repeat(np.arange(motion.n_frames), 2)
    doubled = replace(motion, fps=120, translations=motion.translations[twice], rotations=motion.rotations[twice])
    assert plant_feet(motion, doubled, contacts, source=twice).motion is doubled


def test_only_selected_feet_are_planted():
    motion, contacts = demo()
    edited = rotate_joint(motion, "hips", 10, 20, 160)
    assert plant_feet(motion, edited, contacts).moved_legs == ("left", "right")
    assert plant_feet(motion, edited, contacts.in_contact).moved_legs == ("left", "right")
    assert plant_feet(motion, edited, contacts, feet=["right"]).moved_legs == ("right",)
    assert plant_feet(motion, edited, contacts, feet=()).motion is edited
    nothing = np.zeros_like(contacts.in_contact)
    assert plant_feet(motion, edited, nothing).motion is edited


def test_unreachable_feet_are_reported():
    motion, contacts = demo()
    raised = motion.translations.copy()
    raised[:, 0, 1] += 0.3
    planted = plant_feet(motion, replace(motion, translations=raised), contacts)
    assert planted.missed_mm > 100 and "cannot reach" in planted.note and "cannot reach" in repr(planted)
    assert np.isfinite(planted.motion.rotations).all()


def test_figure_without_legs_is_returned_unchanged():
    skeleton = kp.Skeleton(("Hips", "Spine"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 1, 0]], float))
    motion = kp.Motion("stick", skeleton, 30, np.tile(skeleton.offsets, (5, 1, 1)), np.tile((1.0, 0, 0, 0), (5, 2, 1)))
    edited = rotate_joint(motion, "Spine", 20, 0, 4)
    result = plant_feet(motion, edited, motion.foot_contacts())
    assert result.motion is edited and "no leg" in result.note and not result.moved_legs


def test_bad_arguments_are_rejected():
    motion, contacts = demo()
    other = kp.Motion("one", kp.Skeleton(("a",), np.array([-1]), np.zeros((1, 3))), 60, np.zeros((180, 1, 3)), np.tile((1.0, 0, 0, 0), (180, 1, 1)))  # fmt: skip
    cases = [
        ((motion, other, contacts), {}, {"expected": "the same figure, edited"}),
        (
            (motion, motion[:100], contacts),
            {},
            {"option": "source", "expected": "the frame that each of them was before"},
        ),
        (
            (motion, motion, contacts.in_contact[:9]),
            {},
            {"option": "foot_contacts", "expected": "true or false for 180 frames and 2 feet"},
        ),
        (
            (motion, motion, contacts.in_contact.astype(float)),
            {},
            {"option": "foot_contacts", "expected": "true or false for 180 frames and 2 feet"},
        ),
        (
            (motion, motion, contacts),
            {"source": np.arange(180) + 1},
            {"option": "source", "expected": "some of 0 to 179"},
        ),
        (
            (motion, motion, contacts),
            {"source": np.arange(5)},
            {"code": "model", "option": "source", "expected": "(180)"},
        ),
        (
            (motion, motion, contacts),
            {"source": np.full(180, np.nan)},
            {"code": "model", "option": "source", "expected": "finite numbers up to 1e+15"},
        ),
        (
            (motion, motion, contacts),
            {"feet": ["middle"]},
            {"option": "feet", "value": "middle", "expected": "any of left, right"},
        ),
        (
            (motion, motion, contacts),
            {"fade_s": -1},
            {"option": "fade_s", "value": -1, "expected": "a number of at least 0"},
        ),
    ]
    for args, options, fields in cases:
        with raises(OptionError, **fields):
            plant_feet(*args, **options)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["left_thigh", "right_shin", "left_foot", "hips", "right_toes", "left_hand"]),
    st.floats(-60, 60),
    st.integers(0, 100),
    st.integers(20, 79),
    st.tuples(*[st.floats(-1, 1)] * 3),
)
def test_any_edit_gives_a_valid_result(joint, degrees, first, length, axis):
    motion, contacts = demo()
    edited = rotate_joint(motion, joint, degrees, first, first + length, axis)
    planted = plant_feet(motion, edited, contacts)
    assert np.isfinite(planted.motion.rotations).all() and planted.missed_mm >= 0
    outside = np.r_[0 : first + 1, first + length : motion.n_frames]
    assert planted.motion.rotations[outside].tobytes() == edited.rotations[outside].tobytes()
    signs = np.sum(planted.motion.rotations[1:] * planted.motion.rotations[:-1], axis=-1)
    smooth = np.sum(edited.rotations[1:] * edited.rotations[:-1], axis=-1) > 0
    assert (signs[smooth] > 0).all()
    if joint == "left_hand":
        assert planted.motion is edited


def test_planting_300_frames_is_fast():
    motion = kp.demo_motion(fps=60)[:300]
    contacts = motion.foot_contacts()
    took = []
    for degrees in (10, 12, 14):
        edited = rotate_joint(motion, "hips", degrees, 0, 299)
        start = time.perf_counter()
        plant_feet(motion, edited, contacts)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.1
