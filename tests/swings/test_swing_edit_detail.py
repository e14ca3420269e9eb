"""Edits applied to a capture preserve its detail, and nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import angle_between, conjugate, multiply
from keypose.swings.edit.feet import edited_contacts
from support.errors import raises

EDITS = [
    lambda e: e.intensify("right_leg", 1.3),
    lambda e: e.scale(e.find("right_thigh", wider_deg=30), 1.25),
    lambda e: e.shift(e.find("right_thigh", index=5), by_frames=3),
    lambda e: e.shorten(e.find("left_upper_arm", wider_deg=20), factor=0.8),
    lambda e: e.delete(e.find("right_forearm", index=3)),
]


@pytest.fixture(scope="module")
def kick(data_dir) -> kp.Motion:
    return kp.load(data_dir / "cmu120/135_07_kicking.bvh").at_fps(60)


@pytest.fixture(scope="module")
def kick_swings(kick) -> kp.Swings:
    return kp.swings(kick)


def steps_deg(rotations: np.ndarray) -> float:
    return float(np.rad2deg(angle_between(rotations[1:], rotations[:-1])).max())


@pytest.mark.data
def test_without_an_edit_the_capture_plays(kick, kick_swings):
    for keep_feet in (None, True, False):
        played = kick_swings.edit(kick).play(keep_feet=keep_feet)
        np.testing.assert_array_equal(played.rotations, kick.rotations)
        np.testing.assert_array_equal(played.translations, kick.translations)


@pytest.mark.data
@pytest.mark.parametrize("edit", EDITS)
def test_unedited_joints_and_frames_keep_exact_values(kick, kick_swings, edit):
    editor = kick_swings.edit(kick)
    change = edit(editor)
    played = editor.play(keep_feet=False)
    others = [j for j in range(kick.n_joints) if j not in change.joints]
    np.testing.assert_array_equal(played.rotations[:, others], kick.rotations[:, others])
    np.testing.assert_array_equal(played.translations, kick.translations)
    first, last = change.range
    assert last > first
    np.testing.assert_array_equal(played.rotations[:first], kick.rotations[:first])
    np.testing.assert_array_equal(played.rotations[last + 1 :], kick.rotations[last + 1 :])


@pytest.mark.data
@pytest.mark.parametrize("edit", EDITS)
def test_nothing_jumps(kick, kick_swings, edit):
    """Joints turn at most a little faster in a frame than in the capture, played as fast, and than the swings do."""
    editor = kick_swings.edit(kick)
    change = edit(editor)
    played, bare = editor.play(keep_feet=False), editor.swings.play()
    for j in change.joints:
        rotations = played.rotations[:, j], kick.rotations[:, j], bare.rotations[:, j]
        edited, captured, played_swings = map(steps_deg, rotations)
        warp = change.baseline.warps.get(j)
        faster = 1.0 if warp is None else max(1.0, np.diff(warp).max())
        farther = change.baseline.gains.get(j, 1.0)
        assert faster < 1.6 and edited <= 1.2 * max(faster * farther * captured, played_swings)


@pytest.mark.data
def test_the_edit_itself_is_that_of_the_swings(kick, kick_swings):
    """Away from steps the capture is turned by just what turns the unedited swings into the edited ones."""
    editor = kick_swings.edit(kick)
    editor.scale(editor.find("right_thigh", wider_deg=30), 1.25)
    j = kick.joint("right_thigh")
    bare, edited = kick_swings.play().rotations[:, j], editor.swings.play().rotations[:, j]
    expected = multiply(edited, conjugate(bare))
    actual = multiply(editor.play(keep_feet=False).rotations[:, j], conjugate(kick.rotations[:, j]))
    off = np.rad2deg(angle_between(expected, actual))
    assert np.rad2deg(angle_between(expected, np.array((1.0, 0.0, 0.0, 0.0)))).max() > 15
    assert np.percentile(off, 90) < 1


@pytest.mark.data
@pytest.mark.parametrize("factor", [2.0, 1.37, 0.8])
def test_a_retimed_capture_is_the_capture_at_other_frames(kick, kick_swings, factor):
    editor = kick_swings.edit(kick)
    editor.retime("all", factor)
    played = editor.play()
    assert played.n_frames == round(factor * kick.n_frames)
    expected = kick.at_frames(np.linspace(0, kick.n_frames - 1, played.n_frames))
    assert angle_between(played.rotations, expected.rotations).max() < 1e-7
    np.testing.assert_allclose(played.translations, expected.translations, atol=1e-9)


@pytest.mark.data
def test_a_part_of_a_capture_is_retimed(kick, kick_swings):
    """A slower kick: what is before and after has the very poses, what is between takes longer."""
    editor = kick_swings.edit(kick)
    editor.retime("all", 1.5, from_s=0.5, to_s=1.5)
    played = editor.play()
    assert played.n_frames == kick.n_frames + 30
    np.testing.assert_array_equal(played.rotations[:31], kick.rotations[:31])
    np.testing.assert_array_equal(played.rotations[120:], kick.rotations[90:])
    np.testing.assert_allclose(played.translations[120:], kick.translations[90:], atol=1e-12)
    between = kick.at_frames(np.linspace(30, 90, 91))
    assert angle_between(played.rotations[30:121], between.rotations).max() < 1e-7
    editor.retime("all", 0.5, from_s=0.5, to_s=2.0)
    assert len(editor.play()) == kick.n_frames + 30 - 45
    with raises(kp.OptionError, option="from_s", expected="a part of the clip, from 0 to 12.0167 s"):
        editor.retime("all", 0.5, from_s=2.0, to_s=1.0)


@pytest.mark.data
def test_detail_moves_with_swings_that_are_moved(kick, kick_swings):
    """In the middle of a shifted swing the joint does what it did earlier, detail and all."""
    editor = kick_swings.edit(kick)
    swing = next(s for s in kick_swings["left_forearm"] if s.n_frames > 20)
    editor.shift(swing, by_frames=4)
    j = kick.joint("left_forearm")
    inner = np.arange(swing.start + 8, swing.end - 3)
    played = editor.play().rotations[inner + 4, j]
    assert np.rad2deg(angle_between(played, kick.rotations[inner, j])).max() < 1
    assert np.rad2deg(angle_between(played, kick.rotations[inner + 4, j])).max() > 3


@pytest.mark.data
def test_shifted_detail_stays_shifted_after_other_edits(kick, kick_swings):
    """Other swings of the joint are taken away and put in: detail stays with what it belongs to."""
    editor = kick_swings.edit(kick)
    j = kick.joint("left_forearm")
    swing = next(s for s in kick_swings["left_forearm"] if s.n_frames > 20)
    editor.shift(swing, by_frames=4)
    inner = np.arange(swing.start + 8, swing.end - 3)
    for operation in (
        lambda: editor.delete(editor.find("left_forearm", index=-1)),
        lambda: editor.copy(editor.find("right_forearm", index=-1)[0], "left_forearm", replace=True),
        lambda: editor.retime("all", 1.5, from_s=8.0, to_s=9.0),
    ):
        before = editor.play(keep_feet=False)
        change = operation()
        played = editor.play(keep_feet=False)
        first, last = change.range
        assert first > inner[-1] + 4 and first <= last
        np.testing.assert_array_equal(played.rotations[:first], before.rotations[:first])
        if played.n_frames == before.n_frames:
            np.testing.assert_array_equal(played.rotations[last + 1 :], before.rotations[last + 1 :])
        off = angle_between(played.rotations[inner + 4, j], kick.rotations[inner, j])
        assert np.rad2deg(off).max() < 1


@pytest.fixture(scope="module")
def mixed_jumps(data_dir) -> tuple[kp.Motion, kp.Swings]:
    motion = kp.load(data_dir / "cmu120/86_01_mixed-jumps-kicks-punches.bvh")[3600:4400].at_fps(60)
    return motion, kp.swings(motion)


@pytest.mark.data
def test_gaps_play_at_most_twice_as_fast(mixed_jumps):
    """Swings that grow into gaps make the capture between them at most twice as fast."""
    motion, kick_swings = mixed_jumps
    editor = kick_swings.edit(motion)
    change = editor.retime("arms", 1.3)
    played = editor.play()
    for j in change.joints:
        warp = change.baseline.warps.get(j)
        assert warp is None or (np.diff(warp).max() <= 2 + 1e-9 and np.diff(warp).min() >= -1e-9)
        swing_step = steps_deg(editor.swings.play().rotations[:, j])
        assert steps_deg(played.rotations[:, j]) <= 2.2 * max(steps_deg(motion.rotations[:, j]), swing_step)


@pytest.mark.data
@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_calming_makes_no_pop(kick, kick_swings, mixed_jumps, factor):
    for motion, swings in ((kick, kick_swings), mixed_jumps):
        editor = swings.edit(motion)
        change = editor.intensify("arms", factor)
        for j in change.joints:
            calm = steps_deg(editor.play().rotations[:, j])
            assert calm <= 1.3 * factor * steps_deg(motion.rotations[:, j]) + 1e-6


@pytest.mark.data
def test_nothing_is_left_of_a_swing_that_is_deleted(mixed_jumps):
    """The joint turns evenly over the gap: no wobble stays of how the swing was captured."""
    motion, kick_swings = mixed_jumps
    editor = kick_swings.edit(motion)
    swing = max(kick_swings["right_forearm"], key=lambda each: each.angle)
    j = motion.joint("right_forearm")
    editor.delete(swing)
    assert swing.end == motion.n_frames - 1  # where the joint returns to the capture within 0.15 s
    inner = np.arange(swing.start, swing.end - round(0.15 * motion.fps))
    played, bare = (each.rotations[inner, j] for each in (editor.limit_hinges().motion, editor.swings.play()))
    assert swing.angle_deg > 40 and np.rad2deg(angle_between(played, bare)).max() < 2


@pytest.mark.data
def test_edited_swings_know_when_feet_stand(kick, kick_swings):
    editor = kick_swings.edit(kick)
    editor.shift(editor.find(["right_thigh", "right_shin"], from_s=0.4, to_s=0.9), by_frames=3)
    expected = edited_contacts(editor.last_change.baseline, editor.swings)
    np.testing.assert_array_equal(editor.swings.contacts.in_contact, expected.in_contact)
    assert (expected.in_contact != kick_swings.contacts.in_contact).any()


def test_intensify_goes_about_the_mean_also_where_a_swing_turns_right_through_it():
    """The demo's arm swings by 196 degrees: nothing moves farther than its share of the way from the mean."""
    motion = kp.demo_motion(fps=60.0)
    swings = kp.swings(motion)
    j = motion.skeleton.names.index("RightArm")
    assert swings.tracks[j].angles.max() > np.pi
    for factor in (0.6, 1.4):
        editor = swings.edit(motion)
        editor.intensify("RightArm", factor)
        off = angle_between(editor.play().rotations[:, j], motion.rotations[:, j])
        far = angle_between(motion.rotations[:, j], swings.tracks[j].mean_rotation)
        assert off.max() <= 0.4 * far.max() * 1.25


