"""Score: errors in millimetres on a figure of 1.7 m, and its other measures."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import kinematics
from keypose.curves import interpolate_linear
from keypose.errors import UNSET, OptionError
from keypose.kinematics import distances
from keypose.metrics import find_sliding_feet, position_errors_mm
from keypose.rotations import angle_between, exp, multiply
from reference import naive_inbetween as twin
from support.errors import Pattern, raises
from support.flips import turn_over


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:60]


def without_feet(motion: kp.Motion) -> kp.Motion:
    """Return the same motion with unrecognisable joint names."""
    names = tuple(f"j{i}" for i in range(motion.n_joints))
    return dataclasses.replace(motion, skeleton=dataclasses.replace(motion.skeleton, names=names))


def test_a_motion_is_no_distance_from_itself(motion):
    score = kp.score(motion, motion)
    assert score.mean_mm == score.p95_mm == score.max_mm == 0.0
    assert score.max_deg < 1e-9
    assert score.per_joint_mm.shape == (motion.n_joints,) and score.per_frame_mm.shape == (60,)
    assert score.foot_slide_mm == score.original_foot_slide_mm > 0


def test_a_shift_is_what_it_is_on_a_figure_of_170_cm(motion):
    shifted = motion.translations.copy()
    shifted[:, 0, 0] += 0.01 * motion.height
    score = kp.score(motion, dataclasses.replace(motion, translations=shifted))
    assert score.mean_mm == pytest.approx(17.0) and score.max_mm == pytest.approx(17.0)
    np.testing.assert_allclose(score.per_joint_mm, 17.0)
    assert score.foot_slide_mm == pytest.approx(score.original_foot_slide_mm)


def test_the_figures_belong_together(motion):
    rebuilt = interpolate_linear(motion, [0, 25, 59])
    errors = position_errors_mm(motion, rebuilt)
    score = kp.score(motion, rebuilt)
    assert 0 < score.mean_mm < score.p95_mm < score.max_mm
    world, other = motion.world_positions(), rebuilt.world_positions()
    off = np.linalg.norm(other[7, 3] - world[7, 3]) * 1700 / motion.height
    assert errors[7, 3] == pytest.approx(off)
    assert score.p95_mm == pytest.approx(np.sort(errors.ravel())[int(0.95 * errors.size)], rel=0.02)
    np.testing.assert_allclose(score.per_frame_mm, errors.mean(axis=1))
    np.testing.assert_allclose(score.max_per_frame_mm, errors.max(axis=1))
    assert score.max_per_frame_mm[score.worst_frame] == score.max_mm
    np.testing.assert_allclose(score.per_joint_mm, errors.mean(axis=0))


def test_degrees_are_those_of_local_rotations(motion):
    rotations = motion.rotations.copy()
    rotations[10:20, 2] = multiply(rotations[10:20, 2], exp(np.deg2rad([0.0, 30.0, 0.0])))
    rotations[:, 5] *= -1.0  # the same rotations
    score = kp.score(motion, dataclasses.replace(motion, rotations=rotations))
    assert score.max_deg == pytest.approx(30.0)
    assert score.mean_deg == pytest.approx(30.0 * 10 / (60 * motion.n_joints))


def test_keys_are_scored_with_straight_in_betweens(motion):
    keys = kp.select(motion, keys=7)
    straight = kp.score(motion, interpolate_linear(motion, keys.frames))
    assert kp.score(motion, keys).max_mm == straight.max_mm
    assert straight.key_acceleration is None and kp.score(motion, keys).key_acceleration is not None


def test_plain_frames_are_scored_as_their_selection(motion):
    selection = kp.select(motion, keys=7)
    for frames in (selection.frames.tolist(), tuple(selection.frames[::-1].tolist()), selection.frames):
        assert kp.score(motion, frames).figures() == kp.score(motion, selection).figures()
    with raises(OptionError, option="other", expected="frames from 0 to 59"):
        kp.score(motion, [0, 60])
    with raises(OptionError, option="other", problem="keys of 30 frames, the motion has 60"):
        kp.score(motion, kp.select(motion[:30], keys=7))
    expected = "a Motion, a KeyedMotion, a Selection, or frames like (0, 30, 88)"
    for wrong in ("walk.glb", None, [0.5, 2.0], 5):
        with raises(OptionError, option="other", expected=expected):
            kp.score(motion, wrong)


def test_a_keyed_motion_is_scored_as_its_curves_are(motion):
    keyed = kp.unbake(motion, [0, 12, 25, 40, 59])
    score, sampled = kp.score(motion, keyed), kp.score(motion, keyed.sample())
    for name in ("mean_mm", "p95_mm", "max_mm", "mean_deg", "max_deg", "foot_slide_mm"):
        assert getattr(score, name) == getattr(sampled, name)
    assert kp.score(motion, keyed.sample(1.0)).max_mm < 1e-6 < score.max_mm


def test_errors_outside_of_flips(motion):
    """A flip of the capture does not hide how far the curves are from the rest of it."""
    flipped = turn_over(turn_over(motion, "LeftArm", (31, 33)), "RightHandThumb1", (40, 41))
    keyed = kp.unbake(flipped, [0, 20, 40, 59], residual=False)
    score, errors = kp.score(flipped, keyed), position_errors_mm(flipped, keyed.sample())
    assert score.is_worst_in_flip and score.worst_frame in (31, 32)
    below = [motion.joint(name) for name in ("LeftForeArm", "LeftHand", "LeftHandThumb1", "LeftHandMiddle1")]
    errors[31:33, below] = 0.0
    assert score.max_outside_flips_mm == errors.max() < score.max_mm
    degrees = np.rad2deg(angle_between(flipped.rotations, keyed.sample().rotations))
    degrees[31:33, motion.joint("LeftArm")] = degrees[40, motion.joint("RightHandThumb1")] = 0.0
    assert score.is_worst_rotation_flip and score.max_outside_flips_deg == degrees.max() < score.max_deg
    steady = kp.score(motion, kp.unbake(motion, [0, 20, 40, 59]))
    assert (steady.max_outside_flips_mm, steady.max_outside_flips_deg) == (steady.max_mm, steady.max_deg)
    assert not steady.is_worst_in_flip and not steady.is_worst_rotation_flip


def test_incomparable_motions_are_rejected(motion):
    with raises(OptionError, code="different_motions", value=30, problem="'demo' has 60 frames, 'demo' 30"):
        kp.score(motion, motion[:30])
    with raises(OptionError, code="different_motions", value=30, problem="'demo' has 60 frames, 'demo' 30"):
        kp.score(motion, kp.unbake(motion[:30], [0, 29]))
    with raises(OptionError, code="different_motions", value=UNSET, problem=Pattern("have different joints$")):
        kp.score(motion, without_feet(motion))
    with raises(OptionError, expected="a Motion as the original"):
        kp.score(kp.unbake(motion, [0, 59]), motion)


def test_a_score_is_read_only_and_has_a_repr(motion):
    score = pickle.loads(pickle.dumps(kp.score(motion, kp.unbake(motion, [0, 20, 40, 59]))))
    with pytest.raises(ValueError, match="read-only"):
        score.per_joint_mm[0] = 1.0
    for part in ("mean", "95 % within", "max", "degrees", "feet slide", "originally", "acceleration at keys", "bytes"):
        assert part in repr(score)
    plain = repr(kp.score(without_feet(motion), without_feet(motion)))
    assert "feet" not in plain and "acceleration" not in plain
    assert plain.startswith("Score(mean 0 mm, 95 % within 0 mm, max 0 mm; rotations mean 0, max 0 degrees; ")


# Stored values


def small(frames: int = 20) -> kp.Motion:
    """Return a root that rotates and moves, a joint that rotates, a joint that is still."""
    skeleton = kp.Skeleton(("a", "b", "c"), [-1, 0, 1], [[0, 0, 0], [0, 5, 0], [0, 4, 1]])
    rng = np.random.default_rng(1)
    translations = np.broadcast_to(skeleton.offsets, (frames, 3, 3)).copy()
    translations[:, 0] += np.cumsum(rng.normal(size=(frames, 3)), axis=0)
    rotations = exp(np.cumsum(rng.normal(scale=0.1, size=(frames, 3, 3)), axis=0))
    rotations[:, 2] = [1.0, 0, 0, 0]
    return kp.Motion("small", skeleton, 30.0, translations, rotations)


def test_stored_values_count_what_moves_at_every_key_and_what_is_still_once():
    motion = small()
    still = 3 + 3 + 4  # translations of b and c, rotation of c
    keys = [0, 5, 9, 19]
    moving = 3 + 4 + 4
    assert kp.score(motion, motion).stored_values == 20 * moving + still
    for interpolation, numbers in (("bezier", 3), ("natural", 3), ("linear", 1)):
        score = kp.score(motion, kp.unbake(motion, keys, interpolation=interpolation))
        assert score.stored_values == 4 * moving * numbers + 4 + still
        assert score.bytes == 4 * score.stored_values
    angles = kp.score(motion, kp.unbake(motion, keys, rotation="euler"))
    assert angles.stored_values == 4 * (3 + 3 + 3) * 3 + 4 + (3 + 3 + 3)
    selection = kp.select(motion, "uniform", keys=4)
    assert kp.score(motion, selection).stored_values == 4 * moving + 4 + still


def test_a_pose_that_holds_is_stored_once():
    single = small(1)
    assert kp.score(single, single).stored_values == 7 * 3
    assert kp.score(single, kp.unbake(single, [0])).stored_values == 1 + 7 * 3


# Acceleration at keys


def test_acceleration_at_keys_is_a_ratio_of_second_differences(motion):
    keys = [0, 12, 25, 40, 59]
    keyed = kp.unbake(motion, keys, interpolation="linear")
    sizes = []
    for second_differences in (keyed.sample(), motion):
        world = second_differences.world_positions()
        bends = [
            np.linalg.norm(world[k - 1, j] - 2 * world[k, j] + world[k + 1, j])
            for k in keys[1:-1]
            for j in range(motion.n_joints)
        ]
        sizes.append(np.mean(bends))
    assert kp.score(motion, keyed).key_acceleration == pytest.approx(sizes[0] / sizes[1])
    assert kp.score(motion, kp.unbake(motion, range(60))).key_acceleration == pytest.approx(1.0)


def test_without_inner_keys_or_without_movement_there_is_no_acceleration_to_compare(motion):
    assert kp.score(motion, kp.unbake(motion, [0, 59])).key_acceleration is None
    still = interpolate_linear(motion, [30])
    score = kp.score(still, kp.unbake(still, [0, 20, 59]))
    assert score.key_acceleration is None and score.max_mm < 1e-9


# Feet


def test_unrecognised_feet_have_no_slide(motion):
    other = without_feet(motion)
    score = kp.score(other, interpolate_linear(other, [0, 30, 59]))
    assert score.foot_slide_mm is None and score.original_foot_slide_mm is None


@pytest.mark.parametrize("keys", [6, 15])
def test_foot_slide_is_that_of_the_slow_twin(keys):
    motion = kp.demo_motion(fps=30)[:150]
    rebuilt = kp.unbake(motion, keys=keys).sample()
    score = kp.score(motion, rebuilt)
    feet = [list(joints) for joints in motion.skeleton.anatomy.feet().values()]
    first, second = ([positions.world_positions()[:, foot] for foot in feet] for positions in (motion, rebuilt))
    in_contact = motion.foot_contacts().in_contact
    assert in_contact.any()
    up = "XYZ".index(motion.up)
    assert score.foot_slide_mm == pytest.approx(motion.mm_per_unit * twin.foot_slide(second, first, in_contact, up))
    assert score.original_foot_slide_mm == pytest.approx(
        motion.mm_per_unit * twin.foot_slide(first, first, in_contact, up)
    )


@given(st.integers(0, 1000), st.sampled_from(kinematics.UPS))
@settings(max_examples=40, deadline=None)
def test_foot_slide_of_any_contacts(seed, up):
    rng = np.random.default_rng(seed)
    frames = int(rng.integers(1, 30))
    original = [rng.normal(size=(frames, int(rng.integers(1, 3)), 3)) for _ in range(2)]
    feet = [each + 0.5 * rng.normal(size=each.shape) for each in original]
    in_contact = rng.random((frames, 2)) < 0.6
    stances = kinematics.find_stances(original, in_contact, up)
    assert sum(each.end - each.start for each in stances) == in_contact.sum()
    expected = twin.foot_slide(feet, original, in_contact, "XYZ".index(up[-1]))
    result = kinematics.foot_slide(feet, stances, up)
    assert result == expected if expected is None else result == pytest.approx(expected)


def test_a_foot_that_rolls_over_its_toes_does_not_slide():
    foot = np.zeros((11, 2, 3))  # ankle, toe
    foot[:, 0, 0] = np.linspace(-1, 1, 11)
    in_contact = np.ones((11, 1), bool)
    stances = kinematics.find_stances([foot], in_contact, "Y")
    assert stances == (kinematics.Stance(foot=0, point=1, start=0, end=11),)
    assert kinematics.foot_slide([foot], stances, "Y") == 0.0
    foot[:, 1, 1] = 5.0 * np.arange(11)  # vertical movement is no sliding
    assert kinematics.foot_slide([foot], stances, "Y") == 0.0
    foot[:, 1, 2] = 0.1 * np.arange(11)
    assert kinematics.foot_slide([foot], stances, "Y") == pytest.approx(0.1 * 30 / 11)
    assert kinematics.foot_slide([foot], (), "Y") is None


def test_a_foot_that_slides_more_than_in_the_original_is_named(monkeypatch):
    motion = kp.demo_motion(fps=60)[:240]
    assert find_sliding_feet(motion, motion) == ()
    translations = motion.translations.copy()
    (hip,) = motion.joints("left_thigh")  # moves the left leg alone, to and fro
    wobble = 0.05 * motion.height * np.sin(np.arange(240) / 5.0)
    translations[:, hip] += wobble[:, None] * np.array([1.0, 0.0, 0.0])
    (slide,) = find_sliding_feet(motion, dataclasses.replace(motion, translations=translations))
    assert slide.foot == "left foot" and slide.slide_mm > 10
    assert slide.slide_mm > 1.5 * slide.original_mm
    monkeypatch.setattr("keypose.metrics.MIN_SLIDE_MM", 2 * slide.slide_mm)
    assert find_sliding_feet(motion, dataclasses.replace(motion, translations=translations)) == ()


@pytest.mark.data
def test_a_real_walk(data_dir: Path):
    motion = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)
    score = kp.score(motion, kp.unbake(motion, keys=52))
    assert 0 < score.mean_mm < 3 and 0 < score.mean_deg < 2
    assert 3 < score.original_foot_slide_mm < 20
    assert score.foot_slide_mm == pytest.approx(score.original_foot_slide_mm, rel=0.1)
    assert 0.3 < score.key_acceleration < 3
    dense = kp.score(motion, motion)
    assert 1.2 < dense.stored_values / score.stored_values < 2  # a fifth of the poses with tangents: three fifths


def test_distances_of_points():
    points = np.random.default_rng(0).normal(size=(4, 5, 3))
    others = np.random.default_rng(1).normal(size=(4, 5, 3))
    np.testing.assert_allclose(distances(points, others), np.linalg.norm(points - others, axis=-1))


def test_a_figure_in_another_unit_is_the_same_figure():
    motion = kp.demo_motion(fps=30)[:40]
    bones = dataclasses.replace(
        motion.skeleton, offsets=motion.skeleton.offsets * 100, end_offsets=motion.skeleton.end_offsets * 100
    )
    larger = dataclasses.replace(motion, skeleton=bones, translations=motion.translations * 100, reference_pose=None)
    assert kp.score(motion, larger).max_mm < 1e-6
    keyed = kp.unbake(larger, keys=8)
    assert kp.score(motion, keyed).max_mm == pytest.approx(kp.score(larger, keyed).max_mm, rel=1e-3)


def test_another_up_axis_is_rejected():
    motion = kp.demo_motion(fps=30)[:5]
    with raises(kp.OptionError, code="different_motions", value="Z", problem=Pattern("not the same world$")):
        kp.score(motion, dataclasses.replace(motion, up="Z"))


def test_the_worst_frame_and_joint_are_named():
    motion = kp.demo_motion(fps=30)[:40]
    keyed = kp.unbake(motion, keys=6)
    result = kp.score(motion, keyed)
    errors = position_errors_mm(motion, keyed.sample())
    assert errors[result.worst_frame, motion.joint(result.worst_joint)] == result.max_mm


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "'demo' has 60 frames, 'demo' 30, expected the same number"),
        ({"up": "Z"}, "'demo' has Y up, 'demo' Z: not the same world"),
    ],
)
def test_wording(motion, changes, message):
    """Messages of scores are pinned here only."""
    with pytest.raises(OptionError) as info:
        kp.score(motion, dataclasses.replace(motion, **changes) if changes else motion[:30])
    assert str(info.value) == message
