"""Edits of real clips: playback, feet and balance, timing, and speed."""

from __future__ import annotations

import pickle
import re
import time
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.rotations import angle_between
from keypose.swings import swings
from keypose.swings.edit import SwingEdit
from reference import naive_swings_edit as twin
from support.errors import raises

OPERATIONS = {
    "scale": lambda e, kick: e.scale(kick, 1.3),
    "scale all": lambda e, kick: e.scale("right_leg", 1.3, about="middle"),
    "scale back": lambda e, kick: e.scale(kick, -0.5, about="end"),
    "set angle": lambda e, kick: e.set_angle("left_arm", 40.0),
    "set axis": lambda e, kick: e.set_axis(kick, (0.0, 0.0, 1.0)),
    "turn axis": lambda e, kick: e.turn_axis("right_arm", about=(0.0, 1.0, 0.0), degrees=30.0),
    "shift": lambda e, kick: e.shift(kick, by_s=0.1),
    "lengthen": lambda e, kick: e.lengthen(kick, by_s=0.1),
    "lengthen on": lambda e, kick: e.lengthen(kick, factor=1.4, keep="speed", anchor="start"),
    "shorten": lambda e, kick: e.shorten("right_leg", factor=0.7),
    "delete": lambda e, kick: e.delete(kick),
    "delete all": lambda e, kick: e.delete(("head", "arms")),
    "copy": lambda e, kick: e.copy(kick, "head", replace=True),
    "copy to keys": lambda e, kick: e.copy(kick, "left_toes", at_s=5.0),
    "copy to a still joint": lambda e, kick: e.copy(kick, "left_collar"),
    "copy mirrored": lambda e, kick: e.copy(kick, mirror=True, replace=True),
    "intensify": lambda e, kick: e.intensify("right_leg", 1.3),
    "intensify all": lambda e, kick: e.intensify("all", 1.5),
    "retime": lambda e, kick: e.retime(("legs", "arms"), 1.4),
    "retime faster": lambda e, kick: e.retime("right_leg", 0.6),
}


def the_kick(e: SwingEdit):
    return max(e.swings["right_thigh"], key=lambda swing: swing.angle / (swing.end - swing.start))


@pytest.mark.data
@pytest.mark.one_python
@pytest.mark.parametrize("fallback", (None, "keys"))
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_on_the_kicking_clip(data_dir, name, fallback):
    e = SwingEdit(twin.kick_swings(data_dir, fallback))
    before = e.swings
    change = OPERATIONS[name](e, the_kick(e))
    twin.assert_sound(e.swings)
    twin.assert_seams_hold(before, e.swings)
    assert change.joints and change.first <= change.last
    old, new = before.play().rotations, e.swings.play().rotations
    same = [j for j in range(e.swings.n_joints) if j not in change.joints]
    assert all(e.swings.tracks[j] is before.tracks[j] for j in same)
    assert old[:, same].tobytes() == new[:, same].tobytes()
    outside = [*range(change.first), *range(change.last + 1, len(old))]
    assert old[outside].tobytes() == new[outside].tobytes()
    assert e.undo() is before


@pytest.mark.data
def test_a_more_forceful_kick_is_faster(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir, "keys"))

    def max_speed(motion):
        positions = motion.world_positions()[:, motion.joint("right_foot")]
        return np.linalg.norm(np.diff(positions, axis=0), axis=1).max() * motion.fps * motion.mm_per_unit / 1000

    before = max_speed(e.play())
    e.intensify("right_leg", 1.3)
    assert max_speed(e.play()) > 1.1 * before  # m/s


@pytest.mark.data
def test_a_neighbour_still_ends_where_it_ended(data_dir):
    """The kick is scaled by 1.3: farther away than the next swing nothing differs."""
    e = SwingEdit(twin.kick_swings(data_dir))
    kick = the_kick(e)
    change = e.scale(kick, 1.3)
    following = [swing for swing in e.original["right_thigh"] if swing.start > kick.end]
    assert change.first == kick.start + 1 and change.last < following[1].start