@pytest.mark.data
def test_a_calmer_arm_is_calmer_in_all_that_it_does(kick, kick_swings):
    """Half as far from its mean, what swings leave out included; none at all, and it keeps still."""
    hand, joints = kick.joint("right_forearm"), kick.joints("right_arm")

    def total_angle(played: kp.Motion) -> float:
        turned = angle_between(played.rotations[1:, hand], played.rotations[:-1, hand])
        return float(turned.sum())

    for factor, min_ratio, max_ratio in ((0.5, 0.4, 0.6), (0.0, 0.0, 1e-6), (1.5, 1.35, 1.65)):
        editor = kick_swings.edit(kick)
        editor.intensify("right_arm", factor)
        assert min_ratio <= total_angle(editor.play()) / total_angle(kick) <= max_ratio
    editor.undo()
    np.testing.assert_array_equal(editor.play().rotations[:, joints], kick.rotations[:, joints])


@pytest.mark.data
def test_a_kick_becomes_more_forceful(kick, kick_swings):
    """The foot goes higher and is faster, and the knee bends no farther than a knee can."""
    editor = kick_swings.edit(kick)
    editor.intensify("right_leg", 1.3)
    foot, span = kick.joint("right_foot"), slice(0, 132)
    tops, speeds = [], []
    for played in (kick, editor.play()):
        positions = played.world_positions()[span, foot] * kick.mm_per_unit
        tops.append(positions[:, 1].max())
        speeds.append(np.linalg.norm(np.diff(positions, axis=0), axis=1).max())
    assert tops[1] > tops[0] + 100 and speeds[1] > 1.15 * speeds[0]


