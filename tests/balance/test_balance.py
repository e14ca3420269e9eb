"""Balance: centre of mass and support of the feet."""

from __future__ import annotations

import pickle
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keypose as kp
from keypose.balance import Balance, balance
from keypose.balance.body import EAR_ALONG, HEEL_BEHIND_MM, SEGMENTS, TOES_AHEAD_MM, WIDTH_MM, convex_hulls, margins
from keypose.balance.measure import AROUND_S, VELOCITY_S
from keypose.errors import OptionError
from keypose.kinematics import UPS, heights_above, up_axis
from keypose.options import TipOptions
from keypose.rotations import exp, multiply, rotate
from reference import naive_balance as twin
from support.balance_cases import demo, real
from support.errors import raises

# Winter's body segment lengths, relative to the height of a person.
LEG_OF_STATURE, ANKLE_OF_STATURE = 0.491, 0.039


def test_the_segments_are_the_whole_body():
    assert sum(s.mass * (2 if s.is_paired else 1) for s in SEGMENTS) == pytest.approx(1.0, abs=1e-12)
    assert all(0 <= s.along <= 1 for s in SEGMENTS)


# Measurements


@pytest.mark.data
@pytest.mark.parametrize("name", ["07_05_walk", "135_07_kicking", "49_06_cartwheel"])
def test_real_clips_like_the_twin(data_dir, name):
    motion = real(data_dir, name, 0, 481)
    result, contacts = balance(motion), motion.foot_contacts()
    frames = range(0, motion.n_frames, 23)
    centres = [twin.centre_of_mass(motion, frame) for frame in range(motion.n_frames)]
    np.testing.assert_allclose(result.centre_of_mass, centres, atol=1e-9)
    ahead = np.sqrt(twin.leg_length(motion) * motion.mm_per_unit / 1000 / 9.81)
    for frame in frames:
        speed = np.array(twin.velocity(centres, frame, motion.fps))
        np.testing.assert_allclose(result.velocity[frame], speed, atol=1e-8)
        np.testing.assert_allclose(result.extrapolated_centre_of_mass[frame], centres[frame] + ahead * speed, atol=1e-8)
        standing = [side for side, touches in zip(contacts.feet, contacts.in_contact[frame], strict=True) if touches]
        corners = [corner for side in standing for corner in twin.foot_corners(motion, side, frame)]
        assert result.supported[frame] == bool(standing)
        for positions, margins_mm in (
            (result.centre_of_mass, result.margin_mm),
            (result.extrapolated_centre_of_mass, result.extrapolated_margin_mm),
        ):
            x, _, z = positions[frame].tolist()
            assert margins_mm[frame] == pytest.approx(
                twin.margin((x, z), corners) * motion.mm_per_unit, abs=1e-6, nan_ok=True
            )
        hull = result.support(frame)
        assert len(hull) <= len(corners)
        for p in hull:
            assert min(np.hypot(c[0] - p[0], c[1] - p[2]) for c in corners) < 1e-9


spots = st.tuples(st.integers(-4, 4), st.integers(-4, 4))


@given(st.lists(st.tuples(st.lists(spots, min_size=8, max_size=8), spots), min_size=1, max_size=5), st.floats(0, 7))
def test_hulls_and_distances_like_the_twin(cases, angle):
    """Collinear and equal points, also within rounding."""
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points = np.array([some for some, _ in cases], float) @ turn
    is_wanted = (np.array([at for _, at in cases], float) + (0.3, 0.1)) @ turn
    hulls, corners = convex_hulls(points, np.ones(len(points), bool))
    distances = margins(is_wanted, hulls, corners)
    for row in range(len(cases)):
        some = [tuple(p) for p in points[row].tolist()]
        expected = twin.margin(tuple(is_wanted[row].tolist()), some)
        assert abs(distances[row]) == pytest.approx(abs(expected), abs=1e-6)
        if abs(expected) > 1e-6:
            assert distances[row] == pytest.approx(expected, abs=1e-6)
        hull = hulls[row, : corners[row]]
        assert {tuple(p) for p in hull.tolist()} <= set(some)
        if corners[row] > 2:  # counter-clockwise, and no point is outside
            edges = np.roll(hull, -1, axis=0) - hull
            off = points[row][None] - hull[:, None]
            left = edges[:, None, 0] * off[..., 1] - edges[:, None, 1] * off[..., 0]
            assert left.min() >= -1e-9