@pytest.mark.data
@pytest.mark.parametrize("name", ("49_06_cartwheel", "131_04_dance-hop", "38_03_run-circle"))
def test_left_out_hips_are_not_torn(data_dir, name):
    """They turn by more than half a circle from their mean."""
    e = swings(kp.load(data_dir / "cmu120" / f"{name}.bvh"), left_out=["hips"]).edit()
    hips = e.swings.skeleton.joint("hips")
    before = twin.largest_step(e.play(), hips)
    for factor in (1.1, 1.2):
        e.intensify("hips", factor)
        assert before < twin.largest_step(e.swings.play(), hips) < (factor + 0.02) * before
        e.undo()


@pytest.mark.data
def test_successive_swings_get_exact_angles(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir))

    def angles(joints):
        return np.array([swing.angle_deg for swing in e.find(joints)])

    legs = angles("right_leg")
    for about in ("start", "end"):
        assert "instead" not in e.scale("right_leg", 1.3, about=about).note
        assert np.allclose(angles("right_leg"), 1.3 * legs, rtol=1e-9)
        e.undo()
    assert "instead" not in e.set_angle(e.find("arms"), 10).note
    assert np.allclose(angles("arms"), 10, rtol=1e-9)
    e.undo()
    some = e.find("right_leg", from_s=1, to_s=3)
    change = e.shift(some, by_frames=2)
    moved = {(swing.joint, swing.start): swing.rotation_vector for swing in e.find("right_leg")}
    assert not change.note
    assert all(
        np.allclose(moved[swing.joint, swing.start + 2], swing.rotation_vector, rtol=0, atol=1e-9) for swing in some
    )


@pytest.mark.data
def test_swings_that_share_a_seam_report_their_angles(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir))
    change = e.set_angle("right_leg", 10, about="middle")
    angles = np.array([swing.angle_deg for swing in e.find("right_leg")])
    others = angles[np.abs(angles - 10) > 0.05]
    match = re.fullmatch(r"(\d+) of (\d+) swings rotate by ([\d.]+) to (\d+) degrees instead, .*", change.note)
    assert match and int(match[2]) == len(angles) and int(match[1]) >= len(others) > 0
    assert abs(float(match[3]) - others.min()) < 0.05 and abs(float(match[4]) - others.max()) <= 0.5


def duration_s(operation) -> float:
    started = time.perf_counter()
    operation()
    return time.perf_counter() - started


@pytest.mark.data
def test_an_operation_on_300_frames_takes_well_under_50_ms(data_dir):
    clip = twin.kick_swings(data_dir, None, 700, 1000)

    def once(name):
        e = SwingEdit(clip)
        e.scale("head", 1.1)  # values of the unedited clip are computed once
        return duration_s(lambda: OPERATIONS[name](e, the_kick(e)))

    for name in ("scale", "shift", "lengthen", "delete", "copy", "intensify", "retime faster"):
        assert min(once(name) for _ in range(3)) < 0.05, name


# History


def test_history_undo_and_redo():
    e = SwingEdit(twin.demo_swings())
    first = e.swings
    assert e.last_change is None and e.history == ()
    e.scale(e.swings["left_thigh"][1], 1.5, about="middle")
    second, change = e.swings, e.last_change
    e.shift(e.find("left_arm", index=0)[:1], by_frames=0)
    e.intensify("arms", 1.25)
    e.retime("legs", 0.5, keep=None)
    assert e.history == (
        "scale(swings['LeftUpLeg'][1], 1.5, about='middle')",
        f"shift((swings[{e.find('left_arm', index=0)[0].joint!r}][0],), by_frames=0)",
        "intensify('arms', 1.25)",
        "retime('legs', 0.5, keep=None)",
    )
    for _ in range(3):
        e.undo()
    assert e.swings is second and e.last_change is change and e.undo() is first and e.original is first
    assert e.redo() is second
    e.delete("head")
    with raises(OptionError, code="no_step", problem="nothing to redo"):
        e.redo()
    assert "2 done, 0 undone" in repr(e)


def test_only_swings_can_be_edited():
    with raises(OptionError, expected="Swings, as kp.swings makes them"):
        SwingEdit(kp.demo_motion())
    assert isinstance(twin.demo_swings().edit(), SwingEdit)


def test_an_empty_edit_plays_the_swings():
    e = SwingEdit(twin.demo_swings())
    for options in ({}, {"level": 0.5}, {"fps": 24.0}):
        mine, theirs = e.play(**options), e.original.play(**options)
        assert mine.rotations.tobytes() == theirs.rotations.tobytes() and mine.fps == theirs.fps
        assert mine.translations.tobytes() == theirs.translations.tobytes()


