"""Knees and elbows that an edit takes beyond their range are limited."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit.foot_plants import plant_feet
from keypose.curves.edit.hinges import hold_hinges
from keypose.curves.edit.reach import find_limbs
from keypose.errors import OptionError
from keypose.rotations import angle_between, conjugate, exp, multiply, normalise, rotate
from reference.naive_hinges import find_hinge, flexion, hold
from support.errors import raises

EDITS = [
    ({"wider_deg": 40}, 1.3),
    ({"from_s": 0.3, "to_s": 1.0}, 1.3),
    ({"wider_deg": 40}, 1.6),
    ({"wider_deg": 40}, -1.0),
]
BETWEEN = {"": ((), ()), "twist": (("LeftUpLegTwist",), ("LeftLegTwist",))}  # joints inside the two bones


@lru_cache
def kick(data_dir):
    motion = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")
    return motion, kp.swings(motion)


@lru_cache
def edited_kick(data_dir, number):
    motion, swings = kick(data_dir)
    query, factor = EDITS[number]
    edit = swings.edit(motion)
    change = edit.scale(edit.find("right_leg", **query), factor)
    return motion, change.baseline.play_unlimited(edit.swings)


def limb_joints(motion, part):
    return tuple(find_limbs(motion.skeleton)[part].joints)


@lru_cache(maxsize=8)
def cached_hinge(motion, limb):
    return find_hinge(motion, *limb)


def flexions(before, motion, part, middle=90.0):
    """(T,) degrees, each frame by itself."""
    limb = limb_joints(motion, part)
    hinge = cached_hinge(before, limb)
    return np.array([flexion(motion, frame, limb, hinge, middle) for frame in range(motion.n_frames)])


def steps_deg(motion, joint):
    """(T - 1,) how far a joint turns from frame to frame."""
    return np.rad2deg(angle_between(motion.rotations[1:, joint], motion.rotations[:-1, joint]))


@pytest.mark.data
@pytest.mark.parametrize("number", range(len(EDITS)))
def test_the_knee_of_a_real_kick_stays_within_its_range(data_dir, number):
    motion, edited = edited_kick(data_dir, number)
    knee = motion.joint("right_shin")
    result = hold_hinges(motion, edited)
    old_flexion, edited_flexion, limited_flexion = (
        flexions(motion, m, "right_foot") for m in (motion, edited, result.motion)
    )
    assert edited_flexion.min() < -1 and edited_flexion.max() > 170
    assert (
        limited_flexion.min() >= min(old_flexion.min(), 3) - 1e-6
        and limited_flexion.max() <= max(old_flexion.max(), 150) + 1e-6
    )
    assert (
        result.corrected_joints == (knee,)
        and result.max_correction_deg > 10
        and result.note.startswith("right knee held at 0 degrees")
    )
    others = np.delete(np.arange(motion.n_joints), knee)
    assert result.motion.rotations[:, others].tobytes() == edited.rotations[:, others].tobytes()
    assert result.motion.translations.tobytes() == edited.translations.tobytes()
    inside = ((edited_flexion > 5.01) & (edited_flexion < old_flexion.max() - 5.01)) | (
        edited.rotations[:, knee] == motion.rotations[:, knee]
    ).all(axis=1)
    assert result.motion.rotations[inside, knee].tobytes() == edited.rotations[inside, knee].tobytes()
    assert 0 < (~inside).sum() < 600


@pytest.mark.data
@pytest.mark.parametrize("number", range(len(EDITS)))
def test_the_knee_of_a_real_kick_does_not_pop(data_dir, number):
    motion, edited = edited_kick(data_dir, number)
    knee = motion.joint("right_shin")
    limited = hold_hinges(motion, edited).motion
    old, new, ours = (steps_deg(m, knee) for m in (motion, edited, limited))
    # edited by a negative factor the knee turns right round, and has to go back all the way
    assert ours.max() <= (1.1 if EDITS[number][1] < 0 else 1.0) * max(old.max(), new.max())
    if EDITS[number][1] > 0:
        assert (ours <= np.maximum(old, new) + 0.05).all()
        assert np.abs(np.diff(ours)).max() <= max(np.abs(np.diff(m)).max() for m in (old, new))


@pytest.mark.data
@pytest.mark.parametrize("number", range(3))  # turned the other way round, the leg is folded to reach its place
def test_feet_planted_afterwards_leave_the_knee_within_two_degrees_of_its_range(data_dir, number):
    motion, edited = edited_kick(data_dir, number)
    planted = plant_feet(motion, hold_hinges(motion, edited).motion, motion.foot_contacts())
    was, to = (flexions(motion, m, "right_foot") for m in (motion, planted.motion))
    assert was.min() - 2 < to.min() and to.max() < was.max() + 2


@pytest.mark.data
def test_the_real_kick_agrees_with_the_twin(data_dir):
    for number in (1, 3):
        motion, edited = edited_kick(data_dir, number)
        ours = hold_hinges(motion, edited).motion.rotations[:, motion.joint("right_shin")]
        twin = hold(motion, edited, motion, limb_joints(motion, "right_foot"))
        assert angle_between(ours, twin).max() < 1e-6


@lru_cache
def figure(between=""):
    """Hips with two legs that stand apart along x; a leg may have twist joints inside its bones."""
    names, parents, offsets = ["Hips"], [-1], [(0.0, 1.0, 0.0)]

    def hang(name, parent, offset):
        names.append(name)
        parents.append(parent)
        offsets.append(offset)
        return len(names) - 1

    for side, x in (("Left", 0.1), ("Right", -0.1)):
        upper, lower = BETWEEN[between]
        joint = hang(f"{side}UpLeg", 0, (x, -0.1, 0))
        for inner, name in ((upper, "Leg"), (lower, "Foot")):
            share = 0.45 / (len(inner) + 1)
            for twist in inner:
                joint = hang(twist.replace("Left", side), joint, (0, -share, 0))
            joint = hang(f"{side}{name}", joint, (0, -share, 0))
        hang(f"{side}ToeBase", joint, (0, -0.05, 0.12))
    return kp.Skeleton(tuple(names), np.array(parents), np.array(offsets, float))


def bend_leg(skeleton, angles_deg, hips=None, thigh=None, axis=(1.0, 0, 0), side="Left"):
    """A motion that bends one leg by angles (T,) about an axis; thigh and hips turned by exponential maps (T, 3)."""
    count = len(angles_deg)
    rotations = np.tile((1.0, 0, 0, 0), (count, skeleton.n_joints, 1))
    rotation_vectors = {
        f"{side}Leg": np.deg2rad(angles_deg)[:, None] * np.array(axis),
        f"{side}UpLeg": thigh,
        "Hips": hips,
    }
    for name, turn in rotation_vectors.items():
        if turn is not None:
            rotations[:, skeleton.names.index(name)] = exp(turn)
    return kp.Motion("leg", skeleton, 60, np.tile(skeleton.offsets, (count, 1, 1)), rotations)


def waves(*terms, count=80):
    """(T,) the sum of sines given as amplitude, times per clip and phase."""
    at = np.linspace(0, 2 * np.pi, count)
    return sum(a * np.sin(n * at + phase) for a, n, phase in terms)


terms = st.lists(st.tuples(st.floats(-60, 60), st.integers(1, 3), st.floats(0, 6)), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(terms, terms, st.floats(0.3, 2.5), st.floats(-0.4, 0.4), st.booleans(), st.sampled_from(sorted(BETWEEN)))
def test_hand_made_legs_agree_with_the_twin(first, second, factor, lean, retimed, between):
    skeleton = figure(between)
    base = 70 + waves(*first) * 0.4
    thigh = np.stack([waves(*second), waves(*first), np.full(80, lean * 60)], axis=1) * 0.015
    axis = (np.cos(lean), 0.0, np.sin(lean))  # a hinge that is not square to the thigh's axes
    before = bend_leg(skeleton, base, axis=axis)
    after = bend_leg(skeleton, 70 + factor * (base - 70) + waves(*second), thigh[:, ::-1], thigh, axis)
    twists = [j for j, name in enumerate(skeleton.names) if name.startswith("Left") and name.endswith("Twist")]
    if twists:  # they take the hinge, and what hangs on it, along
        rotations = after.rotations.copy()
        rotations[:, twists] = exp(np.stack([0 * base, waves(*second) * 0.02, 0 * base], axis=1))[:, None]
        after = replace(after, rotations=rotations)
    source = np.linspace(0, 78.5, 80) if retimed else None
    result = hold_hinges(before, after, source=source)
    limb = limb_joints(before, "left_foot")
    old = before if source is None else before.at_frames(source)
    assert angle_between(result.motion.rotations[:, limb[1]], hold(before, after, old, limb)).max() < 1e-7
    others = np.delete(np.arange(skeleton.n_joints), limb[1])
    assert result.motion.rotations[:, others].tobytes() == after.rotations[:, others].tobytes()
    ours, reference = (max(steps_deg(m, limb[1]).max() for m in some) for some in ((result.motion,), (old, after)))
    assert ours <= 1.15 * reference + 1e-9


def test_folding_past_a_half_turn_is_no_bending_backwards():
    base = 75 - 65 * np.cos(np.linspace(0, 2 * np.pi, 100))  # 10 to 140
    before, after = bend_leg(figure(), base), bend_leg(figure(), base * 1.6)  # up to 224
    result = hold_hinges(before, after)
    to = flexions(before, result.motion, "left_foot")
    assert (
        to[40:60].min() > 149
        and to.max() <= 150
        and result.max_correction_deg == pytest.approx(base.max() * 1.6 - 150, abs=0.01)
    )
    assert (np.diff(to[:50]) > -1e-9).all() and (np.diff(to[50:]) < 1e-9).all()
    rows = np.flatnonzero(base * 1.6 - to > 1)
    assert result.note == f"left knee held at 150 degrees in frames {rows[0]} to {rows[-1]}"
    back = hold_hinges(before, bend_leg(figure(), base - 60))  # stretched past straight to -50
    to = flexions(before, back.motion, "left_foot")
    assert to.min() >= 3 - 1e-9 and to[:10].max() < 3.1 and back.max_correction_deg == pytest.approx(53, abs=0.01)
    count = np.count_nonzero(to - (base - 60) > 1)
    assert back.note == f"left knee held at 3 degrees in {count} of the frames 0 to 99"


def test_elbows_are_limited():
    before = kp.demo_motion(fps=60)[:120]
    limb = limb_joints(before, "right_hand")
    hinge, rotations = find_hinge(before, *limb), before.rotations.copy()
    more = np.deg2rad(150 * np.sin(np.linspace(0, 2 * np.pi, 120)))[:, None] * hinge
    rotations[:, limb[1]] = normalise(multiply(exp(more), rotations[:, limb[1]]))
    result = hold_hinges(before, replace(before, rotations=rotations))
    to = flexions(before, result.motion, "right_hand")
    assert result.corrected_joints == (limb[1],) and result.note.startswith("right elbow held at")
    assert to.max() <= 150 + 1e-6 and to.min() >= min(3, flexions(before, before, "right_hand").min()) - 1e-6


def test_a_limb_that_starts_or_stays_out_of_range_is_limited():
    base = np.linspace(20, 100, 50)
    for shift, limit in ((-60, 3), (140, 150)):
        result = hold_hinges(bend_leg(figure(), base), bend_leg(figure(), base + shift))
        to = flexions(bend_leg(figure(), base), result.motion, "left_foot")
        assert to.min() > 2.99 and to.max() < 150.01 and min(abs(to[0] - limit), abs(to[-1] - limit)) < 0.5
    folded = hold_hinges(bend_leg(figure(), base), bend_leg(figure(), 170 + base / 10))
    assert flexions(bend_leg(figure(), base), folded.motion, "left_foot").min() > 149.5
    assert folded.note == "left knee held at 150 degrees in frames 0 to 49"


def test_motion_within_range_is_returned_unchanged():
    base = 75 - 70 * np.cos(np.linspace(0, 2 * np.pi, 100))  # 5 to 145: within five degrees of both limits
    before = bend_leg(figure(), base)
    turn = np.stack([waves((2, 1, 0), count=100)] * 3, axis=1)
    for after in (before, bend_leg(figure(), base, turn, turn), bend_leg(figure(), 75 + 0.95 * (base - 75))):
        result = hold_hinges(before, after)
        assert (
            result.motion is after
            and result.note == ""
            and not result.corrected_joints
            and result.max_correction_deg == 0
        )
    slow = before.at_frames(np.linspace(0, 99, 163))
    assert hold_hinges(before, slow, source=np.linspace(0, 99, 163)).motion is slow


def test_a_capture_that_bends_backwards_may_go_on_doing_so():
    base = 40 + 52 * np.sin(np.linspace(0, 2 * np.pi, 101))  # -12 to 92
    before, after = bend_leg(figure(), base), bend_leg(figure(), 1.5 * base)
    to = flexions(before, hold_hinges(before, after).motion, "left_foot")
    assert -1e-6 < to.min() - base.min() < 0.5
    to = flexions(before, hold_hinges(before, before).motion, "left_foot")
    assert to.min() == pytest.approx(base.min())


def test_up_axes_and_turned_figures_make_no_difference():
    base = 75 - 70 * np.cos(np.linspace(0, 2 * np.pi, 60))
    thigh = np.stack([waves((0.5, 1, n), count=60) for n in range(3)], axis=1)
    before, after = bend_leg(figure(), base), bend_leg(figure(), base * 1.4 - 30, thigh, thigh)
    ours = hold_hinges(before, after)
    assert "3 degrees" in ours.note and "150 degrees" in ours.note
    to_up = {"Y": (0, 0, 0), "Z": (np.pi / 2, 0, 0), "X": (0, 0, -np.pi / 2)}
    for up, turn in to_up.items():
        q = exp(np.array(turn, float))
        skeleton = kp.Skeleton(figure().names, figure().parents, rotate(q, figure().offsets))

        def turn_world(motion, q=q, skeleton=skeleton, up=up):
            rotations = multiply(multiply(q, motion.rotations), conjugate(q))
            return kp.Motion("leg", skeleton, 60, rotate(q, motion.translations), normalise(rotations), up=up)

        result = hold_hinges(turn_world(before), turn_world(after))
        assert result.note == ours.note
        assert angle_between(result.motion.rotations, turn_world(ours.motion).rotations).max() < 1e-7


def test_a_mirrored_limb_is_limited_alike():
    base = 75 - 70 * np.cos(np.linspace(0, 2 * np.pi, 60))
    thigh = np.stack([waves((0.5, 1, n), count=60) for n in range(3)], axis=1)
    axis = np.array((0.8, 0, 0.6))
    flip = np.array((1.0, -1, -1))  # what a mirror square to x does to turns
    both = [
        hold_hinges(
            bend_leg(figure(), base, axis=axis * f, side=side),
            bend_leg(figure(), base * 1.4 - 30, thigh * f, thigh * f, axis * f, side),
        )
        for side, f in (("Left", np.ones(3)), ("Right", flip))
    ]
    left, right = (
        b.motion.rotations[:, b.motion.joint(f"{side}Leg")] for b, side in zip(both, ("Left", "Right"), strict=True)
    )
    assert angle_between(left * np.array((1, 1, -1, -1)), right).max() < 1e-7
    assert both[0].note.replace("left", "right") == both[1].note != ""


def test_a_leg_that_bends_sideways_does_not_tear():
    """Where the shin points along the hinge there is no flexion to speak of, and past it another one."""
    base = np.linspace(20, 100, 120)
    before = bend_leg(figure(), base)
    for tilt in (0.0, 0.05, -0.05, 0.5, -0.5):
        over = np.linspace(0, 170, 120)
        after = bend_leg(figure(), over, axis=(np.sin(tilt), 0, np.cos(tilt)))
        result = hold_hinges(before, after)
        ours, reference = (steps_deg(m, before.joint("left_shin")).max() for m in (result.motion, after))
        assert ours <= 4 * reference, tilt  # 15 times if the flexion went on without jumps past the hinge's axis
    straight = bend_leg(figure(), 0.5 * np.sin(np.arange(120)), axis=(0, 0, 1))  # noise about straight
    result = hold_hinges(before, straight)
    ours, reference = (steps_deg(m, before.joint("left_shin")).max() for m in (result.motion, straight))
    assert ours <= 1.01 * reference and flexions(before, result.motion, "left_foot").min() >= 3


def test_only_selected_or_changed_joints_are_limited():
    base = 75 - 70 * np.cos(np.linspace(0, 2 * np.pi, 60))
    before, after = bend_leg(figure(), base), bend_leg(figure(), base * 1.5 - 40)
    knee = before.joint("left_shin")
    assert hold_hinges(before, after, joints=[knee, 0]).corrected_joints == (knee,)
    assert hold_hinges(before, after, joints=np.array([knee])).corrected_joints == (knee,)
    for none in ([], [0, knee + 1]):
        assert hold_hinges(before, after, joints=none).motion is after


def test_unknown_limbs_and_hinges_are_not_limited():
    skeleton = kp.Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]], float))
    stick = kp.Motion("stick", skeleton, 30, np.tile(skeleton.offsets, (5, 1, 1)), np.tile((1.0, 0, 0, 0), (5, 3, 1)))
    bent = replace(stick, rotations=np.tile(exp(np.array((3.0, 0, 0))), (5, 3, 1)))
    assert hold_hinges(stick, bent).motion is bent
    before, after = bend_leg(figure(), np.full(10, 2.0)), bend_leg(figure(), np.full(10, -40.0))
    result = hold_hinges(before, after)
    assert result.motion is after and repr(result) == "HingeResult('leg', nothing held)"
    spinning = bend_leg(figure(), np.linspace(-80, 260, 100))
    assert hold_hinges(spinning, bend_leg(figure(), np.linspace(-85, 265, 100))).corrected_joints == ()


def test_bad_arguments_are_rejected():
    before = bend_leg(figure(), np.linspace(10, 90, 20))
    cases = [
        ((before, bend_leg(figure("twist"), np.ones(20))), {}, {"expected": "the same figure, edited"}),
        ((before, before[:9]), {}, {"option": "source", "expected": "the frame that each of them was before"}),
        ((before, before), {"source": np.arange(20) + 1}, {"option": "source", "expected": "some of 0 to 19"}),
        ((before, before), {"joints": [99]}, {"expected": "numbers from 0 to 8"}),
        ((before, before), {"joints": ["left_shin"]}, {"option": "joints", "expected": "numbers of joints"}),
        ((before, before), {"joints": 3}, {"option": "joints", "expected": "numbers of joints"}),
    ]
    for args, options, fields in cases:
        with raises(OptionError, **fields):
            hold_hinges(*args, **options)


def test_limiting_1500_frames_is_fast():
    base = 75 + waves((70, 9, 0), count=1500)
    before, took = bend_leg(figure(), base), []
    for factor in (1.3, 1.4, 1.5):
        after = bend_leg(figure(), base * factor - 20)
        start = time.perf_counter()
        assert hold_hinges(before, after).corrected_joints
        took.append(time.perf_counter() - start)
    assert min(took) < 0.05