@pytest.mark.parametrize("up", UPS)
def test_every_axis_can_be_up(up):
    """The same figure in a rotated world: positions rotate with it, distances are unchanged."""
    reference = replace(demo()[:200], reference_pose=demo()[0])
    axis, sign = up_axis(up)
    away = np.cross((0, 1.0, 0), sign * np.eye(3)[axis])
    turn = exp(away * np.pi / 2 if away.any() else np.array((0 if sign > 0 else np.pi, 0, 0)))
    np.testing.assert_allclose(rotate(turn, np.array((0, 1.0, 0))), sign * np.eye(3)[axis], atol=1e-12)

    def rotate_world(translations, rotations):
        translations, rotations = translations.copy(), rotations.copy()
        translations[..., 0, :] = rotate(turn, translations[..., 0, :])
        rotations[..., 0, :] = multiply(np.broadcast_to(turn, rotations[..., 0, :].shape), rotations[..., 0, :])
        return translations, rotations

    pose = kp.Pose(*rotate_world(reference.reference_pose.translations, reference.reference_pose.rotations))
    translations, rotations = rotate_world(reference.translations, reference.rotations)
    other = replace(reference, up=up, translations=translations, rotations=rotations, reference_pose=pose)
    before, after = balance(reference), balance(other)
    np.testing.assert_allclose(after.centre_of_mass, rotate(turn, before.centre_of_mass), atol=1e-9)
    np.testing.assert_allclose(after.margin_mm, before.margin_mm, atol=1e-6)
    np.testing.assert_allclose(after.extrapolated_margin_mm, before.extrapolated_margin_mm, atol=1e-6)
    for frame in (0, 100):
        hull, expected = after.support(frame), rotate(turn, before.support(frame))
        assert len(hull) == len(expected) and all(np.abs(expected - p).max(axis=1).min() < 1e-9 for p in hull)


def still(motion, measured):
    """Return the frames in which both feet stand and the body hardly moves."""
    speed_mm = np.linalg.norm(measured.velocity, axis=-1) * motion.mm_per_unit
    return np.flatnonzero(motion.foot_contacts().in_contact.all(axis=1) & (speed_mm < 60))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "first", "last"), [("49_02_jump-hop", 0, 100), ("131_04_dance-hop", 0, 60), ("02_07_sword", 40, 100)]
)
def test_standing_figure_has_its_mass_over_the_feet_at_half_height(data_dir, name, first, last):
    """Standing upright it is 53 to 60 % of a person's height above the soles.

    These skeletons end at the ankles and below the top of the head, so the height is estimated from the legs.
    """
    motion = real(data_dir, name)
    result = balance(motion)
    frames = [f for f in still(motion, result) if first <= f < last]
    assert len(frames) > 5
    assert (result.margin_mm[frames] > 50).all() and (result.extrapolated_margin_mm[frames] > 30).all()
    stature = twin.leg_length(motion) / LEG_OF_STATURE
    ankles = motion.world_positions()[frames][:, [motion.joint("left_foot"), motion.joint("right_foot")], 1].mean(
        axis=1
    )
    height = (result.centre_of_mass[frames, 1] - ankles) / stature + ANKLE_OF_STATURE
    assert (height > 0.53).all() and (height < 0.60).all()