@pytest.mark.data
def test_feet_stand_when_their_leg_does(kick, kick_swings):
    """Where a leg's swings come later, so do its contacts."""
    editor = kick_swings.edit(kick)
    swings = editor.find(["right_thigh", "right_shin"], from_s=0.4, to_s=0.9)
    change = editor.shift(swings, by_frames=3)
    was = kick.foot_contacts()
    now = edited_contacts(change.baseline, change.swings)
    left, right = (was.feet.index(foot) for foot in ("left", "right"))
    np.testing.assert_array_equal(now.in_contact[:, left], was.in_contact[:, left])
    assert (now.in_contact[:, right] != was.in_contact[:, right]).any()


@pytest.mark.data
def test_feet_stand_where_they_were_captured(kick, kick_swings):
    editor = kick_swings.edit(kick)
    change = editor.intensify("legs", 1.2)
    contacts = kick.foot_contacts()
    for foot, joints in kick.skeleton.anatomy.feet().items():
        stands = contacts.in_contact[:, contacts.feet.index(foot)]
        off = change.motion.world_positions()[stands, joints[0]] - kick.world_positions()[stands, joints[0]]
        assert np.linalg.norm(off, axis=-1).max() * kick.mm_per_unit <= max(1.0, change.plant_result.missed_mm + 1e-6)


def test_another_clip_is_rejected():
    motion = kp.demo_motion(fps=30.0)
    swings = kp.swings(motion)
    with raises(kp.OptionError, expected="the same number"):
        swings.edit(motion[:100])
    with raises(kp.OptionError, expected="the Motion that the swings were found in"):
        swings.edit(swings)  # type: ignore[arg-type]
    with raises(kp.OptionError, option="level", value=0.5):
        swings.edit(motion).play(0.5)
