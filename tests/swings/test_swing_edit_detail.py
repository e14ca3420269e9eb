"""Edits on top of a capture: nothing of it is lost but what the edit changes, and nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import angle_between, conjugate, multiply

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
def found(kick) -> kp.Swings:
    return kp.swings(kick)


def steps_deg(rotations: np.ndarray) -> float:
    return float(np.rad2deg(angle_between(rotations[1:], rotations[:-1])).max())


@pytest.mark.data
def test_without_an_edit_the_capture_plays(kick, found):
    for keep_feet in (None, True, False):
        played = found.edit(kick).play(keep_feet=keep_feet)
        np.testing.assert_array_equal(played.rotations, kick.rotations)
        np.testing.assert_array_equal(played.translations, kick.translations)


@pytest.mark.data
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_not_edited_keeps_its_very_numbers(kick, found, edit):
    editor = found.edit(kick)
    change = edit(editor)
    played = editor.play(keep_feet=False)
    others = [j for j in range(kick.n_joints) if j not in change.joints]
    np.testing.assert_array_equal(played.rotations[:, others], kick.rotations[:, others])
    np.testing.assert_array_equal(played.translations, kick.translations)
    margin = round(0.1 * kick.fps)
    first, last = change.range
    assert last > first
    np.testing.assert_array_equal(played.rotations[: max(0, first - margin)], kick.rotations[: max(0, first - margin)])
    np.testing.assert_array_equal(played.rotations[last + margin + 1 :], kick.rotations[last + margin + 1 :])


@pytest.mark.data
@pytest.mark.parametrize("edit", EDITS)
def test_nothing_jumps(kick, found, edit):
    """Joints turn at most a little faster in a frame than in the capture, and than the swings do."""
    editor = found.edit(kick)
    change = edit(editor)
    played, bare = editor.play(keep_feet=False), editor.swings.play()
    for j in change.joints:
        turns = played.rotations[:, j], kick.rotations[:, j], bare.rotations[:, j]
        edited, captured, swung = map(steps_deg, turns)
        assert edited <= 1.2 * max(captured, swung)


@pytest.mark.data
def test_the_edit_itself_is_that_of_the_swings(kick, found):
    """Away from steps the capture is turned by just what turns the unedited swings into the edited ones."""
    editor = found.edit(kick)
    editor.scale(editor.find("right_thigh", wider_deg=30), 1.25)
    j = kick.joint("right_thigh")
    bare, edited = found.play().rotations[:, j], editor.swings.play().rotations[:, j]
    wanted = multiply(edited, conjugate(bare))
    made = multiply(editor.play(keep_feet=False).rotations[:, j], conjugate(kick.rotations[:, j]))
    off = np.rad2deg(angle_between(wanted, made))
    assert np.rad2deg(angle_between(wanted, np.array((1.0, 0.0, 0.0, 0.0)))).max() > 15
    assert np.percentile(off, 90) < 1


@pytest.mark.data
def test_a_retimed_capture_has_all_its_poses(kick, found):
    editor = found.edit(kick)
    editor.retime("all", 2.0)
    played = editor.play()
    at = np.linspace(0, kick.n_frames - 1, played.n_frames)
    wanted = kick.at_frames(at)
    off = np.linalg.norm(played.world_positions() - wanted.world_positions(), axis=-1) * kick.mm_per_unit
    assert off.mean() < 5 and len(played) == pytest.approx(2 * len(kick), abs=2)


@pytest.mark.data
def test_feet_stand_where_they_were_captured(kick, found):
    editor = found.edit(kick)
    change = editor.intensify("legs", 1.2)
    contacts = kick.foot_contacts()
    for foot, joints in kick.skeleton.anatomy.feet().items():
        stands = contacts.touching[:, contacts.feet.index(foot)]
        off = change.played.world_positions()[stands, joints[0]] - kick.world_positions()[stands, joints[0]]
        assert np.linalg.norm(off, axis=-1).max() * kick.mm_per_unit <= max(1.0, change.held.missed_mm + 1e-6)


def test_another_clip_is_refused():
    motion = kp.demo_motion(fps=30.0)
    found = kp.swings(motion)
    with pytest.raises(kp.OptionError, match="its swings"):
        found.edit(motion[:100])
    with pytest.raises(kp.OptionError, match="expected the Motion"):
        found.edit(found)  # type: ignore[arg-type]
    with pytest.raises(kp.OptionError, match=r"level=0\.5 leaves swings out"):
        found.edit(motion).play(0.5)