def test_the_demo_stands_with_its_mass_over_its_feet():
    result = balance(demo())
    frames = still(demo(), result)
    height = (heights_above(result.centre_of_mass, "Y")[frames] - result.floor) / demo().height
    assert len(frames) > 30 and height.min() > 0.53 and height.max() < 0.60
    assert result.margin_mm[frames].min() > 0


@pytest.mark.data
def test_walking_figure_falls_from_foot_to_foot(data_dir):
    motion = real(data_dir, "07_05_walk")
    result = balance(motion)
    single = motion.foot_contacts().in_contact.sum(axis=1) == 1
    assert (
        result.margin_mm[single].min() < -50 and result.margin_mm[single].max() > 0
    )  # over the foot, then ahead of it
    way = result.centre_of_mass[-1] - result.centre_of_mass[0]
    ahead = (
        (result.extrapolated_centre_of_mass - result.centre_of_mass) @ (way / np.linalg.norm(way)) * motion.mm_per_unit
    )
    assert 200 < np.median(ahead) < 600  # 1.2 m/s over 3.2 per second, about


@pytest.mark.data
def test_no_support_in_flight(data_dir):
    motion = real(data_dir, "38_03_run-circle")
    result = balance(motion)
    flight = ~result.supported
    assert (
        flight.any()
        and np.isnan(result.margin_mm[flight]).all()
        and np.isnan(result.extrapolated_margin_mm[flight]).all()
    )
    assert not np.isnan(result.margin_mm[~flight]).any()
    assert result.support(int(np.flatnonzero(flight)[0])).shape == (0, 3)
    assert len(result.support(int(np.flatnonzero(~flight)[0]))) >= 4
    assert "frames" in repr(result) and len(result) == motion.n_frames


def test_contacts_can_be_given():
    motion = demo()
    left = kp.FootContacts(("left",), np.ones((motion.n_frames, 1), bool))
    result = balance(motion, contacts=left)
    assert result.supported.all() and (result.n_corners == 4).all()
    no_contact = kp.FootContacts((), np.zeros((motion.n_frames, 0), bool))
    assert not balance(motion, contacts=no_contact).supported.any()
    for wrong in (
        kp.FootContacts(("left",), np.ones((3, 1), bool)),
        kp.FootContacts(("tail",), np.ones((motion.n_frames, 1), bool)),
    ):
        with raises(OptionError, expected="739 frames of left, right"):
            balance(motion, contacts=wrong)


def drop_parts(motion, body_parts=(), ends=False):
    """Return the motion without some joints and their descendants, and without end sites."""
    s = motion.skeleton
    dropped = {motion.joint(part) for part in body_parts}
    remaining = [j for j in range(s.n_joints) if not _above(s, j) & dropped]
    index = {j: n for n, j in enumerate(remaining)}
    sites = [e for e, j in enumerate(s.end_joints.tolist()) if j in index and not ends]
    skeleton = kp.Skeleton(
        tuple(s.names[j] for j in remaining),
        np.array([index.get(int(s.parents[j]), -1) for j in remaining]),
        s.offsets[remaining],
        end_offsets=s.end_offsets[sites],
        end_joints=np.array([index[int(s.end_joints[e])] for e in sites], np.int32),
    )
    pose = kp.Pose(motion.reference_pose.translations[remaining], motion.reference_pose.rotations[remaining])
    return replace(
        motion, skeleton=skeleton, translations=motion.translations[:, remaining], rotations=motion.rotations[:, remaining],
        reference_pose=pose,
    )  # fmt: skip


def _above(skeleton, joint):
    result = set()
    while joint >= 0:
        result.add(joint)
        joint = int(skeleton.parents[joint])
    return result