def test_find_looks_at_the_present_swings():
    e = SwingEdit(twin.demo_swings())
    n = len(e.find("left_thigh"))
    e.delete(e.find("left_thigh", index=0))
    assert len(e.find("left_thigh")) == n - 1 and len(e.original.find("left_thigh")) == n


def test_a_change_can_be_pickled():
    e = SwingEdit(twin.demo_swings())
    change = pickle.loads(pickle.dumps(e.scale("head", 1.5)))
    assert twin.bits(change.swings) == twin.bits(e.swings) and change.range == e.last_change.range


# Feet and balance


@pytest.mark.data
def test_feet_are_planted_after_edits_of_legs_and_hips(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir))
    before, contacts = e.original.play(), e.original.contacts
    change = e.scale("left_arm", 1.2)
    assert not change.holds_feet
    hinged = e.limit_hinges()  # nothing but the elbow
    others = [j for j in range(before.n_joints) if j not in hinged.corrected_joints]
    assert set(hinged.corrected_joints) <= {before.joint("left_forearm")}
    assert e.play().rotations[:, others].tobytes() == e.swings.play().rotations[:, others].tobytes()
    assert e.scale("left_shin", 1.2).holds_feet and e.scale("left_arm", 1 / 1.2).holds_feet
    side = contacts.feet.index("left")
    stands = contacts.in_contact[:, side]
    foot = before.joint("left_foot")

    def median_error_mm(motion):
        away = motion.world_positions()[stands, foot] - before.world_positions()[stands, foot]
        return np.median(np.linalg.norm(away, axis=1)) * before.mm_per_unit

    held, free = e.play(), e.play(keep_feet=False)
    assert median_error_mm(held) < 1.0 < median_error_mm(free)  # mm
    half = e.play(fps=60.0)
    assert half.rotations.tobytes() == held.rotations[::2].tobytes()
    e.undo(), e.undo()
    assert not e.last_change.holds_feet


@pytest.mark.data
def test_feet_are_planted_in_a_retimed_clip_by_default(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir, None, 700, 1000))
    assert not e.retime(factor=1.5, keep=None).holds_feet
    e.undo()
    assert e.retime(factor=1.5).holds_feet
    before, held = e.original.play(), e.play()
    stands = e.swings.contacts.in_contact[:, 0]
    foot = before.joint(f"{e.swings.contacts.feet[0]}_foot")
    source = np.linspace(0, before.n_frames - 1, held.n_frames)
    where = np.stack(
        [np.interp(source, np.arange(before.n_frames), before.world_positions()[:, foot, k]) for k in range(3)], axis=1
    )
    away = np.linalg.norm(held.world_positions()[:, foot] - where, axis=1) * before.mm_per_unit
    assert np.median(away[stands]) < 1.0


@pytest.mark.data
def test_tipping_over_is_reported(data_dir):
    e = SwingEdit(twin.kick_swings(data_dir))
    assert e.scale("left_hand", 1.2).tips == ()
    lean = max(e.swings["hips"], key=lambda swing: swing.end - swing.start)
    e.set_axis(lean, (1.0, 0.0, 0.0))
    lean = next(swing for swing in e.swings["hips"] if swing.start == lean.start)
    change = e.set_angle(lean, 60.0)
    assert change.tips and change.tips[0].startswith("tips over from ")
    assert change.tips[0] in repr(change)


def test_a_figure_without_known_limbs_has_no_balance():
    m = kp.demo_motion(fps=30)[:60]
    names = tuple(f"joint{j}" for j in range(m.n_joints))
    e = SwingEdit(swings(replace(m, skeleton=replace(m.skeleton, names=names))))
    joint = next(track.joint for track in e.swings.tracks if track.n_swings)
    change = e.scale(joint, 1.5)
    assert change.tips == () and "frames" in repr(change)


# Time