@pytest.mark.data
def test_missing_parts_are_estimated(data_dir):
    """Without fingers, toes or end sites the centre of mass changes by a few millimetres at most."""
    motion = real(data_dir, "07_05_walk")
    reference, scale = balance(motion), motion.mm_per_unit
    contacts = motion.foot_contacts()
    hands, toes = ("left_hand", "right_hand"), ("left_toes", "right_toes")
    for body_parts, ends, max_mm in (
        (hands, False, 8),
        ((*hands, *toes), False, 8),
        ((), True, 15),
        ((*hands, *toes), True, 15),
    ):
        less = balance(drop_parts(motion, body_parts, ends), contacts=contacts)
        off = np.linalg.norm(less.centre_of_mass - reference.centre_of_mass, axis=-1) * scale
        assert off.max() < max_mm
        assert np.nanmax(np.abs(less.margin_mm - reference.margin_mm)[contacts.in_contact.all(axis=1)]) < 80


@pytest.mark.data
def test_nonhuman_figures_are_rejected(data_dir):
    with raises(OptionError, code="no_body", subject="Fox-Survey", value="tail"):
        balance(kp.load(data_dir / "gltf" / "Fox.glb"))
    with raises(OptionError, code="no_body", subject="qualisys") as info:
        balance(kp.load(data_dir / "c3d" / "qualisys.c3d"))
    assert {"left_thigh", "right_thigh", "right_forearm", "neck or head"} <= set(info.value.value.split(", "))
    with raises(OptionError, code="no_body", value="left_shin, left_foot"):
        balance(drop_parts(real(data_dir, "07_05_walk"), ("left_thigh",)))


def test_result_is_read_only_and_pickles():
    result = pickle.loads(pickle.dumps(balance(demo()[:50])))
    assert isinstance(result, Balance) and result.fps == 60
    for array in (result.centre_of_mass, result.margin_mm, result.supported, result.hulls, result.support(0)):
        assert not array.flags.writeable
    for frame in (-1, 50, 1.5):
        with raises(OptionError, option="frame"):
            result.support(frame)


def test_a_single_frame_stands_still():
    result = balance(demo()[40:41], contacts=kp.FootContacts(("left",), np.ones((1, 1), bool)))
    assert (result.velocity == 0).all() and result.margin_mm == result.extrapolated_margin_mm


def test_a_thousand_frames_are_measured_quickly():
    motion = kp.demo_motion(fps=90)[:1000]
    assert motion.n_frames == 1000
    motion.foot_contacts()
    took = []
    for _ in range(3):
        start = time.perf_counter()
        balance(motion)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.1


# Tipping over


PAGE = (Path(__file__).parents[2] / "docs" / "balance.md").read_text()


def test_the_page_has_the_table_and_its_example_runs():
    rows = re.findall(r"^\| (\w+)[^|]*\| ([\d.]+) \| ([\d.]+) \|", PAGE, re.M)
    assert [(name, float(mass), float(along)) for name, mass, along in rows] == [s[:3] for s in SEGMENTS]
    for number, unit in ((TipOptions.worse_mm, "mm"), (TipOptions.min_duration_s, "s"), (AROUND_S, "s"), (VELOCITY_S, "s"), (WIDTH_MM, "mm"),
                         (HEEL_BEHIND_MM, "mm behind"), (TOES_AHEAD_MM, "mm ahead")):  # fmt: skip
        assert f"{number:g} {unit}" in PAGE
    assert f"{EAR_ALONG:g} of the way" in PAGE
    names: dict[str, object] = {}
    exec(compile(re.findall(r"```python\n(.*?)```", PAGE, re.S)[0], "docs/balance.md", "exec"), names)
    assert isinstance(names["after"], Balance)


def test_arguments_of_another_type_are_rejected():
    motion = kp.demo_motion()[:20]
    for wrong in (None, 5, kp.swings(motion)):
        with raises(kp.OptionError, expected="a Motion, as kp.load gives it"):
            kp.balance(wrong)
    for wrong in (5, "left", np.ones((20, 2), bool)):
        with raises(kp.OptionError, option="contacts"):
            kp.balance(motion, contacts=wrong)
    with raises(kp.OptionError, expected="a Balance, as kp.balance gives it"):
        kp.tips_over(kp.balance(motion), motion)