@pytest.mark.data
@pytest.mark.one_python
@pytest.mark.parametrize("factor", (2.0, 1.37, 0.8, 0.5))
@pytest.mark.parametrize("fallback", (None, "keys"))
def test_a_retimed_clip_plays_the_same_in_another_time(data_dir, factor, fallback):
    e = SwingEdit(twin.kick_swings(data_dir, fallback))
    change = e.retime(factor=factor)
    old, new = e.original, e.swings
    assert change.joints == tuple(range(old.n_joints)) and change.range == (0, new.n_frames - 1)
    assert new.n_frames == round(old.n_frames * factor)
    twin.assert_sound(new)
    # faster as a whole; and rounding may take half a frame of a gap of 1.5 away
    quicker = max(1.0, (old.n_frames - 1) / (new.n_frames - 1))
    twin.assert_seams_hold(old, new, quicker * (1.0 if factor >= 1 else 1.5))
    source = np.linspace(0, old.n_frames - 1, new.n_frames)
    was = [track.sample(source) for track in old.tracks]
    for track, now, positions in zip(old.tracks, new.tracks, was, strict=True):
        assert now.n_swings == track.n_swings and len(now.keyed) == len(track.keyed)
        assert now.is_raw(new.n_frames) == track.is_raw(old.n_frames)
        if track.is_raw(old.n_frames):
            assert np.allclose(np.abs(np.einsum("tk,tk->t", now.keyed[0].rotations, positions)), 1.0)
    # frames are rounded: a node is at most half a frame off, and as much more where nodes had to be separated
    played = new.play()
    off = np.array([np.median(angle_between(played.rotations[:, j], there)) for j, there in enumerate(was)])
    assert np.rad2deg(off).max() < 0.5
    (path,), (retimed,) = old.paths, new.paths
    away = np.linalg.norm(retimed.sample(np.arange(new.n_frames, dtype=float)) - path.sample(source), axis=1)
    assert np.median(away) * old.play().mm_per_unit < 10
    assert abs(new.contacts.in_contact.mean() - old.contacts.in_contact.mean()) < 0.01


def test_retimed_there_and_back_comes_back():
    e = SwingEdit(twin.demo_swings())
    e.retime(factor=3.0)
    e.retime(factor=1 / 3)
    assert e.swings.n_frames == e.original.n_frames
    for old, new in zip(e.original.tracks, e.swings.tracks, strict=True):
        assert (old.starts == new.starts).all() and (old.ends == new.ends).all()
        assert old.rotation_vectors.tobytes() == new.rotation_vectors.tobytes()
        assert (old.rest_starts == new.rest_starts).all()
    assert (e.original.contacts.in_contact == e.swings.contacts.in_contact).mean() > 0.98
    for old, new in zip(e.original.paths, e.swings.paths, strict=True):
        frames = np.arange(e.swings.n_frames, dtype=float)
        assert np.allclose(old.sample(frames), new.sample(frames), atol=1e-9)


def test_a_retimed_path_keeps_its_shape():
    """Three times as long: every third frame is where the path was, slopes and all."""
    e = SwingEdit(twin.demo_swings())
    e.retime(factor=(3 * (e.swings.n_frames - 1) + 1) / e.swings.n_frames)
    old, new = e.original.play(), e.swings.play()
    assert new.n_frames == 3 * (old.n_frames - 1) + 1
    assert np.allclose(new.translations[::3], old.translations, atol=1e-9)
    assert angle_between(new.rotations[::3], old.rotations).max() < 1e-7


def test_edits_go_on_after_a_retimed_clip():
    e = SwingEdit(twin.demo_swings())
    e.retime(factor=0.6)
    e.scale("legs", 1.3)
    twin.assert_sound(e.swings)
    assert e.play().n_frames == round(0.6 * e.original.n_frames)


def test_a_part_that_is_retimed_leaves_the_rest_as_it_was():
    original = kp.swings(kp.demo_motion(fps=60.0)[0:240])
    e = SwingEdit(original)
    change = e.retime("all", 1.5, from_s=2.0, to_s=3.0)
    before, after = original.play(), e.swings.play()
    assert after.n_frames == 270 and change.first <= 120
    np.testing.assert_array_equal(after.rotations[: change.first], before.rotations[: change.first])
    raw = [j for j in range(original.n_joints) if original.is_left_out(j)]
    assert raw
    np.testing.assert_array_equal(after.rotations[:121, raw], before.rotations[:121, raw])
    np.testing.assert_array_equal(after.rotations[210:, raw], before.rotations[180:, raw])
    with raises(OptionError, code="no_room", problem="demo has one frame, which cannot take longer"):
        SwingEdit(kp.swings(kp.demo_motion(fps=60.0)[0:1])).retime("all", 3)
